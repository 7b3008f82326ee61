// Posts and updates the entries of reports in the channel for staff. The database alone determines what is due, so that
// after any crash each report is posted once and its entry gets up to date.

import {
	type APIEmbed,
	type Client,
	DiscordAPIError,
	Events,
	type Guild,
	type Message,
	RESTJSONErrorCodes,
} from "discord.js";
import type { Log } from "../../../../lib/log.ts";
import { createReconciler, NotNow, type Step } from "../../../../lib/reconciler.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { absentIf } from "../../../discord/find.ts";
import { lowestIdAt } from "../../../discord/ids.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { StoreUnavailable } from "../../../store/database/db-error.ts";
import type { Store } from "../../../store/store.ts";
import {
	deleteReportsBefore,
	endReport,
	type ReportKey,
	type ReportRow,
	selectClosingReports,
	selectEarlierReport,
	selectNextClosing,
	selectReport,
	selectReporterRecords,
	selectReporters,
	selectUnshownReports,
	setPosting,
	setShown,
} from "../../../store/tables/reports.ts";
import type { Copies } from "./copies.ts";
import { copyMessage, type MessageCopy } from "./message-copy.ts";
import { actsOf, changedEntry, isEntryOf, newEntry, type ShownReport, shownReporters } from "./report-entry.ts";
import { findReportsChannel, type StaffChannel } from "./reports-channel.ts";

const { UnknownChannel, UnknownMessage } = RESTJSONErrorCodes;

const maxConcurrent = 2;
const batchSize = 50;
/**
 * Minimum interval between two updates of an open report's entry, in milliseconds, so that many reporters cause few
 * requests.
 */
const updateIntervalMs = 2_000;
const maxSleepMs = 300_000;
const shutdownGraceMs = 2_000;
const keptMs = 180 * 86_400_000;
const cleanIntervalMs = 3_600_000;
const clockSkewMs = 60_000;
const maxPages = 5;

const unusable = "reports are refused: the channel of the setting moderation.reports cannot be used";

/**
 * Error codes with which Discord refuses a message because of its texts.
 * https://docs.discord.com/developers/topics/opcodes-and-status-codes#json-json-error-codes
 */
const textRefusals: readonly (number | string)[] = [
	RESTJSONErrorCodes.ExplicitContentCannotBeSentToTheDesiredRecipient,
	RESTJSONErrorCodes.MessageWasBlockedByAutomaticModeration,
	RESTJSONErrorCodes.MessageBlockedByHarmfulLinksFilter,
	RESTJSONErrorCodes.InvalidFormBodyOrContentType,
];

export interface EntryWorkerOptions {
	/** Id of the channel for reports. */
	channelId: string;
	connection: Connection;
	store: Pick<Store, "sql" | "transaction">;
	copies: Copies;
	log: Log;
	/** Returns the wall-clock time in epoch milliseconds. */
	now?: () => number;
	/** Back-off after a failed step, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
	updateIntervalMs?: number;
}

export function createEntryWorker(options: EntryWorkerOptions) {
	const { channelId, connection, store, copies, log, now = Date.now } = options;
	const intervalMs = options.updateIntervalMs ?? updateIntervalMs;
	const { sql } = store;
	const updatedAt = new Map<string, number>();
	const problems = new Map<string, string>();
	let cleanAt = 0;

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable)) log.error("could not load the reports from the database", { error });
		},
		scan,
	});

	async function scan() {
		await clean();
		await closeDue();
		const home = connection.guilds.find(({ channels }) => channels.cache.has(channelId));
		const rows = home ? await selectUnshownReports(sql, home.id, batchSize) : [];
		const at = performance.now();
		for (const [key, last] of updatedAt) if (at - last >= intervalMs) updatedAt.delete(key);
		const waits = rows.map((row) => waitOf(row, at));
		const closing = await selectNextClosing(sql);
		const waiting = waits.filter((ms) => ms > 0);
		return {
			due: rows.filter((_, index) => waits[index] === 0).map(stepFor),
			nextMs: Math.min(maxSleepMs, ...waiting, closing === undefined ? maxSleepMs : Math.max(0, closing - now())),
		};
	}

	function waitOf(row: ReportRow, at: number): number {
		const last = updatedAt.get(keyOf(row));
		if (last === undefined || row.state !== "open") return 0;
		return Math.max(0, last + intervalMs - at);
	}

	function stepFor(row: ReportRow): Step {
		return {
			key: keyOf(row),
			lane: row.guild_id,
			async run() {
				try {
					// The report may have changed since the scan.
					const current = await selectReport(sql, row);
					if (current && current.shown !== current.version) await show(current);
				} catch (error) {
					if (!(error instanceof StoreUnavailable || error instanceof NotNow))
						log.warn("could not post or update a report, will retry", {
							guild: row.guild_id,
							report: row.number,
							reason: (toToolError(error) ?? (error as Error)).message,
						});
					throw error;
				}
			},
		};
	}

	async function clean(): Promise<void> {
		if (performance.now() < cleanAt) return;
		await store.transaction((sql) => deleteReportsBefore(sql, now() - keptMs));
		cleanAt = performance.now() + cleanIntervalMs;
	}

	async function closeDue(): Promise<void> {
		const at = now();
		for (const row of await selectClosingReports(sql, at)) {
			const last = actsOf(row).findLast(({ state }) => state === "done");
			await store.transaction((sql) =>
				endReport(sql, row, {
					state: "handled",
					ended_at: at,
					ended_by: last?.by ?? null,
					case_number: last?.case ?? null,
				}),
			);
		}
	}

	/**
	 * Posts or edits a report's entry so that it is up to date. After a crash, first searches for an entry that may have
	 * been posted.
	 */
	async function show(row: ReportRow): Promise<void> {
		const guild = connection.guilds.find(({ id }) => id === row.guild_id);
		if (!connection.ready || !guild?.available) throw new NotNow();
		const isOpen = row.state === "open";
		const entry = await findEntry(guild, row);
		if (entry) return update(entry, row);
		if (isOpen) return post(usableChannel(guild), row);
		await setShown(sql, row, null, row.version);
	}

