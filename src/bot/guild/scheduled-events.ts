// Scheduled events: finding one, its fields as tools take them, what each kind needs, and an event as a line.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import {
	type APIGuildScheduledEvent,
	ChannelType,
	type Guild,
	GuildScheduledEventEntityType as Kind,
	Routes,
	GuildScheduledEventStatus as Status,
} from "discord.js";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName, time } from "../discord/describe.ts";
import { unlessUnknown } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";

export const kinds = {
	stage: Kind.StageInstance,
	voice: Kind.Voice,
	external: Kind.External,
} as const;

export const statuses = {
	scheduled: Status.Scheduled,
	active: Status.Active,
	completed: Status.Completed,
	canceled: Status.Canceled,
} as const;

export type EventKind = keyof typeof kinds;
export type EventStatus = keyof typeof statuses;

/** An event's fields as tools take them; empty for none. Times are ISO 8601, to the millisecond. */
export interface EventFields {
	name: string;
	description: string;
	entity_type: EventKind;
	channel_id: string;
	location: string;
	scheduled_start_time: string;
	scheduled_end_time: string;
	status: EventStatus;
}

/** What is asked for of them. */
export type GivenEventFields = {
	[Field in keyof EventFields]: EventFields[Field] | undefined;
};

/** An event as it is now, asked for, with how many are interested. */
export async function scheduledEvent(
	guild: Guild,
	id: string,
): Promise<APIGuildScheduledEvent> {
	const found = await unlessUnknown(() =>
		guild.client.rest.get(Routes.guildScheduledEvent(guild.id, id), {
			query: new URLSearchParams({ with_user_count: "true" }),
		}),
	);
	if (found) return found as APIGuildScheduledEvent;
	throw new ToolError(
		`There is no scheduled event ${id} in the guild ${guild.id}. list_scheduled_events shows those that there are.`,
	);
}

export function fieldsOf(event: APIGuildScheduledEvent): EventFields {
	return {
		name: event.name,
		description: event.description ?? "",
		entity_type: nameOf(kinds, event.entity_type),
		channel_id: event.channel_id ?? "",
		location: event.entity_metadata?.location ?? "",
		scheduled_start_time: precisely(event.scheduled_start_time),
		scheduled_end_time: precisely(event.scheduled_end_time),
		status: nameOf(statuses, event.status),
	};
}

function precisely(at: string | null): string {
	return at === null ? "" : new Date(at).toISOString();
}

function nameOf<Name extends string>(
	names: Readonly<Record<Name, number>>,
	value: number,
): Name {
	const found = Object.entries(names).find(([, one]) => one === value);
	// Discord may have more of them one day: then the number is shown.
	return (found?.[0] ?? `type ${value}`) as Name;
}

/** Fields as Discord takes them, those that are given. */
export function eventBody(given: Partial<GivenEventFields>) {
	const { name, description, entity_type, status } = given;
	const { channel_id, location, scheduled_start_time, scheduled_end_time } =
		given;
	return {
		name,
		description: description === "" ? null : description,
		entity_type: entity_type && kinds[entity_type],
		status: status && statuses[status],
		// An event that is held elsewhere leaves its channel.
		channel_id: entity_type === "external" ? null : channel_id,
		entity_metadata: location === undefined ? undefined : { location },
		scheduled_start_time,
		scheduled_end_time,
	};
}

/** The event that an edit would make of it: one that is held elsewhere has no channel any more, and the reverse. */
export function changedEvent(
	event: EventFields,
	changes: Partial<EventFields>,
): EventFields {
	const changed = { ...event, ...changes };
	return changed.entity_type === "external"
		? { ...changed, channel_id: "" }
		: { ...changed, location: "" };
}

/**
 * Throws an RpcError for fields that do not go together: an event as it would be, and what is new of it. What was there
 * before is Discord's business.
 */
