// Posts and updates the entries of reports in the channel for staff. The database alone determines what is due, so that
// after any crash each report is posted once and its entry gets up to date.

import {
	type APIEmbed,
	type Client,
	DiscordAPIError,
	Events,
	type Guild,
	type Message,
	type NewsChannel,
	RESTJSONErrorCodes,
	type TextChannel,
} from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { absentIf } from "../../../discord/find.ts";
import { isPublic } from "../../../discord/visible-channels.ts";
import { CheckFailed } from "../../../lib/program/check.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { languageOf } from "../../../texts/texts.ts";
import { findSent } from "../../commands/find-sent.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import { keys } from "../../settings/keys.ts";
import { checkReference } from "../../settings/references.ts";
import { Durable, type DurableOptions, DurablePart, NotNow, requireGuild, type Step } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	endReport,
	type ReportKey,
	type ReportRow,
	reportRows,
	selectClosingReports,
	selectEarlierReport,
	selectReporterRecords,
	selectReporters,
	selectUnshownReports,
} from "../../store/tables/reports.ts";
import { type Copies, copyMessage, type MessageCopy } from "./message-copy.ts";
import { actsOf, changedEntry, isEntryOf, newEntry, type ShownReport, shownReporters } from "./report-entry.ts";

const { UnknownChannel, UnknownMessage } = RESTJSONErrorCodes;

const batchSize = 50;
/** Of an open report's entry, in milliseconds, so that many reporters cause few requests. */
const updateIntervalMs = 2_000;

const setting = "moderation.reports";
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

export interface EntryWorkerOptions extends Pick<DurableOptions, "log" | "backOffMs"> {
	settings: GuildSettings;
	connection: Connection;
	store: Store;
	copies: Copies;
	now?: () => number;
	updateIntervalMs?: number;
}

export class EntryWorker extends DurablePart {
	readonly #sql: Sql;
	readonly #now: () => number;
	readonly #updatedAt = new Map<string, number>();
	readonly #problems = new Map<string, string>();
	protected readonly work: Durable;

	constructor(private readonly options: EntryWorkerOptions) {
		super();
		const { store, now = Date.now } = options;
		this.#sql = store.sql;
		this.#now = now;
		this.work = new Durable({
			...options,
			name: "reports",
			// Of one guild.
			maxConcurrent: 2,
			scan: () => this.#scan(),
		});
	}

