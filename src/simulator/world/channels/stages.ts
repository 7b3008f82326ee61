// Stage instances: the live stages and their topics. A stage without speakers stays live.
// https://discord.com/developers/docs/resources/stage-instance

import { auditOf } from "../state/audit-log.ts";
import type { Guild, GuildChannel, StageInstance } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

type StageChanges = Changes<Pick<StageInstance, "topic" | "privacy_level">>;

const audit = auditOf("StageInstance");

export class Stages {
	readonly #live = new Map<string, StageInstance>();

	constructor(private readonly state: State) {}

	/** The live stage in a stage channel, or undefined if there is none. */
	of({ id }: GuildChannel): StageInstance | undefined {
		return this.#live.get(id);
	}

	in({ id }: Guild): StageInstance[] {
		return [...this.#live.values()].filter(({ guild_id }) => guild_id === id);
	}

	start(channel: GuildChannel, given: StageChanges & { topic: string }, by?: Attribution): StageInstance {
		const guild = this.state.guildOf(channel);
		const stage: StageInstance = {
			id: this.state.newId(),
			guild_id: guild.id,
			channel_id: channel.id,
			topic: given.topic,
			// GUILD_ONLY
			privacy_level: 2,
			discoverable_disabled: true,
			guild_scheduled_event_id: null,
		};
		apply(stage, given);
		this.#live.set(channel.id, stage);
		this.#dispatch("STAGE_INSTANCE_CREATE", stage);
		this.#audit(audit.create, stage, {}, auditFields(stage), by);
		return stage;
	}

	edit(stage: StageInstance, changes: StageChanges, by?: Attribution): void {
		const before = { ...stage };
		apply(stage, changes);
		this.#dispatch("STAGE_INSTANCE_UPDATE", stage);
		this.#audit(audit.update, stage, before, changes, by);
	}

	end(stage: StageInstance, by?: Attribution): void {
		this.#live.delete(stage.channel_id);
		this.#dispatch("STAGE_INSTANCE_DELETE", stage);
		this.#audit(audit.delete, stage, auditFields(stage), {}, by);
	}

	#dispatch(type: `STAGE_INSTANCE_${Verb}`, stage: StageInstance): void {
		this.state.dispatchToGuild(type, this.state.guildOf(stage), { ...stage });
	}

	#audit(
		log: typeof audit.create,
		stage: StageInstance,
		before: object,
		after: object,
		by: Attribution | undefined,
	): void {
		const { channel_id } = stage;
		log(this.state, this.state.guildOf(stage), stage, before, after, by, { channel_id });
	}
}

function auditFields({ topic, privacy_level }: StageInstance) {
	return { topic, privacy_level };
}
