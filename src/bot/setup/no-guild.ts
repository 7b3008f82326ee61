// A bot that is in no guild can do nothing. It says so in its log, with the link that invites it.

import { type Client, Events } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { BotConfig } from "../config/config.ts";
import { inviteTo } from "./guild-checks.ts";

/** Warns when `client` has logged in and is in no guild, and when it has left its last one. */
export function warnWithoutGuild(
	client: Client,
	toml: BotConfig["toml"],
	log: Log,
): void {
	const look = () => {
		// A guild that is away for an outage is in the cache.
		if (client.isReady() && client.guilds.cache.size === 0)
			log.warn("the bot is in no guild", { invite: inviteTo(client, toml) });
	};
	client.on(Events.ClientReady, look);
	client.on(Events.GuildDelete, look);
}
