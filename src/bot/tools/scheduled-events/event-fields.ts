// Scheduled events: fetching one, its fields after an edit, and an event as a result line.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import { type APIGuildScheduledEvent, type Guild, Routes } from "discord.js";
import { channelLabel, time } from "../../../discord/describe.ts";
import { absentIf } from "../../../discord/find.ts";
import { fieldLine, oneField } from "../../../discord/text.ts";
import { isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import { type EventFields, eventFieldsOf } from "../../../guild-document/names/scheduled-event.ts";
import { ToolError } from "../../../lib/tool-error.ts";

/** From Discord, with its number of interested users, if the person of the call sees its channel. */
export async function scheduledEvent(guild: Guild, id: string): Promise<APIGuildScheduledEvent> {
	const found = await absentIf([404], () =>
		guild.client.rest.get(Routes.guildScheduledEvent(guild.id, id), {
			query: new URLSearchParams({ with_user_count: "true" }),
		}),
	);
	const event = found as APIGuildScheduledEvent | undefined;
	if (event && !isHidden(guild, event.channel_id ?? "")) return event;
	throw new ToolError(`There is no scheduled event ${id} in the guild ${guild.id}. list_scheduled_events lists them.`);
}

/** Without the channel of an external event, and the location of any other. */
export function changedEvent(event: EventFields, changes: Partial<EventFields>): EventFields {
	const changed = { ...event, ...changes };
	return changed.entity_type === "external" ? { ...changed, channel_id: "" } : { ...changed, location: "" };
}

export function eventName(event: Pick<APIGuildScheduledEvent, "name" | "id">) {
	return `"${oneField(event.name)}" (ID: ${event.id})`;
}

export function eventLine(guild: Guild, event: APIGuildScheduledEvent): string {
	const fields = eventFieldsOf(event);
	const { creator, creator_id, user_count, recurrence_rule } = event;
	const by = creator ? `@${oneField(creator.username)} ` : "";
	return fieldLine(
		oneField(event.name),
		`ID: ${event.id}`,
		fields.status,
		`${fields.entity_type}, ${placeOf(guild, fields)}`,
		`starts: ${time(new Date(fields.scheduled_start_time))}`,
		`ends: ${fields.scheduled_end_time ? time(new Date(fields.scheduled_end_time)) : "not set"}`,
		user_count !== undefined && `interested: ${user_count}`,
		creator_id && `by: ${by}(ID: ${creator_id})`,
		recurrence_rule && "repeats",
		fields.description && `description: ${oneField(fields.description)}`,
	);
}

function placeOf(guild: Guild, { channel_id, location }: EventFields): string {
	if (!channel_id) return `at ${oneField(location)}`;
	const channel = visibleChannel(guild, channel_id);
	const name = channel ? `${channelLabel(channel)} ` : "";
	return `in ${name}(ID: ${channel_id})`;
}
