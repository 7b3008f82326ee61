// Timeouts of members.

import type { GuildMember } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { memberName, time } from "../discord/describe.ts";
import { currentMember } from "../discord/find.ts";
import { isAdministrator } from "../discord/permissions.ts";
import { found, guild_id, reason } from "../tool/arguments.ts";
import { destructiveTool, editTool } from "../tool/define.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const unitsMs: Readonly<Record<string, number>> = {
	s: 1000,
	m: minuteMs,
	h: 60 * minuteMs,
	d: dayMs,
	w: 7 * dayMs,
};
const durationPattern = /^(\d{1,10}) ?([smhdwSMHDW]?)$/;
const maxDurationMs = 28 * dayMs;
/**
 * Longest timeout of a member that is sent to Discord: a minute below Discord's limit of 28 days, because clocks
 * differ. https://github.com/discord-jda/JDA/issues/2074
 */
const maxTimeoutMs = maxDurationMs - minuteMs;

/** Converts a duration such as "10m" to milliseconds. Returns undefined if it is invalid or longer than 28 days. */
function readDuration(text: string): number | undefined {
	const [, count, unit = "m"] = durationPattern.exec(text) ?? [];
	const ms = Number(count) * (unitsMs[unit.toLowerCase() || "m"] ?? Number.NaN);
	return ms > 0 && ms <= maxDurationMs ? ms : undefined;
}

const invalidDuration = ({ input }: { input: string }) =>
	`expected a duration of at most 28 days, such as "10m" (units s, m, h, d, w; minutes by default), received ${JSON.stringify(input)}`;

const duration = v.pipe(
	v.string(),
	v.regex(durationPattern, invalidDuration),
	v.check((input) => readDuration(input) !== undefined, invalidDuration),
	v.transform((input) => readDuration(input) as number),
	v.description(
		"At most 28 days: 90s, 10m, 2h, 3d, 1w; a bare number is in minutes.",
	),
);

export const timeout = destructiveTool({
	name: "timeout",
	toolset: "moderation",
	aliases: ["timeout_member"],
	title: "Time a member out",
	description:
		"Time a member out: they cannot write, react or speak. Replaces an earlier timeout. Administrators cannot be timed out.",
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_id",
	idempotent: false,
	input: v.strictObject({
		guild_id,
		user_id: found(currentMember, "member"),
		duration,
		reason,
	}),
	plan({ duration }, { guild, user: member }) {
		const name = memberName(member);
		if (isAdministrator(member))
			throw new ToolError(
				`${name} has ADMINISTRATOR: administrators cannot be timed out. Nothing was done; get_member shows their roles.`,
			);
		const before = timedOutUntil(member);
		const until = new Date(Date.now() + Math.min(duration, maxTimeoutMs));
		const instead = before ? `, instead of until ${time(before)}` : "";
		const target = `${name} until ${time(until)}${instead}.`;
		return {
			preview: `Would time out ${target}`,
			write: () =>
				guild.members.edit(member.id, { communicationDisabledUntil: until }),
			result: `Timed out ${target}`,
		};
	},
});

export const removeTimeout = editTool({
	name: "remove_timeout",
	toolset: "moderation",
	title: "Remove a timeout",
	description: "End a member's timeout at once.",
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_id",
	input: v.strictObject({
		guild_id,
		user_id: found(currentMember, "member"),
		reason,
	}),
	async run(_, { guild, user: member }) {
		const until = timedOutUntil(member);
		if (!until)
			throw new ToolError(
				`${memberName(member)} is not timed out. Nothing was done.`,
			);
		await guild.members.edit(member.id, { communicationDisabledUntil: null });
		return `Ended the timeout of ${memberName(member)}, which would have lasted until ${time(until)}.`;
	},
});

function timedOutUntil(member: GuildMember): Date | undefined {
	return member.isCommunicationDisabled()
		? member.communicationDisabledUntil
		: undefined;
}
