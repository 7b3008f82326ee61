// Kicks, pruning and timeouts of members.

import {
	type GuildMember,
	makeURLSearchParams,
	PermissionFlagsBits,
	type RESTGetAPIGuildPruneCountResult,
	type RESTPostAPIGuildPruneResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { memberFields, memberName, nowIs, roleName, time } from "../../discord/describe.ts";
import { role } from "../../discord/find.ts";
import { requirePruning } from "../../discord/guild-features.ts";
import { describeBits, isAdministrator } from "../../discord/permissions.ts";
import { requireRolesBelow } from "../../discord/role-hierarchy.ts";
import { readDuration, readTime } from "../../lib/times.ts";
import { published } from "../../mcp/json-schema.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { asking, at, forModels, mentions, parts, result, roles as roleMentions } from "../results/result.ts";
import { duration, flag, found, guild_id, list, reason, tell } from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import { destructiveTool, editTool } from "../tool/define.ts";
import { orWhere } from "../tool/people.ts";
import { maxShown } from "./bulk-roles.ts";
import { memberLine } from "./members/bans.ts";
import { asMembers, caseOf, continuing, currentAmong, membersAmong, user_ids } from "./members/several-members.ts";

const kicked = (members: readonly { id: string }[]) => said("result.kick", { who: mentions(members) });

export const kick = destructiveTool(
	{
		name: "kick",
		toolset: "moderation",
		title: "Kick members",
		description: "Kick members; they can rejoin.",
		permissions: ["KickMembers"],
		person: { may: "kick" },
		ranked: true,
		lock: "user_ids",
		input: { guild_id, user_ids, reason, tell },
		plan(_, { guild, users }) {
			const { members, absent } = membersAmong(guild, users);
			const [only] = users.length === 1 ? members : [];
			return planEach({
				...asMembers,
				items: members,
				asks: asking(
					only
						? `Would kick ${memberName(only)}, who has ${only.roles.cache.size - 1} role(s).`
						: [`Would kick ${members.length} member(s); ${nowIs()}:`, ...members.map(memberLine)],
					said("result.kick.ask", { who: mentions(members) }),
				),
				rest: absent,
				record: caseOf("kick", members),
				single: only && result(`Kicked ${memberName(only)}.`, kicked([only])),
				write: ({ id }) => guild.client.rest.delete(Routes.guildMember(guild.id, id)),
				done: (count, of) => `Kicked ${count} of ${of} member(s):`,
				people: kicked,
			});
		},
	},
	{ idempotent: false },
);

/** Discord returns their number, but not who they are. */
export const pruneMembers = destructiveTool(
	{
		name: "prune_members",
		toolset: "moderation",
		offered: "extra",
		title: "Prune members",
		description:
			"Kick all members who have been inactive for some days and have no roles; they can rejoin. A dry run counts them; Discord does not say who they are.",
		permissions: ["ManageGuild", "KickMembers"],
		lock: "guild_id",
		input: {
			guild_id,
			inactive: v.optional(duration({ min: "1d", max: "30d", whole: "days" }, "Whole days without activity."), "7d"),
			include_role_ids: v.optional(list(found(role, "role"), 1, 100, "Also members whose roles are all among these.")),
			compute_prune_count: flag("False if many."),
			reason,
		},
		plan({ inactive, compute_prune_count = true }, { guild, include_roles }) {
			const days = inactive / 86_400;
			requirePruning(guild);
			const person = actingPerson(guild);
			// A guess: Discord's prune goes by the rank of the one who prunes, as its kick does.
			if (person && include_roles) requireRolesBelow(guild, include_roles, [person]);
			const exceptions = include_roles ? ` except ${include_roles.map(roleName).join(", ")}` : "";
			const criteria = `have been inactive for ${days} day(s) and have no roles${exceptions}`;
			const roleIds = include_roles?.map(({ id }) => id);
			const { rest } = guild.client;
			return {
				record: { action: "prune", userIds: [], detail: [said("case.detail.inactive", { count: days })] },
				async preview() {
					const query = makeURLSearchParams({ days, include_roles: roleIds?.join(",") });
					const counted = await rest.get(Routes.guildPrune(guild.id), { query });
					const count = (counted as RESTGetAPIGuildPruneCountResult).pruned;
					return asking(
						`Would remove ${count} member(s) of the guild ${guild.id} who ${criteria}.`,
						said("preview.prune", { count, since: `<t:${Math.floor(Date.now() / 1000) - inactive}:D>` }),
						include_roles && said("preview.prune_roles", { roles: roleMentions(include_roles) }),
					);
				},
				async act() {
					const body = { days, compute_prune_count, include_roles: roleIds ?? [] };
					const { pruned } = (await rest.post(Routes.guildPrune(guild.id), { body })) as RESTPostAPIGuildPruneResult;
					return pruned === null
						? `Discord removes the members who ${criteria}; their number was not requested.`
						: `Removed ${pruned} member(s) who ${criteria}.`;
				},
			};
		},
	},
	{ idempotent: false },
);

const minuteMs = 60_000;
const maxDurationMs = 28 * 24 * 60 * minuteMs;
/** One minute less than Discord's limit, because clocks differ. https://github.com/discord-jda/JDA/issues/2074 */
const maxTimeoutMs = maxDurationMs - minuteMs;

function readTimeout(text: string): number | undefined {
	const until = readTime(text.replace(" ", "T"));
	const ms = /^\d{1,10}$/.test(text) ? Number(text) * minuteMs : (readDuration(text) ?? (until && until - Date.now()));
	return ms !== undefined && ms > 0 && ms <= maxDurationMs ? ms : undefined;
}

const timeoutDuration = v.pipe(
	v.string(),
	v.check(
		(input) => readTimeout(input) !== undefined,
		({ input }) =>
			`expected a duration of at most 28 days, such as "10m" (units s, m, h, d, w; minutes by default), or a time within them, received ${JSON.stringify(input)}; ${nowIs()}`,
	),
	published({ pattern: "^\\d{1,10}($| ?[smhdwSMHDW])|^\\d{4}-\\d\\d-\\d\\d" }),
	v.description("At most 28 days: 10m, 3d, or a time."),
);

export const timeout = destructiveTool(
	{
		name: "timeout",
		toolset: "moderation",
		offered: "listed",
		title: "Time members out",
		description: "Time members out: they can only read. Replaces earlier timeouts.",
		person: { may: "timeout" },
		permissions: ["ModerateMembers"],
		ranked: true,
		lock: "user_ids",
		input: { guild_id, ...orWhere(user_ids, 200), duration: timeoutDuration, reason, tell },
		async plan({ duration }, { guild, users, chosen }) {
			const until = new Date(Date.now() + Math.min(readTimeout(duration) ?? 0, maxTimeoutMs));
			const { members, absent, only } = await currentAmong(guild, users);
			const administrators = members.filter(isAdministrator);
			if (administrators.length > 0)
				throw new SaidError(said("refusal.administrators", { who: mentions(administrators) }), {
					models: `${administrators.map(memberName).join(", ")} ${administrators.length > 1 ? "have" : "has"} ${describeBits(PermissionFlagsBits.Administrator)}: administrators cannot be timed out. Nothing was done; get_member shows their roles.`,
				});
			const before = only && timedOutUntil(only);
			const instead = before ? `, instead of until ${time(before)}` : "";
			const target = only && !chosen && `${memberName(only)} until ${time(until)}${instead}; ${nowIs()}.`;
			const end = `until ${time(until)}, ${nowIs()}`;
			const lines = chosen ? sample(members, maxShown, chosen.line) : members.map(memberLine);
			const done = (some: readonly GuildMember[]) =>
				before
					? said("result.timeout_changed", { who: mentions(some), until: at(until), before: at(before) })
					: said("result.timeout", { who: mentions(some), until: at(until) });
			return planEach({
				...asMembers,
				items: members,
				asks: asking(
					target ? `Would time out ${target}` : [`Would time out ${members.length} member(s) ${end}:`, ...lines],
					said("result.timeout.ask", { who: mentions(members), until: at(until) }),
				),
				rest: absent,
				// The arguments have the duration.
				basis: only ? `${memberName(only)}${instead}` : forModels(parts(lines, absent)),
				record: { ...caseOf("timeout", members), endsAt: until.getTime() },
				single: target && result(`Timed out ${target}`, done(members)),
				next: continuing(chosen),
				write: ({ id }) => guild.members.edit(id, { communicationDisabledUntil: until }),
				done: (count, of) => `Timed out ${count} of ${of} member(s) ${end}:`,
				people: done,
			});
		},
	},
	{ idempotent: false },
);

export const removeTimeout = editTool({
	name: "remove_timeout",
	toolset: "moderation",
	title: "Remove timeouts",
	description: "End members' timeouts at once.",
	person: { may: "timeout" },
	permissions: ["ModerateMembers"],
	ranked: true,
	lock: "user_ids",
	input: { guild_id, user_ids, reason, tell },
	async plan(_, { guild, users }) {
		const { members, absent, only } = await currentAmong(guild, users);
		const items = members.filter(timedOutUntil);
		const others = members.filter((member) => !timedOutUntil(member));
		if (items.length === 0)
			throw new SaidError(said("refusal.nothing_done", { why: notTimedOut(members) }), {
				models: `${only ? `${memberName(only)} is not` : "None of these members is"} timed out. Nothing was done.`,
			});
		const lasting = only && `the timeout of ${memberName(only)}, which would`;
		const unchanged = parts(
			others.length > 0 &&
				result(`${others.length} not timed out: ${others.map(memberName).join(", ")}`, notTimedOut(others)),
			absent,
		);
		const done = (some: readonly GuildMember[]) => said("result.remove_timeout", { who: mentions(some) });
		return planEach({
			...asMembers,
			items,
			asks: asking(
				only
					? `Would end ${lasting} last until ${time(timedOutUntil(only))}.`
					: [
							`Would end ${items.length} timeout(s):`,
							...items.map((member) => `${memberFields(member)} | until ${time(timedOutUntil(member))}`),
						],
				said("result.remove_timeout.ask", { who: mentions(items) }),
			),
			rest: unchanged,
			record: caseOf("remove_timeout", items),
			single: only && result(`Ended ${lasting} have lasted until ${time(timedOutUntil(only))}.`, done(items)),
			write: ({ id }) => guild.members.edit(id, { communicationDisabledUntil: null }),
			done: (done, of) => `Ended ${done} of ${of} timeout(s):`,
			people: done,
		});
	},
});

const notTimedOut = (members: readonly GuildMember[]) => said("refusal.not_timed_out", { who: mentions(members) });

function timedOutUntil(member: GuildMember): Date | undefined {
	return member.isCommunicationDisabled() ? member.communicationDisabledUntil : undefined;
}
