// Buttons of messages.

import { type ButtonStyle, ComponentType } from "discord.js";

/** A stored button. It has either a custom_id or a url. */
export interface Button {
	readonly type: ComponentType.Button;
	/** The component's id, unique in the message. */
	readonly id: number;
	readonly style: ButtonStyle;
	readonly label?: string;
	readonly emoji?: Readonly<Record<string, unknown>>;
	readonly custom_id?: string;
	readonly url?: string;
	readonly disabled?: boolean;
}

/** All buttons in these components, at any depth, in order. */
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
