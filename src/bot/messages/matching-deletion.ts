// Deleting the messages that match filters, in one, several or all channels.

import type { APIMessage, Guild, GuildTextBasedChannel } from "discord.js";
import { channelName, time } from "../../discord/describe.ts";
import { textChannel } from "../../discord/find.ts";
import { bitsIn, missingPermissions } from "../../discord/permissions.ts";
import { resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { type Said, said } from "../../texts/texts.ts";
import { channels, listed, type Part, parts, result } from "../results/result.ts";
import { sample, shownOf } from "../tool/bulk.ts";
import type { Plan } from "../tool/context.ts";
import { isDeletable } from "./bulk-delete.ts";
import { readsContent } from "./message-content.ts";
import { deletionPlan, purgeDraft, type Target } from "./message-deletion.ts";
import { type MessageFilter, matcher } from "./message-filter.ts";
import { indexQuery, isForIndex, namesChannels, searchIndex } from "./message-index.ts";
import { countLines, countsOf } from "./message-results.ts";
import {
	type Range,
	readableIn,
	readChannels,
	type Scope,
	scopeLabel,
	scopeNotes,
	scopeOf,
	withArchived,
} from "./message-search.ts";
import { summaries } from "./message-summary.ts";
import { linkTo } from "./sent-message.ts";

const maxLinks = 5;
const maxLines = 25;
const maxCounts = 25;
const maxKept = 20;
// The search ends when less is left, so that the found messages can still be deleted.
const reserveMs = 15_000;

export interface Selected extends Range, Omit<MessageFilter, "pinned"> {
	/** Newest first. */
	count?: number | undefined;
	/** Pinned messages, too. */
	pinned?: boolean | undefined;
}

interface MatchingOptions {
	/** As Discord's clients show them. */
	order: readonly { id: string }[];
	/** If the call does not say how many. */
	maxCount: number;
	/** Left out, with their threads, unless the call names them: also those in a named category. */
	except?: ReadonlySet<string>;
	/** Also for messages that do not match. */
	onRead?(message: APIMessage): void;
	/** On messages that are not deleted. Called after all are read. */
	notes?(): readonly Part[];
}

export async function planMatching(
	guild: Guild,
	args: Selected,
	places: Parameters<typeof scopeOf>[1],
	options: MatchingOptions,
): Promise<Plan> {
	const { order, maxCount, onRead } = options;
	const { count = maxCount, before, after } = args;
	const permissions = ["ManageMessages", "ReadMessageHistory"] as const;
	const { scope: inScope, left } = without(scopeOf(guild, places, permissions, order), places, options.except);
	// Discord's index would also search the channels that are left.
	const namesAll = left.length > 0 || namesChannels(guild, places !== undefined);
	let scope: Scope = inScope;
	const { pinned: _, ...filter } = args;
	const isMatch = matcher(filter);
	const pinned: APIMessage[] = [];
	const undeletable: APIMessage[] = [];
	const matches = (message: APIMessage) => {
		onRead?.(message);
		if (!isMatch(message)) return false;
		const kept = message.pinned && !args.pinned ? pinned : isDeletable(message) ? undefined : undeletable;
		kept?.push(message);
		return !kept;
	};
	const complete = async () => {
		scope = await withArchived(guild, scope, args);
	};
	const search = async () => {
		// Channels that are named to the index have to be named with all of their threads.
		if (namesAll) await complete();
		if (isForIndex(args, readableIn(scope)) && readsContent(guild.client)) {
			const query = indexQuery(filter, args, namesAll ? readableIn(scope) : undefined);
			const found = await searchIndex(guild, query, {
				limit: count,
				reserveMs,
				// Messages that stay, such as pinned ones, do not count.
				matches,
			});
			if (found)
				return {
					messages: found.messages,
					notes: parts(
						result(
							"Discord's index was searched, which may lack the latest messages and finds whole words only; with `after`, each message is read.",
							said("result.purge.index"),
						),
						result(`Searched: ${scopeLabel(scope, !namesAll)}.`),
						scopeNotes(scope),
						found.hasMore && result("More match: call again after this.", said("result.purge.more")),
					),
				};
		}
		// The same messages are read again.
		pinned.length = 0;
		undeletable.length = 0;
		if (!namesAll) await complete();
		const read = await readChannels(
			readableIn(scope),
			{ after, before },
			{ matches, limit: count, reserveMs, reportProgress: () => {} },
		);
		const { stopped, nextBefore } = read;
		const messages = [...read.matches, ...read.further].slice(0, count);
		const isCut = stopped !== undefined && messages.length !== args.count;
		return {
			messages,
			notes: parts(
				read.notes,
				readableIn(scope).length > 1 && result(`Searched: ${scopeLabel(scope)}.`),
				scopeNotes(scope),
				isCut &&
					result(
						[
							`Older messages were not searched, because ${stopped}`.replace(/\.?$/, "."),
							"Repeat the call afterwards to go on.",
							nextBefore && `next_before=${nextBefore}`,
						],
						said("result.purge.cut"),
					),
			),
		};
	};
	const { messages: selected, notes } = await search();
	const readable = readableIn(scope);
	const isAcross = readable.length > 1;
	const [only] = readable;
	const channelOf = new Map(scope.channels.map((one) => [one.id, one]));
	const targets: Target[] = [];
	const messages: APIMessage[] = [];
	for (const message of selected) {
		const { id, channel_id } = message;
		// Archived threads are not in the cache.
		const channel = channelOf.get(channel_id) ?? (await textChannel(guild, channel_id));
		channelOf.set(channel_id, channel);
		if (missingPermissions(guild, channel, bitsIn(channel, ["ManageMessages"])) !== 0n) continue;
		targets.push({ channel, id });
		messages.push(message);
	}
	const idOf = ({ channel_id, id }: APIMessage) => (isAcross ? `${channel_id}/${id}` : id);
	const where = only && !isAcross ? channelName(only) : "these channels";
	return deletionPlan(targets, {
		notes: [
			...keptNotes(pinned.map(idOf), undeletable.map(idOf)),
			...(after ? [result(`After ${time(after.atMs)}; now is ${time(Date.now())}.`)] : []),
			...notes,
			...leftNotes(left),
			...(options.notes?.() ?? []),
		],
		record: purgeDraft(guild, targets, messages),
		nothing: `No message in ${where} matches: nothing to delete.`,
		order: readable.map(({ id }) => id),
		again: () => "To continue, call again with the same arguments.",
		describe: async () => ({
			lines: messageLinesOf(guild, messages, { isAcross, others: "search_messages finds them with the same filters" }),
			people: shownOfPeople(guild, messages),
		}),
	});
}

function without(scope: Scope, places: Parameters<typeof scopeOf>[1], except: ReadonlySet<string> = new Set()) {
	const named = new Set(places?.map(({ id }) => id));
	const isLeft = (one: { id: string; parentId: string | null }) =>
		!named.has(one.id) && [one.id, one.parentId ?? ""].some((id) => except.has(id) && !named.has(id));
	const left = scope.channels.filter(isLeft);
	const channels = scope.channels.filter((one) => !isLeft(one));
	const parents = scope.parents.filter((one) => !isLeft(one));
	return { scope: { ...scope, channels, parents }, left };
}

function leftNotes(left: readonly GuildTextBasedChannel[]): Part[] {
	if (left.length === 0) return [];
	return [
		result(
			`Left, because the bot keeps records there: ${sample(left, maxKept, channelName).join(", ")}. A call that names such a channel deletes messages in it.`,
			said("result.purge.records", { where: channels(left) }),
		),
	];
}

/** By their ids. */
export function keptNotes(pinned: readonly string[], undeletable: readonly string[]): Part[] {
	return parts(
		pinned.length > 0 &&
			result(
				`${pinned.length} pinned and left; \`message_ids\` deletes them: ${cut(pinned)}`,
				said("result.purge.pinned", { count: pinned.length }),
			),
		undeletable.length > 0 &&
			result(
				`${undeletable.length} skipped, since nobody can delete Discord's notices in a thread: ${cut(undeletable)}`,
				said("result.purge.notices", { count: undeletable.length }),
			),
	);
}

/** For people: the authors with the most messages, and links to the latest messages. */
function shownOfPeople(guild: Guild, messages: readonly APIMessage[]): Said[] {
	const byAuthor = Map.groupBy(
		messages.filter(({ webhook_id }) => !webhook_id),
		({ author }) => author.id,
	);
	const most = [...byAuthor].toSorted(([, a], [, b]) => b.length - a.length);
	const who = listed(most.map(([id, { length }]) => `<@${id}> (${length})`));
	const latest = messages.toSorted((a, b) => compareIds(b.id, a.id)).slice(0, maxLinks);
	const links = latest.map(({ channel_id, id }) => linkTo({ id: channel_id, guild }, id)).join(" ");
	return [
		...(most.length > 0 ? [said("result.purge.authors", { who })] : []),
		...(latest.length > 0 ? [said("result.purge.latest", { links })] : []),
	];
}

/** Joins ids with commas, up to the maximum number of ids in a result. */
export function cut(ids: readonly string[]): string {
	return sample(ids, maxKept, (id) => id).join(", ");
}

/** Numbers by author, and the messages, newest first. `others` is how to see those that are not shown. */
export function messageLinesOf(
	guild: Guild,
	messages: readonly APIMessage[],
	{ isAcross, others }: { isAcross: boolean; others: string },
): string[] {
	if (messages.length === 0) return [];
	const newest = messages.toSorted((a, b) => compareIds(b.id, a.id));
	const lines = summaries(newest, { guild, isAcross, maxAuthors: shownOf(maxCounts) });
	const shown = lines.slice(0, shownOf(maxLines));
	return resultLines(
		"By author:",
		countLines(countsOf(messages, "author", { guild }), "author", shownOf(maxCounts)),
		"Newest first; date, channel, author where they change:",
		shown,
		shown.length < lines.length && `Not all are shown: ${others}.`,
	);
}
