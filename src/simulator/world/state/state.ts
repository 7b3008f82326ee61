// The entities of the simulated Discord by their ids, and the dispatch of changes: as events of Discord's Gateway to
// subscribers, and as entries in a guild's audit log.

import { AuditLogEvent, PermissionFlagsBits as Permission } from "discord.js";
import type { AuditLogChange, EventPayloads } from "./api-types.ts";
import type * as entity from "./entities.ts";
import { type Channel, type Guild, inGuild, isGuildChannel } from "./entities.ts";
import type { Audience, EventType, WorldEvent } from "./events.ts";
import { Subscribers } from "./events.ts";
import { bitsOf, type Needed } from "./permissions.ts";
import { createSnowflakes, timeOf } from "./snowflake.ts";

/** Who made a change and why, for the audit log. Changes without an attribution are not logged. */
export interface Attribution {
	actor: string;
	reason?: string | undefined;
}

export type AuditAction = keyof typeof AuditLogEvent;

/** The changes default to those between the fields `before`, undefined for a new object, and `after`, for a deleted one. */
type AuditDetails = Changes<{
	before: object;
	after: object;
	changes: AuditLogChange[];
	options: Record<string, string>;
}>;

/** New values for fields of an object. Fields that are undefined or missing keep their value. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

export function apply<T extends object>(entity: T, changes: Changes<T>): void {
	for (const [key, value] of Object.entries(changes)) if (value !== undefined) Object.assign(entity, { [key]: value });
}

const countedMs = 5 * 60 * 1000;

export class State {
	readonly newId = createSnowflakes();
	/** The id that the next role, channel, emoji, event, AutoMod rule or webhook gets, if it is not to be a new one. */
	chosenId: string | undefined;
	readonly users = new Map<string, entity.User>();
	readonly accounts = new Map<string, entity.Account>();
	readonly guilds = new Map<string, Guild>();
	readonly channels = new Map<string, Channel>();

	readonly #events = new Subscribers<WorldEvent>();

	/** Takes the chosen id, else a new one. */
	nextId(): string {
		const id = this.chosenId ?? this.newId();
		this.chosenId = undefined;
		return id;
	}

	subscribe(subscriber: (event: WorldEvent) => void): void {
		this.#events.add(subscriber);
	}

	dispatch<T extends EventType>(event: WorldEvent<T>): void {
		this.#events.notify(event);
	}

	/** Only to members who meet the conditions in `to`. */
	dispatchToGuild<T extends EventType>(type: T, guild: Guild, data: EventPayloads[T], to: Audience = {}): void {
		this.dispatch<T>({ type, guildId: guild.id, data: () => data, ...to });
	}

	/** With the channel and its guild, to the users who can view it. */
	dispatchToChannel<T extends EventType>(
		type: T,
		channel: Channel,
		data: Omit<EventPayloads[T], "channel_id" | "guild_id">,
	): void {
		const whole = { ...placeOf(channel), ...data } as EventPayloads[T];
		this.dispatch<T>({ type, data: () => whole, ...viewersOf(channel) });
	}

	/** Of what nobody made, there is no entry. A guess (audit-unchanged): nor without a change. */
	audit(
		guild: Guild,
		by: Attribution | undefined,
		action: AuditAction,
		target_id: string | null,
		details: AuditDetails = {},
	): void {
		const { before, after, options } = details;
		const changes = details.changes ?? (before || after ? changesBetween(before, after) : undefined);
		if (!by || changes?.length === 0) return;
		const entry: entity.AuditLogEntry = {
			id: this.newId(),
			action_type: AuditLogEvent[action],
			user_id: by.actor,
			target_id,
			changes,
			options,
			reason: by.reason || undefined,
		};
		guild.auditLog.push(entry);
		this.dispatchToGuild(
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			guild,
			{ ...entry, guild_id: guild.id },
			{ permission: { bits: Permission.ViewAuditLog } },
		);
	}

	/**
	 * Adds an entry with a count to a guild's audit log, such as about a deleted message. If someone does the same again
	 * soon, the existing entry counts it, and no event is dispatched:
	 * https://github.com/discord/discord-api-docs/issues/5911
	 * A guess (audit-count-window): within five minutes, with the same target, channel and reason.
	 */
	auditCounted(
		guild: Guild,
		by: Attribution | undefined,
		action: AuditAction,
		target_id: string | null,
		channel_id?: string,
	): void {
		if (!by) return;
		const since = Date.now() - countedMs;
		const isSame = (one: entity.AuditLogEntry) =>
			one.action_type === AuditLogEvent[action] &&
			one.user_id === by.actor &&
			one.target_id === target_id &&
			one.options?.channel_id === channel_id &&
			one.reason === (by.reason || undefined);
		const older = guild.auditLog.findLastIndex(({ id }) => timeOf(id) <= since);
		const index = guild.auditLog.findLastIndex(isSame);
		const known = index > older ? guild.auditLog[index] : undefined;
		const options = {
			...(channel_id !== undefined && { channel_id }),
			count: String(Number(known?.options?.count ?? 0) + 1),
		};
		if (!known) this.audit(guild, by, action, target_id, { options });
		else guild.auditLog[index] = { ...known, options };
	}

	guildOf({ id, guild_id }: { id: string; guild_id: string }): Guild {
		const guild = this.guilds.get(guild_id);
		if (!guild) throw new Error(`${id} has no guild`);
		return guild;
	}

	/** Undefined in direct messages and for users who are not members. */
	memberIn(channel: Channel, userId: string): entity.Member | undefined {
		return inGuild(channel) ? this.guildOf(channel).members.get(userId) : undefined;
	}

	/** The channel to which an invite or webhook belongs. Throws if the channel was deleted. */
	channelOf({ channel_id }: { channel_id: string }): entity.GuildChannel {
		const channel = this.channels.get(channel_id);
		if (!channel || !isGuildChannel(channel)) throw new Error(`channel ${channel_id} not found`);
		return channel;
	}
}

