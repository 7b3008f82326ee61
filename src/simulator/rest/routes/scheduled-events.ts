// Scheduled events and their users. The required permissions depend on where an event takes place.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import {
	ChannelType,
	GuildScheduledEventEntityType as Kind,
	PermissionFlagsBits as Permission,
	GuildScheduledEventStatus as Status,
} from "discord.js";
import type { ScheduledEventChanges } from "../../world/guilds/scheduled-events.ts";
import type { Guild, ScheduledEvent } from "../../world/state/entities.ts";
import { guildPermissions, has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn } from "../access.ts";
import { apiError, formError, found, missingField } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { type Call, type ReadForm, route } from "../route.ts";

const eventLimit = 100;
const all = "/guilds/:guild_id/scheduled-events";
const one = `${all}/:event_id` as const;

const optionalFields = {
	channel_id: f.nullable(f.snowflake),
	entity_metadata: f.nullable(
		f.refine(f.object({ location: f.text(1, 100) }), ({ location }) => (location ? { location } : null)),
	),
	scheduled_end_time: f.nullable(f.timestamp),
	description: f.nullable(f.text(1, 1000)),
	image: f.notSimulatedField("pictures of scheduled events"),
	recurrence_rule: f.notSimulatedField("scheduled events that recur"),
};
const neededFields = {
	name: f.text(1, 100),
	privacy_level: f.choice(2),
	scheduled_start_time: f.timestamp,
	entity_type: f.choice(Kind.StageInstance, Kind.Voice, Kind.External),
};
const newFields = {
	...optionalFields,
	name: f.required(neededFields.name),
	privacy_level: f.required(neededFields.privacy_level),
	scheduled_start_time: f.required(neededFields.scheduled_start_time),
	entity_type: f.required(neededFields.entity_type),
};
const editFields = {
	...optionalFields,
	...neededFields,
	status: f.choice(Status.Scheduled, Status.Active, Status.Completed, Status.Canceled),
};

const nextStatus: Partial<Record<Status, readonly Status[]>> = {
	[Status.Scheduled]: [Status.Active, Status.Canceled],
	[Status.Active]: [Status.Completed],
};

type Place = Pick<ScheduledEvent, "entity_type" | "channel_id">;

function eventOf(call: Call<typeof one>): ScheduledEvent {
	const event = found(
		call.world.scheduledEvents.in(call.guild).find(({ id }) => id === call.params.event_id),
		"UnknownGuildScheduledEvent",
	);
	if (!maySee(call, event)) throw apiError("MissingAccess");
	return event;
}

function maySee(call: Call<":guild_id">, event: Place): boolean {
	return has(permissionsAt(call, event), "ViewChannel");
}

function permissionsAt(call: Call<":guild_id">, { channel_id }: Place): bigint {
	const { guild, actor } = call;
	const channel = guild.channels.get(channel_id ?? "");
	if (channel) return permissionsIn(call, channel);
	// An event outside of channels is visible to all.
	return guildPermissions(guild, actor.user.id) | Permission.ViewChannel;
}

const neededAt = {
	[Kind.StageInstance]: Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers,
	[Kind.Voice]: Permission.ViewChannel | Permission.Connect,
	[Kind.External]: 0n,
};

const { CreateEvents, ManageEvents } = Permission;

function requirePermissionsAt(call: Call<":guild_id">, place: Place, anyOf: bigint): void {
	const granted = permissionsAt(call, place);
	if (!(granted & anyOf) || !has(granted, neededAt[place.entity_type])) throw apiError("MissingPermissions");
}

function editingBits({ actor }: Call, { creator_id }: ScheduledEvent): bigint {
	return ManageEvents | (creator_id === actor.user.id ? CreateEvents : 0n);
}

function checkPlace(guild: Guild, event: Place & Pick<ScheduledEvent, "entity_metadata" | "scheduled_end_time">): void {
	if (event.entity_type === Kind.External) {
		if (event.channel_id !== null)
			throw formError("GUILD_SCHEDULED_EVENT_CHANNEL_NOT_ALLOWED", "An external event has no channel.", "channel_id");
		if (!event.entity_metadata?.location) throw missingField("entity_metadata");
		if (!event.scheduled_end_time) throw missingField("scheduled_end_time");
		return;
	}
	if (event.channel_id === null) throw missingField("channel_id");
	const { type } = found(guild.channels.get(event.channel_id), "UnknownChannel");
	const isStage = event.entity_type === Kind.StageInstance;
	if (type !== ChannelType[isStage ? "GuildStageVoice" : "GuildVoice"])
		throw apiError("CannotExecuteActionOnThisChannelType");
}

