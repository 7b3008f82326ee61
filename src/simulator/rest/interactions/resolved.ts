// The objects to which the values of options and select menus refer.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-resolved-data-structure

import type { APIInteractionDataResolved } from "discord.js";
import type { Sent } from "../../world/state/api-types.ts";
import { type Channel, isThread } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsOf } from "../access.ts";
import type { Call } from "../route.ts";

/** For each kind of object (users, members, roles …), an object with ids as keys. */
export type Resolved = {
	-readonly [K in keyof Sent<APIInteractionDataResolved>]: Record<
		string,
		Exclude<Sent<APIInteractionDataResolved>[K], undefined>[string]
	>;
};

export type Kind = "user" | "role" | "channel";

/** Of the first of these kinds. False if there is no such object, or it is a channel of a type not in `channelTypes`. */
export function resolve(
	call: Call,
	place: Channel,
	kinds: readonly Kind[],
	id: string,
	resolved: Resolved,
	channelTypes?: readonly number[],
): boolean {
	const resolvers = { user: resolveUser, role: resolveRole, channel: resolveChannel };
	return kinds.some((kind) => resolvers[kind](call, place, id, resolved, channelTypes));
}

/** Also adds the member, if the user is one. False if the user does not exist. */
export function resolveUser({ world }: Call, place: Channel, id: string, resolved: Resolved): boolean {
	const user = world.users.get(id);
	if (!user) return false;
	resolved.users = { ...resolved.users, [id]: user };
	const guild = world.guilds.of(place);
	const member = guild?.members.get(id);
	if (!member) return true;
	const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
	const permissions = String(permissionsOf(world, place, user));
	const shown = { ...bare, permissions };
	resolved.members = { ...resolved.members, [id]: shown };
	return true;
}

function resolveRole({ world }: Call, place: Channel, id: string, resolved: Resolved): boolean {
	const guild = world.guilds.of(place);
	const role = guild?.roles.get(id);
	if (!role) return false;
	resolved.roles = { ...resolved.roles, [id]: role };
	return true;
}

function resolveChannel(
	{ world, actor }: Call,
	place: Channel,
	id: string,
	resolved: Resolved,
	types?: readonly number[],
): boolean {
	const guild = world.guilds.of(place);
	const channel = guild?.channels.get(id) ?? guild?.threads.get(id);
	if (!channel || (types && !types.includes(channel.type))) return false;
	const shown = isThread(channel) ? serialize.thread(channel, actor.user.id) : serialize.guildChannel(channel);
	resolved.channels = {
		...resolved.channels,
		[id]: { ...pick(shown, partialChannel), permissions: String(permissionsOf(world, channel, actor.user)) },
	} as NonNullable<Resolved["channels"]>;
	return true;
}

/**
 * The fields of partial channels, beside the permissions. Discord also sends `app_permissions`, which discord.js does not
 * read.
 * https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-resolved-data-structure
 */
const partialChannel = [
	"id",
	"name",
	"type",
	"last_message_id",
	"last_pin_timestamp",
	"nsfw",
	"parent_id",
	"guild_id",
	"flags",
	"rate_limit_per_user",
	"topic",
	"position",
	"thread_metadata",
] as const;

function pick(from: object, keys: readonly string[]): object {
	return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
