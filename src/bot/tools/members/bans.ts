// Bans: reading them, people as result lines, how many messages a ban would delete, and who banned or timed out people.
// https://docs.discord.com/developers/resources/audit-log

import {
	type APIAuditLogEntry,
	type APIBan,
	AuditLogEvent,
	type Guild,
	type GuildMember,
	makeURLSearchParams,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
	SnowflakeUtil,
	type User,
} from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../../discord/acting-person.ts";
import { readAuditLog } from "../../../discord/audit-log.ts";
import { memberFields, time, userName } from "../../../discord/describe.ts";
import { absentIf } from "../../../discord/find.ts";
import { missingPermissions } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { fieldLine, fold, oneField } from "../../../discord/text.ts";
import { compareIds, lowestIdAt } from "../../../guild-document/names/ids.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { readsContent } from "../../messages/message-content.ts";
import { searchIndex } from "../../messages/message-index.ts";
import { duration } from "../../tool/arguments/arguments.ts";

/** For a preview. */
export function memberLine(member: GuildMember): string {
	const { highest } = member.roles;
	return fieldLine(
		memberFields(member),
		`joined: ${time(member.joinedAt)}`,
		highest.id !== member.guild.id && `highest role: @${oneField(highest.name)}`,
	);
}

export function outsiderLine({ globalName, username, id }: Pick<User, "globalName" | "username" | "id">): string {
	const name = globalName ? `${oneField(globalName)} (@${oneField(username)})` : `@${oneField(username)}`;
	return `${name} | ID: ${id} | not a member`;
}

/** Undefined if the user is not banned. */
export function fetchBan(guild: Guild, userId: string): Promise<APIBan | undefined> {
	return absentIf(
		[RESTJSONErrorCodes.UnknownBan],
		() => guild.client.rest.get(Routes.guildBan(guild.id, userId)) as Promise<APIBan>,
	);
}

const pageSize = 1000;
const maxPages = 10;

/**
 * Reads at most 10,000 bans of a guild, sorted by user id, of users with ids above `after`. Reads no further page once
 * `isDone` returns true for the last ban of a page. `isComplete` is false if more bans may follow.
 */
export async function readBans(
	guild: Guild,
	after: string | undefined,
	isDone: (last: APIBan) => boolean = () => false,
): Promise<{ bans: APIBan[]; isComplete: boolean }> {
	const bans: APIBan[] = [];
	for (let page = 0; page < maxPages; page += 1) {
		const query = makeURLSearchParams({ limit: pageSize, after: bans.at(-1)?.user.id ?? after });
		const read = (await guild.client.rest.get(Routes.guildBans(guild.id), { query })) as APIBan[];
		bans.push(...read);
		const last = read.at(-1);
		if (!last || read.length < pageSize || isDone(last)) return { bans, isComplete: true };
	}
	return { bans, isComplete: false };
}

/** The only banned user with this username or, if there is none, this display name. Reads at most 10,000 bans. */
export async function bannedNamed(guild: Guild, name: string): Promise<string | undefined> {
	const folded = fold(name);
	const { bans } = await readBans(guild, undefined);
	const named = (key: "username" | "global_name") =>
		bans.filter(({ user }) => user[key] && fold(user[key]) === folded).map(({ user }) => user.id);
	const [only, ...others] = [named("username"), named("global_name")].find(({ length }) => length > 0) ?? [];
	return others.length === 0 ? only : undefined;
}

/** Reads at most 10,000 bans; `isComplete` is false if that was not enough. */
export async function bansAmong(
	guild: Guild,
	ids: readonly string[],
): Promise<{ banned: ReadonlyMap<string, APIBan>; isComplete: boolean }> {
	const sorted = ids.toSorted(compareIds);
	const [first, last] = [sorted[0], sorted.at(-1)];
	if (first === undefined || last === undefined) return { banned: new Map(), isComplete: true };
	const after = String(BigInt(first) - 1n);
	const { bans, isComplete } = await readBans(guild, after, ({ user }) => compareIds(user.id, last) >= 0);
	const banned = new Map(bans.filter(({ user }) => ids.includes(user.id)).map((ban) => [ban.user.id, ban]));
	return { banned, isComplete };
}

/** In one search. https://docs.discord.com/developers/resources/message#search-guild-messages */
const maxAuthors = 100;

/**
 * Such as "about 12 message(s) of the last 1 h", or why that is unknown. Without a number in a call in a person's name:
 * Discord's search also counts messages in channels that only the bot can read.
 */
