// The values that are chosen in select menus, and the objects to which values of options and menus refer.
// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-resolved-data-structure

import { ComponentType } from "discord.js";
import type { SelectMenu, SelectType } from "../../world/messages/components.ts";
import { type Channel, isThread } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { formError } from "../errors.ts";
import type { Call } from "../route.ts";

/** By kind, such as "users", objects by their ids. */
export type Resolved = Record<string, Record<string, object>>;

export type Kind = "user" | "role" | "channel";

/** Adds the object to `resolved`. False if no kind has it, or it is a channel of a type not in `channelTypes`. */
export function resolve(
	call: Call,
	place: Channel,
	kinds: readonly Kind[],
	id: string,
	resolved: Resolved,
	channelTypes?: readonly number[],
): boolean {
	return kinds.some((kind) => {
		const found = Object.entries(find(call, place, kind, id, channelTypes));
		for (const [name, one] of found) resolved[name] = { ...resolved[name], [id]: one };
		return found.length > 0;
	});
}

function find(
	{ world, actor }: Call,
	place: Channel,
	kind: Kind,
	id: string,
	types?: readonly number[],
): Record<string, object> {
	const guild = world.guilds.of(place);
	if (kind === "user") {
		const user = world.users.get(id);
		const member = guild?.members.get(id);
		if (!user || !member) return user ? { users: user } : {};
		const { deaf: _, mute: __, ...bare } = serialize.bareMember(member);
		return { users: user, members: { ...bare, permissions: String(world.channels.permissionsOf(place, user)) } };
	}
	if (kind === "role") {
		const role = guild?.roles.get(id);
		return role ? { roles: role } : {};
	}
	const channel = guild?.channels.get(id) ?? guild?.threads.get(id);
	if (!channel || (types && !types.includes(channel.type))) return {};
	const shown = isThread(channel) ? serialize.thread(channel, actor.user.id) : serialize.guildChannel(channel);
	const partial = Object.fromEntries(Object.entries(shown).filter(([key]) => partialChannel.includes(key)));
	return { channels: { ...partial, permissions: String(world.channels.permissionsOf(channel, actor.user)) } };
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
