// A message as one result line: time, author, id, then everything visible in it, separated by "|".

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

/** The author's name and id, and whether it is a bot or a webhook. */
export function authorName({ author, webhook_id }: APIMessage): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	return `@${oneField(author.username)} (ID: ${author.id})${kind}`;
}

/** Time, author and id of a message. */
export function messageHead(message: APIMessage): string {
	return `${time(new Date(message.timestamp))} by ${authorName(message)} | ID: ${message.id}`;
}

/** The whole message as one line. */
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

/** All texts in a message, for searching. */
export function messageTexts(message: APIMessage): string[] {
	const snapshots = (message.message_snapshots ?? []).map(
		({ message }) => message,
	);
	const { question, answers = [] } = message.poll ?? {};
	const pollTexts = [
		question?.text,
		...answers.map(({ poll_media }) => poll_media.text),
	].filter((text) => text !== undefined);
	const messageTexts = [message, ...snapshots].flatMap(
		({ content, embeds, components, attachments }) => [
			content,
			...embeds.flatMap(textsOf),
			...textsIn(components),
			...attachments.map(({ filename }) => filename),
		],
	);
	return [...messageTexts, ...pollTexts];
}

function named(name: string, texts: readonly string[]): string[] {
	const fields = texts.filter((text) => text !== "").map(oneField);
	return fields.length > 0 ? [`${name}: ${fields.join(" / ")}`] : [];
}

/** Types of messages that users and apps write; all others are system messages. */
export const usualKinds: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

/** The type of a system message, such as the notice of a pin, which has no text. */
function kindOf({ type }: APIMessage): string[] {
	if (usualKinds.includes(type)) return [];
	return [`kind: ${MessageType[type] ?? type}`];
}

function replyOf(message: APIMessage): string[] {
	const { message_reference: reference, referenced_message } = message;
	if (message.type !== MessageType.Reply || !reference?.message_id) return [];
	const author = referenced_message
		? ` by ${authorName(referenced_message)}`
		: referenced_message === null
			? ", deleted"
			: "";
	return [`reply to: ${reference.message_id}${author}`];
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
			...message.attachments.map(
				(attachment) => `forwarded ${attachmentField(attachment)}`,
			),
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
	const altText = description
		? `, described as "${oneField(description)}"`
		: "";
	return `attachment: ${oneField(filename)} (${oneField(content_type ?? "unknown type")}, ${size} bytes${altText}) ${oneField(url)}`;
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

/** The texts in components, and the labels of their buttons. */
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

/** Whether voting in a poll is over. */
export function hasEnded({ expiry, results }: APIPoll): boolean {
	const isExpired = expiry !== null && Date.parse(expiry) <= Date.now();
	return isExpired || (results?.is_finalized ?? false);
}

/** A poll as fields of a line: question, answers with id and votes, end. */
export function pollFields(poll: APIPoll): string[] {
	const { question, answers, allow_multiselect, expiry, results } = poll;
	const until = expiry === null ? "unknown" : time(new Date(expiry));
	return [
		`poll: ${oneField(question.text ?? "")}`,
		...answers.map(({ answer_id, poll_media: { text = "", emoji } }) => {
			const votes = results?.answer_counts.find(({ id }) => id === answer_id);
			// Without `results` the votes are unknown, which is not the same as none.
			const count = results ? `${votes?.count ?? 0} vote(s)` : "votes unknown";
			const label = emoji
				? `${emojiName(emoji)} ${oneField(text)}`
				: oneField(text);
			return `answer ${answer_id}, ${count}: ${label}`;
		}),
		...(allow_multiselect ? ["several answers allowed"] : []),
		hasEnded(poll) ? `poll ended: ${until}` : `poll open until: ${until}`,
	];
}

/** Whether the message was published to following channels, or is the copy of one that was. */
function publishedOf({ flags, message_reference: from }: APIMessage): string[] {
	const has = (flag: MessageFlags) => ((flags ?? 0) & flag) !== 0;
	return [
		...(has(MessageFlags.Crossposted) ? ["crossposted"] : []),
		...(has(MessageFlags.IsCrosspost)
			? [
					`crosspost of: message ${from?.message_id} of the channel ${from?.channel_id} of the guild ${from?.guild_id}`,
				]
			: []),
	];
}

function reactionsOf({ reactions = [] }: APIMessage): string[] {
	if (reactions.length === 0) return [];
	const texts = reactions.map(
		({ emoji, count, me }) =>
			`${emojiName(emoji)} ${count}${me ? " (the bot too)" : ""}`,
	);
	return [`reactions: ${texts.join(", ")}`];
}

function threadOf({ thread }: APIMessage): string[] {
	if (!thread) return [];
	const count = "message_count" in thread ? thread.message_count : undefined;
	const size = count === undefined ? "" : `, ${count} message(s)`;
	return [`thread: #${oneField(thread.name ?? "")} (ID: ${thread.id}${size})`];
}
