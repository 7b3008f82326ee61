// Timeouts of members.

import { type Guild, type GuildMember, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { forClients } from "../../discord/acting-person.ts";
import { memberFields, memberName, nowIs, time } from "../../discord/describe.ts";
import { describeBits, isAdministrator } from "../../discord/permissions.ts";
import { requireMembersBelow } from "../../discord/role-hierarchy.ts";
import { resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { published } from "../../mcp/json-schema.ts";
import type { ToolOutput } from "../../mcp/tool.ts";
import { guild_id, reason, tell } from "../tool/arguments/arguments.ts";
import { readDuration, readTime } from "../tool/arguments/times.ts";
import { writeEach } from "../tool/bulk.ts";
import { recorded } from "../tool/case-record.ts";
import { destructiveTool, editTool } from "../tool/define.ts";
import { memberLine } from "./members/bans.ts";
import { membersAmong, user_ids } from "./members/several-members.ts";

const minuteMs = 60_000;
const maxDurationMs = 28 * 24 * 60 * minuteMs;
/**
 * Longest timeout of a member that the bot sends to Discord: one minute less than Discord's limit of 28 days, because
 * clocks differ. https://github.com/discord-jda/JDA/issues/2074
 */
const maxTimeoutMs = maxDurationMs - minuteMs;

function readTimeout(text: string): number | undefined {
	const until = readTime(text.replace(" ", "T"));
	const ms = /^\d{1,10}$/.test(text) ? Number(text) * minuteMs : (readDuration(text) ?? (until && until - Date.now()));
	return ms !== undefined && ms > 0 && ms <= maxDurationMs ? ms : undefined;
}

const duration = v.pipe(
	v.string(),
	v.check(
		(input) => readTimeout(input) !== undefined,
		({ input }) =>
			`expected a duration of at most 28 days, such as "10m" (units s, m, h, d, w; minutes by default), or a time within them, received ${JSON.stringify(input)}; ${nowIs()}`,
	),
	v.transform((input) => readTimeout(input) as number),
	published({ pattern: "^\\d{1,10}($| ?[smhdwSMHDW])|^\\d{4}-\\d\\d-\\d\\d" }),
	v.description("At most 28 days: 10m, 3d, or a time."),
);

export const timeout = destructiveTool({
	name: "timeout",
	toolset: "moderation",
	title: "Time members out",
	description: "Time members out: they can only read. Replaces earlier timeouts.",
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_ids",
	idempotent: false,
	input: v.strictObject({ guild_id, user_ids, duration, reason, tell }),
	async plan({ duration }, { guild, users }) {
		const until = new Date(Date.now() + Math.min(duration, maxTimeoutMs));
		const write = ({ id }: GuildMember) => guild.members.edit(id, { communicationDisabledUntil: until });
		const { members, absent } = membersAmong(guild, users);
		const record = {
			action: "timeout" as const,
			userIds: members.map(({ id }) => id),
			endsAt: until.getTime(),
		};
		if (users.length === 1) {
			const user = await freshMember(guild, members);
			refuseAdministrators([user]);
			const before = timedOutUntil(user);
			const instead = before ? `, instead of until ${time(before)}` : "";
			const target = `${memberName(user)} until ${time(until)}${instead}${forClients(`; ${nowIs()}`)}.`;
			return {
				preview: `Would time out ${target}`,
				// The arguments have the duration.
				basis: `${memberName(user)}${instead}`,
				record,
				write: () => write(user),
				result: `Timed out ${target}`,
			};
		}
		refuseAdministrators(members);
		const end = `until ${time(until)}${forClients(`, ${nowIs()}`)}`;
		return {
			preview: resultLines(`Would time out ${members.length} member(s) ${end}:`, members.map(memberLine), absent),
			basis: resultLines(members.map(memberLine), absent),
			record,
			act: async (call) =>
				resultLines(
					await writeEach(
						{
							items: members,
							// The same call would begin again with the first member.
							next: (left) => `To continue, call again with user_ids ${idsOf(left)}.`,
							idOf: ({ id }) => id,
							describe: memberFields,
							write,
							done: (count, of) => `Timed out ${count} of ${of} member(s) ${end}:`,
						},
						call,
					),
					absent,
				),
		};
	},
});

function idsOf(members: readonly GuildMember[]): string {
	return members.map(({ id }) => id).join(", ");
}

function refuseAdministrators(members: readonly GuildMember[]): void {
	const names = members.filter(isAdministrator).map(memberName);
	if (names.length > 0)
		throw new ToolError(
			`${names.join(", ")} ${names.length > 1 ? "have" : "has"} ${describeBits(PermissionFlagsBits.Administrator)}: administrators cannot be timed out. Nothing was done${forClients("; get_member shows their roles")}.`,
		);
}

export const removeTimeout = editTool({
	name: "remove_timeout",
	toolset: "moderation",
	title: "Remove timeouts",
	description: "End members' timeouts at once.",
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_ids",
	input: v.strictObject({ guild_id, user_ids, reason, tell }),
	async run(args, context, call) {
		const { guild, users } = context;
		const end = (ended: readonly GuildMember[], work: () => Promise<ToolOutput>) =>
			recorded({ action: "remove_timeout", userIds: ended.map(({ id }) => id) }, args, context, work);
		const write = ({ id }: GuildMember) => guild.members.edit(id, { communicationDisabledUntil: null });
		const { members, absent } = membersAmong(guild, users);
		if (users.length === 1) {
			const user = await freshMember(guild, members);
			const until = timedOutUntil(user);
			if (!until) throw new ToolError(`${memberName(user)} is not timed out. Nothing was done.`);
			return end([user], async () => {
				await write(user);
				return `Ended the timeout of ${memberName(user)}, which would have lasted until ${time(until)}.`;
			});
		}
		const items = members.filter(timedOutUntil);
		const others = members.filter((member) => !timedOutUntil(member));
		if (items.length === 0) throw new ToolError("None of these members is timed out. Nothing was done.");
		const result = await end(items, () =>
			writeEach(
				{
					items,
					resumes: true,
					idOf: ({ id }) => id,
					describe: memberFields,
					write,
					done: (count, of) => `Ended ${count} of ${of} timeout(s):`,
				},
				call,
			),
		);
		return resultLines(
			result,
			others.length > 0 && `${others.length} not timed out: ${others.map(memberName).join(", ")}`,
			absent,
		);
	},
});

/** Fetches a member from Discord, because the cached member may not have the latest timeout. */
async function freshMember(guild: Guild, [member]: readonly GuildMember[]): Promise<GuildMember> {
	const user = member?.id ?? "";
	const fresh = await guild.members.fetch({ user, force: true });
	requireMembersBelow(guild, [fresh]);
	return fresh;
}

function timedOutUntil(member: GuildMember): Date | undefined {
	return member.isCommunicationDisabled() ? member.communicationDisabledUntil : undefined;
}
