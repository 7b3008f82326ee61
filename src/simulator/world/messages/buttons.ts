// Buttons of messages.

import { type ButtonStyle, ComponentType } from "discord.js";

/** A button of a message. It has either a `custom_id` or a `url`. */
export interface Button {
	readonly type: ComponentType.Button;
	/** The button's component id, unique among the components of a message. */
	readonly id: number;
	readonly style: ButtonStyle;
	readonly label?: string;
	readonly emoji?: Readonly<Record<string, unknown>>;
	readonly custom_id?: string;
	readonly url?: string;
	readonly disabled?: boolean;
}

/** All buttons in a message's components, at any depth of nesting, in the order in which they appear. */
export function buttonsIn(components: readonly unknown[]): Button[] {
	return components.flatMap((one) => {
		if (typeof one !== "object" || one === null) return [];
		const { type, components, accessory } = one as Record<string, unknown>;
		if (type === ComponentType.Button) return [one as Button];
		return buttonsIn([
			...(Array.isArray(components) ? components : []),
			accessory,
		]);
	});
}
