// Scheduled events of guilds and their interested users. None starts, ends or recurs by itself.
// https://discord.com/developers/docs/resources/guild-scheduled-event
//
// A gap: Scheduled events have no recurrence and images, and nothing that Discord does by itself: none starts, ends or
// is canceled, not even with its channel, and a finished one stays listed.

import { GuildScheduledEventStatus as Status } from "discord.js";
import type { SentScheduledEvent } from "../state/api-types.ts";
import type { Guild, Member, ScheduledEvent, User } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { GuildObjects } from "../state/guild-objects.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

type NewScheduledEvent = Pick<ScheduledEvent, "name" | "scheduled_start_time" | "entity_type"> & ScheduledEventChanges;

export type ScheduledEventChanges = Changes<
	Omit<ScheduledEvent, "id" | "guild_id" | "creator_id" | "privacy_level" | "userIds">
>;

export class ScheduledEvents extends GuildObjects<ScheduledEvent> {
	constructor(state: State) {
		super(state, "GuildScheduledEvent");
	}

	/** If `counted`, with the number of interested users. */
	serialize(event: ScheduledEvent, counted = false): SentScheduledEvent {
		const { userIds, ...rest } = event;
		return {
			...rest,
			entity_id: null,
			image: null,
			recurrence_rule: null,
			guild_scheduled_event_exceptions: [],
			creator: this.state.users.get(event.creator_id),
			user_count: counted ? userIds.size : undefined,
		} as SentScheduledEvent;
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
		return this.insert(event, given, by);
	}

	subscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.has(user.id)) return;
		event.userIds.add(user.id);
		this.#dispatchUser("ADD", guild, event, user);
	}

	unsubscribe(guild: Guild, event: ScheduledEvent, { user }: Member): void {
		if (event.userIds.delete(user.id)) this.#dispatchUser("REMOVE", guild, event, user);
	}

	protected dispatch(verb: Verb, guild: Guild, event: ScheduledEvent): void {
		this.state.dispatchToGuild(`GUILD_SCHEDULED_EVENT_${verb}`, guild, this.serialize(event));
	}

	protected logged(event: ScheduledEventChanges): object {
		const { name, description, channel_id, status, entity_type } = event;
		const { scheduled_start_time, scheduled_end_time, entity_metadata } = event;
		const location = entity_metadata === null ? null : entity_metadata?.location;
		return { name, description, channel_id, status, entity_type, scheduled_start_time, scheduled_end_time, location };
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
