// Choosing values in a select menu.
// https://discord.com/developers/docs/components/reference#string-select

import { ComponentType } from "discord.js";
import type { SelectMenu, SelectType } from "../../world/messages/buttons.ts";
import type { Channel } from "../../world/state/entities.ts";
import { formError } from "../errors.ts";
import type { Call } from "../route.ts";
import { type Kind, type Resolved, resolve } from "./resolved.ts";

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
