// Schedules the steps of temporary bans: when a row is due, and when a failed step is retried.

import { type Client, Events } from "discord.js";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import type { Store } from "../../store/store.ts";
import {
	selectAllTempBans,
	selectDue,
	selectNextEnd,
	type TempBan,
} from "../../store/temp-bans.ts";

/** Low enough for every request to leave discord.js's queue before its deadline. */
const maxConcurrent = 5;
/** Bans to check after an unban event; above this, all are checked. */
const maxUnchecked = 10_000;

type Key = Pick<TempBan, "guild_id" | "user_id">;

/** The step is not possible at the moment. Retried without a log line. */
export class NotNow extends Error {
	override name = "NotNow";
}

export interface WorkerOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
	/** Performs the next step of a ban, if any. Rejects when it must be retried. */
	settle(key: Key): Promise<void>;
	/** The wall clock, which may jump. */
	now?: () => number;
	/** First and longest wait between attempts. */
	backOffMs?: readonly [number, number];
	/** Longest sleep: the wall clock may have been set meanwhile. */
	maxSleepMs?: number;
}

export interface TempBanWorker {
	/** Looks for due bans and starts their steps. */
	wake(): void;
	attach(client: Client): void;
	/** Starts no more steps. Resolves when a scan in progress ends. */
	close(): Promise<void>;
}

/** A step that runs, or waits for its retry. */
interface Attempt {
	failures: number;
	isRunning: boolean;
	timer: Timer | undefined;
}

export function createTempBanWorker(options: WorkerOptions): TempBanWorker {
	const { connection, store, log, settle, now = Date.now } = options;
	const { sql } = store;
	const retryRangeMs = options.backOffMs ?? ([500, 600_000] as const);
	const maxSleepMs = options.maxSleepMs ?? 300_000;
	const attempts = new Map<string, Attempt>();
	/** Bans that someone may have lifted. All, after a start or a gap in Discord's events. */
	let unchecked: Map<string, Key> | "all" = "all";
	let closed = false;
	let scanning: Promise<void> | undefined;
	let mustScan = false;
	let failedScans = 0;
	let nextScan: Timer | undefined;

	function wake(): void {
		mustScan = true;
		if (closed) return;
		scanning ??= scan().finally(() => {
			scanning = undefined;
			// `wake` was called after the last scan.
			if (mustScan) wake();
		});
	}

	async function scan(): Promise<void> {
		while (mustScan && !closed) {
			mustScan = false;
			clearTimeout(nextScan);
			try {
				const at = now();
				const due = await selectDue(sql, at);
				const nextEnd = await selectNextEnd(sql, at);
				const bans = new Map(due.map((ban) => [keyOf(ban), ban]));
				// Due bans come first.
				for (const [key, ban] of await loadUnchecked())
					if (!bans.has(key)) bans.set(key, ban);
				failedScans = 0;
				for (const [key, ban] of bans) start(key, ban);
				for (const [key, { isRunning }] of attempts)
					if (!isRunning && !bans.has(key)) deleteAttempt(key);
				sleep(Math.min((nextEnd ?? Infinity) - at, maxSleepMs));
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					log.error("temporary ban scan failed", { error });
				sleep(backOffMs(failedScans++, [retryRangeMs[0], 30_000]));
			}
		}
	}

	async function loadUnchecked(): Promise<Map<string, Key>> {
		if (unchecked !== "all") return unchecked;
		const loaded = new Map<string, Key>();
		// Assigned before the query, so that later unban events are added to it.
		unchecked = loaded;
		try {
			const all = await selectAllTempBans(sql);
			for (const ban of all) loaded.set(keyOf(ban), ban);
		} catch (error) {
			unchecked = "all";
			throw error;
		}
		return loaded;
	}

	function sleep(ms: number): void {
		clearTimeout(nextScan);
		if (!closed) nextScan = setTimeout(wake, Math.max(ms, 0));
	}

	function start(key: string, ban: Key): void {
		const attempt = attempts.get(key) ?? {
			failures: 0,
			isRunning: false,
			timer: undefined,
		};
		if (closed || attempt.isRunning || attempt.timer) return;
		// An unavailable guild announces its return with an event.
		if (!isAvailable(ban)) return;
		// A step that ends starts the next scan.
		const running = [...attempts.values()].filter(({ isRunning }) => isRunning);
		if (running.length >= maxConcurrent) return;
		attempts.set(key, attempt);
		attempt.isRunning = true;
		void run(key, ban, attempt);
	}

	function isAvailable({ guild_id }: Key): boolean {
		const guild = connection.guilds.find(({ id }) => id === guild_id);
		return connection.ready && guild?.available === true;
	}

	/** Never rejects. */
	async function run(key: string, ban: Key, attempt: Attempt): Promise<void> {
		const wasUnchecked = unchecked !== "all" && unchecked.delete(key);
		try {
			await settle(ban);
			attempts.delete(key);
		} catch (error) {
			if (wasUnchecked) addUnchecked(ban);
			logFailure(ban, error);
			const ms = backOffMs(attempt.failures++, retryRangeMs);
			if (!closed)
				attempt.timer = setTimeout(() => {
					attempt.timer = undefined;
					wake();
				}, ms);
		}
		attempt.isRunning = false;
		wake();
	}

	function logFailure({ guild_id, user_id }: Key, error: unknown): void {
		if (error instanceof NotNow || error instanceof StoreUnavailable) return;
		const fields = { guild: guild_id, user: user_id };
		const reason = describePlatformError(error);
		if (reason === undefined)
			log.error("temporary ban step failed", { ...fields, error });
		else
			log.warn("temporary ban step failed, will retry", { ...fields, reason });
	}

	function deleteAttempt(key: string): void {
		clearTimeout(attempts.get(key)?.timer);
		attempts.delete(key);
	}

	function addUnchecked(ban: Key): void {
		if (unchecked === "all") return;
		if (unchecked.size >= maxUnchecked) unchecked = "all";
		else unchecked.set(keyOf(ban), ban);
	}

	/** After a new Gateway session: events may have been missed, and a retry may succeed now. */
	function reset(): void {
		unchecked = "all";
		for (const attempt of attempts.values()) {
			clearTimeout(attempt.timer);
			attempt.timer = undefined;
		}
		wake();
	}

	return {
		wake,
		attach(client) {
			client.on(Events.GuildBanRemove, ({ guild, user }) => {
				addUnchecked({ guild_id: guild.id, user_id: user.id });
				wake();
			});
			for (const event of [
				Events.ClientReady,
				Events.ShardReady,
				Events.GuildCreate,
				Events.GuildAvailable,
			] as const)
				client.on(event as Events.ClientReady, reset);
		},
		async close() {
			closed = true;
			clearTimeout(nextScan);
			for (const { timer } of attempts.values()) clearTimeout(timer);
			await scanning;
		},
	};
}

export function keyOf({ guild_id, user_id }: Key): string {
	return `${guild_id} ${user_id}`;
}
