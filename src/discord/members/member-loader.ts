// Loads all members of each guild into discord.js's cache.
// https://discord.com/developers/docs/events/gateway-events#request-guild-members

import { type Client, GatewayRateLimitError, type Guild, type GuildMember } from "discord.js";
import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { sleep } from "../../lib/wait.ts";
import { privilegedIntents, usesIntent } from "../intents.ts";

const membersTimeoutMs = 120_000;

/** Discord allows 120 payloads a minute: more requests would only wait for each other and time out. */
const maxLoadsPerShard = 10;

/** Discord allows one request for all members of a guild in 30 seconds. */
const reloadDelayMs = 35_000;

interface MemberLoaderOptions {
	log: Log;
	/** The first delay before a failed load is tried again, and the maximum. */
	backOffMs: readonly [number, number];
	closing: AbortSignal;
	shardOf(guild: Pick<Guild, "id">): number;
}

export class MemberLoader {
	readonly #complete = new Set<string>();
	readonly #loads = new Map<string, symbol>();
	readonly #scheduled = new Map<string, Timer>();
	readonly #permits = new Map<number, Semaphore>();
	#client: Client | undefined;

	constructor(private readonly options: MemberLoaderOptions) {}

	/** If no events about them were lost since. */
	isComplete(guild: Pick<Guild, "id">): boolean {
		return this.#complete.has(guild.id);
	}

	/** From now on into another client, which has no members yet. */
	begin(client: Client): void {
		this.#client = client;
		this.#complete.clear();
	}

	/** For a new session, before its READY: requests of the previous one are not answered. */
	forgetRequests(shard: number): void {
		this.#permits.delete(shard);
	}

	/** After a new session has begun: member events from before it are lost. */
	forgetMembers(shard: number): void {
		for (const id of this.#complete) if (this.options.shardOf({ id }) === shard) this.#complete.delete(id);
	}

	/** An event about a member could not be read. */
	loadLater(guild: Guild): void {
		const { id } = guild;
		if (this.#scheduled.has(id)) return;
		this.#complete.delete(id);
		const timer = setTimeout(() => {
			this.#scheduled.delete(id);
			void this.load(guild);
		}, reloadDelayMs);
		this.#scheduled.set(id, timer.unref());
	}

	/** With retries. Never rejects. */
	async load(guild: Guild): Promise<void> {
		const { log, closing } = this.options;
		const { id, client } = guild;
		this.#complete.delete(id);
		// An unavailable guild is loaded when an event announces its return.
		if (!guild.available || !canLoad(guild)) return;
		// A load for a later session replaces this one.
		const loadId = Symbol(id);
		this.#loads.set(id, loadId);
		const isCurrent = () =>
			!closing.aborted &&
			canLoad(guild) &&
			this.#client === client &&
			client.guilds.cache.has(id) &&
			this.#loads.get(id) === loadId;
		for (let attempt = 0; isCurrent(); attempt++) {
			const newPermits = () => new Semaphore({ max: maxLoadsPerShard });
			const permits = this.#permits.getOrInsertComputed(this.options.shardOf(guild), newPermits);
			try {
				const members = await permits.run(closing, async () => (isCurrent() ? fetchMembers(guild) : undefined));
				if (!members || !isCurrent()) return;
				// Members who left while the bot was disconnected are still in the cache.
				for (const gone of members.outdated) guild.members.cache.delete(gone);
				this.#complete.add(id);
				log.info("loaded all members of a guild", { guild: id, members: members.size });
				return;
			} catch (error) {
				if (closing.aborted) return;
				log.warn("could not load the members of a guild, trying again", { guild: id, reason: String(error) });
				// Discord allows one request for all members per guild and 30 seconds.
				const ms =
					error instanceof GatewayRateLimitError
						? error.data.retry_after * 1_000
						: backOffMs(attempt, this.options.backOffMs);
				await sleep(ms, closing).catch(() => {});
			}
		}
	}
}

function canLoad({ client }: Guild): boolean {
	return usesIntent(client, privilegedIntents.GuildMembers);
}

async function fetchMembers(guild: Guild) {
	const { cache } = guild.members;
	const before = [...cache.keys()];
	const joined = Float64Array.from(cache.values(), joinTime);
	const members = await guild.members.fetch({ time: membersTimeoutMs });
	// Who has joined again meanwhile is not among them, but has another join time.
	const outdated = before.filter((id, at) => !members.has(id) && joinTime(cache.get(id)) === joined[at]);
	return { size: members.size, outdated };
}

function joinTime(member?: GuildMember): number {
	return member?.joinedTimestamp ?? 0;
}
