// Pages of threads: the active ones of a guild or channel, then the archived ones of a channel.
// https://discord.com/developers/docs/resources/channel#list-public-archived-threads

import { type APIThreadChannel, ChannelFlags, ChannelType, type Guild, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { compareIds } from "../guild-document/names/ids.ts";
import { channelName, memberName, time } from "./describe.ts";
import { isForum, type ThreadedChannel } from "./find.ts";
import { missingPermissions, personHas } from "./permissions.ts";
import { fieldLine, namedLike, oneField, resultLines } from "./text.ts";
import { canSeeThread, visibleChannel, visibleChannels } from "./visible-channels.ts";

/** Id of the last active thread, or the time at which the last one was archived. */
export const threadCursor = v.optional(
	v.pipe(
		v.string(),
		v.regex(
			/^(?:\d{17,20}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))$/,
			"expected an id or a time, as in next_before",
		),
		v.description("Go on from a page's `next_before`."),
	),
);

interface ThreadQuery {
	/** Undefined: all channels of the guild. */
	channel?: ThreadedChannel | undefined;
	archived: boolean;
	limit: number;
	before?: string | undefined;
	/** Threads with one of these tags. */
	tagIds?: readonly string[] | undefined;
	/** Parts of names, in any case and with any accents. */
	names?: readonly string[] | undefined;
}

type ThreadFilter = Pick<ThreadQuery, "tagIds" | "names">;

interface ThreadList {
	threads: APIThreadChannel[];
	has_more?: boolean;
}

interface Page {
	threads: APIThreadChannel[];
	next: string | undefined;
}

const searchedPages = 5;

export async function threadLines(guild: Guild, query: ThreadQuery): Promise<string[]> {
	const { threads, next } = await threadPage(guild, query);
	const { channel, archived, before, tagIds, names } = query;
	const noun = channel && isForum(channel) ? "post" : "thread";
	const where = channel ? channelName(channel) : `the guild ${guild.id}`;
	const tagged = (tagIds ? ` with the tag ${tagIds.join(" or ")}` : "") + namedLike(names).words;
	const kind = archived ? noun : `active ${noun}`;
	const rest = before === undefined ? "" : ` before ${before}`;
	const order = archived ? ", archived ones after the active, the latest archived first" : "";
	const forums = [...visibleChannels(guild).values()].filter((one) => isForum(one));
	const tags = new Map(forums.flatMap(({ availableTags }) => availableTags.map(({ id, name }) => [id, name])));
	return resultLines(
		threads.length === 0
			? `There is no ${kind}${tagged} in ${where}${rest}${next ? " among the threads searched so far" : ""}.`
			: `${threads.length} ${kind}(s)${tagged} in ${where}${rest}, the newest first${order}, times in UTC:`,
		threads.map((thread) => threadLine(guild, thread, { tags, within: channel !== undefined })),
		archived &&
			hasPrivate(channel) &&
			!managesThreads(guild, channel) &&
			"Archived private threads are not listed: that requires MANAGE_THREADS.",
		next !== undefined && `next_before=${next}`,
	);
}

function hasPrivate(channel?: ThreadedChannel): boolean {
	return channel?.type === ChannelType.GuildText;
}

function managesThreads(guild: Guild, channel?: ThreadedChannel): boolean {
	return missingPermissions(guild, channel, PermissionFlagsBits.ManageThreads) === 0n;
}

async function threadPage(guild: Guild, query: ThreadQuery): Promise<Page> {
	const { before, limit, archived, channel } = query;
	const pastActive = before !== undefined && /T/.test(before);
	const active = pastActive ? [] : await activeThreads(guild, query);
	const threads = active.slice(0, limit);
	const last = threads.at(-1);
	if (active.length > limit) return { threads, next: last?.id };
	if (!archived || !channel) return { threads, next: undefined };
	if (threads.length === limit) return { threads, next: last?.id };
	const rest = await archivedThreads(guild, channel, {
		...query,
		limit: limit - threads.length,
		before: pastActive ? before : undefined,
	});
	return { threads: [...threads, ...rest.threads], next: rest.next };
}

const maxLookUps = 100;

/** Newest first, of those that the person in whose name the call acts can see. `before`: only lower ids. */
export async function activeThreads(
	guild: Guild,
	{ channel, before, ...filter }: Pick<ThreadQuery, "channel" | "before"> & ThreadFilter,
): Promise<APIThreadChannel[]> {
	const { threads } = (await guild.client.rest.get(Routes.guildActiveThreads(guild.id))) as ThreadList;
	const matching = threads
		.filter(({ parent_id }) => !channel || parent_id === channel.id)
		.filter(({ id }) => before === undefined || compareIds(id, before) < 0)
		.filter((thread) => matches(thread, filter))
		.sort((a, b) => compareIds(b.id, a.id));
	const visible: APIThreadChannel[] = [];
	let lookUps = 0;
	for (const thread of matching) {
		const isLookedUp =
			thread.type === ChannelType.PrivateThread &&
			!personHas(guild, visibleChannel(guild, thread.parent_id ?? ""), PermissionFlagsBits.ManageThreads);
		if (isLookedUp && lookUps >= maxLookUps) continue;
		if (isLookedUp) lookUps += 1;
		if (await canSeeThread(guild, thread)) visible.push(thread);
	}
	return visible;
}

