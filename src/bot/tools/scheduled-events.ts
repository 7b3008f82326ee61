// Scheduled events, and the users interested in them.

import {
	type APIGuildScheduledEvent,
	type Guild,
	GuildScheduledEventPrivacyLevel,
	makeURLSearchParams,
	type RESTGetAPIGuildScheduledEventUsersResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelLabel, nowIs, time } from "../../discord/describe.ts";
import { absentIf, voiceChannel } from "../../discord/find.ts";
import {
	actingMembers,
	bitsIn,
	type NeededWith,
	type Permission,
	permissionsOf,
	requireOf,
} from "../../discord/permissions.ts";
import { fieldLine, inlineText, oneField } from "../../discord/text.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import {
	type EventFields,
	type EventKind,
	eventBody,
	eventFieldsOf,
	eventKinds,
} from "../../guild-document/names/scheduled-event.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import {
	changesOf,
	choice,
	found,
	guild_id,
	instant,
	limit,
	reason,
	snowflake,
	text,
} from "../tool/arguments/arguments.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";

const kindNames = Object.keys(eventKinds) as EventKind[];

const stagePermissions = ["ManageChannels", "MuteMembers", "MoveMembers"] as const;

const eventId = found(scheduledEvent, "scheduled event");

const name = text(1, 100, "Name.");
const entity_type = choice(kindNames, "Where.");
const placeFields = {
	channel_id: v.optional(found(voiceChannel, "channel")),
	location: v.optional(text(1, 100, "If external.")),
};
const scheduled_start_time = instant("Start");
const scheduled_end_time = v.optional(v.pipe(instant("End"), listedAs({ type: "string", description: "End." })));

export const listScheduledEvents = readTool({
	name: "list_scheduled_events",
	toolset: "events",
	title: "List scheduled events",
	description: "List a guild's scheduled events, the earliest first: status, location, times, interested users.",
	input: { guild_id },
	async run(_, { guild, discord }) {
		const all = (await discord.rest.get(Routes.guildScheduledEvents(guild.id), {
			query: makeURLSearchParams({ with_user_count: true }),
		})) as APIGuildScheduledEvent[];
		const events = all.filter(({ channel_id }) => !isHidden(guild, channel_id ?? ""));
		if (events.length === 0) return `The guild ${guild.id} has no scheduled events that the bot can see.`;
		const startOf = ({ scheduled_start_time }: APIGuildScheduledEvent) => Date.parse(scheduled_start_time);
		return [
			`${events.length} scheduled event(s), the earliest first, times in UTC, ${nowIs()}:`,
			...events.toSorted((a, b) => startOf(a) - startOf(b)).map((event) => eventLine(guild, event)),
		];
	},
});

export const createScheduledEvent = writeTool({
	name: "create_scheduled_event",
	toolset: "events",
	title: "Schedule an event",
	description:
		"Schedule an event: in a stage or voice channel (channel_id), or external (location and scheduled_end_time).",
	permissions: [
		"CreateEvents",
		...stagePermissions.map(
			(permission): NeededWith<{ entity_type: EventKind }> => ({
				permission,
				with: "entity_type",
				when: ({ entity_type }) => entity_type === "stage",
			}),
		),
	],
	input: {
		guild_id,
		name,
		entity_type,
		...placeFields,
		scheduled_start_time,
		scheduled_end_time,
		description: v.optional(text(1, 1000, "At most 1000 characters.")),
		reason,
	},
	async run({ guild_id: _, reason: __, ...given }, { guild, discord }) {
		const made = (await discord.rest.post(Routes.guildScheduledEvents(guild.id), {
			body: { ...eventBody(given), privacy_level: GuildScheduledEventPrivacyLevel.GuildOnly },
		})) as APIGuildScheduledEvent;
		return [`Scheduled the event ${eventName(made)}, times in UTC, ${nowIs()}:`, eventLine(guild, made)];
	},
});

const othersEvents: NeededWith<{ event_id: string }> = {
	permission: "ManageEvents",
	with: "event_id",
	when: () => false,
};

