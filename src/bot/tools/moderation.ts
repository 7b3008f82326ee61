// Kicks.

import { Routes } from "discord.js";
import { memberName, nowIs } from "../../discord/describe.ts";
import { said } from "../../texts/texts.ts";
import { asking, mentions, parts, result } from "../results/result.ts";
import { guild_id, reason, tell } from "../tool/arguments/arguments.ts";
import { onEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { memberLine } from "./members/bans.ts";
import { asMembers, caseOf, membersAmong, mentioned, user_ids } from "./members/several-members.ts";

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
			return {
				preview: parts(
					asking(
						only
							? `Would kick ${memberName(only)}, who has ${only.roles.cache.size - 1} role(s).`
							: [`Would kick ${members.length} member(s); ${nowIs()}:`, ...members.map(memberLine)],
						said("result.kick.ask", { who: mentions(members) }),
					),
					absent,
				),
				record: caseOf("kick", members),
				act: onEach(
					{
						...asMembers,
						items: members,
						single: only && result(`Kicked ${memberName(only)}.`, kicked([only])),
						resumes: true,
						write: ({ id }) => guild.client.rest.delete(Routes.guildMember(guild.id, id)),
						done: (count, of) => `Kicked ${count} of ${of} member(s):`,
						people: { ...mentioned, done: kicked },
					},
					absent,
				),
			};
		},
	},
	{ idempotent: false },
);