function checkTimes(
	changes: ScheduledEventChanges,
	event: Pick<ScheduledEvent, "scheduled_start_time" | "scheduled_end_time">,
): void {
	for (const field of ["scheduled_start_time", "scheduled_end_time"] as const)
		if (changes[field] && Date.parse(changes[field]) < Date.now())
			throw formError("GUILD_SCHEDULED_EVENT_SCHEDULE_PAST", "Cannot schedule event in the past.", field);
	const { scheduled_start_time: start, scheduled_end_time: end } = event;
	if (end !== null && Date.parse(end) <= Date.parse(start))
		throw formError(
			"GUILD_SCHEDULED_EVENT_END_BEFORE_START",
			"The event must end after it starts.",
			"scheduled_end_time",
		);
}

/** An event that is no longer external loses its location. */
function changesOf<B extends Pick<ReadForm<typeof editFields>, "entity_type" | "entity_metadata">>(body: B) {
	const isHeard = body.entity_type !== undefined && body.entity_type !== Kind.External;
	return isHeard ? { ...body, entity_metadata: null } : body;
}

export const scheduledEventRoutes = [
	route(`GET ${all}`, {
		query: { with_user_count: f.boolean },
		run: (call) => {
			const { scheduledEvents } = call.world;
			return scheduledEvents
				.in(call.guild)
				.filter((event) => maySee(call, event))
				.map((event) => scheduledEvents.serialize(event, call.query.with_user_count));
		},
	}),
	route(`POST ${all}`, {
		body: newFields,
		run: (call) => {
			const { guild } = call;
			const { scheduledEvents } = call.world;
			const changes = changesOf(call.body);
			const { channel_id = null, entity_metadata = null, scheduled_end_time = null } = changes;
			const event = { ...changes, channel_id, entity_metadata, scheduled_end_time };
			checkPlace(guild, event);
			// MANAGE_EVENTS alone is not sufficient since 2026-02-23:
			// https://discord.com/developers/docs/resources/guild-scheduled-event (Permissions)
			requirePermissionsAt(call, event, CreateEvents);
			checkTimes(changes, event);
			const unfinished = scheduledEvents.in(guild).filter(({ status }) => nextStatus[status]);
			if (unfinished.length >= eventLimit) throw apiError("MaximumNumberOfUncompletedGuildScheduledEventsReached");
			return scheduledEvents.serialize(scheduledEvents.add(guild, call.actor.user.id, event, call.by));
		},
	}),
	route(`GET ${one}`, {
		query: { with_user_count: f.boolean },
		run: (call) => call.world.scheduledEvents.serialize(eventOf(call), call.query.with_user_count),
	}),
	route(`PATCH ${one}`, {
		body: editFields,
		run: (call) => {
			const { scheduledEvents } = call.world;
			const event = eventOf(call);
			const editing = editingBits(call, event);
			requirePermissionsAt(call, event, editing);
			const next = nextStatus[event.status];
			if (!next) throw apiError("CannotUpdateAFinishedEvent");
			const changes = changesOf(call.body);
			const { status } = changes;
			if (status && status !== event.status && !next.includes(status))
				throw formError(
					"GUILD_SCHEDULED_EVENT_INVALID_STATUS_TRANSITION",
					`An event with status ${event.status} cannot change to status ${status}.`,
					"status",
				);
			const changed = { ...event, ...changes };
			checkPlace(call.guild, changed);
			requirePermissionsAt(call, changed, editing);
			checkTimes(changes, changed);
			scheduledEvents.edit(event, changes, call.by);
			return scheduledEvents.serialize(event);
		},
	}),
	route(`DELETE ${one}`, (call) => {
		const event = eventOf(call);
		requirePermissionsAt(call, event, editingBits(call, event));
		call.world.scheduledEvents.remove(event, call.by);
	}),
	route(`GET ${one}/users`, {
		query: { limit: f.integer(1, 100), before: f.snowflake, after: f.snowflake, with_member: f.boolean },
		run: (call) => {
			const event = eventOf(call);
			return f
				.pageById(event.userIds, (id) => id, call.query, 100)
				.map((id) => {
					const member = call.guild.members.get(id);
					return {
						guild_scheduled_event_id: event.id,
						user_id: id,
						// Interested, by the OpenAPI document.
						response: 1,
						user: call.world.users.get(id),
						member: call.query.with_member && member ? serialize.member(member) : undefined,
					};
				});
		},
	}),
];
