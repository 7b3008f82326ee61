// The tools temp_ban and list_temp_bans.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { memberFields, memberName, nowIs, time, userFields, userName } from "../../discord/describe.ts";
import { person, requireKnownMembers } from "../../discord/find.ts";
import { requireMembersBelow } from "../../discord/role-hierarchy.ts";
import { oneField, truncate } from "../../discord/text.ts";
import { readDuration } from "../../lib/times.ts";
import { published } from "../../mcp/json-schema.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { written } from "../results/people-text.ts";
import { asking, at, mentions, parts, result } from "../results/result.ts";
import type { Store } from "../store/store.ts";
import { selectTempBansOf } from "../store/tables/temp-bans.ts";
import { found, guild_id, integer, list, reason, tell } from "../tool/arguments/arguments.ts";
import { planEach } from "../tool/bulk.ts";
import type { BotTool, ToolContext } from "../tool/context.ts";
import { destructiveTool, readTool } from "../tool/define.ts";
import { bansAmong, countDeletedMessages, delete_messages, deleting } from "../tools/members/bans.ts";
import { cachedMember, type MaybeMember } from "../tools/members/several-members.ts";
import type { BanRequest, TempBans } from "./temp-bans.ts";

const maxMs = 5 * 366 * 86_400_000;
const maxUsers = 50;
const pageSize = 10;
const maxReasonShown = 80;

function readBanDuration(text: string): number | null | undefined {
	if (/^forever$/i.test(text)) return null;
	const ms = readDuration(text);
	return ms !== undefined && ms > 0 && ms <= maxMs ? ms : undefined;
}

const duration = v.pipe(
	v.string(),
	v.check(
		(input) => readBanDuration(input) !== undefined,
		({ input }) =>
			`expected a duration of at most 5 years, such as "12h", "3d" or "1d12h", or "forever", received ${JSON.stringify(input)}`,
	),
	v.transform((input) => readBanDuration(input) ?? null),
	published({ pattern: "^\\d|^[fF]" }),
	v.description('12h, 3d, 2w, or "forever".'),
);

export function tempBanTools(bans: Pick<TempBans, "ban">, store: Pick<Store, "sql">): BotTool[] {
	return [tempBan(bans), listTempBans(store)];
}

function tempBan(bans: Pick<TempBans, "ban">) {
	return destructiveTool(
		{
			name: "temp_ban",
			toolset: "moderation",
			title: "Ban users for a time",
			description: "Ban users, members or not, until a time at which the bot lifts the ban; or change when a ban ends.",
			person: { may: "ban" },
			permissions: ["BanMembers"],
			intents: ["GuildMembers"],
			ranked: true,
			input: {
				guild_id,
				user_ids: list(found(cachedMember, "user"), 1, maxUsers, "Users."),
				duration,
				delete_messages,
				reason,
				tell,
			},
			async plan({ duration, delete_messages, reason }, context) {
				const { guild } = context;
				const people = await peopleOf(guild, context.users, context);
				const { banned } = await bansAmong(
					guild,
					people.map(({ id }) => id),
				);
				const endsAt = duration === null ? null : Date.now() + duration;
				const end = endsAt === null ? "permanently" : `until ${time(endsAt)}`;
				// No messages are deleted of people who are banned already and whose ban only gets a new end.
				const ids = people.flatMap(({ id }) => (banned.has(id) ? [] : id));
				const wanted = ids.length > 0 ? (delete_messages ?? 0) : 0;
				const messages = wanted > 0 ? await countDeletedMessages(guild, ids, wanted) : undefined;
				const deleted = messages ? `, and delete ${messages}` : "";
				const seconds = messages ? wanted : 0;
				const basis = people.map(
					({ id, line }) => line + (banned.has(id) ? " | already banned: only the end changes" : ""),
				);
				const until = endsAt === null ? undefined : at(endsAt);
				const done = (some: readonly Named[]) =>
					until ? said("result.temp_ban", { who: mentions(some), until }) : said("result.ban", { who: mentions(some) });
				const who = mentions(people);
				const changed = until ? said("result.ban_end", { who, until }) : said("result.ban_permanent", { who });
				const [only] = people.length === 1 ? people : [];
				return planEach({
					items: people,
					asks: asking(
						only
							? banned.has(only.id)
								? `Would change the ban of ${only.name}: banned ${end}; ${nowIs()}.`
								: `Would ban ${only.name} ${end}${deleted}; ${nowIs()}.`
							: [`Would ban ${people.length} user(s) ${end}${deleted}; ${nowIs()}:`, ...basis],
						until ? said("result.temp_ban.ask", { who, until }) : said("result.ban.ask", { who }),
						deleting(seconds),
						!only && banned.size > 0 && said("result.ban_end.ask", { who: mentions([...banned.keys()]) }),
					),
					single:
						only &&
						((outcome) =>
							outcome === "banned"
								? result(`Banned ${only.name} ${end}.`, done(people), deleting(seconds))
								: result(`${only.name} was already banned, and is now banned ${end}.`, changed)),
					basis,
					record: {
						action: endsAt === null ? "ban" : "temp_ban",
						userIds: people.map(({ id }) => id),
						// Discord delivers no direct messages of the bot to people who are banned already.
						unreachable: [...banned.keys()],
						...(endsAt !== null && { endsAt }),
					},
					idOf: ({ id }) => id,
					describe: ({ line }) => line,
					write: ({ id: userId }) =>
						bans.ban(guild, {
							userId,
							endsAt,
							reason: reason || null,
							moderator: moderatorOf(guild, context),
							deleteSeconds: delete_messages,
						}),
					done: (count, of) => `Banned ${count} of ${of} user(s) ${end}:`,
					people: done,
				});
			},
		},
		{ idempotent: false },
	);
}

