// Messages that refer to another one: replies in the same channel, and forwards from any channel.
// https://discord.com/developers/docs/resources/message#message-reference-content-attribution

import { MessageFlags, MessageType } from "discord.js";
import { referenceTo } from "../world/messages/messages.ts";
import { type Channel, inGuild, type Message } from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import { isReadable, readerOf } from "../world/state/serialize.ts";
import { permissionsIn } from "./access.ts";
import { apiError, formError, found, missingField } from "./errors.ts";
import { boolean, choice, object, type Read, snowflake } from "./fields/fields.ts";
import type { Content } from "./message-body.ts";
import type { Call } from "./route.ts";

export const messageReference = object({
	type: choice(0, 1),
	message_id: snowflake,
	channel_id: snowflake,
	guild_id: snowflake,
	fail_if_not_exists: boolean,
});

type Reference = Exclude<Read<typeof messageReference>, undefined>;

/** Undefined if the message does not exist and `fail_if_not_exists` is false; otherwise throws then. */
export function repliedTo(call: Call, channel: Channel, reference: Reference): Message | undefined {
	if (!has(permissionsIn(call, channel), "ReadMessageHistory"))
		throw apiError("CannotReplyWithoutPermissionToReadMessageHistory");
	const message = call.world.messages.get(channel.id, reference.message_id ?? "");
	if (!message && (reference.fail_if_not_exists ?? true)) throw unknownMessage();
	return message;
}

export function asReply(channel: Channel, { id }: Message) {
	return { type: MessageType.Reply, message_reference: referenceTo({ id }, channel) };
}

export const forwardable: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
];

export function asForward(call: Call, target: Channel, body: Content, reference: Reference) {
	const { content, embeds, components, poll } = body;
	const parts = embeds?.length || components?.length || call.files.size;
	if (content || poll || parts)
		throw formError(
			"FORWARD_CONTAINS_UNSUPPORTED_CONTENT",
			"Forwards cannot contain additional content",
			"message_reference",
		);
	const { channel, message } = forwarded(call, reference);
	const { channels } = call.world;
	if (channels.isNsfw(channel) && !channels.isNsfw(target)) throw apiError("NSFWChannelMessageReferenceNotAllowed");
	return {
		flags: MessageFlags.HasSnapshot,
		message_reference: referenceTo(message, channel, 1),
		message_snapshots: message.message_snapshots ?? [{ message: snapshotOf(message) }],
	};
}

function forwarded(call: Call, { channel_id, message_id }: Reference) {
	const { world, actor } = call;
	if (channel_id === undefined) throw missingField("message_reference", "channel_id");
	const channel = found(world.channels.get(channel_id), "UnknownChannel");
	const granted = permissionsIn(call, channel);
	if (!has(granted, "ViewChannel")) throw apiError("MissingAccess");
	if (!has(granted, "ReadMessageHistory"))
		throw apiError("CannotReferenceAMessageWithoutPermissionToReadMessageHistory");
	const message = world.messages.get(channel.id, message_id ?? "");
	if (!message) throw unknownMessage();
	if (!forwardable.includes(message.type) || message.poll) throw apiError("CannotExecuteActionOnSystemMessage");
	const guildId = inGuild(channel) ? channel.guild_id : undefined;
	if (!isReadable(message, readerOf(actor), guildId)) throw apiError("CannotForwardMessageWithUnreadableContent");
	return { channel, message };
}

function snapshotOf(message: Message) {
	return {
		type: message.type,
		content: message.content,
		timestamp: message.timestamp,
		edited_timestamp: message.edited_timestamp,
		flags: message.flags,
		mentions: message.mentions,
		mention_roles: message.mention_roles,
		attachments: message.attachments,
		embeds: message.embeds,
		components: message.components,
	};
}

function unknownMessage() {
	return formError("REPLIES_UNKNOWN_MESSAGE", "Unknown message", "message_reference");
}
