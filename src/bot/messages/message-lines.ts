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
import { time, userName } from "../discord/describe.ts";
import { fieldLine, oneField, resultLines } from "../discord/text.ts";
import { emojiName, reactionCount } from "./emoji.ts";

/** Formats the name and id of a message's author, and whether the author is a bot or a webhook. */
export function authorName({ author, webhook_id }: APIMessage): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	return `@${oneField(author.username)} (ID: ${author.id})${kind}`;
}

/** Formats the time, author and id of a message. */
export function messageHead(message: APIMessage): string {
	return `${time(new Date(message.timestamp))} by ${authorName(message)} | ID: ${message.id}`;
}

/** Describes a message completely in one line of a tool's result. */
export function messageLine(message: APIMessage): string {
	const { edited_timestamp: edited } = message;
	const shown = contentOf(message);
	const { content, embeds, poll, sticker_items: stickers = [] } = shown;
	return fieldLine(
		messageHead(message),
		kindOf(message),
		referenceOf(message),
		memberOf(message),
		named("text", [content]),
		...forwardedOf(shown),
		...embeds.map((embed) => `embed: ${embedText(embed)}`),
		named("components", textsIn(shown.components)),
		...shown.attachments.map(attachmentField),
		named(
			"stickers",
			stickers.map(({ name }) => name),
		),
		...(poll ? pollFields(poll) : []),
		reactionsOf(message),
		threadOf(message),
		edited && `edited: ${time(new Date(edited))}`,
		message.pinned && "pinned",
		...publishedOf(message),
	);
}

/** Returns all texts in a message, for searching: also those in embeds, components, polls and forwarded messages. */
export function messageTexts(of: APIMessage): string[] {
	const message = contentOf(of);
	const snapshots = message.message_snapshots ?? [];
	const { question, answers = [] } = message.poll ?? {};
	const pollTexts = [question, ...answers.map(({ poll_media }) => poll_media)];
	return [
		...[message, ...snapshots.map(({ message }) => message)].flatMap(
			({ content, embeds, components, attachments }) => [
				content,
				...embeds.flatMap(textsOf),
				...textsIn(components),
				...attachments.map(({ filename }) => filename),
			],
		),
		...pollTexts.flatMap((media) => media?.text ?? []),
	];
}

function named(name: string, texts: readonly string[]): string {
	const fields = texts.filter((text) => text !== "").map(oneField);
	return fields.length > 0 ? `${name}: ${fields.join(" / ")}` : "";
}

/** Types of messages that users and apps write. All other types of messages are system messages. */
export const usualKinds: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

/**
 * Returns the type of a system message, such as the notice that a message was pinned; empty for messages of users and
 * apps.
 */
function kindOf({ type }: APIMessage): string {
	return usualKinds.includes(type) ? "" : `kind: ${MessageType[type] ?? type}`;
}

/**
 * Returns the message whose content is shown as the content of `message`. It differs for the first message of a thread
 * that was started from another message: Discord shows that other message.
 * https://discord.com/developers/docs/resources/message#message-reference-content-attribution
 */
function contentOf(message: APIMessage): APIMessage {
	const isStarter = message.type === MessageType.ThreadStarterMessage;
	return (isStarter && message.referenced_message) || message;
}

const references: { [Type in MessageType]?: string } = {
	[MessageType.Reply]: "reply to",
	[MessageType.ThreadStarterMessage]: "thread started from",
	// Discord sends this type without `referenced_message`.
	[MessageType.ChannelPinnedMessage]: "pinned message",
};

/** Describes the message that a message refers to: as a reply, as the start of a thread, or as the notice of a pin. */
function referenceOf(message: APIMessage): string {
	const { message_reference: reference, referenced_message } = message;
	const label = references[message.type];
	if (!label || !reference?.message_id) return "";
	const author = referenced_message
		? ` by ${authorName(referenced_message)}`
		: referenced_message === null
			? ", deleted"
			: "";
	return `${label}: ${reference.message_id}${author}`;
}

/** Returns the name of the member for system messages which say that a member was added to or removed from a thread. */
function memberOf({ type, mentions: [member] }: APIMessage): string {
	const { RecipientAdd, RecipientRemove } = MessageType;
	if (type !== RecipientAdd && type !== RecipientRemove) return "";
	return member ? `member: ${userName(member)}` : "";
}

