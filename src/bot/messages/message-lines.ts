// A message as one result line: time, author, id, then everything visible in it, separated by "|".

import {
	type APIAttachment,
	type APIEmbed,
	type APIMessage,
	type APIMessageSnapshotFields,
	type APIPoll,
	type APIUser,
	ComponentType,
	EmbedType,
	MessageFlags,
	MessageReferenceType,
	MessageType,
} from "discord.js";
import { currentPerson } from "../../discord/acting-person.ts";
import { time, userName } from "../../discord/describe.ts";
import { fieldLine, oneField, resultLines, truncate } from "../../discord/text.ts";
import { listFirst } from "../../lib/text.ts";
import { emojiName, reactionCount } from "./emoji.ts";

const maxEmbedLength = 600;
const maxPreviewLength = 200;
const maxQuoteLength = 100;

export function authorName({ author, webhook_id }: APIMessage, name = apiUserName(author)): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	return `${name}${kind}`;
}

/** With the display name if it differs by more than case. */
export function apiUserName({ username, global_name, id }: APIUser): string {
	return global_name && global_name.toLowerCase() !== username.toLowerCase()
		? `${oneField(global_name)} (@${oneField(username)}, ID: ${id})`
		: `@${oneField(username)} (ID: ${id})`;
}

export function messageHead(message: APIMessage): string {
	return `${time(new Date(message.timestamp))} by ${authorName(message)} | ID: ${message.id}`;
}

/** Long embeds are shortened. */
export function messageLine(message: APIMessage): string {
	return lineOf(message, shortEmbedText);
}

/** Without shortening. */
export function fullMessageLine(message: APIMessage): string {
	return lineOf(message, embedText);
}

function lineOf(message: APIMessage, describeEmbed: (embed: APIEmbed) => string): string {
	const { edited_timestamp: edited } = message;
	const shown = contentOf(message);
	const { poll } = shown;
	return fieldLine(
		messageHead(message),
		!usualKinds.includes(message.type) && `kind: ${MessageType[message.type] ?? message.type}`,
		referenceOf(message),
		memberOf(message),
		...partsOf(shown, describeEmbed),
		...forwardedOf(shown, describeEmbed),
		...(poll ? pollFields(poll) : []),
		mentionsOf(message),
		reactionsOf(message),
		threadOf(message),
		edited && `edited: ${time(new Date(edited))}`,
		message.pinned && "pinned",
		...publishedOf(message),
	);
}

/** Also those in embeds, components, polls and forwarded messages. */
export function messageTexts(of: APIMessage): string[] {
	const message = contentOf(of);
	const snapshots = message.message_snapshots ?? [];
	const { question, answers = [] } = message.poll ?? {};
	const pollTexts = [question, ...answers.map(({ poll_media }) => poll_media)];
	return [
		...[message, ...snapshots.map(({ message }) => message)].flatMap(({ content, embeds, components, attachments }) => [
			content,
			...embeds.flatMap(textsOf),
			...componentTexts(components).filter((text) => text !== separator),
			...attachments.map(({ filename }) => filename),
		]),
		...pollTexts.flatMap((media) => media?.text ?? []),
	];
}

function named(name: string, texts: readonly string[]): string {
	const fields = texts.filter((text) => text !== "").map(oneField);
	return fields.length > 0 ? `${name}: ${fields.join(" / ")}` : "";
}

/** Written by users and apps; all others are system messages. */
export const usualKinds: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

// For the first message of a thread, the message from which it was started.
// https://discord.com/developers/docs/resources/message#message-reference-content-attribution
function contentOf(message: APIMessage): APIMessage {
	const isStarter = message.type === MessageType.ThreadStarterMessage;
	const shown = (isStarter && message.referenced_message) || message;
	if (!currentPerson()?.hidesTextsOf(shown.author.id)) return shown;
	const { poll: _, message_snapshots: __, components: ___, ...rest } = shown;
	return { ...rest, content: "[hidden: this person does not want AI to read it]", embeds: [], attachments: [] };
}

