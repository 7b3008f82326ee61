// Scheduled events: fetching one, converting and validating fields, and an event as a result line.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import { type APIGuildScheduledEvent, ChannelType, type Guild, Routes } from "discord.js";
import { channelLabel, channelName, time } from "../../../discord/describe.ts";
import { unlessUnknown } from "../../../discord/find.ts";
import { fieldLine, oneField, resultLines } from "../../../discord/text.ts";
import { isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import {
	type EventFields,
	type EventStatus,
	eventFieldsOf,
	type GivenEventFields,
	nameOf,
	statuses,
} from "../../../guild-document/names/scheduled-event.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";

/**
 * Fetches a scheduled event from Discord, with its number of interested users. Throws a ToolError if the event does not
 * exist, or is in a channel that the person in whose name the call acts cannot see.
 */
export async function scheduledEvent(guild: Guild, id: string): Promise<APIGuildScheduledEvent> {
	const found = await unlessUnknown(() =>
		guild.client.rest.get(Routes.guildScheduledEvent(guild.id, id), {
			query: new URLSearchParams({ with_user_count: "true" }),
		}),
	);
	const event = found as APIGuildScheduledEvent | undefined;
	if (event && !isHidden(guild, event.channel_id ?? "")) return event;
	throw new ToolError(`There is no scheduled event ${id} in the guild ${guild.id}. list_scheduled_events lists them.`);
}

/**
 * Returns the fields of a scheduled event after changes. Clears the channel of an external event, and the location of
 * any other event.
 */
export function changedEvent(event: EventFields, changes: Partial<EventFields>): EventFields {
	const changed = { ...event, ...changes };
	return changed.entity_type === "external" ? { ...changed, channel_id: "" } : { ...changed, location: "" };
}

/**
 * Throws an RpcError if changed fields of a scheduled event do not fit its other fields. `event` is the event after the
 * changes.
 */
export function validateEvent(
	guild: Guild,
	event: Omit<EventFields, "description" | "status">,
	changes: Partial<GivenEventFields>,
): void {
	const { scheduled_start_time: start, scheduled_end_time: end } = event;
	const issues = locationIssues(guild, event, changes);
	const now = Date.now();
	for (const field of ["scheduled_start_time", "scheduled_end_time"] as const)
		if (changes[field] && Date.parse(changes[field]) <= now)
			issues.push(`${field}: ${changes[field]} is in the past; the current time is ${time(now)}`);
	if (end && Date.parse(end) <= Date.parse(start))
		issues.push(`scheduled_end_time: expected a time after scheduled_start_time (${start})`);
	if (issues.length > 0) throw invalidParameters(issues);
}

function locationIssues(
	guild: Guild,
	event: Parameters<typeof validateEvent>[1],
	changes: Partial<GivenEventFields>,
): string[] {
	const { entity_type: kind, location, scheduled_end_time } = event;
	const unsupported = (field: string, reason: string) => `${field}: ${reason}; entity_type changes the kind of event`;
	const isNew = changes.entity_type !== undefined;
	if (kind === "external") {
		const missing = (field: string) => `${field}: required for external events`;
		return resultLines(
			changes.channel_id && unsupported("channel_id", "external events have none"),
			isNew && !location && missing("location"),
			isNew && !scheduled_end_time && missing("scheduled_end_time"),
		);
	}
	return resultLines(
		changes.location && unsupported("location", "only external events have one"),
		(isNew || changes.channel_id) && channelIssue(guild, kind, event.channel_id),
	);
}

function channelIssue(guild: Guild, kind: "stage" | "voice", channelId: string): string | undefined {
	if (!channelId) return `channel_id: is required for ${kind} events`;
	const channel = visibleChannel(guild, channelId);
	const expected = kind === "stage" ? ChannelType.GuildStageVoice : ChannelType.GuildVoice;
	if (!channel || channel.type === expected) return undefined;
	return `channel_id: a ${kind} event needs a ${kind} channel, but ${channelName(channel)} is not one`;
}

const nextStatuses: Readonly<Record<EventStatus, readonly EventStatus[]>> = {
	scheduled: ["active", "canceled"],
	active: ["completed"],
	completed: [],
	canceled: [],
};

/** Throws a ToolError if a scheduled event is over, or if its status cannot change to `status`. */
export function requireNextStatus(event: APIGuildScheduledEvent, status: EventStatus | undefined): void {
	const current = nameOf(statuses, event.status);
	const next = nextStatuses[current] ?? [];
	if (next.length === 0)
		throw new ToolError(
			`${eventName(event)} is ${current} and can no longer be changed. Nothing was done; create_scheduled_event creates a new one.`,
		);
	if (status && status !== current && !next.includes(status))
		throw new ToolError(
			`${eventName(event)} is ${current}: its status can only become ${next.join(" or ")}. Nothing was done.`,
		);
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
