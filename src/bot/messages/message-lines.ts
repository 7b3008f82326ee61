// A message as one line of a result: who wrote it when, its id, and all that can be seen of it, parted by "|".

import {
	type APIAttachment,
	type APIEmbed,
	type APIMessage,
	type APIPoll,
	ComponentType,
	MessageFlags,
	MessageReferenceType,
	MessageType,
} from "discord.js";
import { time } from "../discord/describe.ts";
import { oneField } from "../discord/text.ts";
import { emojiName } from "./emoji.ts";

/** Whoever wrote it, by name and id. */
export function authorName({ author, webhook_id }: APIMessage): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	return `@${oneField(author.username)} (ID: ${author.id})${kind}`;
}

/** When it was written, by whom, and its id. */
export function messageHead(message: APIMessage): string {
	return `${time(new Date(message.timestamp))} by ${authorName(message)} | ID: ${message.id}`;
}

/** The whole of it. */
export function messageLine(message: APIMessage): string {
	return [
		messageHead(message),
		...kindOf(message),
		...replyOf(message),
		...named("text", [message.content]),
		...forwardedOf(message),
		...message.embeds.map((embed) => `embed: ${embedText(embed)}`),
		...named("components", textsIn(message.components)),
		...message.attachments.map(attachmentField),
		...named(
			"stickers",
			(message.sticker_items ?? []).map(({ name }) => name),
		),
		...(message.poll ? pollFields(message.poll) : []),
		...reactionsOf(message),
		...threadOf(message),
		...(message.edited_timestamp
			? [`edited: ${time(new Date(message.edited_timestamp))}`]
			: []),
		...(message.pinned ? ["pinned"] : []),
		...publishedOf(message),
	].join(" | ");
}

/** All that is to be read in a message, for looking for words. */
export function messageTexts(message: APIMessage): string[] {
	const snapshots = (message.message_snapshots ?? []).map(
		({ message }) => message,
	);
	const { question, answers = [] } = message.poll ?? {};
	const asked = [
		question?.text,
		...answers.map(({ poll_media }) => poll_media.text),
	].filter((text) => text !== undefined);
	const said = [message, ...snapshots].flatMap(
		({ content, embeds, components, attachments }) => [
			content,
			...embeds.flatMap(textsOf),
			...textsIn(components),
			...attachments.map(({ filename }) => filename),
		],
	);
	return [...said, ...asked];
}

function named(name: string, texts: readonly string[]): string[] {
	const shown = texts.filter((text) => text !== "").map(oneField);
	return shown.length > 0 ? [`${name}: ${shown.join(" / ")}`] : [];
}

/** The kinds of messages that people and programs write. */
export const usualKinds: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

/** Discord's own messages, such as that of a pin, have no text. */
function kindOf({ type }: APIMessage): string[] {
	if (usualKinds.includes(type)) return [];
	return [`kind: ${MessageType[type] ?? type}`];
}

function replyOf(message: APIMessage): string[] {
	const { message_reference: reference, referenced_message } = message;
	if (message.type !== MessageType.Reply || !reference?.message_id) return [];
	const whose = referenced_message
		? ` by ${authorName(referenced_message)}`
		: referenced_message === null
			? ", deleted"
			: "";
	return [`reply to: ${reference.message_id}${whose}`];
}

function forwardedOf({
	message_reference: reference,
	message_snapshots = [],
}: APIMessage): string[] {
	if (reference?.type !== MessageReferenceType.Forward) return [];
	const { message_id, channel_id } = reference;
	return [
		`forwarded: message ${message_id} of the channel ${channel_id}`,
		...message_snapshots.flatMap(({ message }) => [
			...named("forwarded text", [message.content]),
			...message.embeds.map((embed) => `forwarded embed: ${embedText(embed)}`),
			...named("forwarded components", textsIn(message.components)),
			...message.attachments.map((one) => `forwarded ${attachmentField(one)}`),
		]),
	];
}

