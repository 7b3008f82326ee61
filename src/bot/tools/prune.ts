// Pruning: removing members who have been away for long. Who they are, Discord does not tell before.

import {
	type Guild,
	type RESTGetAPIGuildPruneCountResult,
	type RESTPostAPIGuildPruneResult,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { roleName } from "../discord/describe.ts";
import { role } from "../discord/find.ts";
import {
	flag,
	found,
	guild_id,
	integer,
	list,
	reason,
} from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";

const fields = {
	guild_id,
	days: v.optional(integer(1, 30, "How long they have been away."), 7),
	include_role_ids: v.optional(
		list(
			found(role, "role"),
			1,
			100,
			"Take in who has these roles, and no others.",
		),
	),
};

export const getPruneCount = tool({
	name: "get_prune_count",
	toolset: "moderation",
	extra: true,
	title: "Count who would be pruned",
	description:
		"Count the members that prune_members would remove: those away for some days who have no roles.",
	effect: "read",
	permissions: ["ManageGuild", "KickMembers"],
	input: v.strictObject(fields),
	async run({ days }, { guild, include_roles }) {
		const count = await pruneCount(guild, days, include_roles);
		return `${count} member(s) of the guild ${guild.id} ${whoIs(days, include_roles)}.`;
	},
});

export const pruneMembers = destructiveTool({
	name: "prune_members",
	toolset: "moderation",
	extra: true,
	title: "Prune members",
	description:
		"Remove all members who have been away for some days and have no roles; they can join again. Discord does not tell who they are.",
	permissions: ["ManageGuild", "KickMembers"],
	lock: "guild_id",
	dryRunByDefault: true,
	input: v.strictObject({
		...fields,
		compute_prune_count: v.optional(
			flag("Answer how many; false for large guilds."),
			true,
		),
		reason,
	}),
	plan({ days, compute_prune_count }, { guild, include_roles }) {
		const who = whoIs(days, include_roles);
		return {
			async preview() {
				const count = await pruneCount(guild, days, include_roles);
				return `Would remove ${count} member(s) of the guild ${guild.id} who ${who}.`;
			},
			async act() {
				const { pruned } = (await guild.client.rest.post(
					Routes.guildPrune(guild.id),
					{
						body: {
							...{ days, compute_prune_count },
							include_roles: include_roles?.map(({ id }) => id) ?? [],
						},
					},
				)) as RESTPostAPIGuildPruneResult;
				return pruned === null
					? `Discord removes the members who ${who}; how many they are was not asked for.`
					: `Removed ${pruned} member(s) who ${who}.`;
			},
		};
	},
});

async function pruneCount(
	guild: Guild,
	days: number,
	roles: readonly Role[] | undefined,
): Promise<number> {
	const query = new URLSearchParams({ days: String(days) });
	if (roles) query.set("include_roles", roles.map(({ id }) => id).join(","));
	const { pruned } = (await guild.client.rest.get(Routes.guildPrune(guild.id), {
		query,
	})) as RESTGetAPIGuildPruneCountResult;
	return pruned;
}

function whoIs(days: number, roles: readonly Role[] | undefined): string {
	const others = roles ? ` but ${roles.map(roleName).join(", ")}` : "";
	return `have been away for ${days} day(s) and have no roles${others}`;
}