function forwardedOf(message: APIMessage): string[] {
	const { message_reference: reference, message_snapshots = [] } = message;
	if (reference?.type !== MessageReferenceType.Forward) return [];
	const { message_id, channel_id } = reference;
	return [
		`forwarded: message ${message_id} of the channel ${channel_id}`,
		...message_snapshots.flatMap(({ message }) => [
			named("forwarded text", [message.content]),
			...message.embeds.map((embed) => `forwarded embed: ${embedText(embed)}`),
			named("forwarded components", textsIn(message.components)),
			...message.attachments.map(
				(file) => `forwarded ${attachmentField(file)}`,
			),
		]),
	];
}

function attachmentField(file: APIAttachment): string {
	const { filename, content_type, size, url } = file;
	const description = oneField(file.description ?? "");
	const altText = description && `, described as "${description}"`;
	return `attachment: ${oneField(filename)} (${oneField(content_type ?? "unknown type")}, ${size} bytes${altText}) ${oneField(url)}`;
}

function textsOf(embed: APIEmbed): string[] {
	return [
		embed.author?.name,
		embed.title,
		embed.description,
		...(embed.fields ?? []).map(({ name, value }) => `${name}: ${value}`),
		embed.footer?.text,
	].filter((text) => text !== undefined);
}

function embedText(embed: APIEmbed): string {
	const links = [embed.url, embed.image?.url, embed.video?.url];
	const parts = [...textsOf(embed), ...links.flatMap((link) => link ?? [])];
	return parts.length > 0 ? parts.map(oneField).join(" / ") : "empty";
}

/** Returns the texts in a message's components, and the labels of its buttons. */
function textsIn(components: unknown): string[] {
	if (Array.isArray(components)) return components.flatMap(textsIn);
	if (typeof components !== "object" || components === null) return [];
	const component = components as Record<string, unknown>;
	const { type, content, label } = component;
	const own =
		type === ComponentType.TextDisplay
			? [String(content)]
			: type === ComponentType.Button && typeof label === "string"
				? [`[${label}]`]
				: [];
	const inner = [component.components, component.accessory];
	return [...own, ...textsIn(inner)];
}

/** Whether voting in a poll is over. */
export function hasEnded({ expiry, results }: APIPoll): boolean {
	const isExpired = expiry !== null && Date.parse(expiry) <= Date.now();
	return isExpired || (results?.is_finalized ?? false);
}

/** Describes a poll as fields of a result line: question, answers with ids and votes, end. */
export function pollFields(poll: APIPoll): string[] {
	const { question, answers, allow_multiselect, expiry, results } = poll;
	const until = expiry === null ? "unknown" : time(new Date(expiry));
	return [
		`poll: ${oneField(question.text ?? "")}`,
		...answers.map(({ answer_id, poll_media: { text = "", emoji } }) => {
			const votes = results?.answer_counts.find(({ id }) => id === answer_id);
			// Without `results` the votes are unknown, which is not the same as none.
			const count = results ? `${votes?.count ?? 0} vote(s)` : "votes unknown";
			const prefix = emoji ? `${emojiName(emoji)} ` : "";
			return `answer ${answer_id}, ${count}: ${prefix}${oneField(text)}`;
		}),
		...(allow_multiselect ? ["several answers allowed"] : []),
		hasEnded(poll) ? `poll ended: ${until}` : `poll open until: ${until}`,
	];
}

/**
 * Returns a result line for an announcement that was published to the channels following its channel, or that is a copy
 * of a published announcement; no line for other messages.
 */
function publishedOf({ flags, message_reference: from }: APIMessage): string[] {
	const has = (flag: MessageFlags) => ((flags ?? 0) & flag) !== 0;
	return resultLines(
		has(MessageFlags.Crossposted) && "crossposted",
		has(MessageFlags.IsCrosspost) &&
			`crosspost of: message ${from?.message_id} of the channel ${from?.channel_id} of the guild ${from?.guild_id}`,
	);
}

function reactionsOf({ reactions = [] }: APIMessage): string {
	const texts = reactions.map(
		(reaction) =>
			`${reactionCount(reaction)}${reaction.me ? " (the bot too)" : ""}`,
	);
	return texts.length > 0 ? `reactions: ${texts.join(", ")}` : "";
}

function threadOf({ thread }: APIMessage): string {
	if (!thread) return "";
	const count = "message_count" in thread ? thread.message_count : undefined;
	const size = count === undefined ? "" : `, ${count} message(s)`;
	return `thread: #${oneField(thread.name ?? "")} (ID: ${thread.id}${size})`;
}
