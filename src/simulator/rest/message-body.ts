// The body of new and edited messages: content, mentions, embeds and files, checked by Discord's rules.
// https://discord.com/developers/docs/resources/message

import { MessageFlags } from "discord.js";
import type { MessageChanges } from "../world/messages/messages.ts";
import type { SentEmbed } from "../world/state/api-types.ts";
import type { Attachment, Channel, Message, User } from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import { readerOf } from "../world/state/serialize.ts";
import { permissionsIn, requirePermissions } from "./access.ts";
import { components } from "./components.ts";
import { apiError, formError } from "./errors.ts";
import * as f from "./fields/fields.ts";
import type { Call, ReadForm } from "./route.ts";

const settable = MessageFlags.SuppressEmbeds | MessageFlags.SuppressNotifications;

const link = f.text(0, 2048);

const trimmed = (max: number) => ({
	read: (value: unknown) => f.text(0, max).read(typeof value === "string" ? value.trim() : value),
});

const embed = f.object({
	title: trimmed(256),
	type: f.choice("rich"),
	description: trimmed(4096),
	url: link,
	timestamp: f.timestamp,
	color: f.integer(0, 0xffffff),
	footer: f.object({ text: trimmed(2048), icon_url: link }),
	image: f.object({ url: link }),
	thumbnail: f.object({ url: link }),
	author: f.object({ name: trimmed(256), url: link, icon_url: link }),
	fields: f.list(
		f.object({ name: f.required(trimmed(256)), value: f.required(trimmed(1024)), inline: f.boolean }),
		0,
		25,
	),
});

type Embed = Exclude<f.Read<typeof embed>, undefined>;

/** An item of `embeds`. One without any key is refused: https://github.com/discord/discord-api-docs/issues/1765 */
const listedEmbed: f.Field<Embed | undefined> = {
	read: (value) => {
		if (Bun.deepEquals(value, {}))
			throw formError("LIST_ITEM_VALUE_REQUIRED", "List item values of ModelType are required");
		return embed.read(value);
	},
};

const allowedMentions = f.object({
	parse: f.list(f.choice("users", "roles", "everyone"), 0, 3),
	users: f.list(f.snowflake, 0, 100),
	roles: f.list(f.snowflake, 0, 100),
	replied_user: f.boolean,
});

const maxFiles = 10;

/** Uploaded files, and the attachments that an edited message keeps. */
const describedFiles = f.list(
	f.object({ id: f.unchecked, filename: f.text(0, 1024), description: f.text(0, 1024) }),
	0,
	maxFiles,
);

export const contentFields = {
	content: f.nullable(f.text(0, 2000), ""),
	embeds: f.nullable(f.list(listedEmbed, 0, 10), []),
	allowed_mentions: allowedMentions,
	components: f.nullable(components, []),
	attachments: f.nullable(describedFiles, []),
	flags: f.integer(0, Number.MAX_SAFE_INTEGER),
	sticker_ids: f.notSimulatedField("stickers"),
	poll: f.notSimulatedField("polls there"),
} as const;

/** `poll` is unknown, because it is read only to check whether the message has one. */
export type Content = Omit<ReadForm<typeof contentFields>, "poll"> & { poll?: unknown; tts?: boolean | undefined };

