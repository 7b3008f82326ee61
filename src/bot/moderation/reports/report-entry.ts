// The entry of a report: a message in the channel for staff that shows who reported what, the actions that staff took,
// and buttons. It mentions nobody.

import {
	type ActionRowData,
	type APIEmbed,
	type ButtonComponentData,
	ButtonStyle,
	ComponentType,
	EmbedBuilder,
	type Message,
	type MessageCreateOptions,
	type MessageEditOptions,
} from "discord.js";
import { inlineText } from "../../../discord/text.ts";
import { linkTo } from "../../messages/sent-message.ts";
import { noMentions } from "../../messages/split-message.ts";
import type {
	ActRecord,
	ReportAct,
	ReporterRecord,
	ReporterRow,
	ReportRow,
	ReportState,
} from "../../store/tables/reports.ts";
import { formatUser } from "../moderation-log.ts";
import { copyEmbed, copyTitle, type MessageCopy, refusedCopy } from "./message-copy.ts";

/** Prefix of the custom ids of the buttons and forms of report entries. */
export const entryPrefix = "report";

/** Maximum number of reporters that an entry names. */
export const shownReporters = 5;
const maxReasonLength = 150;
const shownActs = 5;

/** A report with all data that its entry shows. */
export interface ShownReport {
	row: ReportRow;
	reporters: readonly ReporterRow[];
	/** Number of people who made this report. */
	total: number;
	records: readonly ReporterRecord[];
	/** The latest earlier report about the same message or person. */
	earlier: ReportRow | undefined;
}

/** The function of a button of an entry: an action, or "dismiss", which ends the report. */
export type EntryButton = ReportAct | "dismiss";

const colours: Record<ReportState, number> = { open: 0xe65100, handled: 0x2e7d32, dismissed: 0x546e7a };

export const actTitles: Record<ReportAct, string> = { delete: "Delete", warn: "Warn", timeout: "Time out", ban: "Ban" };

const kindNotes: Record<ReportRow["author_kind"], string> = {
	person: "",
	bot: ", a bot",
	webhook: ", a webhook",
	self: ", this bot",
};

/** With `isPlain` without texts that members wrote: for a report whose texts Discord refuses. */
export function newEntry(shown: ShownReport, copy: MessageCopy | undefined, isPlain = false): MessageCreateOptions {
	const { row } = shown;
	const copies = row.message_id === null ? [] : [isPlain ? refusedCopy() : copyEmbed(copy)];
	return {
		embeds: [factsEmbed(shown, isPlain), ...copies],
		components: buttonsOf(row),
		allowedMentions: noMentions,
		nonce: nonceOf(row),
		enforceNonce: true,
	};
}

/**
 * Creates the update of an entry, so that it shows the current state of its report. `before` are the entry's current
 * embeds: the copy of the message is kept until the report has ended. With `isPlain`, the entry contains no texts that
 * members wrote.
 */
export function changedEntry(shown: ShownReport, before: readonly APIEmbed[], isPlain = false): MessageEditOptions {
	const { row } = shown;
	const copies = before.filter(({ title }) => title === copyTitle);
	return {
		embeds: [
			factsEmbed(shown, isPlain),
			...(row.state === "open"
				? copies.slice(0, 1).map((copy) => (isPlain ? refusedCopy() : EmbedBuilder.from(copy)))
				: []),
		],
		components: buttonsOf(row),
		allowedMentions: noMentions,
	};
}

function nonceOf({ number, post_at }: ReportRow): string {
	return `report-${number}-${post_at?.toString(36)}`;
}

/** Whether a message is the entry of this open report. */
export function isEntryOf({ author, client, components }: Message, { number }: ReportRow): boolean {
	if (author.id !== client.user.id) return false;
	const rows = components.map((component) => JSON.stringify(component));
	return rows.some((row) => row.includes(`"${entryPrefix}:dismiss:${number}"`));
}

/** Returns the actions that staff took about a report, oldest first. */
export function actsOf({ acts }: Pick<ReportRow, "acts">): ActRecord[] {
	return JSON.parse(acts) as ActRecord[];
}

/** By the kind of author, whether or not the buttons can be pressed now. */
export function possibleActs({ author_kind, message_id }: Pick<ReportRow, "author_kind" | "message_id">): ReportAct[] {
	const toAuthor: Record<ReportRow["author_kind"], readonly ReportAct[]> = {
		person: ["warn", "timeout", "ban"],
		// Bots cannot get direct messages from other bots.
		bot: ["timeout", "ban"],
		webhook: [],
		self: [],
	};
	return [...(message_id === null ? [] : (["delete"] as const)), ...toAuthor[author_kind]];
}

