// Messages in few bytes: a short line for each. See message-counts.ts for their numbers.

import { type APIMessage, type Guild, MessageType } from "discord.js";
import { forClients, isForPeople } from "../../discord/acting-person.ts";
import { memberName, time } from "../../discord/describe.ts";
import { countOf, fieldLine, oneField, oneLine, truncate } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { listFirst } from "../../lib/text.ts";
import { kindsIn } from "./message-filter.ts";
import { authorName, messageTexts, usualKinds } from "./message-lines.ts";

interface Naming {
	guild: Guild;
	/** Threads that are not in the bot's cache. */
	threads?: ReadonlyMap<string, string>;
	/** The messages may come from different channels. */
	isAcross: boolean;
	/** Of similar messages that are not shown. */
	maxAuthors?: number;
	/** Whether only 3 of 10 or more similar messages are shown. */
	folds?: boolean;
}

const maxText = 120;
const maxLead = 30;

const minSimilar = 10;
const maxSimilar = 3;
const minSimilarLength = 15;

function outlineOf(message: APIMessage): string {
	const outline = textOf(message)
		.toLowerCase()
		.replace(/(https?:\/\/[^\s/]+)\S*/g, "$1")
		.replace(/\d+/g, "0")
		.trim();
	return outline.length < minSimilarLength ? message.id : outline;
}

function foldSimilar(messages: readonly APIMessage[]): { shown: APIMessage[]; folded: Map<string, APIMessage[]> } {
	const folded = new Map<string, APIMessage[]>();
	const hidden = new Set<APIMessage>();
	for (const series of Map.groupBy(messages, outlineOf).values()) {
		const last = series[maxSimilar - 1];
		if (!last || series.length < minSimilar) continue;
		const rest = series.slice(maxSimilar);
		folded.set(last.id, rest);
		for (const message of rest) hidden.add(message);
	}
	return { shown: messages.filter((one) => !hidden.has(one)), folded };
}

type Describe = (message: APIMessage) => string;

const sentAt: Describe = ({ timestamp }) => time(new Date(timestamp));
const channelKey: Describe = ({ channel_id }) => channel_id;
// A webhook can write under many names.
const authorKey: Describe = ({ author }) => `${author.id} ${author.username}`;
/** With ids the first time, and always if the label is that of another one before. */
function naming(keyOf: Describe, labelOf: Describe, fullName: Describe): Describe {
	const keys = new Map<string, string>();
	return (message) => {
		const label = labelOf(message);
		const key = keys.get(label);
		if (key === undefined) keys.set(label, keyOf(message));
		return key === keyOf(message) ? label : fullName(message);
	};
}

function countsBy(messages: readonly APIMessage[], keyOf: Describe, nameOf: Describe, max = Infinity): string {
	const groups = [...Map.groupBy(messages, keyOf).values()].sort((a, b) => b.length - a.length);
	const texts = groups.flatMap(([first, ...others]) => (first ? `${nameOf(first)} (${others.length + 1})` : []));
	return listFirst(texts, max);
}

/** Of the lines of `summaries`. */
export const lineOrder = "newest first, times in UTC; date, channel, author where they change";

/** The text near `wanted`. */
export function summaries(
	messages: readonly APIMessage[],
	{ guild, threads, isAcross, maxAuthors, folds = true }: Naming,
	wanted = "",
): string[] {
	const channelLabel: Describe = ({ channel_id: id }) =>
		`#${oneField(visibleChannel(guild, id)?.name ?? threads?.get(id) ?? id)}`;
	const channel = naming(channelKey, channelLabel, (one) => `${channelLabel(one)} (ID: ${one.channel_id})`);
	const author = naming(
		authorKey,
		(one) => `@${oneField(one.author.username)}`,
		(one) => authorOf(one, guild),
	);
	const reference: Describe = ({ channel_id, id }) =>
		isForPeople() ? `https://discord.com/channels/${guild.id}/${channel_id}/${id}` : `ID: ${id}`;
	let isExplained = false;
	const foldedLine = (similar: readonly APIMessage[], first: APIMessage) => {
		const start = isForPeople() ? `${sentAt(first)} (${reference(first)})` : sentAt(first);
		const hint = isExplained ? "" : forClients("; search_messages with fold=false gives each ID");
		isExplained = true;
		const places = isAcross ? ` in ${countsBy(similar, channelKey, channel)},` : "";
		const authors = countsBy(similar, authorKey, author, maxAuthors);
		return `… ${countOf(similar.length, "more message")} like this,${places} ${start} to ${sentAt(similar[0] ?? first)}, by ${authors}${hint}`;
	};
	const { shown, folded } = folds ? foldSimilar(messages) : { shown: messages };
	let above: APIMessage | undefined;
	return shown.flatMap((message) => {
		const at = sentAt(message);
		const text = textOf(message);
		// The text shows links.
		const kinds = kindsIn(message).filter((kind) => kind !== "link");
		const line = fieldLine(
			isAcross && above?.channel_id !== message.channel_id && channel(message),
			above && sentAt(above).startsWith(at.slice(0, 10)) ? at.slice(11, -1) : at,
			(!above || authorKey(above) !== authorKey(message)) && author(message),
			reference(message),
			!usualKinds.includes(message.type) && `kind: ${MessageType[message.type] ?? message.type}`,
			kinds.length > 0 && `has: ${kinds.join(", ")}`,
			message.pinned && "pinned",
			above && text.length >= minSimilarLength && textOf(above) === text ? "same text" : textField(text, wanted),
		);
		const similar = folded?.get(message.id);
		const first = similar?.at(-1);
		above = first ? undefined : message;
		return similar && first ? [line, foldedLine(similar, first)] : [line];
	});
}

const textOf: Describe = (message) => messageTexts(message).filter(Boolean).join(" / ");

function textField(text: string, wanted: string): string {
	if (text === "") return "";
	const at = text.toLowerCase().indexOf(wanted.toLowerCase());
	const isFar = at + wanted.length > maxText;
	const start = isFar ? at - maxLead : 0;
	// A cut may split a surrogate pair.
	const cut = truncate(`${isFar ? "…" : ""}${text.slice(start)}`.toWellFormed(), maxText);
	// For people the Markdown in it is escaped.
	return `text: ${isForPeople() ? oneLine(cut) : oneField(cut)}`;
}

/** With display name, username and id, and whether it is a bot or webhook. */
export function authorOf(message: APIMessage, guild: Guild): string {
	const member = guild.members.cache.get(message.author.id);
	return authorName(message, member && memberName(member));
}
