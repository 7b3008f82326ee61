// Pinned messages.
// https://discord.com/developers/docs/resources/message#get-channel-pins

import { MessageType, PermissionFlagsBits as Permission } from "discord.js";
import type { Message } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { permissionsIn } from "../access.ts";
import { apiError } from "../errors.ts";
import { integer, timestamp } from "../fields/fields.ts";
import { serializeMessage } from "../message-body.ts";
import { type Call, route } from "../route.ts";

const pinLimit = 250;
const all = "/channels/:channel_id/messages/pins";
const needed = Permission.PinMessages | Permission.ReadMessageHistory;
const pinnable: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
	MessageType.ThreadStarterMessage,
];

export const pinRoutes = [
	route(`GET ${all}`, {
		query: { limit: integer(1, 50), before: timestamp },
		run: (call) => {
			const { limit = 50, before } = call.query;
			const rest = readablePins(call).filter(({ pinned_at }) => !before || (pinned_at ?? "") < before);
			return {
				items: rest
					.slice(0, limit)
					.map((message) => ({ pinned_at: message.pinned_at, message: serializeMessage(call, message) })),
				has_more: rest.length > limit,
			};
		},
	}),
	route(`PUT ${all}/:message_id`, { needs: needed, run: pin }),
	route(`DELETE ${all}/:message_id`, { needs: needed, run: unpin }),
];

function readablePins(call: Call<":channel_id">): Message[] {
	const { channel, world } = call;
	const granted = permissionsIn(call, channel);
	return has(granted, "ReadMessageHistory") ? world.messages.pinned(channel.id) : [];
}

function pin(call: Call<":channel_id/:message_id">): void {
	const { channel, message, world, actor, by } = call;
	if (!pinnable.includes(message.type)) throw apiError("CannotExecuteActionOnSystemMessage");
	if (message.pinned_at !== null) {
		call.skipJournal();
		return;
	}
	if (world.messages.pinned(channel.id).length >= pinLimit) throw apiError("MaximumNumberOfPinsReachedForTheChannel");
	world.messages.pin(channel, message, actor.user, by);
}

function unpin(call: Call<":channel_id/:message_id">): void {
	const { channel, message, world, by } = call;
	if (message.pinned_at === null) call.skipJournal();
	else world.messages.unpin(channel, message, by);
}
