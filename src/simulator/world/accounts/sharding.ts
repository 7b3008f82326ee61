// Discord's rules for the shards of bots: which shard a guild belongs to, and how many shards may identify at once.
// https://discord.com/developers/docs/events/gateway#sharding
//
// A gap: The limit of 1,000 identifies a day exists (`world.users.sessionStarts`), but the day never ends.

import type { Guild } from "../state/entities.ts";

export interface ShardingSettings {
	/** The recommended number of shards in the response to GET /gateway/bot. By default it depends on the bot's guilds. */
	shards: number | undefined;
	/** How many shards of a bot may identify within `identifyMs`, each with another rate limit key. */
	maxConcurrency: number;
	/** Maximum number of guilds of a shard. A shard with more is refused. */
	maxGuilds: number;
	/** How long the next shard with the same rate limit key must wait until it may identify, in milliseconds. */
	identifyMs: number;
}

/** https://discord.com/developers/docs/events/gateway#max-concurrency */
const discordSharding: ShardingSettings = { shards: undefined, maxConcurrency: 1, maxGuilds: 2_500, identifyMs: 5_000 };

const guildsPerShard = 1_000;

export function shardOf(guildId: string, shards: number): number {
	return Number((BigInt(guildId) >> 22n) % BigInt(shards));
}

export class Sharding {
	readonly settings: ShardingSettings = { ...discordSharding };
	readonly #identifiedAt = new Map<string, number>();

	constructor(private readonly guilds: Pick<Map<string, Guild>, "values">) {}

	configure(changes: Partial<ShardingSettings>): void {
		Object.assign(this.settings, changes);
	}

	recommended(botId: string): number {
		return this.settings.shards ?? Math.max(1, Math.ceil(this.#guildsOf(botId).length / guildsPerShard));
	}

	isTooLarge(botId: string, shard: number, shards: number): boolean {
		const guilds = this.#guildsOf(botId).filter(({ id }) => shardOf(id, shards) === shard);
		return guilds.length > this.settings.maxGuilds;
	}

	takeIdentify(botId: string, shard: number): boolean {
		const key = `${botId} ${shard % this.settings.maxConcurrency}`;
		const now = performance.now();
		if (now < (this.#identifiedAt.get(key) ?? -Infinity) + this.settings.identifyMs) return false;
		this.#identifiedAt.set(key, now);
		return true;
	}

	#guildsOf(botId: string): Guild[] {
		return [...this.guilds.values()].filter(({ members }) => members.has(botId));
	}
}
