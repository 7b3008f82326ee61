// Messages: reading, sending, editing, pinning and deleting them, one or many.
//
// A gap: Publishing a message copies it nowhere: announcement channels have no followers.

import { ChannelType, Constants, MessageFlags, MessageType, PermissionFlagsBits as Permission } from "discord.js";
import { type Channel, holdsPosts, inGuild, isThread, type Message } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { timeOf } from "../../world/state/snowflake.ts";
import { permissionsIn, requirePermissions } from "../access.ts";
import { moderate } from "../automod-actions.ts";
import { ApiError, apiError, formError, found, rateLimited } from "../errors.ts";
import { boolean, integer, list, refine, required, snowflake, timestamp, unchecked } from "../fields/fields.ts";
import {
	contentFields,
	editedContent,
	newContent,
	requireContent,
	requireEmbedsAndFiles,
	serializeMessage,
} from "../message-body.ts";
import { asForward, asReply, forwardable, messageReference, repliedTo } from "../message-references.ts";
import { type Call, guildPlaceOf, type ReadForm, route } from "../route.ts";
import { pollForm, readPoll } from "./polls.ts";

const bulkDeleteAgeMs = 14 * 24 * 60 * 60 * 1000;
// A guess (nonce-age): Discord says "the past few minutes".
const nonceAgeMs = 5 * 60 * 1000;

function textChannelOf({ channel }: Call<":channel_id">): Channel {
	if (channel.type === ChannelType.GuildCategory || holdsPosts(channel))
		throw apiError("CannotSendMessagesInNonTextChannel");
	return channel;
}

const nonce = refine(unchecked, (value) => {
	if (typeof value === "number" && Number.isSafeInteger(value)) return value;
	if (typeof value === "string" && value.length <= 25) return value;
	throw formError("NONCE_TYPE_TOO_LONG", "Must be an integer, or a string of 25 or fewer in length.");
});

const newMessage = {
	...contentFields,
	tts: boolean,
	nonce: nonce,
	enforce_nonce: boolean,
	message_reference: messageReference,
	poll: pollForm,
};

type NewMessage = ReadForm<typeof newMessage>;

function nonceKey(call: Call<"", NewMessage>, channel: Channel) {
	const { nonce } = call.body;
	return nonce === undefined ? undefined : `${call.actor.user.id} ${channel.id} ${nonce}`;
}

function findByNonce(call: Call<"", NewMessage>, channel: Channel) {
	const { messages } = call.world;
	const id = messages.nonces.get(nonceKey(call, channel) ?? "") ?? "0";
	const isRecent = timeOf(id) > Date.now() - nonceAgeMs;
	if (!call.body.enforce_nonce || !isRecent) return undefined;
	return found(messages.get(channel.id, id), "UnknownMessage");
}

function checkDmAllowed(call: Call, channel: Channel): void {
	if (inGuild(channel)) return;
	const { user } = call.actor;
	const other = channel.recipients.find((one) => one !== user);
	const meet = [...call.world.guilds.values()].some(
		({ members }) => members.has(user.id) && members.has(other?.id ?? ""),
	);
	if (!meet) throw apiError("CannotSendMessagesToThisUserDueToHavingNoMutualGuilds");
	const bothBots = user.bot && other?.bot;
	if (bothBots || call.world.users.closedDms.has(other?.id ?? "")) throw apiError("CannotSendMessagesToThisUser");
}

/** https://discord.com/developers/docs/resources/channel#channel-object-channel-structure */
function checkSlowMode(call: Call, channel: Channel): void {
	if (!inGuild(channel) || channel.rate_limit_per_user === 0) return;
	if (call.actor.user.bot) return;
	if (has(permissionsIn(call, channel), "BypassSlowmode")) return;
	const last = call.world.messages.in(channel.id).findLast(({ author }) => author === call.actor.user);
	if (!last) return;
	const waitMs = timeOf(last.id) + channel.rate_limit_per_user * 1000 - Date.now();
	if (waitMs <= 0) return;
	const error = apiError("ActionCannotBePerformedDueToSlowmodeRateLimit");
	// A guess (slow-mode-scope): the scope of this rate limit.
	const limit = rateLimited(waitMs, { global: false, scope: "user" });
	throw new ApiError(429, { ...limit.body, ...error.body }, limit.headers);
}

