// The entry of a report: a message in the channel for staff that shows who reported what, the actions that staff took,
// and buttons. It mentions nobody.

import { type APIEmbed, type APIMessage, ButtonStyle, EmbedBuilder } from "discord.js";
import { inlineText } from "../../../discord/text.ts";
import { type Language, render, type Said, type Say, said, sayIn, type Text } from "../../../texts/texts.ts";
import { buttonRow } from "../../messages/buttons.ts";
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
import { copyEmbed, embedOf, type MessageCopy, readCopy, refusedCopy } from "./message-copy.ts";

export const entryPrefix = "report";

export const shownReporters = 5;
const maxReasonLength = 150;
const shownActs = 5;

export interface ShownReport {
	row: ReportRow;
	reporters: readonly ReporterRow[];
	total: number;
	records: readonly ReporterRecord[];
	/** The latest earlier report about the same message or person. */
	earlier: ReportRow | undefined;
}

export type EntryButton = ReportAct | "dismiss";

const colours: Record<ReportState, number> = { open: 0xe65100, handled: 0x2e7d32, dismissed: 0x546e7a };

export function saidAct(act: EntryButton): Said {
	return said(`report.${act}.button`);
}

/** In English, for results for models and for logs. */
export function titleOfAct(act: ReportAct): string {
	return render(saidAct(act), "en");
}

interface Look {
	/** The guild's. */
	language: Language;
	/** Without texts that members wrote: for a report whose texts Discord refuses. */
	isPlain?: boolean;
	/** Also after the report was handled, as evidence. */
	keepsCopy?: boolean;
}

function bodyOf(shown: ShownReport, copy: EmbedBuilder | undefined, look: Look) {
	const embeds = [factsEmbed(shown, look), ...(copy ? [copy] : [])];
	return { embeds, components: buttonsOf(shown.row, sayIn(look.language)), allowedMentions: noMentions };
}

export function newEntry(shown: ShownReport, copy: MessageCopy | undefined, look: Look) {
	const { number, message_id, post_at } = shown.row;
	const say = sayIn(look.language);
	const copied = look.isPlain ? refusedCopy(say) : copyEmbed(copy, say);
	const body = bodyOf(shown, message_id === null ? undefined : copied, look);
	return { ...body, nonce: `report-${number}-${post_at?.toString(36)}`, enforceNonce: true };
}

/** `before`: the current embeds. The copy of the message is kept until the report has ended, unless it is evidence. */
export function changedEntry(shown: ShownReport, before: readonly APIEmbed[], look: Look) {
	const say = sayIn(look.language);
	const { state } = shown.row;
	const copy = state === "open" || (look.keepsCopy && state === "handled") ? copyIn(shown.row, before) : undefined;
	return bodyOf(shown, copy && (look.isPlain ? refusedCopy(say) : embedOf(readCopy(copy, say), say)), look);
}

export function copyIn<E>({ message_id }: Pick<ReportRow, "message_id">, [, copy]: readonly E[]): E | undefined {
	return message_id === null ? undefined : copy;
}

export function isEntryOf({ components }: APIMessage, { number }: ReportRow): boolean {
	return JSON.stringify(components).includes(`"${entryPrefix}:dismiss:${number}"`);
}

/** Oldest first. */
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

function buttonsOf(row: ReportRow, say: Say) {
	if (row.state !== "open") return [];
	const done = new Set(actsOf(row).flatMap(({ act, state }) => (state === "done" ? act : [])));
	const idOf = (what: EntryButton) => `${entryPrefix}:${what}:${row.number}`;
	const acts = possibleActs(row).map((act) => ({
		id: idOf(act),
		label: say(`report.${act}.button`),
		style: act === "delete" || act === "ban" ? (ButtonStyle.Danger as const) : (ButtonStyle.Primary as const),
		disabled: done.has(act),
	}));
	const end = {
		id: idOf("dismiss"),
		label: say(done.size > 0 ? "settings.done.button" : "report.dismiss.button"),
		style: done.size > 0 ? (ButtonStyle.Success as const) : (ButtonStyle.Secondary as const),
	};
	return [buttonRow([...acts, end])];
}

/** Without the prefix: what it does and the report's number. Undefined for any other custom id. */
export function readButton(rest: string): { what: EntryButton; number: number } | undefined {
	const [, what, number] = /^(delete|warn|timeout|ban|dismiss):(\d{1,9})$/.exec(rest) ?? [];
	return what === undefined ? undefined : { what: what as EntryButton, number: Number(number) };
}

function factsEmbed(shown: ShownReport, look: Look): EmbedBuilder {
	const { row, earlier } = shown;
	const { channel_id, guild_id, message_id, state } = row;
	const say = sayIn(look.language);
	const inline = true;
	const embed = new EmbedBuilder()
		.setTitle(say(`report.${state}.title`, { number: String(row.number) }))
		.setColor(colours[state])
		.setTimestamp(row.created_at)
		.setDescription(reportersText(shown, look))
		.addFields({
			name: say(message_id === null ? "report.person.field" : "report.author.field"),
			value: say(`report.author.${row.author_kind}`, { who: `<@${row.author_id}>` }),
			inline,
		});
	if (channel_id !== null && message_id !== null) {
		const place = { id: channel_id, guild: { id: guild_id } };
		const value = say("report.link", { link: linkTo(place, message_id), channel: `<#${channel_id}>` });
		embed.addFields({ name: say("report.message.field"), value, inline });
	}
	if (earlier) {
		const value = say("report.before", {
			number: String(earlier.number),
			state: said(`report.state.${earlier.state}`),
		});
		embed.addFields({ name: say("report.before.field"), value, inline });
	}
	const acts = actsOf(row).slice(-shownActs);
	if (acts.length > 0) {
		const lines = acts.map(({ act, by, state, ...more }) =>
			withCase(said(`report.act.${state}`, { act: saidAct(act), who: `<@${by}>` }), more.case),
		);
		embed.addFields({
			name: say("report.acts.field"),
			value: lines.map((line) => render(line, look.language)).join("\n"),
		});
	}
	if (state !== "open") {
		const by = row.ended_by === null ? said("report.client") : `<@${row.ended_by}>`;
		embed.addFields({
			name: say(`report.${state}.field`),
			value: render(withCase(by, row.case_number), look.language),
			inline,
		});
	}
	return embed;
}

function withCase(what: Text, number: number | null | undefined): Text {
	return number == null ? what : said("report.case", { what, number: String(number) });
}

function reportersText({ reporters, total, records }: ShownReport, { language, isPlain }: Look): string {
	const say = sayIn(language);
	const lines = reporters.slice(0, shownReporters).map(({ user_id, reason }) => {
		const record = recordNote(records, user_id);
		const why = reason !== null && (isPlain ? say("report.reason_refused") : inlineText(reason, maxReasonLength));
		return `<@${user_id}>${record ? ` [${render(record, language)}]` : ""}${why ? `: ${why}` : ""}`;
	});
	const count = total - lines.length;
	return [say("report.by", { count: total }), ...lines, ...(count > 0 ? [say("report.by_more", { count })] : [])].join(
		"\n",
	);
}

/** Undefined if none of their other reports were dismissed. */
export function recordNote(records: readonly ReporterRecord[], userId: string): Said | undefined {
	const record = records.find(({ user_id }) => user_id === userId);
	if (!record || record.dismissed === 0) return undefined;
	return said("report.record", { dismissed: record.dismissed, total: record.total });
}
