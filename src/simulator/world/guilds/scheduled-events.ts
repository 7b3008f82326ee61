// Scheduled events: what is to happen in a guild, and who is interested. Nothing begins, ends or repeats by itself.
// https://discord.com/developers/docs/resources/guild-scheduled-event

import {
	AuditLogEvent,
	RESTJSONErrorCodes as Code,
	GuildScheduledEventStatus as Status,
} from "discord.js";
import { refusal } from "../../rest/errors.ts";
import { changesBetween } from "../state/audit-log.ts";
import type { Guild, Member, ScheduledEvent } from "../state/entities.ts";
import type { EventType } from "../state/events.ts";
import {
	apply,
	type Changes,
	type Doing,
	type Telling,
} from "../state/state.ts";

/** What a new event needs, beside what it can have. */
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

/** The scheduled events of all guilds. */
export class ScheduledEvents {
	readonly #world: Telling;
	readonly #all = new Map<string, ScheduledEvent>();

	constructor(world: Telling) {
		this.#world = world;
	}

	/** Those of a guild, oldest first. */
	in({ id }: Guild): ScheduledEvent[] {
		return [...this.#all.values()].filter(({ guild_id }) => guild_id === id);
	}

	/** The event with this id; throws Discord's refusal when the guild has none. */
	get(guild: Guild, id: string): ScheduledEvent {
		const event = this.#all.get(id);
		if (event?.guild_id === guild.id) return event;
		throw refusal(Code.UnknownGuildScheduledEvent);
	}

	/** An event as Discord sends it; with how many are interested, if that is asked for. */
	show(event: ScheduledEvent, counted = false): Record<string, unknown> {
		const { userIds, ...rest } = event;
		const creator = this.#world.users.get(event.creator_id);
		return {
			...rest,
			...{ entity_id: null, image: null, recurrence_rule: null },
			guild_scheduled_event_exceptions: [],
			...(creator ? { creator } : {}),
			...(counted ? { user_count: userIds.size } : {}),
		};
	}

	add(
		guild: Guild,
		creatorId: string,
		given: NewScheduledEvent,
		doing?: Doing,
	): ScheduledEvent {
		const event: ScheduledEvent = {
			...{ id: this.#world.newId(), guild_id: guild.id },
			...{ creator_id: creatorId, privacy_level: 2, status: Status.Scheduled },
			...{ channel_id: null, description: null, scheduled_end_time: null },
			...{ name: given.name, entity_type: given.entity_type },
			scheduled_start_time: given.scheduled_start_time,
			entity_metadata: null,
			userIds: new Set(),
		};
		apply(event, given);
		this.#all.set(event.id, event);
		this.#tell("GUILD_SCHEDULED_EVENT_CREATE", guild, event);
		this.#world.log(
			guild,
			doing,
			AuditLogEvent.GuildScheduledEventCreate,
			event.id,
			{ changes: changesBetween({}, logged(given)) },
		);
		return event;
	}

	edit(
		guild: Guild,
		event: ScheduledEvent,
		changes: ScheduledEventChanges,
		doing?: Doing,
	): void {
		const before = logged(event);
		apply(event, changes);
		this.#tell("GUILD_SCHEDULED_EVENT_UPDATE", guild, event);
		this.#world.log(
			guild,
			doing,
			AuditLogEvent.GuildScheduledEventUpdate,
			event.id,
			{ changes: changesBetween(before, logged(changes)) },
		);
	}

	remove(guild: Guild, event: ScheduledEvent, doing?: Doing): void {
		this.#all.delete(event.id);
		this.#tell("GUILD_SCHEDULED_EVENT_DELETE", guild, event);
		this.#world.log(
			guild,
			doing,
			AuditLogEvent.GuildScheduledEventDelete,
			event.id,
			{ changes: changesBetween(logged(event), {}) },
		);
	}

	/** Someone says that they are interested. */
	subscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.has(user.id)) return;
		event.userIds.add(user.id);
		this.#tellUser("GUILD_SCHEDULED_EVENT_USER_ADD", guild, event, user.id);
	}

	/** Someone is interested no more. */
	unsubscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.delete(user.id))
			this.#tellUser(
				"GUILD_SCHEDULED_EVENT_USER_REMOVE",
				guild,
				event,
				user.id,
			);
	}

	#tell(type: EventType, guild: Guild, event: ScheduledEvent): void {
		this.#world.tell(type, guild, () => this.show(event));
	}

	#tellUser(
		type: EventType,
		guild: Guild,
		{ id }: ScheduledEvent,
		user_id: string,
	): void {
		this.#world.tell(type, guild, () => ({
			...{ guild_scheduled_event_id: id, user_id, guild_id: guild.id },
		}));
	}
}

/** What the audit log tells of an event: where it is stands there by itself. */
function logged({
	entity_metadata,
	...event
}: ScheduledEventChanges): Record<string, unknown> {
	const { name, description, channel_id, status, entity_type } = event;
	const { scheduled_start_time, scheduled_end_time } = event;
	return {
		...{ name, description, channel_id, status, entity_type },
		...{ scheduled_start_time, scheduled_end_time },
		...(entity_metadata === undefined
			? {}
			: { location: entity_metadata?.location ?? null }),
	};
}
