// Scheduled events of guilds and their interested users. None starts, ends or recurs by itself.
// https://discord.com/developers/docs/resources/guild-scheduled-event
//
// A gap: Scheduled events have no recurrence and images, and nothing that Discord does by itself: none starts, ends or
// is canceled, not even with its channel, and a finished one stays listed.

import { GuildScheduledEventEntityType as EntityType, GuildScheduledEventStatus as Status } from "discord.js";
import type { SentScheduledEvent } from "../state/api-types.ts";
import { auditOf } from "../state/audit-log.ts";
import type { Guild, Member, ScheduledEvent, User } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

/** The fields of a new scheduled event. Name, start time and entity type are required. */
type NewScheduledEvent = Pick<ScheduledEvent, "name" | "scheduled_start_time" | "entity_type"> & ScheduledEventChanges;

export type ScheduledEventChanges = Changes<
	Omit<ScheduledEvent, "id" | "guild_id" | "creator_id" | "privacy_level" | "userIds">
>;

const audit = auditOf("GuildScheduledEvent");

export class ScheduledEvents {
	readonly #all = new Map<string, ScheduledEvent>();

	constructor(private readonly state: State) {}

	in({ id }: Guild): ScheduledEvent[] {
		return [...this.#all.values()].filter(({ guild_id }) => guild_id === id);
	}

	/** If `counted`, with the number of interested users. Throws if the event has no channel and no location. */
	serialize(event: ScheduledEvent, counted = false): SentScheduledEvent {
		const { userIds, ...rest } = event;
		const creator = this.state.users.get(event.creator_id);
		return {
			...rest,
			...venueOf(event),
			entity_id: null,
			image: null,
			recurrence_rule: null,
			guild_scheduled_event_exceptions: [],
			...(creator && { creator }),
			...(counted && { user_count: userIds.size }),
		};
	}

	add(guild: Guild, creatorId: string, given: NewScheduledEvent, by?: Attribution): ScheduledEvent {
		const event: ScheduledEvent = {
			id: this.state.nextId(),
			guild_id: guild.id,
			creator_id: creatorId,
			privacy_level: 2,
			status: Status.Scheduled,
			channel_id: null,
			description: null,
			scheduled_end_time: null,
			name: given.name,
			entity_type: given.entity_type,
			scheduled_start_time: given.scheduled_start_time,
			entity_metadata: null,
			userIds: new Set(),
		};
		apply(event, given);
		this.#all.set(event.id, event);
		this.#dispatch("GUILD_SCHEDULED_EVENT_CREATE", guild, event);
		audit.create(this.state, guild, event, {}, auditFields(given), by);
		return event;
	}

	edit(guild: Guild, event: ScheduledEvent, changes: ScheduledEventChanges, by?: Attribution): void {
		const before = auditFields(event);
		apply(event, changes);
		this.#dispatch("GUILD_SCHEDULED_EVENT_UPDATE", guild, event);
		audit.update(this.state, guild, event, before, auditFields(changes), by);
	}

	remove(guild: Guild, event: ScheduledEvent, by?: Attribution): void {
		this.#all.delete(event.id);
		this.#dispatch("GUILD_SCHEDULED_EVENT_DELETE", guild, event);
		audit.delete(this.state, guild, event, auditFields(event), {}, by);
	}

	subscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.has(user.id)) return;
		event.userIds.add(user.id);
		this.#dispatchUser("ADD", guild, event, user);
	}

	unsubscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.delete(user.id)) this.#dispatchUser("REMOVE", guild, event, user);
	}

	#dispatch(type: `GUILD_SCHEDULED_EVENT_${Verb}`, guild: Guild, event: ScheduledEvent): void {
		this.state.dispatchToGuild(type, guild, this.serialize(event));
	}

	#dispatchUser(
		verb: "ADD" | "REMOVE",
		guild: Guild,
		{ id: guild_scheduled_event_id, guild_id }: ScheduledEvent,
		{ id: user_id }: User,
	): void {
		const type = `GUILD_SCHEDULED_EVENT_USER_${verb}` as const;
		this.state.dispatchToGuild(type, guild, { guild_scheduled_event_id, user_id, guild_id });
	}
}

/** A location if the event is external, otherwise a channel. Throws if it is missing. */
function venueOf(event: ScheduledEvent) {
	const { entity_type, channel_id, entity_metadata } = event;
	if (entity_type === EntityType.External && entity_metadata) return { entity_type, entity_metadata, channel_id: null };
	if (entity_type !== EntityType.External && channel_id !== null)
		return { entity_type, entity_metadata: null, channel_id };
	throw new Error(`scheduled event ${event.id} has neither a channel nor a location`);
}

function auditFields(event: ScheduledEventChanges): Record<string, unknown> {
	const { name, description, channel_id, status, entity_type } = event;
	const { scheduled_start_time, scheduled_end_time, entity_metadata } = event;
	return {
		name,
		description,
		channel_id,
		status,
		entity_type,
		scheduled_start_time,
		scheduled_end_time,
		location: entity_metadata === null ? null : entity_metadata?.location,
	};
}
