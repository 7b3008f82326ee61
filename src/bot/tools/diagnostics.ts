// Diagnostics: effective permissions, facts about the bot, and checks of its setup.

import { GuildMember, type Role } from "discord.js";
import * as v from "valibot";
import { version } from "../../lib/program.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import {
	isSwitchedOn,
	privilegedIntents,
} from "../discord/connection/intents.ts";
import {
	channelName,
	memberName,
	roleName,
	time,
	userName,
} from "../discord/describe.ts";
import {
	type Decision,
	type Effective,
	effectivePermissions,
} from "../discord/effective-permissions.ts";
import { anyChannel, member, role } from "../discord/find.ts";
import { permissionNames, readBits } from "../discord/permissions.ts";
import { oneLine, resultLines } from "../discord/text.ts";
import { reportSetup } from "../setup/setup-report.ts";
import { found, guild_id, list } from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

export const checkPermissions = readTool({
	name: "check_permissions",
	toolset: "diagnostics",
	title: "Check permissions",
	description:
		"Effective permissions of a member, or of a role alone, in a channel or the guild, and what decides each: role, channel permissions, timeout. Takes user_id or role_id.",
	input: v.strictObject({
		guild_id,
		user_id: v.optional(found(member, "member")),
		role_id: v.optional(found(role, "role")),
		channel_id: v.optional(found(anyChannel, "channel or thread")),
		permissions: v.optional(
			list(v.string(), 1, 64, "Only these, by name: VIEW_CHANNEL."),
		),
	}),
	run({ permissions }, { guild, user: member, role, channel }) {
		const subject = member ?? role;
		if (!subject || (member && role))
			throw invalidParameters([
				"user_id, role_id: expected exactly one of these",
			]);
		const fields = ["permissions", "permissions"] as const;
		const requested = readBits(fields, undefined, permissions);
		const effective = effectivePermissions(guild, subject, channel);
		const decisions = selectDecisions(effective, requested);
		const allowed = decisions.filter(({ allowed }) => allowed).length;
		const where = channel
			? channelName(channel)
			: "the guild, without channel permissions";
		const { bits, reasonForEverything } = effective;
		return resultLines(
			`${allowed} permission(s) allowed, ${decisions.length - allowed} not, for ${nameOf(subject)} in ${where}; all allowed permissions as bits: ${bits}`,
			reasonForEverything && `everything is allowed ${reasonForEverything}`,
			(!reasonForEverything || requested !== undefined) &&
				decisions.map(lineOf),
			channel?.isThread() &&
				"A thread has the permissions of its channel, with SEND_MESSAGES_IN_THREADS in place of SEND_MESSAGES. A private thread is visible only to its members and with MANAGE_THREADS.",
		);
	},
});

function nameOf(subject: GuildMember | Role): string {
	if (subject instanceof GuildMember) return memberName(subject);
	return `a member with ${roleName(subject)} as the only role`;
}

/**
 * Selects which permissions to report: the requested ones, or if none are requested, all that are allowed or explicitly
 * denied.
 */
function selectDecisions(
	{ decisions }: Effective,
	requested: bigint | undefined,
): Decision[] {
	if (requested === undefined)
		return decisions.filter(({ why }) => why !== undefined);
	const names = permissionNames(requested);
	return decisions.filter(({ name }) => names.includes(name));
}

function lineOf({ name, allowed, why }: Decision): string {
	return `${name} | ${allowed ? "allowed" : "denied"} ${why ?? "because no role grants it"}`;
}

export const getBotInfo = readTool({
	name: "get_bot_info",
	toolset: "diagnostics",
	title: "Get bot info",
	description:
		"The bot's names and ids, version, uptime, connection to Discord with latency, privileged intents, database, toolsets and number of guilds.",
	input: v.strictObject({}),
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

export const runSetupCheck = readTool({
	name: "run_setup_check",
	toolset: "diagnostics",
	title: "Check the bot's setup",
	description:
		"Check what tools need in a guild: intents, permissions, the rank of the bot's role, hidden channels, ids in the configuration. A line for each: ok, warning or error, and the next step.",
	input: v.strictObject({ guild_id }),
	run(_, { discord, guild, connection, self, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(
			({ id, available }) => available && mayTouch(id),
		);
		return reportSetup({ guild, guilds, connection, self });
	},
});