function write(call: Call<"", NewMessage>, channel: Channel): Message {
	const { body, world, actor } = call;
	const { message_reference: reference, nonce } = body;
	const isForward = reference?.type === 1;
	const replied = reference && !isForward ? repliedTo(call, channel, reference) : undefined;
	const forward = isForward ? asForward(call, channel, body, reference) : undefined;
	const message = {
		...newContent(call, channel, body, replied),
		...(nonce !== undefined && { nonce }),
		...(replied && asReply(channel, replied)),
		...forward,
	};
	const added = body.poll
		? world.polls.add(channel, actor.user, readPoll(call, body.poll), message)
		: world.messages.add(channel, actor.user, message);
	const key = nonceKey(call, channel);
	if (key !== undefined) world.messages.nonces.set(key, added.id);
	return added;
}

/** Sources of the error code: discord/discord-api-docs#4087 for bulk deletes, #1063 for single ones. */
function checkDeletable(messages: readonly Message[]): void {
	const undeletable: readonly MessageType[] = Constants.UndeletableMessageTypes;
	if (messages.some(({ type }) => undeletable.includes(type))) throw apiError("CannotExecuteActionOnSystemMessage");
}

function checkLocked(call: Call, channel: Channel): void {
	const isLocked = isThread(channel) && channel.locked;
	if (isLocked && !has(permissionsIn(call, channel), "ManageThreads")) throw apiError("ThreadLocked");
}

const pinLimit = 250;
const pinsPath = "/channels/:channel_id/messages/pins";
const pinPermissions = Permission.PinMessages | Permission.ReadMessageHistory;
const pinnable: readonly MessageType[] = [...forwardable, MessageType.ThreadStarterMessage];