export function requireFitting(
	guild: Guild,
	event: Omit<EventFields, "description" | "status">,
	changes: Partial<GivenEventFields>,
): void {
	const { scheduled_start_time, scheduled_end_time } = event;
	const faults = placeFaults(guild, event, changes);
	const now = Date.now();
	for (const field of ["scheduled_start_time", "scheduled_end_time"] as const)
		if (changes[field] && Date.parse(changes[field]) <= now)
			faults.push(
				`${field}: ${changes[field]} is in the past; it is ${time(now)} now`,
			);
	if (
		scheduled_end_time &&
		Date.parse(scheduled_end_time) <= Date.parse(scheduled_start_time)
	)
		faults.push(
			`scheduled_end_time: expected a time after scheduled_start_time (${scheduled_start_time})`,
		);
	if (faults.length > 0) throw invalidParameters(faults);
}

function placeFaults(
	guild: Guild,
	{
		entity_type: kind,
		channel_id,
		location,
		scheduled_end_time,
	}: Parameters<typeof requireFitting>[1],
	changes: Partial<GivenEventFields>,
): string[] {
	const foreign = (field: string, why: string) =>
		`${field}: ${why}; entity_type says what it becomes`;
	const isNew = changes.entity_type !== undefined;
	if (kind === "external") {
		const missing = (field: string) => `${field}: an external event needs one`;
		return [
			...(changes.channel_id
				? [foreign("channel_id", "an external event has none")]
				: []),
			...(isNew && !location ? [missing("location")] : []),
			...(isNew && !scheduled_end_time ? [missing("scheduled_end_time")] : []),
		];
	}
	return [
		...(changes.location
			? [foreign("location", "only external events have one")]
			: []),
		...(isNew || changes.channel_id
			? channelFaults(guild, kind, channel_id)
			: []),
	];
}

function channelFaults(
	guild: Guild,
	kind: "stage" | "voice",
	channelId: string,
): string[] {
	if (!channelId) return [`channel_id: a ${kind} event needs one`];
	const channel = guild.channels.cache.get(channelId);
	const wanted =
		kind === "stage" ? ChannelType.GuildStageVoice : ChannelType.GuildVoice;
	if (!channel || channel.type === wanted) return [];
	return [
		`channel_id: a ${kind} event needs a ${kind} channel, and ${channelName(channel)} is none`,
	];
}

const nextStatuses: Readonly<Record<EventStatus, readonly EventStatus[]>> = {
	scheduled: ["active", "canceled"],
	active: ["completed"],
	completed: [],
	canceled: [],
};

/** Throws the ToolError to show for an event that is over, and for a status that does not come after its own. */
export function requireNextStatus(
	event: APIGuildScheduledEvent,
	status: EventStatus | undefined,
): void {
	const now = nameOf(statuses, event.status);
	const next = nextStatuses[now] ?? [];
	if (next.length === 0)
		throw new ToolError(
			`${eventName(event)} is ${now}, and cannot be changed any more. Nothing was done; create_scheduled_event makes a new one.`,
		);
	if (status && status !== now && !next.includes(status))
		throw new ToolError(
			`${eventName(event)} is ${now}: it can only become ${next.join(" or ")}. Nothing was done.`,
		);
}

export function eventName({
	name,
	id,
}: Pick<APIGuildScheduledEvent, "name" | "id">): string {
	return `"${oneField(name)}" (ID: ${id})`;
}

export function eventLine(guild: Guild, event: APIGuildScheduledEvent): string {
	const fields = fieldsOf(event);
	const { creator, creator_id, user_count, recurrence_rule } = event;
	const by = creator ? `@${oneField(creator.username)} ` : "";
	return [
		oneField(event.name),
		`ID: ${event.id}`,
		fields.status,
		`${fields.entity_type}, ${placeOf(guild, fields)}`,
		`starts: ${time(new Date(fields.scheduled_start_time))}`,
		`ends: ${fields.scheduled_end_time ? time(new Date(fields.scheduled_end_time)) : "not said"}`,
		...(user_count === undefined ? [] : [`interested: ${user_count}`]),
		...(creator_id ? [`by: ${by}(ID: ${creator_id})`] : []),
		...(recurrence_rule ? ["repeats"] : []),
		...(fields.description
			? [`description: ${oneField(fields.description)}`]
			: []),
	].join(" | ");
}

function placeOf(guild: Guild, { channel_id, location }: EventFields): string {
	if (!channel_id) return `at ${oneField(location)}`;
	const channel = guild.channels.cache.get(channel_id);
	const name = channel ? `#${oneField(channel.name)} ` : "";
	return `in ${name}(ID: ${channel_id})`;
}