function matches(thread: APIThreadChannel, { tagIds, names }: ThreadFilter): boolean {
	const { applied_tags = [] } = thread;
	return (tagIds?.some((id) => applied_tags.includes(id)) ?? true) && namedLike(names).matches(thread);
}

const archivedAt = ({ thread_metadata }: APIThreadChannel) => thread_metadata?.archive_timestamp ?? "";

async function archivedThreads(
	guild: Guild,
	channel: ThreadedChannel,
	{ limit, before, tagIds, names }: ThreadQuery,
): Promise<Page> {
	const kinds =
		hasPrivate(channel) && managesThreads(guild, channel) ? (["public", "private"] as const) : (["public"] as const);
	const found: APIThreadChannel[] = [];
	let cursor = before;
	for (let pages = 0; pages < searchedPages; pages += 1) {
		const remaining = limit - found.length;
		const isSearch = tagIds !== undefined || names !== undefined;
		const each = isSearch ? 100 : remaining;
		const { threads, more } = await archivedPage(channel, kinds, each, cursor);
		const matching = threads.filter((thread) => matches(thread, { tagIds, names }));
		const taken = matching.slice(0, remaining);
		found.push(...taken);
		const cut = matching.length > taken.length || (more && found.length === limit);
		const last = cut ? taken.at(-1) : threads.at(-1);
		cursor = last ? archivedAt(last) : cursor;
		if (cut) return { threads: found, next: cursor };
		if (!more || !last) return { threads: found, next: undefined };
	}
	return { threads: found, next: cursor };
}

async function archivedPage(
	{ id, client }: ThreadedChannel,
	kinds: readonly ("public" | "private")[],
	limit: number,
	before: string | undefined,
) {
	const query = new URLSearchParams({
		// Discord rejects a limit of 1.
		limit: String(Math.min(100, Math.max(2, limit))),
		...(before !== undefined && { before }),
	});
	const pages = (await Promise.all(
		kinds.map((kind) => client.rest.get(Routes.channelThreads(id, kind), { query })),
	)) as ThreadList[];
	const at = (thread: APIThreadChannel) => Date.parse(archivedAt(thread));
	// A kind with has_more returned a full page, so a page cut at `limit` skips none of the other kind.
	const threads = pages.flatMap(({ threads }) => threads).sort((a, b) => at(b) - at(a) || compareIds(b.id, a.id));
	return { threads, more: pages.some(({ has_more }) => has_more) };
}

function threadLine(
	guild: Guild,
	thread: APIThreadChannel,
	{ tags, within }: { tags: ReadonlyMap<string, string>; within: boolean },
): string {
	const { id, name, type, parent_id, owner_id, thread_metadata } = thread;
	const { message_count = 0, member_count = 0, applied_tags = [], rate_limit_per_user: slowMode = 0 } = thread;
	// Discord stops counting at 50. https://discord.com/developers/docs/resources/channel#channel-object-channel-structure
	const members = member_count < 50 ? member_count : "50+";
	const parent = visibleChannel(guild, parent_id ?? "");
	const owner = guild.members.cache.get(owner_id ?? "");
	const created = thread_metadata?.create_timestamp;
	const started = created ? `started: ${time(new Date(created))} by` : "by";
	const isPinned = ((thread.flags ?? 0) & ChannelFlags.Pinned) !== 0;
	const tagLabels = applied_tags.map((tag) => oneField(tags.get(tag) ?? tag));
	return fieldLine(
		`#${oneField(name ?? "")} | ID: ${id}`,
		type === ChannelType.PrivateThread && "private",
		!within && `in: ${parent ? channelName(parent) : parent_id}`,
		`${message_count} message(s), ${members} member(s)`,
		`${started} ${owner ? memberName(owner) : (owner_id ?? "unknown")}`,
		tagLabels.length > 0 && `tags: ${tagLabels.join(", ")}`,
		slowMode > 0 && `slow mode: ${slowMode} s`,
		isPinned && "pinned",
		thread_metadata?.locked && "locked",
		thread_metadata?.archived && `archived: ${time(Date.parse(thread_metadata.archive_timestamp))}`,
	);
}