function storedEmbeds(embeds: readonly Embed[]): SentEmbed[] {
	const length = embeds.reduce((sum, one) => sum + textLength(one), 0);
	if (length > 6000) throw formError("MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000", "embeds");
	// Empty parts, which some libraries send, are left out: https://github.com/spacebarchat/server/issues/1578
	return embeds.map((one) => {
		const { footer, author, image, thumbnail, fields, ...rest } = one;
		return {
			...rest,
			type: "rich",
			...(footer?.text && { footer: { ...footer, text: footer.text } }),
			...(author?.name && { author: { ...author, name: author.name } }),
			...(image?.url && { image: { url: image.url } }),
			...(thumbnail?.url && { thumbnail: { url: thumbnail.url } }),
			...(fields && { fields: fields.map((one) => ({ ...one, inline: one.inline ?? false })) }),
		};
	});
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
const usersOnly: f.Read<typeof allowedMentions> = { parse: ["users"] };

function findMentions(
	call: Call,
	channel: Channel,
	content: string,
	{ allowed_mentions }: Content,
	repliedTo?: Message,
) {
	const allowed = allowed_mentions ?? (call.interaction ? usersOnly : undefined);
	for (const kind of ["users", "roles"] as const)
		if (allowed?.parse?.includes(kind) && allowed[kind]?.length)
			throw formError(
				"MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				`parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
				"allowed_mentions",
			);
	const parses = (kind: "users" | "roles" | "everyone") => !allowed || (allowed.parse?.includes(kind) ?? false);
	const mayAll = has(permissionsIn(call, channel), "MentionEveryone");

	const users = idsIn(content, /<@!?(\d{1,20})>/g)
		.filter((id) => parses("users") || allowed?.users?.includes(id))
		.flatMap((id) => call.world.users.get(id) ?? []);
	if (repliedTo && (!allowed || allowed.replied_user)) users.push(repliedTo.author);

	const guild = call.world.guilds.of(channel);
	return {
		mentions: [...new Set<User>(users)],
		mention_roles: idsIn(content, /<@&(\d{1,20})>/g).filter((id) => {
			const role = guild?.roles.get(id);
			const isAllowed = parses("roles") || allowed?.roles?.includes(id);
			return isAllowed && role && (role.mentionable || mayAll);
		}),
		mention_everyone: parses("everyone") && mayAll && /@(everyone|here)/.test(content),
	};
}

function idsIn(content: string, pattern: RegExp): string[] {
	return [...new Set(Array.from(content.matchAll(pattern), ([, id]) => id ?? ""))];
}

export function requireContent(call: Call, body: Content): void {
	const isEmpty =
		(body.content ?? "").trim() === "" &&
		!body.embeds?.length &&
		!body.components?.length &&
		!body.poll &&
		call.files.size === 0;
	if (isEmpty) throw apiError("CannotSendAnEmptyMessage");
}

export function requireEmbedsAndFiles(call: Call, channel: Channel, body: Content): void {
	if (body.embeds?.length) requirePermissions(call, channel, "EmbedLinks");
	if (call.files.size > 0) requirePermissions(call, channel, "AttachFiles");
}

export function newContent(call: Call, channel: Channel, body: Content, repliedTo?: Message) {
	const content = (body.content ?? "").trim();
	return {
		content,
		...findMentions(call, channel, content, body, repliedTo),
		embeds: storedEmbeds(body.embeds ?? []),
		components: body.components ?? [],
		attachments: storeAttachments(call, channel, body.attachments ?? []),
		flags: (body.flags ?? 0) & settable,
		tts: body.tts ?? false,
	};
}

export function editedContent(call: Call, channel: Channel, message: Message, body: Content): MessageChanges {
	const content = (body.content ?? message.content).trim();
	const embeds = body.embeds ? storedEmbeds(body.embeds) : message.embeds;
	const { components = message.components } = body;
	const flags = body.flags === undefined ? message.flags : (message.flags & ~settable) | (body.flags & settable);
	const { attachments: wanted } = body;
	const kept = message.attachments.filter(({ id }) => !wanted || wanted.some((one) => one.id === id));
	const attachments = [...kept, ...storeAttachments(call, channel, wanted ?? [])];
	if (content === "" && ![embeds, components, attachments].some(({ length }) => length > 0))
		throw apiError("CannotSendAnEmptyMessage");
	return {
		content,
		embeds,
		components,
		attachments,
		flags,
		...(body.content !== undefined && findMentions(call, channel, content, body)),
	};
}

export function serializeMessage({ world, actor }: Call, message: Message) {
	return world.messages.serialize(message, readerOf(actor));
}

type Described = f.Read<typeof describedFiles> & object;

function storeAttachments(call: Call, channel: Channel, described: Described): Attachment[] {
	if (call.files.size > maxFiles)
		throw formError("BASE_TYPE_MAX_LENGTH", `Must be ${maxFiles} or fewer in length.`, "attachments");
	return Array.from(call.files, ([part, file]) => {
		// The parts of the form are named files[0], files[1] and so on. The field `attachments` refers to them by these
		// numbers.
		const number = /^files\[(\d+)\]$/.exec(part)?.[1];
		const known = described.find(({ id }) => String(id) === number);
		const given = file instanceof File ? file.name : part;
		const filename = (known?.filename ?? given).replace(/[^\w.-]+/g, "_");
		const id = call.world.state.newId();
		const url = call.storeFile(`${channel.id}/${id}/${filename}`, file);
		return {
			id,
			filename,
			...(known?.description && { description: known.description }),
			content_type: file.type || "application/octet-stream",
			size: file.size,
			url,
			proxy_url: url,
		};
	});
}
