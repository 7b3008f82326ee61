// Pruning inactive members. Discord returns their number, but not who they are.

import {
	makeURLSearchParams,
	type RESTGetAPIGuildPruneCountResult,
	type RESTPostAPIGuildPruneResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { roleName } from "../../discord/describe.ts";
import { role } from "../../discord/find.ts";
import { requirePruning } from "../../discord/guild-features.ts";
import { requireRolesBelowPerson } from "../../discord/role-hierarchy.ts";
import { said } from "../../texts/texts.ts";
import { asking, roles as roleMentions } from "../results/result.ts";
import { duration, flag, found, guild_id, list, reason } from "../tool/arguments/arguments.ts";
import { destructiveTool } from "../tool/define.ts";

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
			compute_prune_count: v.optional(flag("False if many.")),
			reason,
		},
		plan({ inactive, compute_prune_count = true }, { guild, include_roles }) {
			const days = inactive / 86_400;
			requirePruning(guild);
			const person = actingPerson(guild);
			// A guess: Discord's prune goes by the rank of the one who prunes, as its kick does.
			if (person && include_roles) requireRolesBelowPerson(person, include_roles);
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
