// What each condition of `where` asks of the bot's caches, its store and Discord.

import { type Guild, type GuildMember, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { guildName, time } from "../../discord/describe.ts";
import { anyChannel, requireKnownMembers } from "../../discord/find.ts";
import { isTimedOut, roleIds } from "../../discord/members/member-filter.ts";
import { nameMatcher } from "../../discord/members/name-search.ts";
import { personHas, requireOfPerson, requirePermissions } from "../../discord/permissions.ts";
import { countOf, fold, oneField, oneLine } from "../../discord/text.ts";
import type { Sql } from "../../lib/store/statement.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { emoji, emojiPath, fetchReactions, reactionWith } from "../messages/emoji.ts";
import { fetchMessage } from "../messages/message-arguments.ts";
import { countCasesByUser } from "../store/tables/cases.ts";
import { joinRows } from "../store/tables/joins.ts";
import { membersNamed, type Name, thingsNamed } from "../tool/arguments/names.ts";
import { caseActions } from "../tool/case-record.ts";
import type { PeopleContext } from "../tool/context.ts";
import { readInvites } from "./invite-watch.ts";
import { countMessages, type MessageCounts } from "./messages-of.ts";
import { type Condition, compareCount, type Field } from "./where.ts";

const { BanMembers, KickMembers, ManageGuild, ManageNicknames, ManageRoles, ModerateMembers } = PermissionFlagsBits;

/** `is`: undefined is unknown. `text`: left out if the question says it all. */
export type Answers = (member: GuildMember) => { is: boolean | undefined; text?: string };

export interface Asking extends PeopleContext {
	sql: Sql;
	nowMs: number;
	reads: boolean;
	conditions: readonly Condition[];
	counts?: Promise<MessageCounts>;
	/** Gets lines on what was covered. */
	notes: Set<string>;
}

type Load = (condition: Condition, asking: Asking, people: readonly GuildMember[]) => Answers | Promise<Answers>;

/** People need one of these: https://support.discord.com/hc/en-us/articles/15946797617431-Members-Page */
export function showsPending(guild: Guild): boolean {
	const forMembersPage = [ManageRoles, ModerateMembers, ManageGuild, ManageNicknames, BanMembers, KickMembers];
	return forMembersPage.some((bit) => personHas(guild, undefined, bit));
}

function refuse(problem: string): never {
	throw new ToolError(`where: ${problem} Nothing was done.`);
}

const quoted = (text: string) => oneLine(JSON.stringify(text));
const day = (ms: number) => time(ms).slice(0, 10);

/** Cheap ones first: those behind are asked about fewer people. */
export const loaders: Record<Field, Load> = {
	joined: inTime(({ joinedTimestamp }) => joinedTimestamp, "joined"),
	account: inTime(({ user }) => user.createdTimestamp, "account of"),
	bot: () => (member) => ({ is: member.user.bot }),
	pending(_, { guild }) {
		if (!showsPending(guild)) refuse("only those who may see the page Members see who has accepted the rules.");
		return ({ pending }) => ({ is: Boolean(pending) });
	},
	timeout(_, { guild, nowMs }) {
		requireOfPerson(guild, undefined, ModerateMembers);
		return (member) => ({ is: isTimedOut(member, nowMs) });
	},
	async user({ items }, asking) {
		const ids = await idsOf(items, "user", asking);
		return ({ id }) => ({ is: ids.has(id) });
	},
	async role({ items }, asking) {
		const ids = await idsOf(items, "role", asking);
		if (items.length === 0) return (member) => ({ is: member[roleIds].length > 0 });
		return (member) => ({ is: ids.has(asking.guild.id) || member[roleIds].some((id) => ids.has(id)) });
	},
	name({ items }) {
		const matches = matcherOf(items);
		return ({ nickname, user }) => ({ is: matches(user.username, user.globalName, nickname) });
	},
	nickname({ items }) {
		const matches = items.length === 0 ? Boolean : matcherOf(items);
		return ({ nickname }) => ({ is: matches(nickname) });
	},
	async guild({ items }, { connection, otherGuild, mayTouch }) {
		const found = items.map((item) => {
			const isIt = ({ id, name }: Guild) => id === item || fold(name) === fold(item);
			const [one, another] = connection.guilds.filter((guild) => mayTouch(guild.id) && isIt(guild));
			if (another) refuse(`several guilds are called ${quoted(item)}: give an id.`);
			return one ?? refuse(`this bot is in no guild ${quoted(item)}. If another bot is, use compare_guilds (members).`);
		});
		const guilds = await Promise.all(found.map(({ id }) => otherGuild(id)));
		for (const guild of guilds) requireKnownMembers(guild, connection);
		return ({ id }) => {
			const guild = guilds.find(({ members }) => members.cache.has(id));
			return guild ? { is: true, text: `in ${guildName(guild)}` } : { is: false };
		};
	},
	cases: loadCases,
	// A spam incident is a case, too.
	spam: (condition, asking) => loadCases({ ...condition, detail: "spam" }, asking),
	async invite({ items }, { guild, sql, notes }) {
		requireOfPerson(guild, undefined, ManageGuild);
		const asked = items.map((item) => item.replace(/^.*\//, ""));
		const rows = new Map((await joinRows.all(sql, { guild_id: guild.id })).map((row) => [row.user_id, row]));
		const made = new Map((await readInvites(guild))?.map((one) => [one.code, Date.parse(one.created_at)]));
		const firstMs = Math.min(...asked.map((code) => made.get(code) ?? 0));
		notes.add("Invites are known of joins while this bot ran with MANAGE_GUILD, if no other way was possible.");
		return ({ id, joinedTimestamp }) => {
			const row = rows.get(id);
			if ((joinedTimestamp ?? firstMs) < firstMs) return { is: false, text: "joined before the invite" };
			if (row?.joined_at !== joinedTimestamp || !row) return { is: undefined, text: "invite unknown" };
			const codes = row.invites.split(",");
			const some = codes.filter((code) => asked.includes(code)).length;
			const names = codes.map((code) => (code === "?" ? "another way" : code)).join(" or ");
			const is = some > 0 && some < codes.length ? undefined : some > 0;
			return { is, text: `invite ${codes.length > 1 ? "one of " : ""}${names}` };
		};
	},
	async reacted({ items, detail }, { guild, notes }) {
		const found = new Map<string, string>();
		let isComplete = true;
		for (const item of items) isComplete = (await readReactions(guild, item, detail, found)) && isComplete;
		if (!isComplete) notes.add("Not all reactions were read.");
		return ({ id }) => {
			const name = found.get(id);
			return name === undefined ? { is: isComplete ? false : undefined } : { is: true, text: `reacted ${name}` };
		};
	},
	async messages(condition, asking, people) {
		const starts = asking.conditions.flatMap(({ field, fromMs }) => (field === "messages" ? [fromMs] : []));
		// Those who are still asked about later were among the first.
		asking.counts ??= countMessages(asking.guild, people, starts);
		const { rangeOf, notes } = await asking.counts;
		const isInNotes = condition.fromMs !== undefined && new Set(starts).size === 1;
		for (const note of notes) asking.notes.add(note);
		return (member) => {
			const since = condition.fromMs ?? member.joinedTimestamp;
			const range = rangeOf(member, since);
			if (!range) return { is: undefined };
			const text = `${range.isOpen ? "at least " : ""}${countOf(range.min, "message")}${isInNotes ? "" : ` since ${day(since ?? 0)}`}`;
			return { is: compareCount(condition, range.min, range.isOpen), text };
		};
	},
};

const matcherOf = (items: readonly string[]) => nameMatcher(...items.map((item) => fold(item.replace(/^@/, ""))));

function inTime(timeOf: (member: GuildMember) => number | null, label: string): Load {
	return ({ fromMs = -Infinity, toMs = Infinity }) =>
		(member) => {
			const at = timeOf(member);
			if (at === null) return { is: undefined, text: `${label}: unknown` };
			return { is: at >= fromMs && at < toMs, text: `${label} ${day(at)}` };
		};
}

async function loadCases(condition: Condition, { self, guild, sql }: Asking): Promise<Answers> {
	const { detail, fromMs } = condition;
	if (!self.toml.features.moderation) refuse("the bot records no cases: its feature moderation is off.");
	requireOfPerson(guild, undefined, ModerateMembers);
	const action = caseActions.find((one) => one === detail || `${one}s` === detail);
	if (detail && !action) refuse(`cases have no kind ${quoted(detail)}, but: ${caseActions.join(", ")}.`);
	const rows = await countCasesByUser(sql, guild.id, action, fromMs ?? 0);
	const counts = new Map(rows.map(({ user_id, count }) => [user_id, count]));
	const since = fromMs === undefined ? "" : ` since ${day(fromMs)}`;
	return ({ id }) => {
		const count = counts.get(id) ?? 0;
		const text = `${countOf(count, action ? `${action} case` : "case")}${since}`;
		return { is: compareCount(condition, count), text };
	};
}

async function idsOf(items: readonly string[], kind: "user" | "role", { guild, connection, reads }: Asking) {
	const names = items.map((item): Name => ({ kind, text: /^[@<]/.test(item) ? item : `@${item}` }));
	const members = await membersNamed(guild, names, connection);
	const ids = names.map((name) => {
		const id = /^<?@[!&]?(\d{17,20})>?$/.exec(name.text)?.[1];
		if (id && (kind === "user" || guild.roles.cache.has(id))) return id;
		const { only, all } = thingsNamed(guild, name, members, reads);
		if (only) return only.id;
		const problem = all.length > 1 ? "several have the name" : `there is no ${kind}`;
		return refuse(`${problem} ${quoted(name.text)}: give an id, or the name in quotation marks.`);
	});
	return new Set(ids);
}

const reactionPage = 100;
const maxReactionPages = 50;

/** Adds the emoji by user id. Returns whether all were read. */
async function readReactions(guild: Guild, item: string, wanted: string | undefined, found: Map<string, string>) {
	const [, channelId, messageId] = /(\d{17,20})\/(\d{17,20})$/.exec(item) ?? [];
	if (!channelId || !messageId)
		refuse(`expected a message's link, or CHANNEL_ID/MESSAGE_ID, received ${quoted(item)}.`);
	const channel = await anyChannel(guild, channelId);
	if (!channel.isTextBased()) refuse(`${oneField(channel.name)} has no messages.`);
	requirePermissions(guild, channel, PermissionFlagsBits.ReadMessageHistory | PermissionFlagsBits.ViewChannel);
	const { reactions = [] } = await fetchMessage(channel, messageId);
	const parsed = wanted === undefined ? undefined : v.safeParse(emoji, wanted);
	if (parsed && !parsed.success) refuse(`expected an emoji such as 👍, received ${quoted(wanted ?? "")}.`);
	const present = parsed ? [reactionWith(reactions, parsed.output) ?? []].flat() : reactions;
	let pages = 0;
	for (const { emoji, count_details } of present) {
		const path = emojiPath({ id: emoji.id ?? undefined, name: emoji.name ?? undefined }, guild);
		for (const type of count_details?.burst ? (["normal", "burst"] as const) : (["normal"] as const))
			for (let after: string | undefined, isLast = false; !isLast; pages += 1) {
				if (pages >= maxReactionPages) return false;
				const users = await fetchReactions(channel, messageId, path, { type, limit: reactionPage, after });
				for (const user of users) found.set(user.id, oneField(emoji.name ?? ""));
				isLast = users.length < reactionPage;
				after = users.at(-1)?.id;
			}
	}
	return true;
}