export const messageRoutes = [
	route("GET /channels/:channel_id/messages", {
		query: { limit: integer(1, 100), around: snowflake, before: snowflake, after: snowflake },
		run: (call) => {
			const channel = textChannelOf(call);
			// Without READ_MESSAGE_HISTORY the list is empty.
			if (!has(permissionsIn(call, channel), "ReadMessageHistory")) return [];
			return call.world.messages
				.page(channel.id, { limit: 50, ...call.query })
				.map((message) => serializeMessage(call, message));
		},
	}),
	route("GET /channels/:channel_id/messages/:message_id", {
		needs: "ReadMessageHistory",
		run: (call) => serializeMessage(call, call.message),
	}),
	route("POST /channels/:channel_id/messages", {
		needs: "SendMessages",
		inArchived: true,
		body: newMessage,
		run: (call) => {
			const channel = textChannelOf(call);
			checkLocked(call, channel);
			checkDmAllowed(call, channel);
			const { body } = call;
			// A forward has the content of another message.
			if (body.message_reference?.type !== 1) requireContent(call, body);
			requireEmbedsAndFiles(call, channel, body);
			if (body.tts) requirePermissions(call, channel, "SendTTSMessages");
			if (body.poll) requirePermissions(call, channel, "SendPolls");

			const already = findByNonce(call, channel);
			if (already) {
				call.skipJournal();
				return serializeMessage(call, already);
			}
			checkSlowMode(call, channel);
			const executeActions = moderate(call, channel, body.content ?? "");
			const message = write(call, channel);
			executeActions(message);
			return serializeMessage(call, message);
		},
	}),
	route("POST /channels/:channel_id/messages/:message_id/crosspost", {
		needs: "SendMessages",
		run: (call) => {
			const { channel, message, world, actor } = call;
			if (channel.type !== ChannelType.GuildAnnouncement) throw apiError("CannotExecuteActionOnThisChannelType");
			if (message.author !== actor.user) requirePermissions(call, channel, "ManageMessages");
			if ((message.flags & MessageFlags.Crossposted) !== 0) throw apiError("ThisMessageWasAlreadyCrossposted");
			message.flags |= MessageFlags.Crossposted;
			world.messages.dispatch("MESSAGE_UPDATE", channel, message);
			return serializeMessage(call, message);
		},
	}),
	route("PATCH /channels/:channel_id/messages/:message_id", {
		body: contentFields,
		run: (call) => {
			const { body, world, actor, channel, message } = call;
			checkLocked(call, channel);
			const own = message.author === actor.user;
			if (own && message.poll) throw apiError("CannotEditAPollMessage");
			const { flags: _, ...others } = body;
			// With MANAGE_MESSAGES others' embeds can be hidden, nothing more.
			if (!own && Object.keys(others).length > 0) throw apiError("CannotEditMessageAuthoredByAnotherUser");
			if (!own) requirePermissions(call, channel, "ManageMessages");
			const executeActions = moderate(call, channel, body.content ?? "");
			world.messages.edit(channel, message, editedContent(call, channel, message, body));
			executeActions(message);
			return serializeMessage(call, message);
		},
	}),
	route("DELETE /channels/:channel_id/messages/:message_id", {
		inArchived: true,
		run: (call) => {
			const { channel, message } = call;
			const isAlert = message.type === MessageType.AutoModerationAction;
			if (isAlert || message.author !== call.actor.user) requirePermissions(call, channel, "ManageMessages");
			checkDeletable([message]);
			call.world.messages.remove(channel, message, call.by);
		},
	}),
	route("POST /channels/:channel_id/messages/bulk-delete", {
		needs: "ManageMessages",
		inArchived: true,
		botsOnly: true,
		body: { messages: required(list(snowflake, 2, 100)) },
		run: (call) => {
			const channel = guildPlaceOf(call);
			const ids = call.body.messages;
			if (new Set(ids).size < ids.length)
				throw formError("LIST_ITEM_VALUE_DUPLICATE", "Must contain unique items only.", "messages");
			const oldest = Date.now() - bulkDeleteAgeMs;
			if (ids.some((id) => timeOf(id) < oldest)) throw apiError("OneOfTheMessagesProvidedWasTooOldForBulkDelete");
			// Unknown ids are skipped.
			const messages = ids.flatMap((id) => call.world.messages.get(channel.id, id) ?? []);
			checkDeletable(messages);
			if (messages.length > 0) call.world.messages.removeMany(channel, messages, call.by);
		},
	}),
	route(`GET ${pinsPath}`, {
		query: { limit: integer(1, 50), before: timestamp },
		run: (call) => {
			const { limit = 50, before } = call.query;
			const { channel, world } = call;
			const all = has(permissionsIn(call, channel), "ReadMessageHistory") ? world.messages.pinned(channel.id) : [];
			const rest = all.filter(({ pinned_at }) => !before || (pinned_at ?? "") < before);
			return {
				items: rest
					.slice(0, limit)
					.map((message) => ({ pinned_at: message.pinned_at, message: serializeMessage(call, message) })),
				has_more: rest.length > limit,
			};
		},
	}),
	route(`PUT ${pinsPath}/:message_id`, {
		needs: pinPermissions,
		run: (call) => {
			const { channel, message, world, actor, by } = call;
			if (!pinnable.includes(message.type)) throw apiError("CannotExecuteActionOnSystemMessage");
			if (message.pinned_at !== null) return call.skipJournal();
			const isFull = world.messages.pinned(channel.id).length >= pinLimit;
			if (isFull) throw apiError("MaximumNumberOfPinsReachedForTheChannel");
			world.messages.pin(channel, message, actor.user, by);
		},
	}),
	route(`DELETE ${pinsPath}/:message_id`, {
		needs: pinPermissions,
		run: (call) => {
			const { channel, message, world, by } = call;
			if (message.pinned_at === null) call.skipJournal();
			else world.messages.unpin(channel, message, by);
		},
	}),
];