const references: { [Type in MessageType]?: string } = {
	[MessageType.Reply]: "reply to",
	[MessageType.ThreadStarterMessage]: "thread started from",
	// Discord sends this type without `referenced_message`.
	[MessageType.ChannelPinnedMessage]: "pinned message",
};

function referenceOf(message: APIMessage): string {
	const { message_reference: reference, referenced_message } = message;
	const label = references[message.type];
	if (!label || !reference?.message_id) return "";
	const author = referenced_message
		? ` by ${authorName(referenced_message)}`
		: referenced_message === null
			? ", deleted"
			: "";
	const isReply = message.type === MessageType.Reply;
	const quote = isReply && referenced_message && quoteOf(referenced_message);
	return `${label}: ${reference.message_id}${author}${quote ? ` "${quote}"` : ""}`;
}

function quoteOf(message: APIMessage): string {
	const text = messageTexts(message).find((text) => text.trim() !== "") ?? "";
	return oneField(truncate(text, maxQuoteLength));
}

function mentionsOf(message: APIMessage): string {
	const { mentions = [], mention_roles = [], mention_everyone } = message;
	const names = [
		...(mention_everyone ? ["@everyone"] : []),
		...(memberOf(message) === "" ? mentions.map(apiUserName) : []),
		...mention_roles.map((id) => `the role ${id}`),
	];
	return names.length > 0 ? `mentions: ${names.join(", ")}` : "";
}

function memberOf({ type, mentions: [member] }: APIMessage): string {
	if (type !== MessageType.RecipientAdd && type !== MessageType.RecipientRemove) return "";
	return member ? `member: ${userName(member)}` : "";
}

type Parts = Pick<APIMessageSnapshotFields, "content" | "embeds" | "components" | "attachments" | "sticker_items">;

function partsOf(
	{ content, embeds, components, attachments, sticker_items }: Parts,
	describeEmbed: (embed: APIEmbed) => string,
	prefix = "",
): string[] {
	return [
		named(`${prefix}text`, [content]),
		...embeds.map((embed) => `${prefix}embed: ${describeEmbed(embed)}`),
		named(`${prefix}components`, componentTexts(components)),
		...attachments.map((file) => `${prefix}${attachmentField(file)}`),
		named(
			`${prefix}stickers`,
			(sticker_items ?? []).map(({ name }) => name),
		),
	];
}