interface Named {
	id: string;
	name: string;
	line: string;
}

/** Throws a ToolError if one of them must not be banned, such as a person with too high a role. */
async function peopleOf(
	guild: Guild,
	users: readonly MaybeMember[],
	{ connection, principal }: Pick<ToolContext, "connection" | "principal">,
): Promise<Named[]> {
	const botId = guild.client.user.id;
	if (users.some(({ id }) => id === botId)) throw new SaidError(said("refusal.ban_bot"));
	if (users.some(({ id }) => id === principal?.person?.id)) throw new SaidError(said("refusal.ban_self"));
	const [one] = users;
	if (one && users.length === 1) {
		const { user, member } = await person(guild, one.id, connection);
		if (!member) return [{ id: user.id, name: userName(user), line: userFields(user) }];
		requireMembersBelow(guild, [member]);
		const name = memberName(member);
		return [{ id: user.id, name, line: memberFields(member) }];
	}
	requireKnownMembers(guild, connection);
	return users.map(({ id }) => {
		const member = guild.members.cache.get(id);
		const user = guild.client.users.cache.get(id);
		if (member) {
			// The member cache may have grown since the ranks were checked.
			requireMembersBelow(guild, [member]);
			return { id, name: memberName(member), line: memberFields(member) };
		}
		const name = user ? userName(user) : `the user ${id}`;
		return { id, name, line: user ? userFields(user) : `ID: ${id}` };
	});
}

function moderatorOf(guild: Guild, { principal }: Pick<ToolContext, "principal">): BanRequest["moderator"] {
	const member = actingPerson(guild);
	if (member) return { id: member.id, name: userName(member.user) };
	const { user } = guild.client;
	return { id: user.id, name: principal?.name ?? userName(user) };
}

function listTempBans({ sql }: Pick<Store, "sql">) {
	return readTool({
		name: "list_temp_bans",
		toolset: "moderation",
		offered: "extra",
		title: "List temporary bans",
		description: "List temporary bans, soonest end first.",
		person: { may: "ban" },
		permissions: ["BanMembers"],
		input: { guild_id, page: v.optional(integer(1, 1_000_000, "The page."), 1) },
		async run({ page }, { guild }) {
			const { rows, total } = await selectTempBansOf(sql, guild.id, { limit: pageSize, offset: (page - 1) * pageSize });
			if (total === 0) return result("There are no temporary bans.", said("result.no_temp_bans"));
			const pages = Math.ceil(total / pageSize);
			if (rows.length === 0)
				throw new SaidError(said("refusal.no_page", { page, count: pages }), {
					models: `Page ${page} does not exist: there are ${total} temporary ban(s) on ${pages} page(s).`,
				});
			const nameOf = (id: string) => {
				const user = guild.client.users.cache.get(id);
				return user ? userName(user) : `ID: ${id}`;
			};
			const title = said("result.temp_bans.title");
			const turns = { title, back: page > 1 ? page - 1 : undefined, next: page < pages ? page + 1 : undefined };
			return parts(
				{ models: [], people: [], pages: turns },
				result(
					`${total} temporary ban(s), page ${page} of ${pages}, soonest end first:`,
					said("result.temp_bans", { count: total }),
				),
				rows.map(({ user_id, ends_at, moderator_id, reason, state }) => {
					const shown = reason ? truncate(reason, maxReasonShown) : "";
					const values = { who: `<@${user_id}>`, until: at(ends_at), moderator: `<@${moderator_id}>` };
					return result(
						`${nameOf(user_id)} until ${time(ends_at)}, by ${nameOf(moderator_id)}${reason ? `: ${truncate(oneField(reason), maxReasonShown)}` : ""}${state === "asked" ? " (not yet confirmed)" : ""}`,
						shown === ""
							? said("result.temp_ban_entry", values)
							: said("result.entry_more", { entry: said("result.temp_ban_entry", values), more: written(shown) }),
						state === "asked" && said("result.temp_ban_asked"),
					);
				}),
				pages > 1 && result([], said("answer.page", { page, pages })),
			);
		},
	});
}
