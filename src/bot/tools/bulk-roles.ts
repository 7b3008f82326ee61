// Adding a role to many members, or removing it from them.

import { Routes } from "discord.js";
import * as v from "valibot";
import { memberFields, roleName } from "../discord/describe.ts";
import { knownMember, requireKnownMembers, role } from "../discord/find.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	list,
	moment,
	reason,
	requireOneOf,
	snowflake,
} from "../tool/arguments.ts";
import { sample, writeEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { matcherFor, pageOf } from "./members.ts";
import { requireAssignable } from "./roles.ts";

const previewSize = 5;

export const bulkRoleUpdate = destructiveTool({
	name: "bulk_role_update",
	toolset: "roles",
	extra: true,
	title: "Add or remove a role in bulk",
	description:
		"Add a role to the members who match all given filters, or remove it, in the order of ids. If time runs out, continue with `next_after` as `after`.",
	permissions: ["ManageRoles"],
	intents: ["GuildMembers"],
	ranked: true,
	lock: "role_id",
	input: v.strictObject({
		guild_id,
		role_id: found(role, "role"),
		action: choice(["add", "remove"], "Add or remove it."),
		user_ids: v.optional(
			list(found(knownMember, "member"), 1, 1000, "Only these members."),
		),
		has_role_id: v.optional(found(role, "role that they must have")),
		joined_before: v.optional(moment("Joined before")),
		joined_after: v.optional(moment("Joined after")),
		is_bot: v.optional(flag("Only bots, or only people.")),
		after: v.optional(snowflake("previous call's last member")),
		reason,
	}),
	plan({ action, after, ...filter }, { guild, role, users, connection }) {
		requireAssignable(role);
		requireOneOf(filter, [
			"user_ids",
			"has_role_id",
			"joined_before",
			"joined_after",
			"is_bot",
		]);
		requireKnownMembers(guild, connection);
		const matching = (users ?? [...guild.members.cache.values()]).filter(
			matcherFor({ ...filter, role_id: filter.has_role_id }),
		);
		const { page: members } = pageOf(
			matching.filter(
				({ roles }) => roles.cache.has(role.id) !== (action === "add"),
			),
			after,
			matching.length,
		);
		const name = roleName(role);
		const range = after ? ` with an id above ${after}` : "";
		const task = (members: string) =>
			action === "add"
				? `give ${members} the role ${name}`
				: `take the role ${name} from ${members}`;
		const nothing = `Nothing to do: ${matching.length} member(s) match the filters, and none of them${range} ${action === "add" ? "lacks" : "has"} ${name}.`;
		if (members.length === 0)
			return { preview: nothing, act: async () => nothing };
		return {
			preview: [
				`Would ${task(`${members.length} of the ${matching.length} member(s) who match the filters`)}:`,
				...sample(members, previewSize, memberFields),
			],
			act: (call) =>
				writeEach(
					{
						items: members,
						idOf: ({ id }) => id,
						describe: memberFields,
						write({ id }) {
							const route = Routes.guildMemberRole(guild.id, id, role.id);
							const { rest } = guild.client;
							return action === "add" ? rest.put(route) : rest.delete(route);
						},
						done: (count, of) =>
							action === "add"
								? `Gave ${count} of ${of} member(s) the role ${name}:`
								: `Took the role ${name} from ${count} of ${of} member(s):`,
					},
					call,
				),
		};
	},
});
