// Events of discord.js after which background work has to look again, because Gateway events may have been missed.

import { type Client, Events, type Guild } from "discord.js";
import type { Connection } from "./connection.ts";

/**
 * Calls `onSession` when a shard, or all (undefined), may have lost earlier events, and `onGuild` for each guild that
 * the bot joins or that is available again.
 */
export function onSessionOrGuild(
	client: Client,
	onSession: (shard?: number) => void,
	onGuild: (guild: Guild) => void = () => onSession(),
): void {
	client.on(Events.ClientReady, () => onSession());
	client.on(Events.ShardReady, (shard) => onSession(shard));
	client.on(Events.GuildCreate, onGuild);
	client.on(Events.GuildAvailable, onGuild);
}

/** The guilds that must be looked at once in each session, because their events of before may have been missed. */
export class GuildChecks {
	readonly #states = new Map<string, "running" | "done">();

	constructor(private readonly connection: Pick<Connection, "guilds">) {}

	/** Calls `onSession` and `onGuild` when there are guilds to look at. */
	attach(client: Client, onSession: () => void, onGuild: () => void): void {
		const missed = (shard?: number) => {
			for (const { id, shardId } of this.connection.guilds) if (shardId === (shard ?? shardId)) this.#states.delete(id);
			onSession();
		};
		onSessionOrGuild(client, missed, ({ id }) => {
			this.#states.delete(id);
			onGuild();
		});
	}

	/** The available guilds that must be looked at. */
	get due(): Guild[] {
		return this.connection.guilds.filter((guild) => guild.available && !this.isDone(guild.id));
	}

	isDone(guildId: string): boolean {
		return this.#states.get(guildId) === "done";
	}

	/** Has the guild looked at again. */
	repeat(guildId: string): void {
		this.#states.delete(guildId);
	}

	/** Runs `look`. The guild is done if that succeeds and no events may have been missed meanwhile. */
	async run({ id }: Guild, look: () => Promise<void>): Promise<void> {
		this.#states.set(id, "running");
		try {
			await look();
			if (this.#states.has(id)) this.#states.set(id, "done");
		} catch (error) {
			this.#states.delete(id);
			throw error;
		}
	}
}
