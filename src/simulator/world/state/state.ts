// The ground the world stands on: where its entities are kept, and how changes are told: to whoever listens for the
// Gateway's events, and in the guild's audit log.

import { type AuditLogEvent, PermissionFlagsBits } from "discord.js";
import { MessageStore } from "../messages/messages.ts";
import type {
	Account,
	AuditLogEntry,
	Channel,
	Guild,
	GuildPlace,
	User,
} from "./entities.ts";
import { inGuild, isGuildChannel, isThread } from "./entities.ts";
import type { EventType, WorldEvent } from "./events.ts";
import { createSnowflakes } from "./snowflake.ts";

/** Who made a change, and why. A change without a doer just happens: no audit log entry tells of it. */
export interface Doing {
	readonly actor: string;
	readonly reason?: string | undefined;
}

/** A change to an entity: only what is given and not undefined is changed. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Makes the changes that are given. */
export function apply<T extends object>(entity: T, changes: Changes<T>): void {
	for (const [key, value] of Object.entries(changes))
		if (value !== undefined) Object.assign(entity, { [key]: value });
}

/** Entities, and the telling of what happens to them. */
export class Telling {
	readonly newId = createSnowflakes();
	readonly users = new Map<string, User>();
	/** By token. */
	readonly accounts = new Map<string, Account>();
	readonly guilds = new Map<string, Guild>();
	/** The channels of all guilds, and direct ones. */
	readonly channels = new Map<string, Channel>();
	readonly messages = new MessageStore();

	readonly #listeners = new Set<(event: WorldEvent) => void>();

	/** Tells `listener` of every event from now on. */
	subscribe(listener: (event: WorldEvent) => void): void {
		this.#listeners.add(listener);
	}

	/** The guild a channel belongs to. */
	guildOf(channel: GuildPlace): Guild {
		const guild = this.guilds.get(channel.guild_id);
		if (!guild) throw new Error(`channel ${channel.id} has lost its guild`);
		return guild;
	}

	/** Whether a channel is only for adults; a thread is what its channel is. */
	isNsfw(channel: Channel): boolean {
		const place = isThread(channel)
			? this.channels.get(channel.parent_id)
			: channel;
		return place !== undefined && isGuildChannel(place) && place.nsfw;
	}

	/** An event in a channel: for those who may see it, or the two who talk there. */
	tellIn(type: EventType, channel: Channel, data: WorldEvent["data"]): void {
		const withChannel: WorldEvent["data"] = (reader) => ({
			channel_id: channel.id,
			...(inGuild(channel) ? { guild_id: channel.guild_id } : {}),
			...data(reader),
		});
		if (inGuild(channel))
			this.tell(type, this.guildOf(channel), withChannel, {
				permission: {
					bits: PermissionFlagsBits.ViewChannel,
					channelId: channel.id,
				},
			});
		else
			this.emit({
				type,
				only: channel.recipients.map(({ id }) => id),
				data: withChannel,
			});
	}

	/** An event in a guild: for its members, or those of them that `to` names. */
	tell(
		type: EventType,
		guild: Guild,
		data: WorldEvent["data"],
		to: Pick<WorldEvent, "only" | "except" | "always" | "permission"> = {},
	): void {
		this.emit({ type, guildId: guild.id, data, ...to });
	}

	/** Tells all listeners. */
	emit(event: WorldEvent): void {
		for (const listener of this.#listeners) listener(event);
	}

	/** An entry in the guild's audit log, if someone did it. */
	log(
		guild: Guild,
		doing: Doing | undefined,
		action_type: AuditLogEvent,
		target_id: string | null,
		more: Pick<AuditLogEntry, "changes" | "options"> = {},
	): void {
		if (!doing) return;
		const entry: AuditLogEntry = {
			id: this.newId(),
			action_type,
			user_id: doing.actor,
			target_id,
			...more,
			...(doing.reason ? { reason: doing.reason } : {}),
		};
		guild.auditLog.push(entry);
		this.tell(
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			guild,
			() => ({ ...entry, guild_id: guild.id }),
			{ permission: { bits: PermissionFlagsBits.ViewAuditLog } },
		);
	}
}
