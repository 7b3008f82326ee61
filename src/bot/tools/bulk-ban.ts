// Banning many at once: one request, of which some may be banned and some not.

import { type RESTPostAPIGuildBulkBanResult, Routes } from "discord.js";
import * as v from "valibot";
import { found, guild_id, integer, list, reason } from "../arguments.ts";
import { sample } from "../bulk.ts";
import { destructiveTool } from "../context.ts";
import { knownPerson } from "../find.ts";
import { describe } from "./members.ts";

const previewSize = 5;

export const bulkBan = destructiveTool({
	name: "bulk_ban",
	toolset: "moderation",
	extra: true,
	title: "Ban many users",
	description:
		"Ban up to 200 users at once, members or not, and optionally delete what they wrote lately. Answers who was banned and who was not.",
	permissions: ["BanMembers", "ManageGuild"],
	intents: ["GuildMembers"],
	ranked: true,
	turns: "guild_id",
	idempotent: true,
	dryRunByDefault: true,
	input: v.strictObject({
		guild_id,
		user_ids: list(found(knownPerson, "user"), 1, 200, "Ids of the users."),
		delete_message_seconds: v.optional(
			integer(0, 604_800, "Delete their messages of so many seconds."),
			0,
		),
		reason,
	}),
	plan({ user_ids, delete_message_seconds }, { guild, users, discord }) {
		const members = users.filter(({ member }) => member);
		const lines = new Map(
			users.map(({ id, member }) => [
				id,
				member ? describe(member) : `not a member | ID: ${id}`,
			]),
		);
		const line = (id: string) => lines.get(id) ?? `ID: ${id}`;
		const messages =
			delete_message_seconds > 0
				? `, and delete what they wrote in the last ${delete_message_seconds} seconds`
				: "";
		return {
			preview: [
				`Would ban ${users.length} user(s), ${members.length} of them members${messages}:`,
				...sample(user_ids, previewSize, line),
			],
			async act() {
				const { banned_users, failed_users } = (await discord.rest.post(
					Routes.guildBulkBan(guild.id),
					{ body: { user_ids, delete_message_seconds } },
				)) as RESTPostAPIGuildBulkBanResult;
				return [
					`Banned ${banned_users.length} of ${user_ids.length} user(s):`,
					...banned_users.map(line),
					...(failed_users.length > 0
						? [
								`${failed_users.length} not banned, because they are already, rank above the bot, or are no users:`,
								...failed_users.map(line),
							]
						: []),
				];
			},
		};
	},
});