// https://discord.com/developers/docs/resources/message#message-snapshot-object
function forwardedOf(message: APIMessage, describeEmbed: (embed: APIEmbed) => string): string[] {
	const { message_reference: reference, message_snapshots = [] } = message;
	if (reference?.type !== MessageReferenceType.Forward) return [];
	const { message_id, channel_id } = reference;
	const [from] = message_snapshots;
	const sent = from ? ` of ${time(Date.parse(from.message.timestamp))}` : "";
	return [
		`forwarded: message ${message_id}${sent} in the channel ${channel_id}`,
		...message_snapshots.flatMap(({ message }) => partsOf(message, describeEmbed, "forwarded ")),
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
	const { url, image, thumbnail, video } = embed;
	const unique = new Set([url, image?.url, thumbnail?.url, video?.url].filter((link) => link !== undefined));
	const parts = [...textsOf(embed), ...unique];
	return parts.length > 0 ? parts.map(oneField).join(" / ") : "empty";
}

// https://discord.com/developers/docs/resources/message#embed-object-embed-types
function shortEmbedText(embed: APIEmbed): string {
	const { type = EmbedType.Rich, url, image } = embed;
	const max = type === EmbedType.Rich ? maxEmbedLength : maxPreviewLength;
	const texts = textsOf(embed).join(" / ");
	if (texts.length <= max) return embedText(embed);
	const link = url ?? image?.url;
	const shortened = oneField(truncate(texts, max));
	return link === undefined ? shortened : `${shortened} / ${oneField(link)}`;
}

export function hasEnded({ expiry, results }: APIPoll): boolean {
	const isExpired = expiry !== null && Date.parse(expiry) <= Date.now();
	return isExpired || (results?.is_finalized ?? false);
}

/** Question, answers with ids and votes, end. */
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

// An announcement that was published, or a copy of one.
function publishedOf({ flags, message_reference: from }: APIMessage): string[] {
	const has = (flag: MessageFlags) => ((flags ?? 0) & flag) !== 0;
	return resultLines(
		has(MessageFlags.Crossposted) && "crossposted",
		has(MessageFlags.IsCrosspost) &&
			`crosspost of: message ${from?.message_id} of the channel ${from?.channel_id} of the guild ${from?.guild_id}`,
	);
}

function reactionsOf({ reactions = [] }: APIMessage): string {
	const texts = reactions.map((reaction) => `${reactionCount(reaction)}${reaction.me ? " (the bot too)" : ""}`);
	return texts.length > 0 ? `reactions: ${texts.join(", ")}` : "";
}

function threadOf({ thread }: APIMessage): string {
	if (!thread) return "";
	const count = "message_count" in thread ? thread.message_count : undefined;
	const size = count === undefined ? "" : `, ${count} message(s)`;
	return `thread: #${oneField(thread.name ?? "")} (ID: ${thread.id}${size})`;
}

const separator = "---";

const maxOptions = 10;

const selects: ReadonlyMap<unknown, string> = new Map([
	[ComponentType.StringSelect, "select"],
	[ComponentType.UserSelect, "user select"],
	[ComponentType.RoleSelect, "role select"],
	[ComponentType.MentionableSelect, "user or role select"],
	[ComponentType.ChannelSelect, "channel select"],
]);

/** What is shown of any component, also of those that the library does not know. */
interface Component {
	type: ComponentType;
	content?: string;
	label?: string;
	emoji?: { id?: string; name?: string };
	url?: string;
	sku_id?: string;
	disabled?: boolean;
	placeholder?: string;
	options?: readonly { label: string }[];
	media?: { url: string };
	description?: string | null;
	file?: { url: string };
	name?: string;
	size?: number;
	items?: readonly Component[];
	components?: readonly Component[];
	accessory?: Component;
	component?: Component;
}

/** In display order, not escaped. */
function componentTexts(components: unknown): string[] {
	return ((components ?? []) as readonly Component[]).flatMap(textsOfOne);
}

function textsOfOne(component: Component): string[] {
	const { type, content = "", items = [], file, name, size, disabled } = component;
	const bracketed = (...parts: readonly unknown[]) => [
		`[${parts.filter(Boolean).join(" ")}${disabled ? ", disabled" : ""}]`,
	];
	const select = selects.get(type);
	if (select) {
		const { placeholder, options = [] } = component;
		const labels = options.map(({ label }) => label);
		return bracketed(`${select}:`, placeholder, labels.length > 0 && `(${listFirst(labels, maxOptions, ", … ")})`);
	}
	switch (type) {
		case ComponentType.TextDisplay:
			return [content];
		case ComponentType.Button: {
			const { emoji, label, sku_id, url } = component;
			const icon = emoji?.id ? `<:${emoji.name ?? ""}:${emoji.id}>` : emoji?.name;
			return bracketed(icon, label, sku_id && `buy SKU ${sku_id}`, url && `→ ${url}`);
		}
		case ComponentType.Thumbnail:
			return [mediaText("thumbnail", component)];
		case ComponentType.MediaGallery:
			return items.map((item) => mediaText("media", item));
		case ComponentType.File:
			return [`file: ${name ?? ""}${size === undefined ? "" : ` (${size} bytes)`} ${file?.url ?? ""}`];
		case ComponentType.Separator:
			return [separator];
		default:
			// Rows, sections, containers and labels; of components unknown today, at least the ones inside them.
			return [component.components ?? [], component.accessory ?? [], component.component ?? []]
				.flat()
				.flatMap(textsOfOne);
	}
}

function mediaText(kind: string, { media, description }: Component): string {
	return `${kind}: ${media?.url ?? ""}${description ? `, described as "${description}"` : ""}`;
}
