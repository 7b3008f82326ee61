// The objects to which the values of options and select menus refer.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-resolved-data-structure

import {
	type APIApplicationCommandInteractionDataBasicOption,
	type APIInteractionDataResolved,
	type InteractionType,
	ApplicationCommandOptionType as Option,
} from "discord.js";
import type { Sent } from "../../world/state/api-types.ts";
import { type Channel, inGuild, isThread } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsOf } from "../access.ts";
import type { Call } from "../route.ts";

export type OptionValue = Sent<APIApplicationCommandInteractionDataBasicOption<InteractionType.ApplicationCommand>>;

/** For each kind of object (users, members, roles …), an object with ids as keys. */
export type Resolved = {
	-readonly [K in keyof Sent<APIInteractionDataResolved>]: Record<
		string,
		Exclude<Sent<APIInteractionDataResolved>[K], undefined>[string]
	>;
};

/** False if the object does not exist, or is a channel of a type that is not in `channelTypes`. */
export function resolve(
	call: Call,
	place: Channel,
	{ type, value }: OptionValue,
	resolved: Resolved,
	channelTypes?: readonly number[],
): boolean {
	switch (type) {
		case Option.User:
			return resolveUser(call, place, value, resolved);
		case Option.Role:
			return resolveRole(call, place, value, resolved);
		case Option.Mentionable:
			return resolveRole(call, place, value, resolved) || resolveUser(call, place, value, resolved);
		case Option.Channel:
			return resolveChannel(call, place, value, resolved, channelTypes);
		default:
			return true;
	}
}

/** Also adds the member, if the user is one. False if the user does not exist. */
export function resolveUser({ world }: Call, place: Channel, id: string, resolved: Resolved): boolean {
	const user = world.users.get(id);
	if (!user) return false;
	resolved.users = { ...resolved.users, [id]: user };
	const guild = inGuild(place) ? world.guilds.of(place) : undefined;
	const member = guild?.members.get(id);
	if (!member) return true;
	const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
	const permissions = String(permissionsOf(world, place, user));
	const shown = { ...bare, permissions };
	resolved.members = { ...resolved.members, [id]: shown };
	return true;
}

function resolveRole({ world }: Call, place: Channel, id: string, resolved: Resolved): boolean {
	const guild = inGuild(place) ? world.guilds.of(place) : undefined;
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
	const guild = inGuild(place) ? world.guilds.of(place) : undefined;
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
