// Kicks.

import { type GuildMember, Routes } from "discord.js";
import * as v from "valibot";
import { memberFields, memberName, nowIs } from "../discord/describe.ts";
import { resultLines } from "../discord/text.ts";
import { memberLine } from "../guild/bans.ts";
import {
	memberOrAbsent,
	membersAmong,
	toList,
} from "../guild/several-members.ts";
import { found, guild_id, list, reason } from "../tool/arguments/arguments.ts";
import { writeEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";

export const kick = destructiveTool({
	name: "kick",
	toolset: "moderation",
	aliases: ["kick_member"],
	title: "Kick members",
	description:
		"Kick members: they lose their roles and can rejoin with an invite.",
	permissions: ["KickMembers"],
	ranked: true,
	adapt: toList("user_id", "user_ids"),
	lock: "user_ids",
	idempotent: false,
	input: v.strictObject({
		guild_id,
		user_ids: list(found(memberOrAbsent, "member"), 1, 200, "Members."),
		reason,
	}),
	plan(_, { guild, users }) {
		const { members, absent } = membersAmong(guild, users);
		const remove = ({ id }: GuildMember) =>
			guild.client.rest.delete(Routes.guildMember(guild.id, id));
		const [only] = members;
		if (only && users.length === 1) {
			const name = memberName(only);
			const roles = only.roles.cache.size - 1;
			return {
				preview: `Would kick ${name}, who has ${roles} role(s).`,
				write: () => remove(only),
				result: `Kicked ${name}.`,
			};
		}
		return {
			preview: resultLines(
				`Would kick ${members.length} member(s); ${nowIs()}:`,
				members.map(memberLine),
				absent,
			),
			act: async (call) =>
				resultLines(
					await writeEach(
						{
							items: members,
							resumes: true,
							idOf: ({ id }) => id,
							describe: memberFields,
							write: remove,
							done: (count, of) => `Kicked ${count} of ${of} member(s):`,
						},
						call,
					),
					absent,
				),
		};
	},
});
