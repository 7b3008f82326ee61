// Choosing values in a select menu.
// https://discord.com/developers/docs/components/reference#string-select

import { ComponentType, ApplicationCommandOptionType as Option } from "discord.js";
import type { SelectMenu, SelectType } from "../../world/messages/buttons.ts";
import { type Channel, inGuild } from "../../world/state/entities.ts";
import { formError } from "../errors.ts";
import type { Call } from "../route.ts";
import { type Resolved, resolve } from "./resolved.ts";

/** Returns Discord's error for a component that does not exist or cannot be used in this way. */
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
	for (const value of values) {
		const type = kindOf(call, channel, component_type, value);
		const option = { name: "value", type, value };
		if (!resolve(call, channel, option, resolved, menu.channel_types)) throw invalidComponent();
	}
	return { component_type, values, resolved };
}

function kindOf(
	{ world }: Call,
	channel: Channel,
	type: Exclude<SelectType, ComponentType.StringSelect>,
	id: string,
): Option.User | Option.Role | Option.Channel {
	switch (type) {
		case ComponentType.UserSelect:
			return Option.User;
		case ComponentType.RoleSelect:
			return Option.Role;
		case ComponentType.ChannelSelect:
			return Option.Channel;
		case ComponentType.MentionableSelect: {
			const guild = inGuild(channel) ? world.guilds.of(channel) : undefined;
			return guild?.roles.has(id) ? Option.Role : Option.User;
		}
	}
}