	async #scan(): Promise<Step[]> {
		const { connection, updateIntervalMs: intervalMs = updateIntervalMs } = this.options;
		const homes = connection.guilds.filter((guild) => guild.channels.cache.has(this.#channelIn(guild.id) ?? ""));
		const ids = homes.map(({ id }) => id);
		const rows = ids.length > 0 ? await selectUnshownReports(this.#sql, ids, batchSize) : [];
		const at = performance.now();
		for (const [key, last] of this.#updatedAt) if (at - last >= intervalMs) this.#updatedAt.delete(key);
		const shows = rows.map((row) => {
			const last = row.state === "open" ? this.#updatedAt.get(keyOf(row)) : undefined;
			const run = async () => {
				// The report may have changed since the scan.
				const current = await reportRows.first(this.#sql, row);
				if (current && current.shown !== current.version) await this.#show(current);
			};
			return { ...stepOf(row, keyOf(row), run), inMs: last === undefined ? 0 : last + intervalMs - at };
		});
		const closings = (await selectClosingReports(this.#sql)).map((row) => ({
			...stepOf(row, `close ${keyOf(row)}`, () => this.#end(row)),
			inMs: (row.closes_at ?? 0) - this.#now(),
		}));
		return [...closings, ...shows];
	}

	async #end(row: ReportRow): Promise<void> {
		const last = actsOf(row).findLast(({ state }) => state === "done");
		await this.options.store.transaction((sql) =>
			endReport(sql, row, {
				state: "handled",
				ended_at: this.#now(),
				ended_by: last?.by ?? null,
				case_number: last?.case ?? null,
			}),
		);
	}

	/** After a crash, first searches for an entry that may have been posted. */
	async #show(row: ReportRow): Promise<void> {
		const guild = requireGuild(this.options.connection, row.guild_id);
		const isOpen = row.state === "open";
		const entry = await this.#findEntry(guild, row);
		if (entry) return this.#edit(entry, row);
		if (isOpen) return this.#post(this.#usableChannel(guild), row);
		await reportRows.change(this.#sql, row, { entry_id: null, shown: row.version });
	}

	async #post(channel: StaffChannel, row: ReportRow): Promise<void> {
		const copy = await this.#copyFor(channel, row);
		// A repeated attempt after a crash uses the same nonce, so that Discord creates one message.
		const isRetry = row.entry_id === null && row.post_at !== null;
		const postAt = isRetry ? (row.post_at ?? this.#now()) : this.#now();
		await reportRows.change(this.#sql, row, { entry_channel_id: channel.id, entry_id: null, post_at: postAt });
		const shown = await this.load({ ...row, post_at: postAt });
		const language = languageOf(channel.guild.preferredLocale);
		const { id } = await orPlain((isPlain) => channel.send(newEntry(shown, copy, { language, isPlain })));
		await this.#finish(row, id);
	}

	async #edit(entry: Message, row: ReportRow): Promise<void> {
		const embeds = entry.embeds.map(({ data }) => data as APIEmbed);
		const shown = await this.load(row);
		const language = languageOf(entry.guild?.preferredLocale);
		const keepsCopy =
			this.options.settings.of(row.guild_id)["log.evidence"] && (!entry.inGuild() || !isPublic(entry.channel));
		await orPlain((isPlain) => entry.edit(changedEntry(shown, embeds, { language, isPlain, keepsCopy })));
		await this.#finish(row, entry.id);
	}

	async #finish(row: ReportRow, entryId: string): Promise<void> {
		this.#updatedAt.set(keyOf(row), performance.now());
		await reportRows.change(this.#sql, row, { entry_id: entryId, shown: row.version });
	}

	async load(row: ReportRow): Promise<ShownReport> {
		const { rows, total } = await selectReporters(this.#sql, row, shownReporters);
		const ids = rows.map(({ user_id }) => user_id);
		const records = ids.length > 0 ? await selectReporterRecords(this.#sql, row, ids) : [];
		const earlier = await selectEarlierReport(this.#sql, row);
		return { row, reporters: rows, total, records, earlier };
	}

	#usableChannel(guild: Guild): StaffChannel {
		const where = this.whereIn(guild);
		if (where?.channel) return where.channel;
		throw new NotNow();
	}

	whereIn(guild: Guild) {
		const { log } = this.options;
		const channelId = this.#channelIn(guild.id);
		const where = findReportsChannel(guild, channelId);
		if (!where) return undefined;
		if (where.channel) this.#problems.delete(guild.id);
		else if (this.#problems.get(guild.id) !== where.problem) {
			this.#problems.set(guild.id, where.problem);
			log.warn(unusable, { guild: guild.id, channel: channelId, reason: where.problem });
		}
		return where;
	}

	async #findEntry(guild: Guild, row: ReportRow): Promise<Message | undefined> {
		const { entry_channel_id, entry_id, post_at } = row;
		// Throws if the bot cannot use the channel. If everyone can see the channel, the texts of ended reports are removed
		// nevertheless.
		const where = this.whereIn(guild);
		const removesTexts = where?.isPublic === true && row.state !== "open";
		if (entry_channel_id === this.#channelIn(guild.id) && !removesTexts) this.#usableChannel(guild);
		const channel = guild.channels.cache.get(entry_channel_id ?? "");
		if (!channel?.isTextBased()) return undefined;
		const find = async () =>
			post_at === null
				? undefined
				: (await findSent(guild.client, channel.id, post_at, (one) => isEntryOf(one, row)))?.id;
		const message = entry_id ?? (await find());
		if (message === undefined) return undefined;
		return absentIf([UnknownMessage, UnknownChannel], () =>
			channel.messages.fetch({ message, force: true, cache: false }),
		);
	}

	async #copyFor({ guild }: StaffChannel, { message_id, channel_id }: ReportRow): Promise<MessageCopy | undefined> {
		if (message_id === null || channel_id === null) return undefined;
		const kept = this.options.copies.get(message_id);
		if (kept) return kept.copy;
		try {
			const channel = await guild.channels.fetch(channel_id);
			if (!channel?.isTextBased()) return undefined;
			return copyMessage(await channel.messages.fetch({ message: message_id, cache: false, force: true }));
		} catch (error) {
			if (error instanceof DiscordAPIError) return undefined;
			throw error;
		}
	}

	#channelIn(guildId: string): string | undefined {
		return this.options.settings.of(guildId)[setting];
	}

	override start(): void {
		this.options.settings.onChange((_, changed) => {
			if (!changed || changed.changes.some(({ key }) => key === setting)) this.work.retryAll();
		});
		this.work.wake();
	}

	wake(): void {
		this.work.wake();
	}

	update(report: ReportKey): void {
		this.#updatedAt.delete(keyOf(report));
		this.work.wake();
	}

	attach(client: Client): void {
		const { connection } = this.options;
		const { retryAll } = this.work;
		client.on(Events.ClientReady, () => {
			// Problems with the channel are logged at the start, for the operator.
			for (const guild of connection.guilds) if (guild.available && guild.members.me) this.whereIn(guild);
		});
		onSessionOrGuild(client, retryAll);
		client.on(Events.ChannelUpdate, (channel) => {
			if ("guild" in channel && channel.id === this.#channelIn(channel.guild.id)) retryAll();
		});
	}
}

function stepOf({ guild_id: guild, number: report }: ReportKey, key: string, run: Step["run"]): Step {
	return { key, lane: guild, failure: "could not post or update a report", fields: { guild, report }, run };
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

type StaffChannel = TextChannel | NewsChannel;

/** Or the reason for the operator. `isPublic`: everyone can see it. */
type ReportsChannel =
	| { channel: StaffChannel; problem?: never; isPublic?: false }
	| { channel?: never; problem: string; isPublic: boolean };

/** Undefined: the guild takes no reports. */
function findReportsChannel(guild: Guild, channelId: string | undefined): ReportsChannel | undefined {
	if (channelId === undefined) return undefined;
	const channel = guild.channels.cache.get(channelId);
	try {
		checkReference({ key: setting, to: "channel", id: channelId, needs: keys[setting].needs }, guild);
		return { channel: channel as StaffChannel };
	} catch (error) {
		if (!(error instanceof CheckFailed)) throw error;
		return { problem: error.message, isPublic: channel !== undefined && isPublic(channel) };
	}
}