function attachmentField({
	filename,
	description,
	content_type,
	size,
	url,
}: APIAttachment): string {
	const said = description ? `, described as "${oneField(description)}"` : "";
	return `attachment: ${oneField(filename)} (${oneField(content_type ?? "unknown type")}, ${size} bytes${said}) ${oneField(url)}`;
}

function textsOf({
	author,
	title,
	description,
	fields = [],
	footer,
}: APIEmbed): string[] {
	return [
		author?.name,
		title,
		description,
		...fields.map(({ name, value }) => `${name}: ${value}`),
		footer?.text,
	].filter((text) => text !== undefined);
}

function embedText(embed: APIEmbed): string {
	const links = [embed.url, embed.image?.url, embed.video?.url];
	const parts = [
		...textsOf(embed),
		...links.filter((link) => link !== undefined),
	];
	return parts.length > 0 ? parts.map(oneField).join(" / ") : "empty";
}

/** What components say: their texts, and what stands on their buttons. */
function textsIn(components: unknown): string[] {
	if (Array.isArray(components)) return components.flatMap(textsIn);
	if (typeof components !== "object" || components === null) return [];
	const {
		type,
		content,
		label,
		accessory,
		components: inner,
	} = components as Record<string, unknown>;
	const own =
		type === ComponentType.TextDisplay
			? [String(content)]
			: type === ComponentType.Button && typeof label === "string"
				? [`[${label}]`]
				: [];
	return [...own, ...textsIn(inner), ...textsIn(accessory)];
}

/** Whether nobody can vote any more. */
export function hasEnded({ expiry, results }: APIPoll): boolean {
	const over = expiry !== null && Date.parse(expiry) <= Date.now();
	return over || (results?.is_finalized ?? false);
}

/** A poll as fields of a line: the question, each answer with its id and its votes, and when it ends. */
export function pollFields(poll: APIPoll): string[] {
	const { question, answers, allow_multiselect, expiry, results } = poll;
	const until = expiry === null ? "unknown" : time(new Date(expiry));
	return [
		`poll: ${oneField(question.text ?? "")}`,
		...answers.map(({ answer_id, poll_media: { text = "", emoji } }) => {
			const votes = results?.answer_counts.find(({ id }) => id === answer_id);
			// Where Discord says nothing of votes, it does not say that there are none.
			const count = results ? `${votes?.count ?? 0} vote(s)` : "votes unknown";
			const shown = emoji
				? `${emojiName(emoji)} ${oneField(text)}`
				: oneField(text);
			return `answer ${answer_id}, ${count}: ${shown}`;
		}),
		...(allow_multiselect ? ["several answers allowed"] : []),
		hasEnded(poll) ? `poll ended: ${until}` : `poll open until: ${until}`,
	];
}

/** Whether the message was published to other channels, or comes from one that was. */
function publishedOf({ flags, message_reference: from }: APIMessage): string[] {
	const is = (flag: MessageFlags) => ((flags ?? 0) & flag) !== 0;
	return [
		...(is(MessageFlags.Crossposted) ? ["crossposted"] : []),
		...(is(MessageFlags.IsCrosspost)
			? [
					`crosspost of: message ${from?.message_id} of the channel ${from?.channel_id} of the guild ${from?.guild_id}`,
				]
			: []),
	];
}

function reactionsOf({ reactions = [] }: APIMessage): string[] {
	if (reactions.length === 0) return [];
	const shown = reactions.map(
		({ emoji, count, me }) =>
			`${emojiName(emoji)} ${count}${me ? " (the bot too)" : ""}`,
	);
	return [`reactions: ${shown.join(", ")}`];
}

function threadOf({ thread }: APIMessage): string[] {
	if (!thread) return [];
	const count = "message_count" in thread ? thread.message_count : undefined;
	const size = count === undefined ? "" : `, ${count} message(s)`;
	return [`thread: #${oneField(thread.name ?? "")} (ID: ${thread.id}${size})`];
}