/** The fields `channel_id` and `guild_id` of an event in this channel. Direct messages have no `guild_id`. */
export function placeOf(channel: Channel): { channel_id: string; guild_id?: string } {
	return { channel_id: channel.id, ...(inGuild(channel) && { guild_id: channel.guild_id }) };
}

/** A guild or a channel, as in an invite or a webhook. */
export type Place = { guild_id: string } | { channel_id: string };

export function isIn(place: Place) {
	return ({ guild_id, channel_id }: { guild_id?: string; channel_id: string }) =>
		"guild_id" in place ? guild_id === place.guild_id : channel_id === place.channel_id;
}

/** Returns the conditions that restrict a Gateway event to users who can view a channel. */
export function viewersOf(channel: Channel) {
	if (!inGuild(channel)) return { only: channel.recipients.map(({ id }) => id) };
	return { guildId: channel.guild_id, ...permittedIn(channel, "ViewChannel") };
}

/** Returns the condition that restricts a Gateway event to members with these permission bits in a channel. */
export function permittedIn({ id }: Channel, needed: Needed) {
	return { permission: { bits: bitsOf(needed), channelId: id } };
}

/**
 * The changed fields of an object for the audit log. A new object is undefined before, a deleted one after. Only the
 * fields that `after` defines are looked at, those of `before` if the object is deleted. A value of null is left out:
 * https://docs.discord.com/developers/resources/audit-log#audit-log-change-object-audit-log-change-structure
 */
function changesBetween(before: object | undefined, after: object | undefined): AuditLogChange[] {
	const old: Readonly<Record<string, unknown>> = { ...before };
	const now: Readonly<Record<string, unknown>> = { ...after };
	return Object.entries(after ?? old)
		.filter(([key, value]) => value !== undefined && !Bun.deepEquals(old[key], now[key]))
		.map(([key]) => ({ key, old_value: old[key] ?? undefined, new_value: now[key] ?? undefined }));
}
