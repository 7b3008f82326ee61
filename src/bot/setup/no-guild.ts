// Logs a warning with the invite link while the bot is in no guild.

import { type Client, Events } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { BotConfig } from "../config/config.ts";
import { inviteTo } from "./guild-checks.ts";

/** After a login, and after leaving a guild. */
export function noGuildWarning(toml: BotConfig["toml"], log: Log) {
	return {
		attach(client: Client): void {
			const warnIfNone = () => {
				// Unavailable guilds stay in the cache.
				if (client.isReady() && client.guilds.cache.size === 0)
					log.warn("the bot is in no guild, open this link to invite it", { invite: inviteTo(client, toml) });
			};
			client.on(Events.ClientReady, warnIfNone);
			client.on(Events.GuildDelete, warnIfNone);
		},
	};
}
