// Reactions: adding, removing and listing them.
// https://discord.com/developers/docs/resources/message#create-reaction

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { reactionWith } from "../../world/messages/reactions.ts";
import type { Emoji, Reaction } from "../../world/state/entities.ts";
import { inGuild } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { compareIds, isSnowflake } from "../../world/state/snowflake.ts";
import { parseUnicodeEmoji } from "../../world/state/unicode-emoji.ts";
import { apiError } from "../errors.ts";
import { integer, snowflake } from "../fields.ts";
import { permissionsIn, requirePermissions } from "../message-body.ts";
import { type Call, channelOf, messageOf, param, route } from "../route.ts";

const emojiLimit = 20;
const all = "/channels/:channel_id/messages/:message_id/reactions";
const one = `${all}/:emoji` as const;

/** The path's emoji: the character, or name:id. */
function emojiOf(call: Call): Emoji {
	const text = decode(param(call, "emoji"));
	const [, name, id] = /^(?:a:)?(\w{1,32}):(\d+)$/.exec(text) ?? [];
	if (name !== undefined && id !== undefined && isSnowflake(id))
		return { id, name };
	const known = parseUnicodeEmoji(text);
	if (!known) throw apiError(Code.UnknownEmoji);
	return known;
}

/** The emoji under its current name. Custom emoji of other guilds need USE_EXTERNAL_EMOJIS. */
function usable(call: Call, emoji: Emoji): Emoji {
	if (emoji.id === null) return emoji;
	const channel = channelOf(call);
	const found = call.world.emojis.usableBy(call.actor.user, emoji.id);
	if (!found) throw apiError(Code.UnknownEmoji);
	const own =
		inGuild(channel) && call.world.guilds.of(channel).emojis.has(found.id);
	if (!own) requirePermissions(call, channel, Permission.UseExternalEmojis);
	return {
		id: found.id,
		name: found.name,
		...(found.animated ? { animated: true } : {}),
	};
}

function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		throw apiError(Code.UnknownEmoji);
	}
}

/** The path's reaction. Throws if the message has none. */
function reactionOf(call: Call): Reaction {
	const found = reactionWith(messageOf(call), emojiOf(call));
	if (!found) throw apiError(Code.UnknownEmoji);
	return found;
}

function remove(call: Call, userId: string): void {
	const { emoji, userIds } = reactionOf(call);
	const user = call.world.users.get(userId);
	if (!user) throw apiError(Code.UnknownUser);
	if (userIds.includes(user.id))
		call.world.reactions.remove(channelOf(call), messageOf(call), user, emoji);
	else call.skipJournal();
}

/** Throws unless the actor may remove others' reactions: in guilds, with MANAGE_MESSAGES. */
function requireManager(call: Call): void {
	const channel = channelOf(call);
	if (!inGuild(channel)) throw apiError(Code.CannotExecuteActionOnDMChannel);
	requirePermissions(call, channel, Permission.ManageMessages);
}

export const reactionRoutes = [
	route({
		method: "PUT",
		path: `${one}/@me`,
		needs: Permission.ReadMessageHistory,
		run: (call) => {
			const channel = channelOf(call);
			const message = messageOf(call);
			const { world, actor } = call;
			const emoji = emojiOf(call);
			const known = reactionWith(message, emoji);
			if (known?.userIds.includes(actor.user.id)) return call.skipJournal();
			// Only the first reaction with an emoji needs ADD_REACTIONS.
			if (!known && !has(permissionsIn(call, channel), Permission.AddReactions))
				throw apiError(Code.MissingPermissions);
			const put = known?.emoji ?? usable(call, emoji);
			if (!known && message.reactions.length >= emojiLimit)
				throw apiError(Code.MaximumNumberOfReactionsReached);
			world.reactions.add(channel, message, actor.user, put);
		},
	}),
	route({
		method: "DELETE",
		path: `${one}/@me`,
		run: (call) => remove(call, call.actor.user.id),
	}),
	route({
		method: "DELETE",
		path: `${one}/:user_id`,
		run: (call) => {
			requireManager(call);
			remove(call, param(call, "user_id"));
		},
	}),
	route({
		method: "GET",
		path: one,
		needs: Permission.ReadMessageHistory,
		query: {
			limit: integer(1, 100),
			after: snowflake,
		},
		run: (call) => {
			const { limit = 25, after = "0" } = call.query;
			return reactionOf(call)
				.userIds.toSorted(compareIds)
				.filter((id) => compareIds(id, after) > 0)
				.slice(0, limit)
				.flatMap((id) => call.world.users.get(id) ?? []);
		},
	}),
	route({
		method: "DELETE",
		path: all,
		run: (call) => {
			requireManager(call);
			call.world.reactions.clear(channelOf(call), messageOf(call));
		},
	}),
	route({
		method: "DELETE",
		path: one,
		run: (call) => {
			requireManager(call);
			const { emoji } = reactionOf(call);
			call.world.reactions.clear(channelOf(call), messageOf(call), emoji);
		},
	}),
];
