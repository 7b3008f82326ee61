// Banning many at once: one request, of which some may be banned and some not.

import {
	type APIBan,
	type Guild,
	type RESTPostAPIGuildBulkBanResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { knownPerson } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { found, guild_id, integer, list, reason } from "../tool/arguments.ts";
import { sample } from "../tool/bulk.ts";
import { destructiveTool } from "../tool/define.ts";
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
	lock: ["guild_id", "user_ids"],
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
			async preview() {
				const { banned, all } = await bannedAmong(
					guild,
					users.flatMap(({ id, member }) => (member ? [] : [id])),
				);
				const left = user_ids.filter((id) => !banned.has(id));
				return [
					`Would ban ${left.length} user(s), ${members.length} of them members${messages}:`,
					...sample(left, previewSize, line),
					...(banned.size > 0
						? [
								`${banned.size} banned already:`,
								...sample([...banned], previewSize, line),
							]
						: []),
					...(all
						? []
						: [
								"Others may be banned already: there are more bans than were read.",
							]),
				];
			},
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

const pageSize = 1000;
const mostPages = 10;

/** Who of these is banned, and whether all bans were read that could tell. */
async function bannedAmong(
	guild: Guild,
	ids: readonly string[],
): Promise<{ banned: ReadonlySet<string>; all: boolean }> {
	const wanted = ids.toSorted(compareIds);
	const banned = new Set<string>();
	const [first] = wanted;
	const last = wanted.at(-1);
	if (first === undefined || last === undefined) return { banned, all: true };
	let after = String(BigInt(first) - 1n);
	for (let page = 0; page < mostPages; page += 1) {
		const query = new URLSearchParams({ limit: String(pageSize), after });
		const bans = (await guild.client.rest.get(Routes.guildBans(guild.id), {
			query,
		})) as APIBan[];
		for (const { user } of bans) if (ids.includes(user.id)) banned.add(user.id);
		after = bans.at(-1)?.user.id ?? last;
		if (bans.length < pageSize || compareIds(after, last) >= 0)
			return { banned, all: true };
	}
	return { banned, all: false };
}
