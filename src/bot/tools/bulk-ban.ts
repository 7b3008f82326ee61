// Bulk bans: one request, in which Discord may ban some users and not others.

import {
	type APIBan,
	type Guild,
	makeURLSearchParams,
	type RESTPostAPIGuildBulkBanResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { memberFields } from "../discord/describe.ts";
import { knownPerson } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { resultLines } from "../discord/text.ts";
import { found, guild_id, integer, list, reason } from "../tool/arguments.ts";
import { sample } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";

const previewSize = 5;

export const bulkBan = destructiveTool({
	name: "bulk_ban",
	toolset: "moderation",
	extra: true,
	title: "Ban many users",
	description:
		"Ban up to 200 users, members or not, and optionally delete their recent messages. Returns who was banned and who was not.",
	permissions: ["BanMembers", "ManageGuild"],
	intents: ["GuildMembers"],
	ranked: true,
	lock: ["guild_id", "user_ids"],
	input: v.strictObject({
		guild_id,
		user_ids: list(found(knownPerson, "user"), 1, 200, "User ids."),
		delete_message_seconds: v.optional(
			integer(0, 604_800, "Seconds of their messages to delete."),
			0,
		),
		reason,
	}),
	plan({ user_ids, delete_message_seconds }, { guild, users, discord }) {
		const members = users.filter(({ member }) => member);
		const lines = new Map(
			users.map(({ id, member }) => [
				id,
				member ? memberFields(member) : `not a member | ID: ${id}`,
			]),
		);
		const line = (id: string) => lines.get(id) ?? `ID: ${id}`;
		const messages =
			delete_message_seconds > 0
				? `, and delete their messages of the last ${delete_message_seconds} seconds`
				: "";
		return {
			async preview() {
				const { banned, isComplete } = await bannedAmong(
					guild,
					users.flatMap(({ id, member }) => (member ? [] : [id])),
				);
				const remaining = user_ids.filter((id) => !banned.has(id));
				return resultLines(
					`Would ban ${remaining.length} user(s), ${members.length} of them members${messages}:`,
					sample(remaining, previewSize, line),
					banned.size > 0 && `${banned.size} already banned:`,
					sample([...banned], previewSize, line),
					!isComplete &&
						"Others may already be banned: the guild has more bans than were read.",
				);
			},
			async act() {
				const { banned_users, failed_users } = (await discord.rest.post(
					Routes.guildBulkBan(guild.id),
					{ body: { user_ids, delete_message_seconds } },
				)) as RESTPostAPIGuildBulkBanResult;
				return resultLines(
					`Banned ${banned_users.length} of ${user_ids.length} user(s):`,
					banned_users.map(line),
					failed_users.length > 0 &&
						`${failed_users.length} not banned: already banned, ranked above the bot, or not a user:`,
					failed_users.map(line),
				);
			},
		};
	},
});

const pageSize = 1000;
const maxPages = 10;

/**
 * Finds out which of the given users are banned from the guild. Reads at most 10,000 bans; `isComplete` is false if
 * more bans would have to be read.
 */
async function bannedAmong(
	guild: Guild,
	ids: readonly string[],
): Promise<{ banned: ReadonlySet<string>; isComplete: boolean }> {
	const sorted = ids.toSorted(compareIds);
	const banned = new Set<string>();
	const [first] = sorted;
	const last = sorted.at(-1);
	if (first === undefined || last === undefined)
		return { banned, isComplete: true };
	let after = String(BigInt(first) - 1n);
	for (let page = 0; page < maxPages; page += 1) {
		const query = makeURLSearchParams({ limit: pageSize, after });
		const bans = (await guild.client.rest.get(Routes.guildBans(guild.id), {
			query,
		})) as APIBan[];
		for (const { user } of bans) if (ids.includes(user.id)) banned.add(user.id);
		after = bans.at(-1)?.user.id ?? last;
		if (bans.length < pageSize || compareIds(after, last) >= 0)
			return { banned, isComplete: true };
	}
	return { banned, isComplete: false };
}