export async function countDeletedMessages(guild: Guild, userIds: readonly string[], seconds: number): Promise<string> {
	const span = `of the last ${inDays(seconds)}`;
	const unknown = (why: string) => `an unknown number of messages ${span} (${why})`;
	// https://docs.discord.com/developers/resources/message#search-guild-messages
	if (!readsContent(guild.client)) return unknown("Discord's search needs the MESSAGE_CONTENT intent");
	const since = String(lowestIdAt(Date.now() - seconds * 1000) - 1n);
	if (actingPerson(guild)) return `their messages ${span}`;
	let total = 0;
	for (let from = 0; from < userIds.length; from += maxAuthors) {
		const query = { author_id: userIds.slice(from, from + maxAuthors), min_id: since, include_nsfw: true };
		try {
			const found = await searchIndex(guild, query, { limit: 0, reserveMs: 0 });
			if (!found) return unknown("Discord is still indexing the guild's messages");
			total += found.total;
		} catch (error) {
			const refusal = toToolError(error);
			if (!refusal) throw error;
			return unknown(`Discord's search failed: ${refusal.message}`);
		}
	}
	return `about ${total} message(s) ${span} (Discord's search, where the bot can read)`;
}

/** Argument of tools that ban. */
export const delete_messages = v.optional(
	duration({ max: "7d", none: "none" }, "Also delete messages of the last 1h, up to 7d."),
);

/** For people: which messages a ban deletes; false if none. */
export function deleting(seconds: number): Said | false {
	if (seconds === 0) return false;
	const days = seconds / 86_400;
	if (days > 1 && Number.isInteger(days)) return said("result.deleting_days", { count: days });
	return said("result.deleting_hours", { count: Math.ceil(seconds / 3600) });
}

function inDays(seconds: number): string {
	if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
	if (seconds % 3600 === 0) return `${seconds / 3600} h`;
	return `${seconds} s`;
}

const maxTimeoutMs = 28 * 86_400_000;

/** Such as "2026-02-01T12:00:00Z, since 2026-01-31T12:00:00Z by @ada (ID: …)". */
export type TimeoutOf = (member: GuildMember) => string;

/** End, start and author of timeouts: https://docs.discord.com/developers/resources/guild#modify-guild-member */
export async function readTimeouts(guild: Guild, members: readonly GuildMember[]): Promise<TimeoutOf> {
	const ids = members.map(({ id }) => id);
	const by = await readDoneBy(guild, AuditLogEvent.MemberUpdate, ids, {
		afterId: String(lowestIdAt(Date.now() - maxTimeoutMs)),
		isMeant: ({ changes = [] }) =>
			changes.some(({ key, new_value }) => key === "communication_disabled_until" && new_value !== undefined),
	});
	return ({ id, communicationDisabledUntil }) => {
		const since = by.of(id);
		return `${time(communicationDisabledUntil)}${since ? `, since ${since}` : ""}`;
	};
}

/** What was done last to each user. Reads at most 500 entries down to `afterId`, and none without `userIds`. */
export async function readDoneBy(
	guild: Guild,
	action: AuditLogEvent,
	userIds: readonly string[],
	{ afterId = "0", isMeant = () => true }: { afterId?: string; isMeant?: (entry: APIAuditLogEntry) => boolean } = {},
) {
	const entries = new Map<string | null, APIAuditLogEntry>();
	const mayRead = missingPermissions(guild, undefined, PermissionFlagsBits.ViewAuditLog) === 0n;
	let whyUnknown = mayRead
		? "more than 45 days ago, or beyond the audit log's last 500 entries"
		: "the audit log needs VIEW_AUDIT_LOG";
	if (mayRead && userIds.length > 0)
		try {
			const read = await readAuditLog(guild, action, afterId);
			for (const entry of read.filter(isMeant).reverse()) entries.set(entry.target_id, entry);
		} catch (error) {
			const refusal = toToolError(error);
			if (!refusal) throw error;
			whyUnknown = refusal.message;
		}
	return {
		/** Such as "2026-01-31T12:00:00Z by @ada (ID: …)"; undefined if unknown. */
		of(userId: string): string | undefined {
			const entry = entries.get(userId);
			if (!entry) return undefined;
			const user = guild.client.users.cache.get(entry.user_id ?? "");
			return `${time(SnowflakeUtil.timestampFrom(entry.id))} by ${user ? userName(user) : (entry.user_id ?? "unknown")}`;
		},
		/** Why some are unknown. */
		whyUnknown,
	};
}
