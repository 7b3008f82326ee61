// Deleting many messages, in as few requests as Discord allows: the requests, and what a tool says of them.
// https://docs.discord.com/developers/resources/message#bulk-delete-messages

import type { APIMessage, Guild, GuildTextBasedChannel } from "discord.js";
import { PermissionFlagsBits } from "discord.js";
import { actingPerson } from "../../discord/acting-person.ts";
import { channelName } from "../../discord/describe.ts";
import { missingPermissions } from "../../discord/permissions.ts";
import { fieldLine, resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { inBatches } from "../../lib/store/statement.ts";
import { type Said, said } from "../../texts/texts.ts";
import { asking, channels as channelMentions, type Part, parts, reasonOf, result } from "../results/result.ts";
import { type Outcome, refusalOf, shownOf, tryEach } from "../tool/bulk.ts";
import type { CaseDraft, Concerned } from "../tool/case-record.ts";
import type { Plan } from "../tool/context.ts";
import { bulkDelete, isTooOldForBulk } from "./bulk-delete.ts";
import { fetchPage } from "./message-pages.ts";
import { countLines, sortCounts } from "./message-results.ts";

const bulkSize = 100;
const pageSize = 100;
const maxCounts = 25;

export interface Target {
	channel: GuildTextBasedChannel;
	id: string;
}

/** Texts, which depend on how the call selected the messages. */
export interface Selection {
	/** On what is not deleted or searched. */
	notes: readonly Part[];
	/** What the number of deleted messages leaves out. */
	caveat?: string;
	/** Result without messages to delete. */
	nothing: string;
	/** Channel ids, for equal numbers of messages. */
	order?: readonly string[];
	record?: PurgeDraft | undefined;
	/** How to delete the messages that were not tried. */
	again(left: readonly Target[]): string;
	/** For the dry run. `missing`: messages that do not exist. */
	describe(): Promise<{ lines: string[]; people?: readonly Said[]; missing?: readonly Target[] }>;
}

interface Batch {
	channel: GuildTextBasedChannel;
	ids: readonly string[];
}

/** In bulk if they are under 14 days old, otherwise one by one. */
export function deletionPlan(targets: readonly Target[], selection: Selection): Plan {
	const { notes, nothing, order, record, describe } = selection;
	const batches = batchesOf(targets);
	const channels = [...new Set(targets.map(({ channel }) => channel))];
	const [only] = channels;
	const where = only && channels.length === 1 ? `from ${channelName(only)}` : `in ${channels.length} channel(s)`;
	const none = parts(result(nothing, said("result.purge.none")), notes);
	let concerned: Concerned | undefined;
	return {
		async preview() {
			if (targets.length === 0) return none;
			const { lines, people = [], missing = [] } = await describe();
			const existing = targets.filter((one) => !missing.includes(one));
			const counts = channels.map((channel) => {
				const inChannel = existing.filter((one) => one.channel === channel);
				const { id } = channel;
				return { id, name: channelName(channel), count: inChannel.length };
			});
			const old = existing.filter(({ id }) => isTooOldForBulk(id)).length;
			const messages = said("count.messages", { count: existing.length });
			return parts(
				asking(
					resultLines(
						`Would delete ${existing.length} message(s) ${where}.`,
						channels.length > 1 &&
							countLines(sortCounts(counts, "channel", order ?? []), "channel", shownOf(maxCounts)),
						old > 0 && existing.length > 1 && `${old} over 14 days old, which are deleted one by one.`,
						lines,
					),
					said("result.purge.ask", { messages, where: channelMentions(channels) }),
					old > 0 && existing.length > 1 && said("result.purge.old", { count: old }),
					...people,
				),
				notes,
			);
		},
		// A range such as "the last 6 hours" selects others later.
		basis: targets.map(({ channel, id }) => `${channel.id}/${id}`),
		record: targets.length === 0 || !record ? undefined : { ...record, concerned: () => concerned },
		async act(call) {
			if (targets.length === 0) return none;
			const write = ({ channel, ids }: Batch) => bulkDelete(channel, ids);
			// For a single request the error says everything.
			const idOf = ({ ids }: Batch) => ids[0] ?? "";
			const outcome = await tryEach({ items: batches, write, idOf }, call, batches.length === 1);
			concerned = record?.concernedBy(targetsOf(outcome.done), outcome.unknown?.item.ids.length ?? 0);
			return deletionResult(batches, outcome, where, selection);
		},
	};
}

// Greater than the key of any bulk deletion, so that these come first.
const lastRound = 1_000_000;

// Bulk deletions alternate between channels because of rate limits.
function batchesOf(targets: readonly Target[]): Batch[] {
	const byChannel = [...Map.groupBy(targets, ({ channel }) => channel)];
	const rounds = byChannel.flatMap(([channel, inChannel]) => {
		const ids = inChannel.map(({ id }) => id);
		const young = ids.filter((id) => !isTooOldForBulk(id));
		const old = ids.filter(isTooOldForBulk).map((id) => [id]);
		return [
			...Array.from(inBatches(young, bulkSize), (ids, round) => ({ channel, ids, round })),
			...old.map((ids, index) => ({ channel, ids, round: lastRound + index })),
		];
	});
	return rounds.sort((a, b) => a.round - b.round);
}

function deletionResult(
	batches: readonly Batch[],
	{ done, refused, unknown, stopped }: Outcome<Batch>,
	where: string,
	{ notes, caveat, again }: Selection,
): Part[] {
	const tried = done.length + refused.length + (unknown ? 1 : 0);
	const left = targetsOf(batches.slice(tried));
	const count = (some: readonly Batch[]) => some.reduce((sum, { ids }) => sum + ids.length, 0);
	const failed = [
		...refused.map((one) => ({ ...one, label: "refused" })),
		...(unknown ? [{ ...unknown, label: "of unknown outcome" }] : []),
	];
	const channels = [...new Set(batches.map(({ channel }) => channel))];
	const lines = channels.flatMap((channel) => {
		const isHere = (one: Batch) => one.channel === channel;
		const reasons = Map.groupBy(
			failed.filter(({ item }) => isHere(item)),
			({ label, error }) => `${label}: ${error.message}`,
		);
		const here = count(done.filter(isHere));
		const fields = [...reasons].map(([text, all]) => `${count(all.map(({ item }) => item))} ${text}`);
		return channels.length > 1 || fields.length > 0
			? [fieldLine(channelName(channel), `${here} deleted`, ...fields)]
			: [];
	});
	const all = count(batches);
	const deleted = count(done);
	const of = deleted === all ? "" : ` of ${all}`;
	const output = parts(
		result(
			resultLines(
				`Deleted ${deleted}${of} message(s) ${where}.`,
				lines,
				left.length > 0 && `${left.length} not started: ${stopped} ${again(left)}`,
			),
			said("result.purge", { messages: said("count.messages", { count: deleted }), where: channelMentions(channels) }),
			...failed.map(({ item, error }) =>
				said("result.purge.failed", { count: item.ids.length, where: `<#${item.channel.id}>`, why: reasonOf(error) }),
			),
			left.length > 0 && said("result.left", { count: left.length }),
		),
		caveat,
		notes,
	);
	if (deleted === 0) throw refusalOf(output);
	return output;
}

function targetsOf(batches: readonly Batch[]): Target[] {
	return batches.flatMap(({ channel, ids }) => ids.map((id) => ({ channel, id })));
}

export function readsHistory(channel: GuildTextBasedChannel): boolean {
	return missingPermissions(channel.guild, channel, PermissionFlagsBits.ReadMessageHistory) === 0n;
}

/**
 * Reads pages of messages, in at most `maxPages` requests. `missing`: ids of messages that do not exist. `isComplete`:
 * each id was found or is known to be missing.
 */
export async function lookUp(channel: GuildTextBasedChannel, targets: readonly Target[], maxPages: number) {
	const messages = new Map<string, APIMessage>();
	const missing = new Set<string>();
	let unread = targets.map(({ id }) => id).sort(compareIds);
	let pages = 0;
	if (readsHistory(channel))
		while (pages < maxPages) {
			const newest = unread.at(-1);
			if (newest === undefined) break;
			const before = String(BigInt(newest) + 1n);
			const page = await fetchPage(channel, { limit: pageSize, before });
			pages += 1;
			const byId = new Map(page.map((message) => [message.id, message]));
			const oldest = page.at(-1);
			const isLast = !oldest || page.length < pageSize;
			const isRead = (id: string) => isLast || compareIds(id, oldest.id) >= 0;
			for (const id of unread.filter(isRead)) {
				const message = byId.get(id);
				if (message) messages.set(id, message);
				else missing.add(id);
			}
			unread = unread.filter((id) => !isRead(id));
		}
	return { messages, missing, isComplete: unread.length === 0, pages };
}

const maxCaseMessages = 1_000;

interface PurgeDraft extends CaseDraft {
	/** `unknown`: number of messages that may have been deleted. */
	concernedBy(deleted: readonly Target[], unknown: number): Concerned;
}

/** Undefined if all are the bot's own or the person's. `messages`: the targets that are known. */
export function purgeDraft(
	guild: Guild,
	targets: readonly Target[],
	messages: readonly APIMessage[],
): PurgeDraft | undefined {
	const own = [guild.client.user.id, actingPerson(guild)?.id];
	const areAllKnown = messages.length === targets.length;
	if (areAllKnown && messages.every(({ author }) => own.includes(author.id))) return undefined;
	const authors = areAllKnown ? new Map(messages.map(({ id, author }) => [id, author.id])) : new Map<string, string>();
	const [author, ...others] = new Set(authors.values());
	const all = targets.length;
	return {
		action: "purge",
		userIds: author && others.length === 0 && !messages.some(({ webhook_id }) => webhook_id) ? [author] : [],
		...concernedBy(targets, authors, [said("count.messages", { count: all })]),
		concernedBy(deleted, unknown) {
			const { length: count } = deleted;
			const detail = [
				count === all ? said("count.messages", { count }) : said("case.detail.deleted", { count, all }),
				...(unknown > 0 ? [said("case.detail.unknown", { count: unknown })] : []),
			];
			return count === 0 ? { detail } : concernedBy(deleted, authors, detail);
		},
	};
}

function concernedBy(targets: readonly Target[], authors: ReadonlyMap<string, string>, counts: readonly Said[]) {
	const kept = targets.toSorted((a, b) => compareIds(b.id, a.id)).slice(0, maxCaseMessages);
	const several = new Set(targets.flatMap(({ id }) => authors.get(id) ?? []));
	return {
		messageIds: kept.map(({ id }) => id),
		channelIds: [...new Set(targets.map(({ channel }) => channel.id))],
		detail: [
			...counts,
			...(kept.length < targets.length ? [said("case.detail.kept", { count: kept.length })] : []),
			...(several.size > 1 ? [said("case.detail.authors", { count: several.size })] : []),
		],
	};
}
