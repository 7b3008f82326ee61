// Finding out why something does not work: who may do what, who the bot is, and what of its setup is amiss.

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
import { oneLine } from "../discord/text.ts";
import { reportSetup } from "../setup/setup-report.ts";
import { found, guild_id, list } from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

export const checkPermissions = tool({
	name: "check_permissions",
	toolset: "diagnostics",
	title: "Check permissions",
	description:
		"What a member, or whoever has one role only, may do in a channel or the guild, and for each permission what decides it: role, channel permissions, time-out. Takes user_id or role_id.",
	effect: "read",
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
		const asked = readBits(
			["permissions", "permissions"],
			undefined,
			permissions,
		);
		const effective = effectivePermissions(guild, subject, channel);
		const shown = shownOf(effective, asked);
		const allowed = shown.filter((one) => one.allowed).length;
		const where = channel
			? channelName(channel)
			: "the guild, channels left aside";
		return [
			`${allowed} permission(s) allowed, ${shown.length - allowed} not, for ${nameOf(subject)} in ${where}; all that is allowed as bits: ${effective.bits}`,
			...(effective.reasonForEverything
				? [`everything is allowed ${effective.reasonForEverything}`]
				: []),
			...(effective.reasonForEverything && asked === undefined
				? []
				: shown.map(lineOf)),
			...(channel?.isThread()
				? [
						"A thread has the permissions of its channel; SEND_MESSAGES_IN_THREADS counts there in place of SEND_MESSAGES. A private one is open only to its members, and to who has MANAGE_THREADS.",
					]
				: []),
		];
	},
});

function nameOf(subject: GuildMember | Role): string {
	if (subject instanceof GuildMember) return memberName(subject);
	return `whoever has ${roleName(subject)} and no other role`;
}

/** Those that are asked for; else all that is allowed, or denied by something. */
function shownOf(
	{ decisions }: Effective,
	asked: bigint | undefined,
): Decision[] {
	if (asked === undefined)
		return decisions.filter(({ why }) => why !== undefined);
	const names = permissionNames(asked);
	return decisions.filter(({ name }) => names.includes(name));
}

function lineOf({ name, allowed, why }: Decision): string {
	return `${name} | ${allowed ? "allowed" : "denied"} ${why ?? "because no role grants it"}`;
}

export const getBotInfo = tool({
	name: "get_bot_info",
	toolset: "diagnostics",
	title: "Get the bot's facts",
	description:
		"Who the bot is: names and ids, version, how long it runs, its connection to Discord with latency, privileged intents, database, toolsets and how many guilds it is in.",
	effect: "read",
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

export const runSetupCheck = tool({
	name: "run_setup_check",
	toolset: "diagnostics",
	title: "Check the bot's setup",
	description:
		"Look for what keeps the bot's tools from working in a guild: intents, permissions, its role's rank, hidden channels, what its configuration names. A line for each: ok, warning or fault, and the next step.",
	effect: "read",
	input: v.strictObject({ guild_id }),
	run(_, { discord, guild, connection, self, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(
			({ id, available }) => available && mayTouch(id),
		);
		return reportSetup({ guild, guilds, connection, self });
	},
});