	async function post(channel: StaffChannel, row: ReportRow): Promise<void> {
		const copy = await copyFor(channel, row);
		// A repeated attempt after a crash uses the same nonce, so that Discord creates one message.
		const isRetry = row.entry_id === null && row.post_at !== null;
		const postAt = isRetry ? (row.post_at ?? now()) : now();
		await setPosting(sql, row, channel.id, postAt);
		const shown = await load({ ...row, post_at: postAt });
		const { id } = await orPlain((isPlain) => channel.send(newEntry(shown, copy, isPlain)));
		await finish(row, id);
	}

	async function update(entry: Message, row: ReportRow): Promise<void> {
		const embeds = entry.embeds.map(({ data }) => data as APIEmbed);
		const shown = await load(row);
		await orPlain((isPlain) => entry.edit(changedEntry(shown, embeds, isPlain)));
		await finish(row, entry.id);
	}

	async function finish(row: ReportRow, entryId: string): Promise<void> {
		updatedAt.set(keyOf(row), performance.now());
		await setShown(sql, row, entryId, row.version);
	}

	async function load(row: ReportRow): Promise<ShownReport> {
		const { rows, total } = await selectReporters(sql, row, shownReporters);
		const ids = rows.map(({ user_id }) => user_id);
		const records = ids.length > 0 ? await selectReporterRecords(sql, row, ids) : [];
		const earlier = await selectEarlierReport(sql, row);
		return { row, reporters: rows, total, records, earlier };
	}

	function usableChannel(guild: Guild): StaffChannel {
		const where = whereIn(guild);
		if (where !== "no channel" && where.channel) return where.channel;
		throw new NotNow();
	}

	function whereIn(guild: Guild) {
		const where = findReportsChannel(guild, channelId);
		if (where === "no channel") return where;
		if (where.channel) problems.delete(guild.id);
		else if (problems.get(guild.id) !== where.problem) {
			problems.set(guild.id, where.problem);
			log.warn(unusable, {
				guild: guild.id,
				channel: channelId,
				reason: where.problem,
			});
		}
		return where;
	}

	async function findEntry(guild: Guild, row: ReportRow): Promise<Message | undefined> {
		const { entry_channel_id, entry_id, post_at } = row;
		// Throws if the bot cannot use the channel. If everyone can see the channel, the texts of ended reports are removed
		// nevertheless.
		const where = whereIn(guild);
		const isPublic = where !== "no channel" && where.isPublic === true;
		const removesTexts = isPublic && row.state !== "open";
		if (entry_channel_id === channelId && !removesTexts) usableChannel(guild);
		const channel = guild.channels.cache.get(entry_channel_id ?? "");
		if (!channel?.isTextBased()) return undefined;
		if (entry_id !== null)
			return absentIf([UnknownMessage, UnknownChannel], () =>
				channel.messages.fetch({
					message: entry_id,
					force: true,
					cache: false,
				}),
			);
		if (post_at === null) return undefined;
		let after = String(lowestIdAt(post_at - clockSkewMs));
		for (let pages = 0; pages < maxPages; pages += 1) {
			const page = await channel.messages.fetch({
				after,
				limit: 100,
				cache: false,
			});
			const entry = page.find((message) => isEntryOf(message, row));
			if (entry || page.size < 100) return entry;
			after = page.firstKey() ?? after;
		}
		return undefined;
	}

	async function copyFor(
		{ guild }: StaffChannel,
		{ message_id, channel_id }: ReportRow,
	): Promise<MessageCopy | undefined> {
		if (message_id === null || channel_id === null) return undefined;
		const kept = copies.get(message_id);
		if (kept) return kept.copy;
		try {
			const channel = await guild.channels.fetch(channel_id);
			if (!channel?.isTextBased()) return undefined;
			const message = await channel.messages.fetch({
				message: message_id,
				cache: false,
				force: true,
			});
			return copyMessage(message);
		} catch (error) {
			if (error instanceof DiscordAPIError) return undefined;
			throw error;
		}
	}

	return {
		wake: reconciler.wake,
		update(report: ReportKey): void {
			updatedAt.delete(keyOf(report));
			reconciler.wake();
		},
		load,
		whereIn,
		attach(client: Client): void {
			client.on(Events.ClientReady, () => {
				// Problems with the channel are logged at the start, for the operator.
				const { guilds } = connection;
				const known = guilds.filter(({ available, members }) => available && members.me);
				const isNowhere = known.map(whereIn).every((where) => where === "no channel");
				if (isNowhere && known.length === guilds.length)
					log.warn(unusable, {
						channel: channelId,
						reason: "the bot is in no guild with this channel",
					});
				reconciler.retryAll();
			});
			client.on(Events.ShardReady, reconciler.retryAll);
			client.on(Events.ChannelUpdate, ({ id }) => {
				if (id === channelId) reconciler.retryAll();
			});
		},
		close: () => reconciler.close(shutdownGraceMs),
	};
}

/** Runs `send`. If Discord refuses the texts of the message, runs it again without texts that members wrote. */
async function orPlain<T>(send: (isPlain: boolean) => Promise<T>): Promise<T> {
	try {
		return await send(false);
	} catch (error) {
		const isText = error instanceof DiscordAPIError && textRefusals.includes(error.code);
		if (!isText) throw error;
		return send(true);
	}
}

function keyOf({ guild_id, number }: ReportKey): string {
	return `${guild_id} ${number}`;
}
