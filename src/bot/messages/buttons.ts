// Rows of a message: buttons, or a select menu.

import {
	type APIActionRowComponent,
	type APIButtonComponentWithCustomId,
	type APIChannelSelectComponent,
	type APIComponentInMessageActionRow,
	type APIRoleSelectComponent,
	ChannelType,
	ComponentType,
	type Guild,
} from "discord.js";

type Button = Pick<APIButtonComponentWithCustomId, "label" | "style" | "disabled"> & { id: string };

export function buttonRow(buttons: readonly Button[]): APIActionRowComponent<APIButtonComponentWithCustomId> {
	const components = buttons.map(({ id, ...look }) => ({
		type: ComponentType.Button as const,
		custom_id: id,
		...look,
	}));
	return { type: ComponentType.ActionRow, components };
}

export type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

export function rowOf(component: APIComponentInMessageActionRow): Row {
	return { type: ComponentType.ActionRow, components: [component] };
}

type Select = APIRoleSelectComponent | APIChannelSelectComponent;
type Picker = Pick<Select, "custom_id" | "placeholder" | "min_values" | "max_values">;

/** Types of the channels that can be picked. */
export const pickedTypes = [ChannelType.GuildText, ChannelType.GuildAnnouncement] as const;

/** `now`: ids of what is picked. https://docs.discord.com/developers/components/reference#channel-select */
export function pickerRow(guild: Guild, kind: "role" | "channel", picker: Picker, now: readonly string[]): Row {
	const ids = now.filter((id) => guild[`${kind}s`].cache.has(id));
	const default_values = ids.map((id) => ({ id, type: kind }));
	if (kind === "role") return rowOf({ ...picker, type: ComponentType.RoleSelect, default_values } as Select);
	const channel_types = [...pickedTypes];
	return rowOf({ ...picker, type: ComponentType.ChannelSelect, default_values, channel_types } as Select);
}