function buttonsOf(row: ReportRow): ActionRowData<ButtonComponentData>[] {
	if (row.state !== "open") return [];
	const done = new Set(actsOf(row).flatMap(({ act, state }) => (state === "done" ? act : [])));
	const acts = possibleActs(row).map((act) =>
		button(row, act, {
			label: actTitles[act],
			style: act === "delete" || act === "ban" ? ButtonStyle.Danger : ButtonStyle.Primary,
			disabled: done.has(act),
		}),
	);
	const end = button(row, "dismiss", {
		label: done.size > 0 ? "Done" : "Dismiss",
		style: done.size > 0 ? ButtonStyle.Success : ButtonStyle.Secondary,
	});
	return [{ type: ComponentType.ActionRow, components: [...acts, end] }];
}

function button(
	{ number }: ReportRow,
	what: EntryButton,
	look: { label: string; style: ButtonStyle; disabled?: boolean },
): ButtonComponentData {
	return { type: ComponentType.Button, customId: `${entryPrefix}:${what}:${number}`, ...look } as ButtonComponentData;
}

/** Without the prefix: what it does and the report's number. Undefined for any other custom id. */
export function readButton(rest: string): { what: EntryButton; number: number } | undefined {
	const [, what, number] = /^(delete|warn|timeout|ban|dismiss):(\d{1,9})$/.exec(rest) ?? [];
	return what === undefined ? undefined : { what: what as EntryButton, number: Number(number) };
}

function factsEmbed(shown: ShownReport, isPlain: boolean): EmbedBuilder {
	const { row, earlier } = shown;
	const { author_kind, channel_id, guild_id, message_id } = row;
	const inline = true;
	const embed = new EmbedBuilder()
		.setTitle(`Report #${row.number}${row.state === "open" ? "" : `: ${row.state}`}`)
		.setColor(colours[row.state])
		.setTimestamp(row.created_at)
		.setDescription(reportersText(shown, isPlain))
		.addFields({
			name: message_id === null ? "Person" : "Author",
			value: `${formatAuthor(row)}${kindNotes[author_kind]}`,
			inline,
		});
	if (channel_id !== null && message_id !== null) {
		const place = { id: channel_id, guild: { id: guild_id } };
		const link = linkTo(place, message_id);
		embed.addFields({ name: "Message", value: `${link} in <#${channel_id}>`, inline });
	}
	if (earlier) embed.addFields({ name: "Reported before", value: `#${earlier.number}, ${earlier.state}`, inline });
	const acts = actsOf(row).slice(-shownActs).map(describeAct);
	if (acts.length > 0) embed.addFields({ name: "What was done", value: acts.join("\n") });
	if (row.state !== "open")
		embed.addFields({
			name: row.state === "dismissed" ? "Dismissed by" : "Handled by",
			value: `${enderText(row)}${caseText(row.case_number)}`,
			inline,
		});
	return embed;
}

function enderText({ ended_by }: ReportRow): string {
	return ended_by === null ? "an MCP client" : `<@${ended_by}>`;
}

function caseText(number: number | null | undefined): string {
	return number == null ? "" : `, case #${number}`;
}

function formatAuthor({ author_id, author_kind }: ReportRow): string {
	// A webhook cannot be mentioned.
	return author_kind === "webhook" ? `ID: ${author_id}` : formatUser(author_id);
}

function reportersText({ reporters, total, records }: ShownReport, isPlain: boolean): string {
	const lines = reporters.slice(0, shownReporters).map((reporter) => {
		const { user_id, reason } = reporter;
		const why =
			reason === null ? "" : isPlain ? ": (Discord refuses the reason)" : `: ${inlineText(reason, maxReasonLength)}`;
		return `${formatUser(user_id)}${recordNote(records, user_id)}${why}`;
	});
	const more = total - lines.length;
	return [
		total === 1 ? "Reported by:" : `Reported by ${total} people:`,
		...lines,
		...(more > 0 ? [`and ${more} more`] : []),
	].join("\n");
}

/** Returns a note about how many of a reporter's other reports were dismissed; "" if none were. */
export function recordNote(records: readonly ReporterRecord[], userId: string): string {
	const record = records.find(({ user_id }) => user_id === userId);
	return record && record.dismissed > 0 ? ` [${record.dismissed} of ${record.total} other reports dismissed]` : "";
}

const actStates: Record<ActRecord["state"], string> = { asked: ": not confirmed", done: "", failed: ": failed" };

function describeAct(record: ActRecord): string {
	const { act, by, state } = record;
	return `${actTitles[act]} by <@${by}>${actStates[state]}${caseText(record.case)}`;
}
