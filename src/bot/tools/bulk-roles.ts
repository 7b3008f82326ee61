// Adding a role to many members, or removing it from them.

import { Routes } from "discord.js";
import * as v from "valibot";
import { memberFields, memberNames, roleName } from "../discord/describe.ts";
import { knownMember, requireKnownMembers, role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { hasRole, matcherFor } from "../discord/members/member-filter.ts";
import { countOf, thousands } from "../discord/text.ts";
import {
	choice,
	found,
	guild_id,
	list,
	reason,
	requireOneOf,
	snowflake,
} from "../tool/arguments.ts";
import { sample, writeEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { adaptFilters, filterNames, memberFilters } from "./members.ts";
import { requireAssignable } from "./roles.ts";

/** Maximum number of members that a result names. */
const maxNamed = 500;

export const bulkRoleUpdate = destructiveTool({
	name: "bulk_role_update",
	toolset: "roles",
	extra: true,
	title: "Add or remove a role in bulk",
	description:
		"Add or remove a role for the members in `user_ids`, or for all who match all filters.",
	permissions: ["ManageRoles"],
	intents: ["GuildMembers"],
	ranked: true,
	lock: "role_id",
	adapt: adaptFilters,
	input: v.strictObject({
		guild_id,
		role_id: found(role, "role"),
		action: choice(["add", "remove"], "What to do."),
		user_ids: v.optional(
			list(found(knownMember, "member"), 1, 1000, "Of these members."),
		),
		...memberFilters,
		after: v.optional(
			v.pipe(
				snowflake("member"),
				v.description("The `next_after` of an unfinished call."),
			),
		),
		reason,
	}),
	plan(args, { guild, role, users, connection }) {
		requireAssignable(role);
		const { action, after } = args;
		requireOneOf(args, ["user_ids", ...filterNames]);
		requireKnownMembers(guild, connection);
		const matching = (users ?? [...guild.members.cache.values()]).filter(
			matcherFor(args, Date.now()),
		);
		const members = matching
			.filter(
				(member) =>
					hasRole(member, role.id) !== (action === "add") &&
					(after === undefined || compareIds(member.id, after) > 0),
			)
			.sort((a, b) => compareIds(a.id, b.id));
		const name = roleName(role);
		const range = after ? ` with an id above ${after}` : "";
		const nothing = `Nothing to do: ${countOf(matching.length, "member")} match, and none of them${range} ${action === "add" ? "lacks" : "has"} ${name}.`;
		if (members.length === 0)
			return { preview: nothing, act: async () => nothing };
		const count = `${thousands(members.length)} of the ${countOf(matching.length, "member")} who match`;
		return {
			preview: [
				action === "add"
					? `Would give ${count} the role ${name}:`
					: `Would take the role ${name} from ${count}:`,
				...sample(members, maxNamed, memberFields),
			],
			act: (call) =>
				writeEach(
					{
						items: members,
						idOf: ({ id }) => id,
						describe: memberFields,
						listed: { describe: memberNames, max: maxNamed },
						write({ id }) {
							const route = Routes.guildMemberRole(guild.id, id, role.id);
							const { rest } = guild.client;
							return action === "add" ? rest.put(route) : rest.delete(route);
						},
						done: (count, of) =>
							action === "add"
								? `Gave ${thousands(count)} of ${countOf(of, "member")} the role ${name}:`
								: `Took the role ${name} from ${thousands(count)} of ${countOf(of, "member")}:`,
					},
					call,
				),
		};
	},
});
