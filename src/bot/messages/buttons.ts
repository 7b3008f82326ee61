// A row of buttons of a message.

import { type APIActionRowComponent, type APIButtonComponentWithCustomId, ComponentType } from "discord.js";

type Button = Pick<APIButtonComponentWithCustomId, "label" | "style" | "disabled"> & { id: string };

export function buttonRow(buttons: readonly Button[]): APIActionRowComponent<APIButtonComponentWithCustomId> {
	const components = buttons.map(({ id, ...look }) => ({
		type: ComponentType.Button as const,
		custom_id: id,
		...look,
	}));
	return { type: ComponentType.ActionRow, components };
}
