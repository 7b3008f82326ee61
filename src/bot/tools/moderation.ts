// Kicks.

import { Routes } from "discord.js";
import { forClients } from "../../discord/acting-person.ts";
import { memberName, nowIs } from "../../discord/describe.ts";
import { resultLines } from "../../discord/text.ts";
import { guild_id, reason, tell } from "../tool/arguments/arguments.ts";
import { onEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { memberLine } from "./members/bans.ts";
import { asMembers, caseOf, membersAmong, user_ids } from "./members/several-members.ts";

export const kick = destructiveTool(
	{
		name: "kick",
		toolset: "moderation",
		title: "Kick members",
		description: "Kick members; they can rejoin.",
		permissions: ["KickMembers"],
		ranked: true,
		lock: "user_ids",
		input: { guild_id, user_ids, reason, tell },
		plan(_, { guild, users }) {
			const { members, absent } = membersAmong(guild, users);
			const [only] = users.length === 1 ? members : [];
			return {
				preview: only
					? `Would kick ${memberName(only)}, who has ${only.roles.cache.size - 1} role(s).`
					: resultLines(
							`Would kick ${members.length} member(s)${forClients(`; ${nowIs()}`)}:`,
							members.map(memberLine),
							absent,
						),
				record: caseOf("kick", members),
				act: onEach(
					{
						...asMembers,
						items: members,
						single: only && `Kicked ${memberName(only)}.`,
						resumes: true,
						write: ({ id }) => guild.client.rest.delete(Routes.guildMember(guild.id, id)),
						done: (count, of) => `Kicked ${count} of ${of} member(s):`,
					},
					absent,
				),
			};
		},
	},
	{ idempotent: false },
);
