// Reactions: adding, removing and listing them.
// https://discord.com/developers/docs/resources/message#create-reaction

import { idsOf, reactionWith } from "../../world/messages/reactions.ts";
import { type Emoji, parseUnicodeEmoji, type Reaction } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { isSnowflake } from "../../world/state/snowflake.ts";
import { permissionsIn, requirePermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { integer, pageById, snowflake } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const emojiLimit = 20;
const all = "/channels/:channel_id/messages/:message_id/reactions";
const one = `${all}/:emoji` as const;

function emojiOf({ params }: Call<typeof one>): Emoji {
	const text = decode(params.emoji);
	const [, name, id] = /^(?:a:)?(\w{1,32}):(\d+)$/.exec(text) ?? [];
	if (name !== undefined && id !== undefined && isSnowflake(id)) return { id, name };
	return found(parseUnicodeEmoji(text), "UnknownEmoji");
}

/** With its current name. USE_EXTERNAL_EMOJIS: https://github.com/discord/discord-api-docs/issues/1350 */
function usable(call: Call<typeof one>, emoji: Emoji): Emoji {
	if (emoji.id === null) return emoji;
	const { world, channel } = call;
	const { id, name, animated } = found(world.emojis.usableBy(call.actor.user, emoji.id), "UnknownEmoji");
	const own = world.guilds.of(channel)?.emojis.has(id);
	if (!own && !has(permissionsIn(call, channel), "UseExternalEmojis")) throw apiError("UnknownEmoji");
	return { id, name, ...(animated && { animated }) };
}

function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		throw apiError("UnknownEmoji");
	}
}

function reactionOf(call: Call<typeof one>): Reaction {
	return found(reactionWith(call.message, emojiOf(call)), "UnknownEmoji");
}

function remove(call: Call<typeof one>, userId: string): void {
	const { emoji, userIds } = reactionOf(call);
	const { world, channel, message } = call;
	const user = found(world.users.get(userId), "UnknownUser");
	if (userIds.includes(user.id)) world.reactions.remove(channel, message, user, emoji);
	else call.skipJournal();
}

export const reactionRoutes = [
	route(`PUT ${one}/@me`, {
		needs: "ReadMessageHistory",
		run: (call) => {
			const { channel, message, world, actor } = call;
			const emoji = emojiOf(call);
			const known = reactionWith(message, emoji);
			if (known?.userIds.includes(actor.user.id)) return call.skipJournal();
			// Only the first reaction with an emoji needs ADD_REACTIONS.
			if (!known) requirePermissions(call, channel, "AddReactions");
			const put = known?.emoji ?? usable(call, emoji);
			if (!known && message.reactions.length >= emojiLimit) throw apiError("MaximumNumberOfReactionsReached");
			world.reactions.add(channel, message, actor.user, put);
		},
	}),
	route(`DELETE ${one}/@me`, (call) => remove(call, call.actor.user.id)),
	route(`DELETE ${one}/:user_id`, { needs: "ManageMessages", run: (call) => remove(call, call.params.user_id) }),
	route(`GET ${one}`, {
		needs: "ReadMessageHistory",
		query: { type: integer(0, 1), limit: integer(1, 100), after: snowflake },
		run: (call) => {
			const ids = idsOf(reactionOf(call), call.query.type === 1);
			return pageById(ids, (id) => id, call.query, 25).flatMap((id) => call.world.users.get(id) ?? []);
		},
	}),
	route(`DELETE ${all}`, {
		needs: "ManageMessages",
		run: (call) => call.world.reactions.clear(call.channel, call.message),
	}),
	route(`DELETE ${one}`, {
		needs: "ManageMessages",
		run: (call) => call.world.reactions.clear(call.channel, call.message, reactionOf(call).emoji),
	}),
];