export const editScheduledEvent = editTool({
	name: "edit_scheduled_event",
	toolset: "events",
	title: "Edit a scheduled event",
	description: "Change, start (active), end (completed) or cancel a scheduled event; what is omitted stays.",
	lock: "event_id",
	permissions: [othersEvents],
	input: {
		guild_id,
		event_id: eventId,
		name: v.optional(name),
		entity_type: v.optional(entity_type),
		...placeFields,
		scheduled_start_time: v.optional(scheduled_start_time),
		scheduled_end_time,
		description: v.optional(text(0, 1000, "Empty: none.")),
		status: v.optional(choice(["active", "completed", "canceled"], "Status.")),
		reason,
	},
	destructive: ({ status }) =>
		status === "completed" || status === "canceled" ? "ends the event for good" : undefined,
	async run(args, { guild, discord, event }) {
		const before = eventFieldsOf(event);
		const changes = changesOf(before, args, eventName(event));
		const changed = { ...before, ...changes };
		const after = changed.entity_type === "external" ? { ...changed, channel_id: "" } : { ...changed, location: "" };
		requireEventPermissions(guild, event, before);
		requireEventPermissions(guild, event, after);
		const edited = (await discord.rest.patch(Routes.guildScheduledEvent(guild.id, event.id), {
			body: { ...eventBody(changes), ...(before.location && !after.location && { entity_metadata: null }) },
		})) as APIGuildScheduledEvent;
		return [
			`Changed ${Object.keys(changes).join(", ")} of ${eventName(edited)}, times in UTC, ${nowIs()}:`,
			eventLine(guild, edited),
		];
	},
});

export const deleteScheduledEvent = destructiveTool({
	name: "delete_scheduled_event",
	toolset: "events",
	title: "Delete a scheduled event",
	description: "Delete a scheduled event permanently, with all repetitions; edit_scheduled_event can cancel it.",
	lock: "event_id",
	permissions: [othersEvents],
	input: { guild_id, event_id: eventId, reason },
	plan(_, { guild, discord, event }) {
		requireEventPermissions(guild, event, eventFieldsOf(event));
		const interested = event.user_count ?? 0;
		return {
			preview: asking(
				[
					`Would delete the scheduled event ${eventName(event)}, in which ${interested} user(s) are interested.`,
					eventLine(guild, event),
				],
				said("preview.delete_event", { name: inlineText(event.name, 200) }),
			),
			write: () => discord.rest.delete(Routes.guildScheduledEvent(guild.id, event.id)),
			result: `Deleted the scheduled event ${eventName(event)}. ${interested} user(s) were interested.`,
		};
	},
});

function requireEventPermissions(
	guild: Guild,
	{ creator_id }: APIGuildScheduledEvent,
	{ entity_type, channel_id }: EventFields,
): void {
	const channel = visibleChannel(guild, channel_id);
	const manages = bitsIn(undefined, ["ManageEvents"]);
	const more: Readonly<Record<EventKind, readonly Permission[]>> = {
		stage: stagePermissions,
		voice: ["ViewChannel", "Connect"],
		external: [],
	};
	for (const member of actingMembers(guild)) {
		const isOwn = creator_id === member.id && (permissionsOf(member, channel) & manages) === 0n;
		const forEvents = isOwn ? "CreateEvents" : "ManageEvents";
		requireOf(member, channel, bitsIn(channel, [forEvents, ...more[entity_type]]));
	}
}

export const getEventUsers = readTool({
	name: "get_event_users",
	toolset: "events",
	title: "List an event's interested users",
	description: "List the users interested in an event, by id.",
	input: {
		guild_id,
		event_id: eventId,
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last user")),
	},
	async run({ limit, after }, { guild, discord, event }) {
		const query = makeURLSearchParams({ limit, with_member: true, after });
		const users = (await discord.rest.get(Routes.guildScheduledEventUsers(guild.id, event.id), {
			query,
		})) as RESTGetAPIGuildScheduledEventUsersResult;
		const last = users.at(-1);
		if (!last)
			return `Nobody${after === undefined ? "" : ` with an id above ${after}`} is interested in ${eventName(event)}.`;
		return [
			`${users.length} user(s) interested in ${eventName(event)}, by id:`,
			...users.map(({ user, member }) => {
				const name = member?.nick ?? user.global_name ?? user.username;
				const left = member ? "" : " | not a member";
				return `${oneField(name)} (@${oneField(user.username)}) | ID: ${user.id}${left}`;
			}),
			...(users.length === limit ? [`next_after=${last.user.id}`] : []),
		];
	},
});

/** From Discord, with its number of interested users, if the person of the call sees its channel. */
async function scheduledEvent(guild: Guild, id: string): Promise<APIGuildScheduledEvent> {
	const found = await absentIf([404], () =>
		guild.client.rest.get(Routes.guildScheduledEvent(guild.id, id), {
			query: new URLSearchParams({ with_user_count: "true" }),
		}),
	);
	const event = found as APIGuildScheduledEvent | undefined;
	if (event && !isHidden(guild, event.channel_id ?? "")) return event;
	throw new ToolError(`There is no scheduled event ${id} in the guild ${guild.id}. list_scheduled_events lists them.`);
}

const eventName = ({ name, id }: APIGuildScheduledEvent) => `"${oneField(name)}" (ID: ${id})`;

function eventLine(guild: Guild, event: APIGuildScheduledEvent): string {
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
