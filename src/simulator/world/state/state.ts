// The entities of the simulated Discord by their ids, and the dispatch of changes: as events of Discord's Gateway to
// subscribers, and as entries in a guild's audit log.

import {
	type AuditLogEvent,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { EventPayloads } from "./api-types.ts";
import type * as entity from "./entities.ts";
import {
	type Channel,
	type Guild,
	inGuild,
	isGuildChannel,
} from "./entities.ts";
import type { Audience, EventType, WorldEvent } from "./events.ts";
import { createSnowflakes } from "./snowflake.ts";

/** Who made a change, and why. A change without it is not in the audit log. */
export interface Attribution {
	/** The id of the user who made the change. */
	readonly actor: string;
	readonly reason?: string | undefined;
}

/** Changes to an entity. Undefined leaves a field as it is. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Sets the fields that `changes` defines. */
export function apply<T extends object>(entity: T, changes: Changes<T>): void {
	for (const [key, value] of Object.entries(changes))
		if (value !== undefined) Object.assign(entity, { [key]: value });
}

export class State {
	readonly newId = createSnowflakes();
	readonly users = new Map<string, entity.User>();
	/** The accounts by token. */
	readonly accounts = new Map<string, entity.Account>();
	readonly guilds = new Map<string, Guild>();
	/** Channels and threads of all guilds, and DM channels. */
	readonly channels = new Map<string, Channel>();

	readonly #subscribers = new Set<(event: WorldEvent) => void>();

	/** Calls `subscriber` with every event from now on. */
	subscribe(subscriber: (event: WorldEvent) => void): void {
		this.#subscribers.add(subscriber);
	}

	dispatch<T extends EventType>(event: WorldEvent<T>): void {
		for (const subscriber of this.#subscribers) subscriber(event);
	}

	/** Dispatches an event to the members of a guild, or to those that `to` selects. */
	dispatchToGuild<T extends EventType>(
		type: T,
		guild: Guild,
		data: EventPayloads[T],
		to: Audience = {},
	): void {
		this.dispatch<T>({ type, guildId: guild.id, data: () => data, ...to });
	}

	/** Dispatches an event to those who can view the channel. */
	dispatchToChannel<T extends EventType>(
		type: T,
		channel: Channel,
		data: EventPayloads[T],
	): void {
		this.dispatch<T>({ type, data: () => data, ...viewersOf(channel) });
	}

	/** Adds an entry to the guild's audit log and dispatches it. Does nothing without `by`. */
	audit(
		guild: Guild,
		by: Attribution | undefined,
		action_type: AuditLogEvent,
		target_id: string | null,
		more: Pick<entity.AuditLogEntry, "changes" | "options"> = {},
	): void {
		if (!by) return;
		const entry: entity.AuditLogEntry = {
			id: this.newId(),
			action_type,
			user_id: by.actor,
			target_id,
			...more,
			...(by.reason ? { reason: by.reason } : {}),
		};
		guild.auditLog.push(entry);
		this.dispatchToGuild(
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			guild,
			{ ...entry, guild_id: guild.id },
			{ permission: { bits: Permission.ViewAuditLog } },
		);
	}

	/** The guild that a channel or thread belongs to. */
	guildOf(channel: entity.GuildPlace): Guild {
		const guild = this.guilds.get(channel.guild_id);
		if (!guild) throw new Error(`channel ${channel.id} has no guild`);
		return guild;
	}

	/** The member that a user has in the guild of a channel. */
	memberIn(channel: Channel, userId: string): entity.Member | undefined {
		return inGuild(channel)
			? this.guildOf(channel).members.get(userId)
			: undefined;
	}

	/** The channel of an invite or webhook. Throws if it was deleted. */
	channelOf({
		channel_id,
	}: {
		readonly channel_id: string;
	}): entity.GuildChannel {
		const channel = this.channels.get(channel_id);
		if (!channel || !isGuildChannel(channel))
			throw new Error(`channel ${channel_id} not found`);
		return channel;
	}
}

/** The ids of a channel and its guild, as events have them. DMs have no guild. */
export function placeOf(channel: Channel): {
	readonly channel_id: string;
	readonly guild_id?: string;
} {
	return {
		channel_id: channel.id,
		...(inGuild(channel) && { guild_id: channel.guild_id }),
	};
}

/** Those who can view a channel. */
export function viewersOf(
	channel: Channel,
): Pick<WorldEvent, "guildId" | keyof Audience> {
	if (!inGuild(channel))
		return { only: channel.recipients.map(({ id }) => id) };
	const { guild_id } = channel;
	return {
		guildId: guild_id,
		...permittedIn(channel, Permission.ViewChannel),
	};
}

/** Restricts an event to members with these permissions in a channel. */
export function permittedIn({ id }: Channel, bits: bigint) {
	return { permission: { bits, channelId: id } };
}
