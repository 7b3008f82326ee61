// Bans: of one user, or of many in one request, in which Discord may ban some users and not others.

import {
	type APIBan,
	AuditLogEvent,
	type Guild,
	makeURLSearchParams,
	RESTJSONErrorCodes,
	type RESTPostAPIGuildBulkBanResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { memberFields, memberName, nowIs, userFields, userName } from "../../discord/describe.ts";
import { absentIf, person, requireKnownMembers } from "../../discord/find.ts";
import { noteItem } from "../../discord/rest/rest.ts";
import { requireMembersBelow } from "../../discord/role-hierarchy.ts";
import { fieldLine, fold, oneField, resultLines } from "../../discord/text.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { asking, mentions, result } from "../results/result.ts";
import { found, guild_id, limit, list, nameQuery, reason, snowflake, tell } from "../tool/arguments/arguments.ts";
import { failureOf, planEach, sample } from "../tool/bulk.ts";
import type { BotContext, Chosen, Plan } from "../tool/context.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";
import { orWhere } from "../tool/people.ts";
import { maxShown } from "./bulk-roles.ts";
import {
	bansAmong,
	countDeletedMessages,
	delete_messages,
	deleting,
	fetchBan,
	memberLine,
	outsiderLine,
	readBans,
	readDoneBy,
} from "./members/bans.ts";
import { cachedMember, type MaybeMember } from "./members/several-members.ts";

/** Maximum number of users in one bulk ban. https://docs.discord.com/developers/resources/guild#bulk-guild-ban */
const maxUsers = 200;

export const ban = destructiveTool({
	name: "ban",
	toolset: "moderation",
	offered: "listed",
	title: "Ban users",
	description: "Ban users, members or not.",
	person: { may: "ban" },
	permissions: [
		"BanMembers",
		{
			permission: "ManageGuild",
			with: "user_ids",
			when: ({ user_ids }) => user_ids.length > 1,
			why: () => said("refusal.why.several"),
		},
	],
	intents: ["GuildMembers"],
	ranked: true,
	// Of two calls at once, the second finds the users already banned.
	lock: "user_ids",
	input: {
		guild_id,
		...orWhere(list(found(cachedMember, "user"), 1, maxUsers, "Users."), maxUsers),
		delete_messages,
		reason,
		tell,
	},
	async plan(args, context) {
		const { delete_messages: seconds = 0, user_ids } = args;
		const record = { action: "ban", userIds: user_ids } as const;
		const { guild, users, connection } = context;
		const [id] = user_ids;
		if (users.length > 1 || id === undefined) {
			requireKnownMembers(guild, connection);
			// The cache may have got members since the ranks were checked.
			requireMembersBelow(
				guild,
				users.flatMap(({ id }) => guild.members.cache.get(id) ?? []),
			);
			return { ...banMany(guild, users, seconds, context.chosen), record };
		}
		const { user, member } = await person(guild, id, connection);
		// The cache may lack the member, whose rank was then not checked yet.
		if (member) requireMembersBelow(guild, [member]);
		const name = member ? memberName(member) : userName(user);
		const isBanned = (await fetchBan(guild, id)) !== undefined;
		if (isBanned && (await context.tempBans?.has(guild.id, id))) return permanentBan(context, { id, name });
		if (isBanned)
			throw new SaidError(said("refusal.already_banned", { who: mentions([id]) }), {
				models: `${name} is already banned from the guild. Nothing was done.`,
			});
		const messages = seconds > 0 && (await countDeletedMessages(guild, [id], seconds));
		const deleted = messages ? `, and delete ${messages}` : "";
		return {
			preview: asking(
				[
					`Would ban ${name}${member ? "" : ", who is not a member"}${deleted}.`,
					member && `${(context.chosen?.line ?? memberLine)(member)} | ${nowIs()}`,
				],
				said("result.ban.ask", { who: mentions([id]) }),
				deleting(seconds),
			),
			// Without the number of messages, which grows with each message.
			basis: [name, ...(member ? [memberLine(member)] : [])],
			record,
			write: () => guild.bans.create(id, { deleteMessageSeconds: seconds }),
			result: result(
				`Banned ${name}.${messages ? ` Discord deletes ${messages}.` : ""}`,
				said("result.ban", { who: mentions([id]) }),
				deleting(seconds),
			),
		};
	},
});

function permanentBan(
	{ guild, tempBans }: Pick<BotContext, "tempBans"> & { guild: Guild },
	{ id, name }: { id: string; name: string },
): Plan {
	return {
		preview: asking(
			`Would make the temporary ban of ${name} permanent.`,
			said("result.ban_permanent.ask", { who: mentions([id]) }),
		),
		basis: [name],
		// Discord delivers nothing to a person who is banned already.
		record: { action: "ban", userIds: [id], unreachable: [id] },
		act: async () => {
			await tempBans?.makePermanent(guild.id, id);
			const models = `${name} was banned for a time, and is now banned permanently.`;
			return result(models, said("result.ban_permanent", { who: mentions([id]) }));
		},
	};
}

function banMany(guild: Guild, users: readonly MaybeMember[], seconds: number, chosen?: Chosen): Plan {
	const user_ids = users.map(({ id }) => id);
	const members = users.filter(({ member }) => member);
	const line = (id: string, describe: typeof memberLine) => {
		const member = guild.members.cache.get(id);
		const user = guild.client.users.cache.get(id);
		if (member) return describe(member);
		return user ? outsiderLine(user) : `ID: ${id} | not a member`;
	};
	// Named before the ban, which removes members from the cache.
	const names = new Map(user_ids.map((id) => [id, line(id, memberFields)] as const));
	const nameOf = (id: string) => names.get(id) ?? `ID: ${id}`;
	const messages = async (ids: readonly string[]) => seconds > 0 && (await countDeletedMessages(guild, ids, seconds));
	return {
		async preview() {
			const { banned, isComplete } = await bansAmong(
				guild,
				users.flatMap(({ id, member }) => (member ? [] : [id])),
			);
			const unbanned = user_ids.filter((id) => !banned.has(id));
			const unknown = await fetchNames(guild, unbanned);
			const remaining = unbanned.filter((id) => !unknown.includes(id));
			const deleted = await messages(remaining);
			return asking(
				resultLines(
					`Would ban ${remaining.length} user(s), ${members.length} of them members${deleted ? `, and delete ${deleted}` : ""}; ${nowIs()}:`,
					sample(remaining, chosen ? maxShown : Infinity, (id) => line(id, chosen?.line ?? memberLine)),
					banned.size > 0 && `${banned.size} already banned:`,
					[...banned.values()].map(({ user }) => userFields(user)),
					unknown.length > 0 && `${unknown.length} unknown to Discord: ${unknown.join(", ")}`,
					!isComplete && "Others may already be banned: the guild has more bans than were read.",
				),
				said("result.ban.ask", { who: mentions(remaining) }),
				deleting(seconds),
				banned.size > 0 && said("refusal.already_banned", { who: mentions([...banned.keys()]) }),
				unknown.length > 0 && said("refusal.no_such_user", { who: mentions(unknown) }),
			);
		},
		basis: user_ids.map((id) => {
			const member = guild.members.cache.get(id);
			return member ? memberLine(member) : id;
		}),
		async act() {
			const deleted = await messages(user_ids);
			const { banned_users, failed_users } = (await guild.client.rest.post(Routes.guildBulkBan(guild.id), {
				body: { user_ids, delete_message_seconds: seconds },
			})) as RESTPostAPIGuildBulkBanResult;
			for (const id of banned_users) noteItem(id, "done");
			for (const id of failed_users) noteItem(id, "not done");
			const why = await whyNotBanned(guild, failed_users);
			const failures = [...Map.groupBy(failed_users, why)];
			return result(
				resultLines(
					`Banned ${banned_users.length} of ${user_ids.length} user(s)${chosen?.wasShown ? ", who were shown" : ""}${deleted ? `; Discord deletes ${deleted}` : ""}${chosen?.wasShown ? "." : ":"}`,
					!chosen?.wasShown && banned_users.map(nameOf),
					failed_users.length > 0 && `${failed_users.length} not banned:`,
					failed_users.map((id) => `${nameOf(id)} | ${failureTexts[why(id)]}`),
				),
				banned_users.length > 0 && said("result.ban", { who: mentions(banned_users) }),
				banned_users.length > 0 && deleting(seconds),
				...failures.map(([cause, ids]) => said(`result.ban.${cause}`, { who: mentions(ids) })),
			);
		},
	};
}

const maxFetched = 25;

async function fetchNames(guild: Guild, userIds: readonly string[]): Promise<string[]> {
	const { users } = guild.client;
	const unnamed = userIds.filter((id) => !users.cache.has(id));
	const unknown: string[] = [];
	for (const id of unnamed.slice(0, maxFetched)) {
		const user = await absentIf([RESTJSONErrorCodes.UnknownUser], () => users.fetch(id));
		if (!user) unknown.push(id);
	}
	return unknown;
}

/** Discord does not tell the reason. */
async function whyNotBanned(guild: Guild, ids: readonly string[]): Promise<(id: string) => keyof typeof failureTexts> {
	let banned: ReadonlyMap<string, APIBan> = new Map();
	const failure = await failureOf(async () => {
		({ banned } = await bansAmong(guild, ids));
	});
	return (id) => (failure ? "not_all" : banned.has(id) ? "not_again" : "not_possible");
}

const failureTexts = {
	not_again: "already banned",
	not_possible: "ranked above the bot, or no user",
	not_all: "already banned, ranked above the bot, or no user",
} as const;

export const unban = editTool({
	name: "unban",
	toolset: "moderation",
	offered: "listed",
	title: "Lift bans",
	description: "Lift bans.",
	person: { may: "ban" },
	permissions: ["BanMembers"],
	lock: "user_ids",
	input: { guild_id, user_ids: list(snowflake("banned user"), 1, 200, "Users."), reason },
	async plan({ user_ids }, { guild, tempBans }) {
		const stored = new Map<string, () => Promise<void>>();
		for (const id of user_ids) {
			const forget = await tempBans?.beforeUnban(guild.id, id);
			if (forget) stored.set(id, forget);
		}
		const [user_id = "", ...more] = user_ids;
		const only = more.length === 0 ? await fetchBan(guild, user_id) : undefined;
		const hint = "Nothing was done; get_bans lists the bans.";
		if (more.length === 0 && !only)
			return {
				preview: result(`The user ${user_id} is not banned from the guild ${guild.id}.`, notBanned(user_ids)),
				async act() {
					// A temporary ban without a known outcome must not be made after that.
					await stored.get(user_id)?.();
					throw new SaidError(said("refusal.nothing_done", { why: notBanned(user_ids) }), {
						models: `The user ${user_id} is not banned from the guild ${guild.id}. ${hint}`,
					});
				},
			};
		const { banned, isComplete } = only
			? { banned: new Map([[user_id, only]]), isComplete: true }
			: await bansAmong(guild, user_ids);
		if (!isComplete)
			throw new SaidError(said("refusal.too_many_bans"), {
				models: `The guild ${guild.id} has too many bans to look up so many users at once. Nothing was done; pass fewer user_ids, or only one.`,
			});
		const others = user_ids.filter((id) => !banned.has(id));
		if (banned.size === 0)
			throw new SaidError(said("refusal.nothing_done", { why: notBanned(others) }), {
				models: `None of these users is banned from the guild ${guild.id}. ${hint}`,
			});
		const unbanned =
			others.length > 0 && result(`${others.length} not banned: ${others.join(", ")}`, notBanned(others));
		const items = [...banned.values()];
		const done = (some: readonly Pick<APIBan, "user">[]) =>
			said("result.unban", { who: mentions(some.map(({ user }) => user)) });
		return planEach({
			items,
			asks: asking(
				only
					? [`Would lift the ban of ${userName(only.user)}.`, only.reason && `Reason: ${oneField(only.reason)}`]
					: [
							`Would lift ${banned.size} ban(s):`,
							...items.map(({ user, reason }) => fieldLine(userFields(user), reason && `reason: ${oneField(reason)}`)),
						],
				said("result.unban.ask", { who: mentions([...banned.keys()]) }),
			),
			rest: unbanned,
			record: { action: "unban", userIds: [...banned.keys()] },
			single: only && result(`Lifted the ban of ${userName(only.user)}.`, done(items)),
			idOf: ({ user }) => user.id,
			describe: ({ user }) => userFields(user),
			async write({ user }) {
				await guild.bans.remove(user.id);
				await stored.get(user.id)?.();
			},
			done: (count, of) => `Lifted ${count} of ${of} ban(s):`,
			people: done,
		});
	},
});

const notBanned = (ids: readonly string[]) => said("refusal.not_banned", { who: mentions(ids) });

export const getBans = readTool({
	name: "get_bans",
	toolset: "moderation",
	title: "Get bans",
	description: "List bans by user id, with date, reason and moderator, or search them by name.",
	person: { may: "ban" },
	permissions: ["BanMembers"],
	input: {
		guild_id,
		query: v.optional(nameQuery("Parts of names.")),
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last user")),
	},
	async run({ query, limit, after }, { discord, guild }) {
		const beyond = after ? ` with an id above ${after}` : "";
		if (query === undefined) {
			const bans = (await discord.rest.get(Routes.guildBans(guild.id), {
				query: makeURLSearchParams({ limit, after }),
			})) as APIBan[];
			const last = bans.at(-1);
			if (!last) return `Nobody${beyond} is banned from the guild ${guild.id}.`;
			return [
				`${bans.length} ban(s)${bans.length === limit ? ", and maybe more" : ""}, by user id:`,
				...(await banLines(guild, bans)),
				...(bans.length === limit ? [`next_after=${last.user.id}`] : []),
			];
		}
		const { bans, isComplete } = await readBans(guild, after);
		const queried = query.map(fold);
		const found = bans.filter(({ user }) =>
			[user.username, user.global_name].some((name) => name && queried.some((part) => fold(name).includes(part))),
		);
		const shown = found.slice(0, limit);
		// Where more than `limit` match, the next page begins after the last one shown.
		const next = found.length > limit ? shown.at(-1) : bans.at(-1);
		return resultLines(
			`${found.length} of ${bans.length} ban(s)${beyond} match, by user id${shown.length < found.length ? `; the first ${shown.length}` : ""}:`,
			await banLines(guild, shown),
			(found.length > limit || !isComplete) && next && `next_after=${next.user.id}`,
		);
	},
});

async function banLines(guild: Guild, bans: readonly APIBan[]): Promise<string[]> {
	const ids = bans.map(({ user }) => user.id);
	const by = await readDoneBy(guild, AuditLogEvent.MemberBanAdd, ids);
	const unknown = ids.filter((id) => by.of(id) === undefined).length;
	return resultLines(
		bans.map((ban) => banLine(ban, by.of(ban.user.id))),
		unknown > 0 && `Date and author are unknown for ${unknown}: ${by.whyUnknown}.`.replace("..", "."),
	);
}

function banLine({ user, reason }: APIBan, by: string | undefined): string {
	const { username, global_name } = user;
	const name = global_name && global_name !== username ? `${oneField(global_name)} ` : "";
	const names = name ? `${name}(@${oneField(username)})` : `@${oneField(username)}`;
	return fieldLine(
		`${names} | ID: ${user.id}`,
		by && `banned ${by}`,
		reason ? `reason: ${oneField(reason)}` : "no reason given",
	);
}
