// Stages: which stage channels are live, and with what topic. One that nobody speaks on stays live here.
// https://discord.com/developers/docs/resources/stage-instance

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, GuildChannel, StageInstance } from "../state/entities.ts";
import {
	apply,
	type Changes,
	type Doing,
	type Telling,
} from "../state/state.ts";

/** What may be changed of a live stage. */
export type StageChanges = Changes<
	Pick<StageInstance, "topic" | "privacy_level">
>;

/** The stages of all guilds, as far as they are live. */
export class Stages {
	/** By the id of the channel. */
	readonly #live = new Map<string, StageInstance>();
	readonly #world: Telling;

	constructor(world: Telling) {
		this.#world = world;
		world.subscribe(({ type, data }) => {
			if (type !== "CHANNEL_DELETE") return;
			const { id } = data({ id: "", seesContent: false });
			const stage = this.#live.get(String(id));
			if (stage) this.#remove(stage);
		});
	}

	/** The stage of this channel, while it is live. */
	of({ id }: GuildChannel): StageInstance | undefined {
		return this.#live.get(id);
	}

	in({ id }: Guild): StageInstance[] {
		return [...this.#live.values()].filter(({ guild_id }) => guild_id === id);
	}

	start(
		channel: GuildChannel,
		given: StageChanges & { topic: string },
		doing?: Doing,
	): StageInstance {
		const guild = this.#world.guildOf(channel);
		const stage: StageInstance = {
			id: this.#world.newId(),
			guild_id: guild.id,
			channel_id: channel.id,
			topic: given.topic,
			// For the members of the guild.
			privacy_level: 2,
			discoverable_disabled: true,
			guild_scheduled_event_id: null,
		};
		apply(stage, given);
		this.#live.set(channel.id, stage);
		this.#tell("STAGE_INSTANCE_CREATE", stage);
		const { topic, privacy_level } = stage;
		this.#log(stage, AuditLogEvent.StageInstanceCreate, doing, {
			changes: changesBetween({}, { topic, privacy_level }),
		});
		return stage;
	}

	edit(stage: StageInstance, changes: StageChanges, doing?: Doing): void {
		const before = { ...stage };
		apply(stage, changes);
		this.#tell("STAGE_INSTANCE_UPDATE", stage);
		this.#log(stage, AuditLogEvent.StageInstanceUpdate, doing, {
			changes: changesBetween(before, changes),
		});
	}

	end(stage: StageInstance, doing?: Doing): void {
		this.#remove(stage);
		const { topic, privacy_level } = stage;
		this.#log(stage, AuditLogEvent.StageInstanceDelete, doing, {
			changes: changesBetween({ topic, privacy_level }, {}),
		});
	}

	#remove(stage: StageInstance): void {
		this.#live.delete(stage.channel_id);
		this.#tell("STAGE_INSTANCE_DELETE", stage);
	}

	#tell(
		type: `STAGE_INSTANCE_${"CREATE" | "UPDATE" | "DELETE"}`,
		stage: StageInstance,
	): void {
		const guild = this.#world.guilds.get(stage.guild_id);
		if (guild) this.#world.tell(type, guild, () => ({ ...stage }));
	}

	#log(
		{ id, guild_id, channel_id }: StageInstance,
		action: AuditLogEvent,
		doing: Doing | undefined,
		more: { changes: ReturnType<typeof changesBetween> },
	): void {
		const guild = this.#world.guilds.get(guild_id);
		if (!guild) return;
		const options = { channel_id };
		this.#world.log(guild, doing, action, id, { ...more, options });
	}
}
