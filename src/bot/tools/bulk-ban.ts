// Bulk bans: one request, in which Discord may ban some users and not others.

import {
	type Guild,
	type RESTPostAPIGuildBulkBanResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { nowIs, userFields } from "../discord/describe.ts";
import { knownPerson } from "../discord/find.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { resultLines } from "../discord/text.ts";
import {
	bansAmong,
	countDeletedMessages,
	memberLine,
	outsiderLine,
} from "../guild/bans.ts";
import { found, guild_id, integer, list, reason } from "../tool/arguments.ts";
import { destructiveTool } from "../tool/define.ts";

export const bulkBan = destructiveTool({
	name: "bulk_ban",
	toolset: "moderation",
	extra: true,
	title: "Ban many users",
	description:
		"Ban up to 200 users, members or not, and optionally delete their recent messages.",
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
	plan(
		{ user_ids, delete_message_seconds: seconds },
		{ guild, users, discord },
	) {
		const members = users.filter(({ member }) => member);
		const lines = new Map(
			users.map(({ id, member }) => {
				const user = discord.users.cache.get(id);
				if (member) return [id, memberLine(member)];
				return [id, user ? outsiderLine(user) : `ID: ${id} | not a member`];
			}),
		);
		const line = (id: string) => lines.get(id) ?? `ID: ${id}`;
		const messages = async (ids: readonly string[]) =>
			seconds > 0 && (await countDeletedMessages(guild, ids, seconds));
		return {
			async preview() {
				const { banned, isComplete } = await bansAmong(
					guild,
					users.flatMap(({ id, member }) => (member ? [] : [id])),
				);
				const remaining = user_ids.filter((id) => !banned.has(id));
				const deleted = await messages(remaining);
				return resultLines(
					`Would ban ${remaining.length} user(s), ${members.length} of them members${deleted ? `, and delete ${deleted}` : ""}; ${nowIs()}:`,
					remaining.map(line),
					banned.size > 0 && `${banned.size} already banned:`,
					[...banned.values()].map(({ user }) => userFields(user)),
					!isComplete &&
						"Others may already be banned: the guild has more bans than were read.",
				);
			},
			async act() {
				const deleted = await messages(user_ids);
				const { banned_users, failed_users } = (await discord.rest.post(
					Routes.guildBulkBan(guild.id),
					{ body: { user_ids, delete_message_seconds: seconds } },
				)) as RESTPostAPIGuildBulkBanResult;
				const why = await whyNotBanned(guild, failed_users);
				return resultLines(
					`Banned ${banned_users.length} of ${user_ids.length} user(s)${deleted ? `; before, they had ${deleted}, which Discord deletes` : ""}:`,
					banned_users.map(line),
					failed_users.length > 0 && `${failed_users.length} not banned:`,
					failed_users.map((id) => `${line(id)} | ${why(id)}`),
				);
			},
		};
	},
});

/**
 * Returns a function that says why Discord's bulk ban did not ban a user. Discord itself does not say it. Never throws
 * for an error of Discord: the others are banned.
 */
async function whyNotBanned(
	guild: Guild,
	ids: readonly string[],
): Promise<(id: string) => string> {
	const unknown = "already banned, ranked above the bot, or no user";
	try {
		const { banned } = await bansAmong(guild, ids);
		const others = "ranked above the bot, or no user";
		return (id) => (banned.has(id) ? "already banned" : others);
	} catch (error) {
		if (!toToolError(error)) throw error;
		return () => unknown;
	}
}
