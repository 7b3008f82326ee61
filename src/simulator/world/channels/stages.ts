// Stage instances: the live stages and their topics. A stage without speakers stays live.
// https://discord.com/developers/docs/resources/stage-instance

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, GuildChannel, StageInstance } from "../state/entities.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

/** The fields of a stage instance that can be edited. */
export type StageChanges = Changes<
	Pick<StageInstance, "topic" | "privacy_level">
>;

export class Stages {
	/** By channel id. */
	readonly #live = new Map<string, StageInstance>();
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
		state.subscribe(({ type, data }) => {
			if (type !== "CHANNEL_DELETE") return;
			const { id } = data({ id: "", seesContent: false });
			const stage = this.#live.get(String(id));
			if (stage) this.#remove(stage);
		});
	}

	/** The stage instance of a channel, if it is live. */
	of({ id }: GuildChannel): StageInstance | undefined {
		return this.#live.get(id);
	}

	in({ id }: Guild): StageInstance[] {
		return [...this.#live.values()].filter(({ guild_id }) => guild_id === id);
	}

	start(
		channel: GuildChannel,
		given: StageChanges & { topic: string },
		by?: Attribution,
	): StageInstance {
		const guild = this.#state.guildOf(channel);
		const stage: StageInstance = {
			id: this.#state.newId(),
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
		const { topic, privacy_level } = stage;
		this.#audit(stage, AuditLogEvent.StageInstanceCreate, by, {
			changes: changesBetween({}, { topic, privacy_level }),
		});
		return stage;
	}

	edit(stage: StageInstance, changes: StageChanges, by?: Attribution): void {
		const before = { ...stage };
		apply(stage, changes);
		this.#dispatch("STAGE_INSTANCE_UPDATE", stage);
		this.#audit(stage, AuditLogEvent.StageInstanceUpdate, by, {
			changes: changesBetween(before, changes),
		});
	}

	end(stage: StageInstance, by?: Attribution): void {
		this.#remove(stage);
		const { topic, privacy_level } = stage;
		this.#audit(stage, AuditLogEvent.StageInstanceDelete, by, {
			changes: changesBetween({ topic, privacy_level }, {}),
		});
	}

	#remove(stage: StageInstance): void {
		this.#live.delete(stage.channel_id);
		this.#dispatch("STAGE_INSTANCE_DELETE", stage);
	}

	#dispatch(
		type: `STAGE_INSTANCE_${"CREATE" | "UPDATE" | "DELETE"}`,
		stage: StageInstance,
	): void {
		const guild = this.#state.guilds.get(stage.guild_id);
		if (guild) this.#state.dispatchToGuild(type, guild, () => ({ ...stage }));
	}

	#audit(
		{ id, guild_id, channel_id }: StageInstance,
		action: AuditLogEvent,
		by: Attribution | undefined,
		more: { changes: ReturnType<typeof changesBetween> },
	): void {
		const guild = this.#state.guilds.get(guild_id);
		if (!guild) return;
		const options = { channel_id };
		this.#state.audit(guild, by, action, id, { ...more, options });
	}
}
