// Messages that refer to another one: replies in the same channel, and forwards from any channel.
// https://discord.com/developers/docs/resources/message#message-reference-content-attribution

import {
	RESTJSONErrorCodes as Code,
	MessageFlags,
	MessageType,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { referenceTo } from "../world/messages/messages.ts";
import type { Channel, Message } from "../world/state/entities.ts";
import { inGuild } from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import { isReadable, readerOf } from "../world/state/serialize.ts";
import { apiError, formError } from "./errors.ts";
import * as f from "./fields.ts";
import { type Content, permissionsIn } from "./message-body.ts";
import type { Call } from "./route.ts";

export const messageReference = f.object({
	type: f.choice(0, 1),
	message_id: f.snowflake,
	channel_id: f.snowflake,
	guild_id: f.snowflake,
	fail_if_not_exists: f.boolean,
});

type Reference = Exclude<f.Read<typeof messageReference>, undefined>;

/** The message that is replied to, or undefined if it is gone and need not exist. */
export function repliedTo(
	call: Call,
	channel: Channel,
	reference: Reference,
): Message | undefined {
	if (!has(permissionsIn(call, channel), Permission.ReadMessageHistory))
		throw apiError(Code.CannotReplyWithoutPermissionToReadMessageHistory);
	const message = call.world.messages.get(
		channel.id,
		reference.message_id ?? "",
	);
	if (!message && (reference.fail_if_not_exists ?? true))
		throw unknownMessage();
	return message;
}

/** The fields of a reply. */
export function asReply(channel: Channel, { id }: Message) {
	return {
		type: MessageType.Reply,
		message_reference: referenceTo({ id }, channel),
	};
}

const forwardable: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

/** The fields of a forward. */
export function asForward(
	call: Call,
	target: Channel,
	body: Content,
	reference: Reference,
) {
	if (hasContent(call, body))
		throw formError(
			"FORWARD_CONTAINS_UNSUPPORTED_CONTENT",
			"Forwards cannot contain additional content",
			"message_reference",
		);
	const { channel, message } = forwarded(call, reference);
	if (
		call.world.channels.isNsfw(channel) &&
		!call.world.channels.isNsfw(target)
	)
		throw apiError(Code.NSFWChannelMessageReferenceNotAllowed);
	return {
		flags: MessageFlags.HasSnapshot,
		message_reference: referenceTo(message, channel, 1),
		message_snapshots: message.message_snapshots ?? [
			{ message: snapshotOf(message) },
		],
	};
}

function hasContent(
	{ files }: Call,
	{ content, embeds, components, poll }: Content,
): boolean {
	return Boolean(
		content || embeds?.length || components?.length || poll || files.size,
	);
}

/** The message to forward. The actor must be able to view and read it. */
function forwarded(
	call: Call,
	{ channel_id, message_id }: Reference,
): { channel: Channel; message: Message } {
	const { world, actor } = call;
	if (channel_id === undefined)
		throw formError(
			"BASE_TYPE_REQUIRED",
			"This field is required",
			"message_reference",
			"channel_id",
		);
	const channel = world.channels.get(channel_id);
	if (!channel) throw apiError(Code.UnknownChannel);
	const granted =
		inGuild(channel) || channel.recipients.includes(actor.user)
			? permissionsIn(call, channel)
			: 0n;
	if (!has(granted, Permission.ViewChannel)) throw apiError(Code.MissingAccess);
	if (!has(granted, Permission.ReadMessageHistory))
		throw apiError(
			Code.CannotReferenceAMessageWithoutPermissionToReadMessageHistory,
		);
	const message = world.messages.get(channel.id, message_id ?? "");
	if (!message) throw unknownMessage();
	if (!forwardable.includes(message.type) || message.poll)
		throw apiError(Code.CannotExecuteActionOnSystemMessage);
	const guildId = inGuild(channel) ? channel.guild_id : undefined;
	if (!isReadable(message, readerOf(actor), guildId))
		throw apiError(Code.CannotForwardMessageWithUnreadableContent);
	return { channel, message };
}

function snapshotOf(message: Message) {
	const { type, content, timestamp, edited_timestamp, flags } = message;
	const { mentions, mention_roles, attachments, embeds, components } = message;
	return {
		type,
		content,
		timestamp,
		edited_timestamp,
		flags,
		mentions,
		mention_roles,
		attachments,
		embeds,
		components,
	};
}

function unknownMessage() {
	return formError(
		"REPLIES_UNKNOWN_MESSAGE",
		"Unknown message",
		"message_reference",
	);
}
