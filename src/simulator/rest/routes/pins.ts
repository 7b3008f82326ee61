// Pinned messages, with the routes of 2025. The older ones below /pins are not simulated.
// https://discord.com/developers/docs/resources/message#get-channel-pins

import {
	RESTJSONErrorCodes as Code,
	MessageType,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { has } from "../../world/state/permissions.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { apiError } from "../errors.ts";
import { integer, timestamp } from "../fields.ts";
import { permissionsIn } from "../message-body.ts";
import { channelOf, messageOf, route } from "../route.ts";

const pinLimit = 250;
const all = "/channels/:channel_id/messages/pins";
const pinnable: readonly MessageType[] = [
	MessageType.Default,
	MessageType.Reply,
	MessageType.ChatInputCommand,
	MessageType.ContextMenuCommand,
	MessageType.ThreadStarterMessage,
];

export const pinRoutes = [
	route({
		method: "GET",
		path: all,
		query: { limit: integer(1, 50), before: timestamp },
		run: (call) => {
			const channel = channelOf(call);
			// Without READ_MESSAGE_HISTORY the list is empty.
			const visible = has(
				permissionsIn(call, channel),
				Permission.ReadMessageHistory,
			);
			const { limit = 50, before } = call.query;
			const pinned = visible ? call.world.messages.pinned(channel.id) : [];
			const rest = pinned.filter(
				({ pinned_at }) =>
					!before || Date.parse(pinned_at ?? "") < before.getTime(),
			);
			return {
				items: rest.slice(0, limit).map((message) => ({
					pinned_at: message.pinned_at,
					message: call.world.messages.serialize(message, readerOf(call.actor)),
				})),
				has_more: rest.length > limit,
			};
		},
	}),
	route({
		method: "PUT",
		path: `${all}/:message_id`,
		needs: Permission.PinMessages | Permission.ReadMessageHistory,
		run: (call) => {
			const channel = channelOf(call);
			const message = messageOf(call);
			const { world, actor, by } = call;
			if (!pinnable.includes(message.type))
				throw apiError(Code.CannotExecuteActionOnSystemMessage);
			if (message.pinned_at !== null) return call.skipJournal();
			if (world.messages.pinned(channel.id).length >= pinLimit)
				throw apiError(Code.MaximumNumberOfPinsReachedForTheChannel);
			world.messages.pin(channel, message, actor.user, by);
		},
	}),
	route({
		method: "DELETE",
		path: `${all}/:message_id`,
		needs: Permission.PinMessages | Permission.ReadMessageHistory,
		run: (call) => {
			const message = messageOf(call);
			if (message.pinned_at === null) return call.skipJournal();
			call.world.messages.unpin(channelOf(call), message, call.by);
		},
	}),
];
