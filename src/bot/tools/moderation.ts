// Kicks.

import { type GuildMember, Routes } from "discord.js";
import * as v from "valibot";
import { forClients } from "../../discord/acting-person.ts";
import { memberFields, memberName, nowIs } from "../../discord/describe.ts";
import { resultLines } from "../../discord/text.ts";
import { guild_id, reason, tell } from "../tool/arguments/arguments.ts";
import { writeEach } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
import { memberLine } from "./members/bans.ts";
import { membersAmong, user_ids } from "./members/several-members.ts";

export const kick = destructiveTool({
	name: "kick",
	toolset: "moderation",
	title: "Kick members",
	description: "Kick members; they can rejoin.",
	permissions: ["KickMembers"],
	ranked: true,
	lock: "user_ids",
	idempotent: false,
	input: v.strictObject({ guild_id, user_ids, reason, tell }),
	plan(_, { guild, users }) {
		const { members, absent } = membersAmong(guild, users);
		const remove = ({ id }: GuildMember) => guild.client.rest.delete(Routes.guildMember(guild.id, id));
		const record = {
			action: "kick" as const,
			userIds: members.map(({ id }) => id),
		};
		const [only] = members;
		if (only && users.length === 1) {
			const name = memberName(only);
			const roles = only.roles.cache.size - 1;
			return {
				preview: `Would kick ${name}, who has ${roles} role(s).`,
				record,
				write: () => remove(only),
				result: `Kicked ${name}.`,
			};
		}
		return {
			preview: resultLines(
				`Would kick ${members.length} member(s)${forClients(`; ${nowIs()}`)}:`,
				members.map(memberLine),
				absent,
			),
			record,
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
