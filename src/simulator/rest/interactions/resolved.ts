// The values that are chosen in select menus, and the objects to which values of options and menus refer.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-resolved-data-structure

import { ComponentType } from "discord.js";
import type { SelectMenu, SelectType } from "../../world/messages/components.ts";
import { type Channel, isThread } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { formError } from "../errors.ts";
import type { Call } from "../route.ts";

/** By kind, objects by their ids. */
export type Resolved = Partial<Record<"users" | "members" | "roles" | "channels", Record<string, object>>>;

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
	const member = world.guilds.of(place)?.members.get(id);
	if (!member) return true;
	const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
	const permissions = String(world.channels.permissionsOf(place, user));
	resolved.members = { ...resolved.members, [id]: { ...bare, permissions } };
	return true;
}

function resolveRole({ world }: Call, place: Channel, id: string, resolved: Resolved): boolean {
	const role = world.guilds.of(place)?.roles.get(id);
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
	const partial = Object.fromEntries(Object.entries(shown).filter(([key]) => partialChannel.includes(key)));
	const permissions = String(world.channels.permissionsOf(channel, actor.user));
	resolved.channels = { ...resolved.channels, [id]: { ...partial, permissions } };
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
];

export function invalidComponent() {
	return formError("COMPONENT_VALIDATION_FAILED", "Component validation failed", "data");
}

/** Adds the users, roles and channels to `resolved`. Throws Discord's error if the menu does not accept the values. */
export function chosenIn(
	call: Call,
	channel: Channel,
	menu: SelectMenu,
	values: readonly string[],
	resolved: Resolved = {},
) {
	const { type: component_type, min_values = 1, max_values = 1, options = [] } = menu;
	const isCountRight = values.length >= min_values && values.length <= max_values;
	if (!isCountRight || new Set(values).size < values.length) throw invalidComponent();
	if (component_type === ComponentType.StringSelect) {
		const isOption = (value: string) => options.some((option) => option.value === value);
		if (!values.every(isOption)) throw invalidComponent();
		return { component_type, values };
	}
	const kinds = chosenKinds[component_type];
	for (const value of values)
		if (!resolve(call, channel, kinds, value, resolved, menu.channel_types)) throw invalidComponent();
	return { component_type, values, resolved };
}

const chosenKinds: Readonly<Record<Exclude<SelectType, ComponentType.StringSelect>, readonly Kind[]>> = {
	[ComponentType.UserSelect]: ["user"],
	[ComponentType.RoleSelect]: ["role"],
	[ComponentType.ChannelSelect]: ["channel"],
	[ComponentType.MentionableSelect]: ["role", "user"],
};
