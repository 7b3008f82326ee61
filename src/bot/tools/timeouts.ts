// Time-outs: a member who may only read, for a while.

import type { GuildMember } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { memberName, time } from "../discord/describe.ts";
import { currentMember } from "../discord/find.ts";
import { isAdministrator } from "../discord/permissions.ts";
import { found, guild_id, reason } from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";

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
const longestMs = 28 * dayMs;

/** A length of time in milliseconds; undefined for none, and for one that Discord does not take. */
function readDuration(text: string): number | undefined {
	const [, count, unit = "m"] = durationPattern.exec(text) ?? [];
	const ms = Number(count) * (unitsMs[unit.toLowerCase() || "m"] ?? Number.NaN);
	return ms > 0 && ms <= longestMs ? ms : undefined;
}

const notADuration = ({ input }: { input: string }) =>
	`expected a number with s, m, h, d or w, such as "10m", or of minutes, and at most 28 days, received ${JSON.stringify(input)}`;

const duration = v.pipe(
	v.string(),
	v.regex(durationPattern, notADuration),
	v.check((input) => readDuration(input) !== undefined, notADuration),
	v.transform((input) => readDuration(input) as number),
	v.description(
		"How long from now, at most 28 days: 90s, 10m, 2h, 3d, 1w; a bare number counts minutes.",
	),
);

export const timeout = destructiveTool({
	name: "timeout",
	toolset: "moderation",
	aliases: ["timeout_member"],
	title: "Time a member out",
	description:
		"Time a member out: they can read, and neither write, react nor speak. It replaces an earlier one. Administrators cannot be timed out.",
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_id",
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
				`${name} has ADMINISTRATOR, and Discord lets nobody time an administrator out. Nothing was done; get_member shows their roles.`,
			);
		const before = timedOutUntil(member);
		const until = new Date(Date.now() + duration);
		const instead = before ? `, instead of until ${time(before)}` : "";
		const what = `${name} until ${time(until)}${instead}.`;
		return {
			preview: `Would time out ${what}`,
			async act() {
				await guild.members.edit(member.id, {
					communicationDisabledUntil: until,
				});
				return `Timed out ${what}`;
			},
		};
	},
});

export const removeTimeout = tool({
	name: "remove_timeout",
	toolset: "moderation",
	title: "End a time-out",
	description: "End a member's time-out at once.",
	effect: "write",
	idempotent: true,
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
		return `Ended the time-out of ${memberName(member)}, which would have lasted until ${time(until)}.`;
	},
});

function timedOutUntil(member: GuildMember): Date | undefined {
	return member.isCommunicationDisabled()
		? member.communicationDisabledUntil
		: undefined;
}
