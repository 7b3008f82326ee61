// Events of discord.js after which background work has to look again, because Gateway events may have been missed.

import { type Client, Events, type Guild } from "discord.js";

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
