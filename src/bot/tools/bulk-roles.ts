// Adding a role to many members, or removing it from them.

import { type GuildMember, Routes, SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import { invalidParameters } from "../../mcp/tool.ts";
import { roleName } from "../discord/describe.ts";
import { knownMember, requireKnownMembers, role } from "../discord/find.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	list,
	type Moment,
	moment,
	reason,
	snowflake,
} from "../tool/arguments.ts";
import { sample, writeEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { memberFields, pageOf } from "./members.ts";
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
	idempotent: true,
	dryRunByDefault: true,
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
	plan({ action, after, ...filter }, { guild, role, connection }) {
		requireAssignable(role);
		const matches = matcherFor(filter);
		requireKnownMembers(guild, connection);
		const matching = [...guild.members.cache.values()].filter(matches);
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

interface Filter {
	user_ids?: readonly string[] | undefined;
	has_role_id?: string | undefined;
	joined_before?: Moment | undefined;
	joined_after?: Moment | undefined;
	is_bot?: boolean | undefined;
}

/** A predicate for members who match all filters. Throws an RpcError if none is given. */
function matcherFor({
	user_ids,
	has_role_id,
	joined_before,
	joined_after,
	is_bot,
}: Filter): (member: GuildMember) => boolean {
	const given = { user_ids, has_role_id, joined_before, joined_after, is_bot };
	if (Object.values(given).every((value) => value === undefined))
		throw invalidParameters([
			`${Object.keys(given).join(", ")}: expected at least one of these`,
		]);
	const ids = user_ids && new Set(user_ids);
	const at = ({ first }: Moment) => SnowflakeUtil.timestampFrom(first);
	const before = joined_before ? at(joined_before) : Infinity;
	const since = joined_after ? at(joined_after) : -Infinity;
	return ({ id, user, roles, joinedTimestamp: joined }) =>
		(!ids || ids.has(id)) &&
		(has_role_id === undefined || roles.cache.has(has_role_id)) &&
		(is_bot === undefined || user.bot === is_bot) &&
		((!joined_before && !joined_after) ||
			(joined !== null && joined < before && joined >= since));
}
