// A session on Discord's Gateway: what a bot has subscribed to and received. It outlives its connection for a while, so that
// the bot can resume it.
//
// A gap: Everyone counts as online, in GUILD_CREATE and in member chunks. There is no PRESENCE_UPDATE.

import { randomBytes } from "node:crypto";
import { GatewayIntentBits as Intent, GatewayOpcodes as Op } from "discord.js";
import { shardOf } from "../world/accounts/sharding.ts";
import type { EventPayloads } from "../world/state/api-types.ts";
import type { Account, Guild } from "../world/state/entities.ts";
import { directIntents, type EventType, guildIntents, isEvent, type WorldEvent } from "../world/state/events.ts";
import { channelPermissions, guildPermissions, has, isShown } from "../world/state/permissions.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";

export function socketUrl(host: string): string {
	return `ws://${host}/socket`;
}

interface SessionConnection {
	send(text: string): unknown;
	close(code: number, reason: string): void;
}

/** Takes an event's type and data, and returns the data to send to the bot. */
export type Alter = (type: string, data: unknown) => unknown;

const sightEvents = new Set<EventType>([
	"CHANNEL_CREATE",
	"CHANNEL_UPDATE",
	"CHANNEL_DELETE",
	"GUILD_ROLE_UPDATE",
	"GUILD_ROLE_DELETE",
	"VOICE_STATE_UPDATE",
]);

// A bot that missed more has to identify again. `length` is in characters.
const replayLimit = { events: 10_000, length: 16_000_000 };

export class Session {
	readonly id = randomBytes(16).toString("hex");
	connection: SessionConnection | undefined;
	expiry: Timer | undefined;
	/** The ids of the channels that the bot could not view when it was last told about them. */
	readonly #hidden = new Set<string>();
	#seq = 0;
	readonly #sent: { seq: number; text: string }[] = [];
	#sentLength = 0;
	readonly queue = new PausableQueue();

	constructor(
		readonly bot: Account,
		readonly intents: number,
		readonly shard: readonly [id: number, count: number],
		private readonly alter: Alter,
	) {}

	dispatch<T extends EventType>(type: T, data: EventPayloads[T]): void {
		// Voice states need their own intent.
		if (type === "GUILD_CREATE" && !this.hasIntent(Intent.GuildVoiceStates))
			this.dispatchAny(type, { ...data, voice_states: [] });
		else this.dispatchAny(type, data);
	}

	/** Sends a Gateway event with any name and data to the bot, so that tests can send invalid events. */
	dispatchAny(type: string, data: unknown): void {
		this.#seq += 1;
		const text = JSON.stringify({ op: Op.Dispatch, t: type, s: this.#seq, d: this.alter(type, data) });
		this.#sent.push({ seq: this.#seq, text });
		this.#sentLength += text.length;
		while (this.#sent.length > replayLimit.events || this.#sentLength > replayLimit.length)
			this.#sentLength -= this.#sent.shift()?.text.length ?? 0;
		this.queue.run(() => this.connection?.send(text));
	}

	canReplay(seq: number): boolean {
		const oldest = this.#sent[0]?.seq ?? this.#seq + 1;
		return seq <= this.#seq && seq >= oldest - 1;
	}

	replay(seq: number): void {
		this.queue.clear();
		for (const sent of this.#sent) if (sent.seq > seq) this.connection?.send(sent.text);
	}

	hasIntent(intent: number): boolean {
		return (this.intents & intent) !== 0;
	}

	serves(guildId: string): boolean {
		const [id, count] = this.shard;
		return count === 1 || shardOf(guildId, count) === id;
	}

	dispatchIfConcerned(event: WorldEvent, world: World): void {
		const { id } = this.bot.user;
		// A bot without consent to read content cannot identify with the intent.
		const reader = { id, seesContent: this.hasIntent(Intent.MessageContent) };
		if (this.#shouldReceive(event, world)) this.dispatch(event.type, event.data(reader));
		const guild = world.guilds.get(event.guildId ?? "");
		if (!guild?.members.has(id) || !this.serves(guild.id)) return;
		if (isEvent(event, "GUILD_CREATE")) this.noteChannels(guild);
		else if (sightEvents.has(event.type) || event.always === id) {
			const isOfChannel = isEvent(event, "CHANNEL_CREATE") || isEvent(event, "CHANNEL_UPDATE");
			const told = isOfChannel ? event.data(reader).id : undefined;
			this.#syncThreads(guild, this.noteChannels(guild, told ?? ""), world);
		}
	}

	/**
	 * Notes which channels of a guild the bot may view, and returns the ids of those that it could not view before. With
	 * `told`, the id of the channel of the event that was just sent, sends CHANNEL_UPDATE about the others that have changed:
	 * https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels
	 */
	noteChannels(guild: Guild, told?: string): string[] {
		const gained: string[] = [];
		if (!this.hasIntent(Intent.Guilds)) return gained;
		const own = this.bot.user.id;
		for (const channel of guild.channels.values()) {
			const { id } = channel;
			const isHidden = !isShown(guild, channel, own);
			if (isHidden === this.#hidden.has(id)) continue;
			if (isHidden) this.#hidden.add(id);
			else if (this.#hidden.delete(id)) gained.push(id);
			if (told !== undefined && id !== told)
				this.dispatch("CHANNEL_UPDATE", serialize.guildChannelFor(guild, channel, own));
		}
		return gained;
	}

	/** https://discord.com/developers/docs/topics/threads#gaining-access-to-channels */
	#syncThreads(guild: Guild, gained: readonly string[], world: World): void {
		const own = this.bot.user.id;
		const parents = new Set(guild.threads.values().map(({ parent_id }) => parent_id));
		const channel_ids = gained.filter((id) => parents.has(id));
		if (channel_ids.length === 0) return;
		const threads = world.messages.threads
			.active(guild, own)
			.filter(({ parent_id }) => channel_ids.includes(parent_id));
		this.dispatch("THREAD_LIST_SYNC", { guild_id: guild.id, channel_ids, ...serialize.threads(threads, own) });
	}

	#shouldReceive(event: WorldEvent, world: World): boolean {
		const own = this.bot.user.id;
		if (event.only && !event.only.includes(own)) return false;
		if (event.except === own) return false;
		const { guildId } = event;
		if (guildId === undefined)
			return this.shard[0] === 0 && (event.always === own || this.hasIntent(directIntents[event.type] ?? 0));
		const guild = world.guilds.get(guildId);
		if (!guild || !this.serves(guildId)) return false;
		// A removed member receives the event about it, although it is no longer in the guild.
		if (!event.only && !guild.members.has(own)) return false;
		if (!this.hasIntent(guildIntents[event.type]) && event.always !== own) return false;
		if (!event.permission) return true;
		const { bits, channelId } = event.permission;
		if (channelId === undefined) return has(guildPermissions(guild, own), bits);
		const channel = guild.channels.get(channelId) ?? guild.threads.get(channelId);
		return channel !== undefined && has(channelPermissions(guild, channel, own), bits);
	}
}

/** Runs work at once, or in order after a pause. */
export class PausableQueue {
	#waiting: (() => void)[] | undefined;

	/** Pauses the queue (true), or resumes it and calls the functions that were added during the pause (false). */
	pause(paused: boolean): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = paused ? waiting : undefined;
		if (!paused) for (const work of waiting) work();
	}

	clear(): void {
		this.#waiting = undefined;
	}

	run(work: () => void): void {
		if (this.#waiting) this.#waiting.push(work);
		else work();
	}
}
