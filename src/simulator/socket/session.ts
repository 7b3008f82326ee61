// A session on Discord's Gateway: what one bot asked to be told, and what it was told. It outlives its connection for
// a while, so that the bot can come back and hear what it missed.

import { randomBytes } from "node:crypto";
import { GatewayIntentBits, GatewayOpcodes } from "discord.js";
import type { Account, Guild } from "../world/state/entities.ts";
import {
	type EventType,
	events,
	type WorldEvent,
} from "../world/state/events.ts";
import {
	channelPermissions,
	guildPermissions,
	has,
} from "../world/state/permissions.ts";
import { readerOf } from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";

/** The WebSocket URL for a client that uses this host and port. */
export function socketUrl(host: string): string {
	return `ws://${host}/socket`;
}

/** The connection a session has at the moment. */
export interface Line {
	send(text: string): void;
	close(code: number, reason: string): void;
}

/** Gives what is sent instead of an event's data. */
export type Alter = (type: string, data: unknown) => unknown;

// A bot that missed more, in events or in characters, has to begin anew.
const replayLimit = { events: 10_000, length: 16_000_000 };

export class Session {
	readonly id = randomBytes(16).toString("hex");
	readonly bot: Account;
	readonly intents: number;
	/** Its number, and how many there are. */
	readonly shard: readonly [id: number, count: number];
	line: Line | undefined;
	/** What is sent instead of an event's data. */
	alter: Alter | undefined;
	/** Forgets it, while it has no connection. */
	expiry: Timer | undefined;
	#seq = 0;
	readonly #sent: { readonly seq: number; readonly text: string }[] = [];
	#sentLength = 0;
	/** While events are held back: those that wait. */
	#held: string[] | undefined;

	constructor(bot: Account, intents: number, shard: readonly [number, number]) {
		this.bot = bot;
		this.intents = intents;
		this.shard = shard;
	}

	/** Sends an event, or keeps it until the bot is back. */
	dispatch(type: EventType | (string & {}), data: unknown): void {
		this.#seq += 1;
		const altered = this.alter ? this.alter(type, data) : data;
		const blind =
			type === "GUILD_CREATE" &&
			!this.hasIntent(GatewayIntentBits.GuildVoiceStates);
		const text = JSON.stringify({
			op: GatewayOpcodes.Dispatch,
			t: type,
			s: this.#seq,
			// Who is in voice takes an intent of its own.
			d: blind ? { ...(altered as object), voice_states: [] } : altered,
		});
		this.#sent.push({ seq: this.#seq, text });
		this.#sentLength += text.length;
		while (
			this.#sent.length > replayLimit.events ||
			this.#sentLength > replayLimit.length
		)
			this.#sentLength -= this.#sent.shift()?.text.length ?? 0;
		if (this.#held) this.#held.push(text);
		else this.line?.send(text);
	}

	/** Whether events are held back from now on; once they no longer are, they come in their order. */
	hold(held: boolean): void {
		const waiting = this.#held ?? [];
		this.#held = held ? waiting : undefined;
		if (!held) for (const text of waiting) this.line?.send(text);
	}

	/** Whether all that was sent after `seq` can be sent again. */
	canReplay(seq: number): boolean {
		const oldest = this.#sent[0]?.seq ?? this.#seq + 1;
		return seq <= this.#seq && seq >= oldest - 1;
	}

	/** Sends again what was sent after `seq`. */
	replay(seq: number): void {
		this.#held = undefined;
		for (const sent of this.#sent)
			if (sent.seq > seq) this.line?.send(sent.text);
	}

	hasIntent(intent: number): boolean {
		return (this.intents & intent) !== 0;
	}

	/** Whether this shard is the one for the guild. */
	serves(guildId: string): boolean {
		const [id, count] = this.shard;
		return (BigInt(guildId) >> 22n) % BigInt(count) === BigInt(id);
	}

	/** Tells the bot of an event, if it is one for it. */
	tell(event: WorldEvent, world: World): void {
		if (!this.#concerns(event, world)) return;
		const reader = {
			id: this.bot.user.id,
			seesContent:
				readerOf(this.bot).seesContent &&
				this.hasIntent(GatewayIntentBits.MessageContent),
		};
		this.dispatch(event.type, event.data(reader));
	}

	#concerns(event: WorldEvent, world: World): boolean {
		const own = this.bot.user.id;
		if (event.only && !event.only.includes(own)) return false;
		if (event.except === own) return false;
		const { guildId } = event;
		if (guildId === undefined)
			return (
				this.shard[0] === 0 &&
				(event.always === own || this.hasIntent(events[event.type].direct))
			);
		const guild = world.guilds.get(guildId);
		if (!guild || !this.serves(guildId)) return false;
		// Someone who was just removed is told so, although the guild is none of its own any more.
		if (!event.only && !guild.members.has(own)) return false;
		if (!this.hasIntent(events[event.type].guild) && event.always !== own)
			return false;
		return this.#isPermitted(event, guild);
	}

	#isPermitted({ permission }: WorldEvent, guild: Guild): boolean {
		if (!permission) return true;
		const { bits, channelId } = permission;
		const own = this.bot.user.id;
		if (channelId === undefined) return has(guildPermissions(guild, own), bits);
		const channel =
			guild.channels.get(channelId) ?? guild.threads.get(channelId);
		return (
			channel !== undefined &&
			has(channelPermissions(guild, channel, own), bits)
		);
	}
}
