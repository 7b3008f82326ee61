// Messages: reading, sending, editing and deleting them, one or many.

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	MessageFlags,
	PermissionFlagsBits as Permission,
} from "discord.js";
import {
	type Channel,
	holdsPosts,
	inGuild,
	isThread,
	type Message,
} from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { timeOf } from "../../world/state/snowflake.ts";
import { moderate } from "../automod-actions.ts";
import { ApiError, apiError, formError } from "../errors.ts";
import * as f from "../fields.ts";
import {
	contentFields,
	editedContent,
	newContent,
	permissionsIn,
	requireContent,
	requirePermissions,
} from "../message-body.ts";
import {
	asForward,
	asReply,
	messageReference,
	repliedTo,
} from "../message-references.ts";
import {
	type Call,
	channelOf,
	guildPlaceOf,
	messageOf,
	type ReadForm,
	route,
} from "../route.ts";
import { pollForm, readPoll } from "./polls.ts";

const bulkDeleteAgeMs = 14 * 24 * 60 * 60 * 1000;
// A guess: Discord says "the past few minutes".
const nonceAgeMs = 5 * 60 * 1000;

/** The path's channel. Throws for categories and forums. */
function textChannelOf(call: Call): Channel {
	const channel = channelOf(call);
	if (channel.type === ChannelType.GuildCategory || holdsPosts(channel))
		throw apiError(Code.CannotSendMessagesInNonTextChannel);
	return channel;
}

const nonce: f.Field<string | number | undefined> = {
	read: (value) => {
		if (value === undefined) return undefined;
		if (typeof value === "number" && Number.isSafeInteger(value)) return value;
		if (typeof value === "string" && value.length <= 25) return value;
		throw formError(
			"NONCE_TYPE_TOO_LONG",
			"Must be an integer, or a string of 25 or fewer in length.",
		);
	},
};

const newMessage = {
	...contentFields,
	tts: f.boolean,
	nonce: f.nullable(nonce),
	enforce_nonce: f.boolean,
	message_reference: f.nullable(messageReference),
	poll: f.nullable(pollForm),
};

type NewMessage = ReadForm<typeof newMessage>;

/** The message of an earlier request with this nonce; undefined if there is none. */
function findByNonce(call: Call<NewMessage>, channel: Channel) {
	const { nonce, enforce_nonce } = call.body;
	if (!enforce_nonce || nonce === undefined || nonce === null) return undefined;
	const since = Date.now() - nonceAgeMs;
	return call.world.messages
		.in(channel.id)
		.findLast(
			(message) =>
				message.nonce === nonce &&
				message.author === call.actor.user &&
				timeOf(message.id) > since,
		);
}

function checkDmAllowed(call: Call, channel: Channel): void {
	if (inGuild(channel)) return;
	const other = channel.recipients.find((user) => user !== call.actor.user);
	const meet = [...call.world.guilds.values()].some(
		({ members }) =>
			members.has(call.actor.user.id) && members.has(other?.id ?? ""),
	);
	const bothBots = call.actor.user.bot && other?.bot;
	if (!meet || bothBots || call.world.users.closedDms.has(other?.id ?? ""))
		throw apiError(Code.CannotSendMessagesToThisUser);
}

/** Throws if the channel's slow mode does not allow a message yet. */
function checkSlowMode(call: Call, channel: Channel): void {
	if (!inGuild(channel) || channel.rate_limit_per_user === 0) return;
	const granted = permissionsIn(call, channel);
	const exempt =
		Permission.ManageMessages |
		Permission.ManageChannels |
		Permission.BypassSlowmode;
	if ((granted & exempt) !== 0n) return;
	const last = call.world.messages
		.in(channel.id)
		.findLast(({ author }) => author === call.actor.user);
	if (!last) return;
	const waitMs =
		timeOf(last.id) + channel.rate_limit_per_user * 1000 - Date.now();
	if (waitMs <= 0) return;
	const error = apiError(Code.ActionCannotBePerformedDueToSlowmodeRateLimit);
	throw new ApiError(error.status, {
		...error.body,
		retry_after: waitMs / 1000,
	});
}

/** Throws if the sender lacks a permission or the message would be empty. */
function checkSendable(call: Call<NewMessage>, channel: Channel): void {
	const { body, files } = call;
	// A forward has the content of another message.
	if (body.message_reference?.type !== 1) requireContent(call, body);
	if (body.embeds?.length)
		requirePermissions(call, channel, Permission.EmbedLinks);
	if (files.size > 0) requirePermissions(call, channel, Permission.AttachFiles);
	if (body.tts) requirePermissions(call, channel, Permission.SendTTSMessages);
	if (body.poll) requirePermissions(call, channel, Permission.SendPolls);
}

/** Adds a message, reply, forward or poll. */
function write(call: Call<NewMessage>, channel: Channel): Message {
	const { body, world, actor } = call;
	const reference = body.message_reference;
	const replied =
		reference && reference.type !== 1
			? repliedTo(call, channel, reference)
			: undefined;
	const forward =
		reference?.type === 1
			? asForward(call, channel, body, reference)
			: undefined;
	const message = {
		...newContent(call, channel, body, {
			allowed: body.allowed_mentions ?? null,
			repliedTo: replied,
		}),
		tts: body.tts ?? false,
		...(body.nonce === undefined || body.nonce === null
			? {}
			: { nonce: body.nonce }),
		...(replied ? asReply(channel, replied) : {}),
		...forward,
	};
	if (!body.poll) return world.messages.add(channel, actor.user, message);
	const poll = readPoll(call, body.poll);
	return world.polls.add(channel, actor.user, poll, message);
}

