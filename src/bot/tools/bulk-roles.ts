// Adding a role to members, or removing it from them.

import { type Role, Routes } from "discord.js";
import * as v from "valibot";
import { memberFields, memberName, roleName } from "../../discord/describe.ts";
import { currentMember, knownMember, requireKnownMembers, role } from "../../discord/find.ts";
import { hasRole } from "../../discord/members/member-filter.ts";
import { countOf, thousands } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Said, said } from "../../texts/texts.ts";
import { asking, mentions, result } from "../results/result.ts";
import { choice, found, guild_id, list, reason, snowflake } from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { orWhere } from "../tool/people.ts";
import { asMembers, cachedMember } from "./members/several-members.ts";
import { requireAssignable } from "./roles.ts";

const maxCases = 20;
const maxNamed = 500;
const maxSkipped = 10;
/** With the facts by which `where` found them. */
export const maxShown = 50;

type Action = "add" | "remove";

export const bulkRoleUpdate = destructiveTool({
	name: "bulk_role_update",
	toolset: "roles",
	offered: "listed",
	title: "Add or remove a role",
	description:
		"Add or remove a role for the members in `user_ids`, or all that match `where`, whose first call is a preview.",
	permissions: ["ManageRoles"],
	intents: ["GuildMembers"],
	ranked: true,
	lock: "role_id",
	input: {
		guild_id,
		role_id: found(role, "role"),
		action: choice(["add", "remove"], "What to do."),
		...orWhere(list(found(cachedMember, "member"), 1, 1000, "Of these members.")),
		after: v.optional(v.pipe(snowflake("member"), v.description("The `next_after` of an unfinished call."))),
		reason,
	},
	async plan(args, { guild, role, users, connection, chosen }) {
		requireAssignable(role);
		const { action, after } = args;
		const [first] = users.length === 1 && !chosen && after === undefined ? users : [];
		const only = first && (await currentMember(guild, first.id, connection));
		if (!only) requireKnownMembers(guild, connection);
		const matching = only ? [only] : users.map(({ id }) => knownMember(guild, id, connection));
		const [lacking = [], having = []] = [false, true].map((has) =>
			matching.filter((one) => hasRole(one, role.id) === has),
		);
		const [fitting, others] = action === "add" ? [lacking, having] : [having, lacking];
		const members = fitting
			.filter(({ id }) => after === undefined || compareIds(id, after) > 0)
			.sort((a, b) => compareIds(a.id, b.id));
		const name = roleName(role);
		const target = only && memberName(only);
		if (only && members.length === 0) {
			const facts = { who: mentions([only]), role: `<@&${role.id}>` };
			const models = `Nothing would change: ${target} ${action === "add" ? "already has" : "does not have"} the role ${name}. Nothing was done.`;
			throw new SaidError(said(action === "add" ? "refusal.has_role" : "refusal.lacks_role", facts), { models });
		}
		const range = after ? ` with an id above ${after}` : "";
		const nothing = `Nothing to do: ${countOf(matching.length, "member")} match, and none of them${range} ${action === "add" ? "lacks" : "has"} ${name}.`;
		const none = result(nothing, said("refusal.nothing_to_change"));
		if (members.length === 0) return { preview: none, act: async () => none };
		const isEach = members.length <= maxCases;
		const { rest } = guild.client;
		const names = sample(others, maxSkipped, memberName).join(", ");
		const skipped =
			names && !after ? ` ${others.length} already ${action === "add" ? "had" : "lacked"} it: ${names}.` : "";
		const count = `${thousands(members.length)} of the ${countOf(matching.length, "member")} who match`;
		return planEach({
			items: members,
			asks: asking(
				only
					? action === "add"
						? `Would give ${target} the role ${name}.`
						: `Would take the role ${name} from ${target}.`
					: [
							action === "add" ? `Would give ${count} the role ${name}:` : `Would take the role ${name} from ${count}:`,
							...(chosen ? sample(members, maxShown, chosen.line) : sample(members, maxNamed, memberFields)),
						],
				saidOf(role, action, members, true),
			),
			record: {
				action: action === "add" ? "add_role" : "remove_role",
				userIds: isEach ? members.map(({ id }) => id) : [],
				detail: [`<@&${role.id}>`, ...(isEach ? [] : [said("case.detail.members", { count: members.length })])],
			},
			single:
				only &&
				result(
					action === "add" ? `Gave ${target} the role ${name}.` : `Took the role ${name} from ${target}.`,
					saidOf(role, action, members),
				),
			isSorted: !chosen,
			...asMembers,
			isShort: true,
			write: ({ id }) => rest[action === "add" ? "put" : "delete"](Routes.guildMemberRole(guild.id, id, role.id)),
			done: (count, of) =>
				action === "add"
					? `Gave ${thousands(count)} of ${countOf(of, "member")} the role ${name}.${skipped}`
					: `Took the role ${name} from ${thousands(count)} of ${countOf(of, "member")}.${skipped}`,
			people: (some) => saidOf(role, action, some),
		});
	},
});

function saidOf({ id }: Role, action: Action, members: readonly { id: string }[], asks = false): Said {
	const values = { who: mentions(members), role: `<@&${id}>` };
	if (asks) return said(action === "add" ? "result.add_role.ask" : "result.remove_role.ask", values);
	return said(action === "add" ? "result.add_role" : "result.remove_role", values);
}
