// When something is to be done about a ban with an end, and how often it is tried. What is to be done is not known here.

import { type Client, Events } from "discord.js";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { platformFault } from "../../discord/rest/errors.ts";
import { StoreUnavailable } from "../../store/db-error.ts";
import type { Store } from "../../store/store.ts";
import {
	selectAllTempBans,
	selectDue,
	selectNextEnd,
	type TempBan,
} from "../../store/temp-bans.ts";

/** How many are settled at once, so that what waits for Discord gets its turn within its time. */
const maxAtOnce = 5;
/** Whose bans were lifted, and not looked at yet; with more, all are looked at. */
const maxDoubted = 10_000;

/** Who is meant. */
type Key = Pick<TempBan, "guild_id" | "user_id">;

/** What stands in the way at the moment is nobody's fault: nothing is said of it, and it is tried again. */
export class NotNow extends Error {
	override name = "NotNow";
}

export interface WorkerOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
	/** Does what is to be done about a ban, if anything. Rejects where it has to be tried again. */
	settle(key: Key): Promise<void>;
	/** The wall clock, which may jump. */
	now?: () => number;
	/** Waits between attempts: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
	/** How long the worker sleeps at most: then it looks at the clock again, which may have been set. */
	maxSleepMs?: number;
}

export interface TempBanWorker {
	/** Looks what is to be done, and begins it. */
	tend(): void;
	attach(client: Client): void;
	/** Begins nothing any more; resolves when its last look is over. */
	close(): Promise<void>;
}

/** One that is being settled, or failed and waits. */
interface Attempt {
	failures: number;
	running: boolean;
	timer: Timer | undefined;
}

export function createTempBanWorker(options: WorkerOptions): TempBanWorker {
	const { connection, store, log, settle, now = Date.now } = options;
	const { sql } = store;
	const [firstMs, mostMs] = options.backOffMs ?? [500, 600_000];
	const maxSleepMs = options.maxSleepMs ?? 300_000;
	const attempts = new Map<string, Attempt>();
	/** Those that may have been lifted by somebody: all that there are, after a time in which nobody told us. */
	let doubted: Map<string, Key> | "all" = "all";
	let closed = false;
	let tending: Promise<void> | undefined;
	let again = false;
	let looksFailed = 0;
	let nextLook: Timer | undefined;

	function tend(): void {
		again = true;
		if (closed) return;
		tending ??= look().finally(() => {
			tending = undefined;
			// Somebody may have asked after its last look.
			if (again) tend();
		});
	}

	async function look(): Promise<void> {
		while (again && !closed) {
			again = false;
			clearTimeout(nextLook);
			try {
				const at = now();
				const due = await selectDue(sql, at);
				const next = await selectNextEnd(sql, at);
				const keys = new Map(due.map((key) => [nameOf(key), key]));
				// What is due comes first.
				for (const [name, key] of await theDoubted())
					if (!keys.has(name)) keys.set(name, key);
				looksFailed = 0;
				for (const [name, key] of keys) begin(name, key);
				for (const [name, { running }] of attempts)
					if (!running && !keys.has(name)) forget(name);
				sleep(Math.min((next ?? Infinity) - at, maxSleepMs));
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					log.error("could not look after the bans", { error });
				sleep(backOffMs(looksFailed++, [firstMs, 30_000]));
			}
		}
	}

	async function theDoubted(): Promise<Map<string, Key>> {
		if (doubted !== "all") return doubted;
		const before = new Map<string, Key>();
		// What is doubted meanwhile is not taken for what was read.
		doubted = before;
		try {
			const all = await selectAllTempBans(sql);
			for (const key of all) before.set(nameOf(key), key);
		} catch (error) {
			doubted = "all";
			throw error;
		}
		return before;
	}

	function sleep(ms: number): void {
		clearTimeout(nextLook);
		if (!closed) nextLook = setTimeout(tend, Math.max(ms, 0));
	}

	function begin(name: string, key: Key): void {
		const attempt = attempts.get(name) ?? {
			...{ failures: 0, running: false, timer: undefined },
		};
		if (closed || attempt.running || attempt.timer) return;
		// Nothing can be done for a guild that is away; its return is told.
		if (!isThere(key)) return;
		// Those that are under way look again when they end.
		const busy = [...attempts.values()].filter(({ running }) => running);
		if (busy.length >= maxAtOnce) return;
		attempts.set(name, attempt);
		attempt.running = true;
		void take(name, key, attempt);
	}

	function isThere({ guild_id }: Key): boolean {
		const guild = connection.guilds.find(({ id }) => id === guild_id);
		return connection.ready && guild?.available === true;
	}

	/** Never rejects. */
	async function take(name: string, key: Key, attempt: Attempt): Promise<void> {
		const wasDoubted = doubted !== "all" && doubted.delete(name);
		try {
			await settle(key);
			attempts.delete(name);
		} catch (error) {
			if (wasDoubted) doubt(key);
			noteFailure(key, error);
			const ms = backOffMs(attempt.failures++, [firstMs, mostMs]);
			if (!closed)
				attempt.timer = setTimeout(() => {
					attempt.timer = undefined;
					tend();
				}, ms);
		}
		attempt.running = false;
		tend();
	}

	function noteFailure({ guild_id, user_id }: Key, error: unknown): void {
		if (error instanceof NotNow || error instanceof StoreUnavailable) return;
		const fields = { guild: guild_id, user: user_id };
		const reason = platformFault(error);
		if (reason === undefined)
			log.error("a ban could not be looked after", { ...fields, error });
		else
			log.warn("a ban could not be looked after, and is tried again", {
				...{ ...fields, reason },
			});
	}

	function forget(name: string): void {
		clearTimeout(attempts.get(name)?.timer);
		attempts.delete(name);
	}

	function doubt(key: Key): void {
		if (doubted === "all") return;
		if (doubted.size >= maxDoubted) doubted = "all";
		else doubted.set(nameOf(key), key);
	}

	/** A new session of Discord's Gateway: what happened before it is not known, and what waited need not any more. */
	function startAnew(): void {
		doubted = "all";
		for (const attempt of attempts.values()) {
			clearTimeout(attempt.timer);
			attempt.timer = undefined;
		}
		tend();
	}

	return {
		tend,
		attach(client) {
			client.on(Events.GuildBanRemove, ({ guild, user }) => {
				doubt({ guild_id: guild.id, user_id: user.id });
				tend();
			});
			for (const event of [
				...[Events.ClientReady, Events.ShardReady],
				...[Events.GuildCreate, Events.GuildAvailable],
			] as const)
				client.on(event as Events.ClientReady, startAnew);
		},
		async close() {
			closed = true;
			clearTimeout(nextLook);
			for (const { timer } of attempts.values()) clearTimeout(timer);
			await tending;
		},
	};
}

function nameOf({ guild_id, user_id }: Key): string {
	return `${guild_id} ${user_id}`;
}
