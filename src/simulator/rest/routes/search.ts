// Searching the messages of a guild.
// https://discord.com/developers/docs/resources/message#search-guild-messages
//
// A gap: Search has no `slop`, no word forms, and no filters for embeds, link hosts and file names. The index is always
// available unless a fault says otherwise.

import { PermissionFlagsBits as Permission } from "discord.js";
import { authorTypes, hasTypes, searchMessages } from "../../world/messages/search.ts";
import { type GuildPlace, isThread } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { boolean, choice, integer, notSimulatedField, queryList, snowflake, text } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

function negatable(words: readonly string[]) {
	return choice(...words, ...words.map((one) => `-${one}`));
}

const ids = queryList(snowflake, 100);

export const searchRoutes = [
	route("GET /guilds/:guild_id/messages/search", {
		query: {
			limit: integer(1, 25),
			offset: integer(0, 9975),
			max_id: snowflake,
			min_id: snowflake,
			content: text(0, 1024),
			channel_id: queryList(snowflake, 500),
			author_type: queryList(negatable(authorTypes), 6),
			author_id: ids,
			mentions: ids,
			mentions_role_id: ids,
			mention_everyone: boolean,
			replied_to_message_id: ids,
			pinned: boolean,
			has: queryList(negatable(hasTypes), 18),
			sort_by: choice("timestamp", "relevance"),
			sort_order: choice("asc", "desc"),
			include_nsfw: boolean,
			slop: notSimulatedField("slop of a search"),
			replied_to_user_id: notSimulatedField("searching for replies to a user"),
			embed_type: notSimulatedField("searching by embeds"),
			embed_provider: notSimulatedField("searching by embeds"),
			link_hostname: notSimulatedField("searching by links"),
			attachment_filename: notSimulatedField("searching by files"),
			attachment_extension: notSimulatedField("searching by files"),
		},
		run: (call) => {
			const { query, world, actor } = call;
			const reader = serialize.readerOf(actor);
			if (!reader.seesContent) throw apiError("MissingAccess");
			const searched = readableIn(call, query.channel_id).filter(
				(place) => query.include_nsfw || !world.channels.isNsfw(place),
			);
			const all = searched.flatMap(({ id }) => world.messages.in(id));
			const { offset = 0, limit = 25 } = query;
			const found = searchMessages(all, { sort_by: "timestamp", sort_order: "desc", ...query });
			const page = found.slice(offset, offset + limit);
			const threads = searched.filter(isThread).filter(({ id }) => page.some(({ channel_id }) => channel_id === id));
			return {
				doing_deep_historical_index: false,
				total_results: found.length,
				messages: page.map((message) => {
					const { reactions, ...rest } = world.messages.serialize(message, reader);
					return [{ ...rest, hit: true }];
				}),
				threads: threads.map((one) => serialize.thread(one, actor.user.id)),
				members: threads.flatMap((one) => serialize.threadMember(one, actor.user.id) ?? []),
			};
		},
	}),
];

function readableIn(call: Call<":guild_id">, named: readonly string[] | undefined): GuildPlace[] {
	const { channels, threads } = call.guild;
	const needed = Permission.ViewChannel | Permission.ReadMessageHistory;
	const readable = [...channels.values(), ...threads.values()].filter((one) => has(permissionsIn(call, one), needed));
	if (named === undefined) return readable;
	return named.map((id) =>
		found(
			readable.find((one) => one.id === id),
			"MissingAccess",
		),
	);
}
