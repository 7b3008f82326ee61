// The body of new and edited messages: content, mentions, embeds and files, checked by Discord's rules.
// https://discord.com/developers/docs/resources/message

import {
	RESTJSONErrorCodes as Code,
	MessageFlags,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { MessageChanges } from "../world/messages/messages.ts";
import type { SentEmbed } from "../world/state/api-types.ts";
import type { Channel, Message, User } from "../world/state/entities.ts";
import { inGuild } from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import { readerOf } from "../world/state/serialize.ts";
import { permissionsIn, requirePermissions } from "./access.ts";
import { describedFiles, storeAttachments } from "./attachments.ts";
import { components } from "./components.ts";
import { apiError, formError, notSimulated } from "./errors.ts";
import * as f from "./fields/fields.ts";
import type { Call, ReadForm } from "./route.ts";

const link = f.text(0, 2048);

const embed = f.object({
	title: f.nullable(f.text(0, 256)),
	type: f.oneOf("rich"),
	description: f.nullable(f.text(0, 4096)),
	url: f.nullable(link),
	timestamp: f.nullable(f.timestamp),
	color: f.nullable(f.integer(0, 0xffffff)),
	footer: f.nullable(
		f.object({ text: f.required(f.text(0, 2048)), icon_url: f.nullable(link) }),
	),
	image: f.nullable(f.object({ url: f.required(link) })),
	thumbnail: f.nullable(f.object({ url: f.required(link) })),
	author: f.nullable(
		f.object({
			name: f.required(f.text(0, 256)),
			url: f.nullable(link),
			icon_url: f.nullable(link),
		}),
	),
	fields: f.nullable(
		f.list(
			f.object({
				name: f.required(f.text(1, 256)),
				value: f.required(f.text(1, 1024)),
				inline: f.boolean,
			}),
			0,
			25,
		),
	),
});

type Embed = Exclude<f.Read<typeof embed>, undefined>;

const allowedMentions = f.object({
	parse: f.list(f.oneOf("users", "roles", "everyone"), 0, 3),
	users: f.list(f.snowflake, 0, 100),
	roles: f.list(f.snowflake, 0, 100),
	replied_user: f.boolean,
});

type AllowedMentions = f.Read<typeof allowedMentions>;

/** The fields of a request body that creates or edits a message. */
export const contentFields = {
	content: f.nullable(f.text(0, 2000)),
	embeds: f.nullable(f.list(embed, 0, 10)),
	allowed_mentions: f.nullable(allowedMentions),
	components: f.nullable(components),
	attachments: f.nullable(describedFiles),
	flags: f.nullable(f.integer(0, Number.MAX_SAFE_INTEGER)),
	sticker_ids: notSimulatedField("stickers"),
	poll: notSimulatedField("polls there"),
} as const;

/**
 * The parsed body of a request that creates or edits a message. The type of `poll` is unknown, because this field is
 * read only to check whether the message has a poll.
 */
export type Content = Omit<ReadForm<typeof contentFields>, "poll"> & {
	readonly poll?: unknown;
	readonly tts?: boolean | undefined;
};

/**
 * A request field that the simulator does not implement: a request with a value for it gets a response with status 501.
 */
export function notSimulatedField(what: string) {
	return f.refine(f.unchecked, (value): undefined => {
		const isEmpty = Array.isArray(value) && value.length === 0;
		if (value !== null && !isEmpty) throw notSimulated(what);
	});
}

/**
 * Converts the embeds of a request body to the embeds of the stored message. Throws if their texts are too long
 * together.
 */
function storedEmbeds(embeds: readonly Embed[]): SentEmbed[] {
	const length = embeds.reduce((sum, one) => sum + textLength(one), 0);
	if (length > 6000)
		throw formError(
			"MAX_EMBED_SIZE_EXCEEDED",
			"Embed size exceeds maximum size of 6000",
			"embeds",
		);
	return embeds.map(({ timestamp, footer, author, fields, ...rest }) => ({
		...f.present(rest),
		type: "rich",
		...(timestamp && { timestamp: timestamp.toISOString() }),
		...(footer && { footer: { ...f.present(footer), text: footer.text } }),
		...(author && { author: { ...f.present(author), name: author.name } }),
		...(fields && {
			fields: fields.map((one) => ({ ...one, inline: one.inline ?? false })),
		}),
	}));
}

function textLength({ title, description, footer, author, fields }: Embed) {
	return [
		title,
		description,
		footer?.text,
		author?.name,
		...(fields ?? []).flatMap((field) => [field.name, field.value]),
	].reduce((sum, part) => sum + (part?.length ?? 0), 0);
}

// The default of interaction responses.
const usersOnly: AllowedMentions = {
	parse: ["users"],
	users: undefined,
	roles: undefined,
	replied_user: undefined,
};

/**
 * Finds those mentions in the text of a new message that are allowed by the message's field `allowed_mentions` and by
 * the sender's permissions.
 */
function findMentions(
	call: Call,
	channel: Channel,
	content: string,
	{ allowed_mentions }: Content,
	repliedTo?: Message,
): Pick<Message, "mentions" | "mention_roles" | "mention_everyone"> {
	const allowed =
		allowed_mentions ?? (call.interaction ? usersOnly : undefined);
	checkExclusive(allowed);
	const parses = (kind: "users" | "roles" | "everyone") =>
		!allowed || (allowed.parse?.includes(kind) ?? false);
	const mayAll = has(permissionsIn(call, channel), Permission.MentionEveryone);

	const users = idsIn(content, /<@!?(\d{1,20})>/g)
		.filter((id) => parses("users") || allowed?.users?.includes(id))
		.flatMap((id) => call.world.users.get(id) ?? []);
	if (repliedTo && (!allowed || allowed.replied_user))
		users.push(repliedTo.author);

	const guild = inGuild(channel) ? call.world.guilds.of(channel) : undefined;
	return {
		mentions: [...new Set<User>(users)],
		mention_roles: idsIn(content, /<@&(\d{1,20})>/g).filter((id) => {
			const role = guild?.roles.get(id);
			const isAllowed = parses("roles") || allowed?.roles?.includes(id);
			return isAllowed && role && (role.mentionable || mayAll);
		}),
		mention_everyone:
			parses("everyone") && mayAll && /@(everyone|here)/.test(content),
	};
}

function checkExclusive(allowed: AllowedMentions): void {
	for (const kind of ["users", "roles"] as const)
		if (allowed?.parse?.includes(kind) && allowed[kind]?.length)
			throw formError(
				"MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				`parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
				"allowed_mentions",
			);
}

function idsIn(content: string, pattern: RegExp): string[] {
	return [
		...new Set(Array.from(content.matchAll(pattern), ([, id]) => id ?? "")),
	];
}

/** Throws if a new message is empty: if it has no text, embeds, components, poll or files. */
export function requireContent(call: Call, body: Content): void {
	const isEmpty =
		(body.content ?? "").trim() === "" &&
		!body.embeds?.length &&
		!body.components?.length &&
		!body.poll &&
		call.files.size === 0;
	if (isEmpty) throw apiError(Code.CannotSendAnEmptyMessage);
}

/** Throws if a message has embeds or files and the sender of the request may not send them in the channel. */
export function requireEmbedsAndFiles(
	call: Call,
	channel: Channel,
	body: Content,
): void {
	if (body.embeds?.length)
		requirePermissions(call, channel, Permission.EmbedLinks);
	if (call.files.size > 0)
		requirePermissions(call, channel, Permission.AttachFiles);
}

/** Returns the stored fields of a new message: text, mentions, embeds, components, attachments and flags. */
export function newContent(
	call: Call,
	channel: Channel,
	body: Content,
	repliedTo?: Message,
) {
	const content = (body.content ?? "").trim();
	return {
		content,
		...findMentions(call, channel, content, body, repliedTo),
		embeds: storedEmbeds(body.embeds ?? []),
		components: body.components ?? [],
		attachments: storeAttachments(call, channel, body.attachments ?? []),
		flags: settableFlags(body.flags ?? 0),
		tts: body.tts ?? false,
	};
}

/** Returns the changes that an edit makes to a message. Throws if the message would be empty after the edit. */
export function editedContent(
	call: Call,
	channel: Channel,
	message: Message,
	body: Content,
): MessageChanges {
	const { flags, content: text = message.content } = body;
	const content = (text ?? "").trim();
	const embeds =
		body.embeds === undefined
			? message.embeds
			: storedEmbeds(body.embeds ?? []);
	const { components = message.components } = body;
	const attachments = [
		...keptAttachments(message, body.attachments),
		...storeAttachments(call, channel, body.attachments ?? []),
	];
	const parts = [...embeds, ...(components ?? []), ...attachments];
	if (content === "" && parts.length === 0)
		throw apiError(Code.CannotSendAnEmptyMessage);
	return {
		content,
		embeds,
		components: components ?? [],
		attachments,
		...(flags === undefined || flags === null
			? {}
			: { flags: keptFlags(message) | settableFlags(flags) }),
		...(body.content === undefined
			? {}
			: findMentions(call, channel, content, body)),
	};
}

function keptAttachments(message: Message, wanted: Content["attachments"]) {
	if (wanted === undefined) return message.attachments;
	return message.attachments.filter(({ id }) =>
		wanted?.some((one) => one.id === id),
	);
}

/** Returns those flags of a message that remain set after any edit. */
function keptFlags({ flags }: Message): number {
	return flags & ~settableFlags(flags);
}

/** Returns `flags` without those that the author of a message may not set. Discord ignores them, too. */
function settableFlags(flags: number): number {
	return (
		flags &
		(MessageFlags.SuppressEmbeds |
			MessageFlags.SuppressNotifications |
			MessageFlags.IsComponentsV2)
	);
}

/** Converts a message to the JSON object that the sender of the request receives. */
export function serializeMessage({ world, actor }: Call, message: Message) {
	return world.messages.serialize(message, readerOf(actor));
}
