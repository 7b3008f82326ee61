// Diagnostics: facts about the bot, and checks of its setup.

import type { Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { time, userName } from "../../discord/describe.ts";
import { isSwitchedOn, privilegedIntents } from "../../discord/intents.ts";
import { oneLine } from "../../discord/text.ts";
import { version } from "../../lib/program/program.ts";
import { reportSetup } from "../setup/setup-report.ts";
import { guild_id } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";

export const getBotInfo = readTool({
	name: "get_bot_info",
	toolset: "diagnostics",
	title: "Get bot info",
	description: "The bot's name, version, uptime, connection, latency, intents, database, toolsets and guilds.",
	input: {},
	run(_, { discord, connection, self, mayTouch }) {
		const { user, application, ws, options, guilds } = discord;
		const { connected, since } = connection.state;
		const { tools, store } = self;
		const touchable = guilds.cache.filter(({ id }) => mayTouch(id));
		const toolsets = new Set(tools.map(({ toolset }) => toolset));
		return [
			`${userName(user)}, called ${oneLine(self.name)} in its configuration`,
			`application: ID: ${application.id}`,
			`version: ${version}, running since ${time(Date.now() - process.uptime() * 1000)}`,
			`Discord's Gateway: ${connected ? "connected" : "not connected"} since ${time(since)}, latency: ${ws.ping < 0 ? "not measured yet" : `${Math.round(ws.ping)} ms`}`,
			...shardLine(connection, [...touchable.values()]),
			...Object.values(privilegedIntents).map(
				(intent) =>
					`${intent.title}: ${isSwitchedOn(discord, intent) ? "switched on" : "switched off"}, ${options.intents.has(intent.bit) ? "used" : "not used"} on Discord's Gateway`,
			),
			`guilds: ${touchable.size}, shown by list_guilds`,
			`database: ${store.state} since ${time(store.since)}`,
			`tools: ${tools.length}, of the toolsets ${[...toolsets].join(", ") || "none"}`,
		];
	},
});

function shardLine(connection: Connection, guilds: readonly Guild[]): string[] {
	const { shards } = connection;
	if (shards.length === 1) return [];
	const lost = shards.filter(({ connected }) => !connected);
	const missing = lost.map(({ id, since }) => {
		const own = guilds.filter((guild) => connection.shardOf(guild) === id);
		return `shard ${id} not connected since ${time(since)}, ${own.length} guild(s)`;
	});
	const connected = `${shards.length - lost.length} of ${shards.length} connected`;
	return [`shards: ${[connected, ...missing].join("; ")}`];
}

export const runSetupCheck = readTool({
	name: "run_setup_check",
	toolset: "diagnostics",
	offered: "listed",
	title: "Check the bot's setup",
	description:
		"Check what the bot needs in a guild: intents, permissions, rank, hidden channels, configuration; with next steps.",
	person: { permissions: [{ permission: "ManageGuild", inGuild: true }], managesBot: true },
	input: { guild_id },
	run(_, { discord, guild, connection, self, settings, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(({ id, available }) => available && mayTouch(id));
		return reportSetup({ guild, guilds, connection, self, settings });
	},
});
