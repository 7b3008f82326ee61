// The entities of the simulated Discord by their ids, and the dispatch of changes: as events of Discord's Gateway to
// subscribers, and as entries in a guild's audit log.

import {
	type AuditLogEvent,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type {
	Account,
	AuditLogEntry,
	Channel,
	Guild,
	GuildPlace,
	User,
} from "./entities.ts";
import { inGuild } from "./entities.ts";
import type { EventType, WorldEvent } from "./events.ts";
import { createSnowflakes } from "./snowflake.ts";

/** Who made a change, and why. A change without it is not in the audit log. */
export interface Attribution {
	/** The user's id. */
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
	readonly users = new Map<string, User>();
	/** By token. */
	readonly accounts = new Map<string, Account>();
	readonly guilds = new Map<string, Guild>();
	/** Channels and threads of all guilds, and DM channels. */
	readonly channels = new Map<string, Channel>();

	readonly #subscribers = new Set<(event: WorldEvent) => void>();

	/** Calls `subscriber` with every event from now on. */
	subscribe(subscriber: (event: WorldEvent) => void): void {
		this.#subscribers.add(subscriber);
	}

	dispatch(event: WorldEvent): void {
		for (const subscriber of this.#subscribers) subscriber(event);
	}

	/** Dispatches an event to the members of a guild, or to those that `to` selects. */
	dispatchToGuild(
		type: EventType,
		guild: Guild,
		data: WorldEvent["data"],
		to: Pick<WorldEvent, "only" | "except" | "always" | "permission"> = {},
	): void {
		this.dispatch({ type, guildId: guild.id, data, ...to });
	}

	/** Dispatches an event to those who can view the channel. Adds channel_id and guild_id to `data`. */
	dispatchToChannel(
		type: EventType,
		channel: Channel,
		data: WorldEvent["data"],
	): void {
		const channel_id = channel.id;
		if (!inGuild(channel)) {
			this.dispatch({
				type,
				only: channel.recipients.map(({ id }) => id),
				data: (reader) => ({ channel_id, ...data(reader) }),
			});
			return;
		}
		const { guild_id } = channel;
		this.dispatchToGuild(
			type,
			this.guildOf(channel),
			(reader) => ({ channel_id, guild_id, ...data(reader) }),
			{
				permission: {
					bits: Permission.ViewChannel,
					channelId: channel_id,
				},
			},
		);
	}

	/** Adds an entry to the guild's audit log and dispatches it. Does nothing without `by`. */
	audit(
		guild: Guild,
		by: Attribution | undefined,
		action_type: AuditLogEvent,
		target_id: string | null,
		more: Pick<AuditLogEntry, "changes" | "options"> = {},
	): void {
		if (!by) return;
		const entry: AuditLogEntry = {
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
			() => ({ ...entry, guild_id: guild.id }),
			{ permission: { bits: Permission.ViewAuditLog } },
		);
	}

	/** The guild that a channel or thread belongs to. */
	guildOf(channel: GuildPlace): Guild {
		const guild = this.guilds.get(channel.guild_id);
		if (!guild) throw new Error(`channel ${channel.id} has no guild`);
		return guild;
	}
}
