// Scheduled events: names for Discord's numbers, and conversion between Discord's form and named fields.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import {
	type APIGuildScheduledEvent,
	GuildScheduledEventEntityType as Kind,
	GuildScheduledEventStatus as Status,
} from "discord.js";

export const eventKinds = { stage: Kind.StageInstance, voice: Kind.Voice, external: Kind.External } as const;

export const statuses = {
	scheduled: Status.Scheduled,
	active: Status.Active,
	completed: Status.Completed,
	canceled: Status.Canceled,
} as const;

export type EventKind = keyof typeof eventKinds;

/** Without a value "". Times are ISO 8601 with milliseconds. */
export type EventFields = ReturnType<typeof eventFieldsOf>;

export function eventFieldsOf(event: APIGuildScheduledEvent) {
	return {
		name: event.name,
		description: event.description ?? "",
		entity_type: nameOf(eventKinds, event.entity_type),
		channel_id: event.channel_id ?? "",
		location: event.entity_metadata?.location ?? "",
		scheduled_start_time: isoTime(event.scheduled_start_time),
		scheduled_end_time: isoTime(event.scheduled_end_time),
		status: nameOf(statuses, event.status),
	};
}

function isoTime(at: string | null): string {
	return at === null ? "" : new Date(at).toISOString();
}

export function nameOf<Name extends string>(names: Readonly<Record<Name, number>>, value: number): Name {
	const entry = Object.entries(names).find(([, number]) => number === value);
	// A value that Discord added later is shown as its number.
	return (entry?.[0] ?? `type ${value}`) as Name;
}

/** Undefined stays unchanged. */
export function eventBody(given: { [Field in keyof EventFields]?: EventFields[Field] | undefined }) {
	const { location, ...fields } = given;
	const { description, entity_type, status, channel_id } = fields;
	return {
		...fields,
		description: description === "" ? null : description,
		entity_type: entity_type && eventKinds[entity_type],
		status: status && statuses[status],
		// Discord requires null for external events.
		channel_id: entity_type === "external" ? null : channel_id,
		entity_metadata: location === undefined ? undefined : { location },
	};
}
