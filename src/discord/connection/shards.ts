// The bot's shards: one socket to Discord's Gateway for each, all in this process. Discord sends the events of a guild to one
// shard, and direct messages to shard 0.
// https://discord.com/developers/docs/events/gateway#sharding

import { GatewayCloseCodes, type GatewaySendPayload } from "discord.js";
import { isObject } from "../../lib/json.ts";
import { type Manager, type Shard, Socket, type SocketOptions, type Strategy } from "./socket.ts";

export function shardOf(guildId: string, count: number): number {
	return count === 1 ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count));
}

const maxRecommended = 10_000;

/** Undefined if the response to GET /gateway/bot has no plausible number. */
export function recommendedShards(response: unknown): number | undefined {
	const shards = isObject(response) ? Number(response.shards) : 0;
	const isPlausible = Number.isInteger(shards) && shards > 0;
	return isPlausible && shards <= maxRecommended ? shards : undefined;
}

/** What a close code says of the number of shards; undefined for other codes. `shards` is the setting of the bot. */
export function describeShardRefusal(code: number, shards: number | "auto"): string | undefined {
	const why = refusals.get(code);
	if (why === undefined) return undefined;
	const next =
		shards === "auto"
			? "start the bot again, so that it asks Discord for the number of shards"
			: `set SHARDS=auto in .env (now ${shards})`;
	return `Discord refuses the number of shards, because ${why}: ${next}`;
}

const refusals = new Map<number, string>([
	[GatewayCloseCodes.ShardingRequired, "a shard would have more guilds than Discord allows"],
	[GatewayCloseCodes.InvalidShard, "it is not a multiple of the number that Discord assigned to this bot"],
]);

/** The sockets of all shards, as a strategy of @discordjs/ws. */
export class Shards implements Strategy {
	#sockets = new Map<number, Socket>();

	constructor(
		private readonly manager: Manager,
		private readonly optionsOf: (shard: Shard) => SocketOptions,
	) {}

	/** @discordjs/ws calls this before each `connect`, when all shards are closed. */
	spawn(ids: number[]): void {
		const count = this.manager.options.shardCount ?? ids.length;
		this.#sockets = new Map(
			ids.map((id) => {
				const shard = { id, count };
				return [id, new Socket(this.manager, shard, this.optionsOf(shard))];
			}),
		);
	}

	/** Rejects with a GatewayCloseError if Discord forbids one of them to reconnect. */
	async connect(): Promise<void> {
		await Promise.all(this.#all((socket) => socket.connect()));
	}

	async destroy(): Promise<void> {
		await Promise.all(this.#all((socket) => socket.destroy()));
	}

	send(shard: number, payload: GatewaySendPayload): void {
		this.#sockets.get(shard)?.send(payload);
	}

	/** discord.js does not call this. */
	fetchStatus(): never {
		throw new Error("the bot's Gateway client does not implement fetchStatus of @discordjs/ws");
	}

	#all<T>(act: (socket: Socket) => T): T[] {
		return [...this.#sockets.values()].map(act);
	}
}
