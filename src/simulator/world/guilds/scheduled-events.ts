// Scheduled events of guilds and their interested users. None starts, ends or recurs by itself.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import { AuditLogEvent, GuildScheduledEventStatus as Status } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, Member, ScheduledEvent } from "../state/entities.ts";
import type { EventType } from "../state/events.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

/** The required fields of a new event, and optional ones. */
export type NewScheduledEvent = Pick<
	ScheduledEvent,
	"name" | "scheduled_start_time" | "entity_type"
> &
	ScheduledEventChanges;

export type ScheduledEventChanges = Changes<
	Pick<
		ScheduledEvent,
		| "channel_id"
		| "name"
		| "description"
		| "scheduled_start_time"
		| "scheduled_end_time"
		| "status"
		| "entity_type"
		| "entity_metadata"
	>
>;

export class ScheduledEvents {
	readonly #state: State;
	readonly #all = new Map<string, ScheduledEvent>();

	constructor(state: State) {
		this.#state = state;
	}

	/** The events of a guild, oldest first. */
	in({ id }: Guild): ScheduledEvent[] {
		return [...this.#all.values()].filter(({ guild_id }) => guild_id === id);
	}

	/** An event as Discord sends it, with user_count if `counted`. */
	serialize(event: ScheduledEvent, counted = false): Record<string, unknown> {
		const { userIds, ...rest } = event;
		const creator = this.#state.users.get(event.creator_id);
		return {
			...rest,
			entity_id: null,
			image: null,
			recurrence_rule: null,
			guild_scheduled_event_exceptions: [],
			...(creator ? { creator } : {}),
			...(counted ? { user_count: userIds.size } : {}),
		};
	}

	add(
		guild: Guild,
		creatorId: string,
		given: NewScheduledEvent,
		by?: Attribution,
	): ScheduledEvent {
		const event: ScheduledEvent = {
			id: this.#state.newId(),
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
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.GuildScheduledEventCreate,
			event.id,
			{ changes: changesBetween({}, auditFields(given)) },
		);
		return event;
	}

	edit(
		guild: Guild,
		event: ScheduledEvent,
		changes: ScheduledEventChanges,
		by?: Attribution,
	): void {
		const before = auditFields(event);
		apply(event, changes);
		this.#dispatch("GUILD_SCHEDULED_EVENT_UPDATE", guild, event);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.GuildScheduledEventUpdate,
			event.id,
			{ changes: changesBetween(before, auditFields(changes)) },
		);
	}

	remove(guild: Guild, event: ScheduledEvent, by?: Attribution): void {
		this.#all.delete(event.id);
		this.#dispatch("GUILD_SCHEDULED_EVENT_DELETE", guild, event);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.GuildScheduledEventDelete,
			event.id,
			{ changes: changesBetween(auditFields(event), {}) },
		);
	}

	/** Adds an interested user. */
	subscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.has(user.id)) return;
		event.userIds.add(user.id);
		this.#dispatchUser("GUILD_SCHEDULED_EVENT_USER_ADD", guild, event, user.id);
	}

	/** Removes an interested user. */
	unsubscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.delete(user.id))
			this.#dispatchUser(
				"GUILD_SCHEDULED_EVENT_USER_REMOVE",
				guild,
				event,
				user.id,
			);
	}

	#dispatch(type: EventType, guild: Guild, event: ScheduledEvent): void {
		this.#state.dispatchToGuild(type, guild, () => this.serialize(event));
	}

	#dispatchUser(
		type: EventType,
		guild: Guild,
		{ id }: ScheduledEvent,
		user_id: string,
	): void {
		this.#state.dispatchToGuild(type, guild, () => ({
			guild_scheduled_event_id: id,
			user_id,
			guild_id: guild.id,
		}));
	}
}

/** The fields in the audit log, which has the location at the top level. */
function auditFields({
	entity_metadata,
	...event
}: ScheduledEventChanges): Record<string, unknown> {
	const { name, description, channel_id, status, entity_type } = event;
	const { scheduled_start_time, scheduled_end_time } = event;
	return {
		name,
		description,
		channel_id,
		status,
		entity_type,
		scheduled_start_time,
		scheduled_end_time,
		...(entity_metadata === undefined
			? {}
			: { location: entity_metadata?.location ?? null }),
	};
}