/** Throws in a locked thread, unless the actor manages threads. */
function checkLocked(call: Call, channel: Channel): void {
	const { ManageThreads } = Permission;
	if (!isThread(channel) || !channel.locked) return;
	if (!has(permissionsIn(call, channel), ManageThreads))
		throw apiError(Code.ThreadLocked);
}

export const messageRoutes = [
	route({
		method: "GET",
		path: "/channels/:channel_id/messages",
		query: {
			limit: f.integer(1, 100),
			around: f.snowflake,
			before: f.snowflake,
			after: f.snowflake,
		},
		run: (call) => {
			const channel = textChannelOf(call);
			// Without READ_MESSAGE_HISTORY the list is empty.
			if (!has(permissionsIn(call, channel), Permission.ReadMessageHistory))
				return [];
			const { limit = 50, ...borders } = call.query;
			return call.world.messages
				.page(channel.id, { limit, ...borders })
				.map((message) =>
					call.world.messages.serialize(message, readerOf(call.actor)),
				);
		},
	}),
	route({
		method: "GET",
		path: "/channels/:channel_id/messages/:message_id",
		needs: Permission.ReadMessageHistory,
		run: (call) =>
			call.world.messages.serialize(messageOf(call), readerOf(call.actor)),
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/messages",
		needs: Permission.SendMessages,
		inArchived: true,
		body: newMessage,
		run: (call) => {
			const channel = textChannelOf(call);
			const { world, actor } = call;
			checkLocked(call, channel);
			checkDmAllowed(call, channel);
			checkSendable(call, channel);

			const already = findByNonce(call, channel);
			if (already) {
				call.skipJournal();
				return world.messages.serialize(already, readerOf(actor));
			}
			checkSlowMode(call, channel);
			const tellRules = moderate(call, channel, call.body.content ?? "");
			const message = write(call, channel);
			tellRules(message);
			return world.messages.serialize(message, readerOf(actor));
		},
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/messages/:message_id/crosspost",
		needs: Permission.SendMessages,
		run: (call) => {
			const channel = channelOf(call);
			const message = messageOf(call);
			const { world, actor } = call;
			if (channel.type !== ChannelType.GuildAnnouncement)
				throw apiError(Code.CannotExecuteActionOnThisChannelType);
			if (message.author !== actor.user)
				requirePermissions(call, channel, Permission.ManageMessages);
			if ((message.flags & MessageFlags.Crossposted) !== 0)
				throw apiError(Code.ThisMessageWasAlreadyCrossposted);
			message.flags |= MessageFlags.Crossposted;
			world.messages.dispatch("MESSAGE_UPDATE", channel, message);
			return world.messages.serialize(message, readerOf(actor));
		},
	}),
	route({
		method: "PATCH",
		path: "/channels/:channel_id/messages/:message_id",
		body: contentFields,
		run: (call) => {
			const { body, world, actor } = call;
			const channel = channelOf(call);
			const message = messageOf(call);
			checkLocked(call, channel);
			const own = message.author === actor.user;
			if (own && message.poll) throw apiError(Code.CannotEditAPollMessage);
			const asks = Object.values({ ...body, flags: undefined });
			// With MANAGE_MESSAGES others' embeds can be hidden, nothing more.
			if (!own && asks.some((value) => value !== undefined))
				throw apiError(Code.CannotEditMessageAuthoredByAnotherUser);
			if (!own) requirePermissions(call, channel, Permission.ManageMessages);
			const tellRules = moderate(call, channel, body.content ?? "");
			world.messages.edit(
				channel,
				message,
				editedContent(call, channel, message, body, {
					allowed: body.allowed_mentions ?? null,
				}),
			);
			tellRules(message);
			return world.messages.serialize(message, readerOf(actor));
		},
	}),
	route({
		method: "DELETE",
		path: "/channels/:channel_id/messages/:message_id",
		inArchived: true,
		run: (call) => {
			const channel = channelOf(call);
			const message = messageOf(call);
			if (message.author !== call.actor.user) {
				if (!inGuild(channel))
					throw apiError(Code.CannotExecuteActionOnDMChannel);
				requirePermissions(call, channel, Permission.ManageMessages);
			}
			call.world.messages.remove(channel, message, call.by);
		},
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/messages/bulk-delete",
		needs: Permission.ManageMessages,
		inArchived: true,
		botsOnly: true,
		body: { messages: f.required(f.list(f.snowflake, 2, 100)) },
		run: (call) => {
			const channel = guildPlaceOf(call);
			const ids = call.body.messages;
			if (new Set(ids).size < ids.length)
				throw formError(
					"LIST_ITEM_VALUE_DUPLICATE",
					"Must contain unique items only.",
					"messages",
				);
			const oldest = Date.now() - bulkDeleteAgeMs;
			if (ids.some((id) => timeOf(id) < oldest))
				throw apiError(Code.OneOfTheMessagesProvidedWasTooOldForBulkDelete);
			// Unknown ids are skipped.
			const messages = ids.flatMap(
				(id) => call.world.messages.get(channel.id, id) ?? [],
			);
			if (messages.length > 0)
				call.world.messages.removeMany(channel, messages, call.by);
		},
	}),
];
