// Discord resets the token after 1,000 sessions in 24 hours; the bot stops at 90 %. It counts in a file, too, for when
// Discord's count is wrong or unavailable. https://discord.com/developers/docs/events/gateway#identifying

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { clockWatch } from "../../lib/clock-watch.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";

const dayMs = 86_400_000;
const defaultTotal = 1_000;
/** Left to other programs with the same token and to `--check`. */
const reservedShare = 0.1;
const maxWaitMs = 3_600_000;
const minWaitMs = 60_000;

/** https://discord.com/developers/docs/events/gateway#session-start-limit-object */
const limitSchema = v.object({
	total: v.number(),
	remaining: v.number(),
	reset_after: v.fallback(v.number(), dayMs),
	max_concurrency: v.fallback(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
});
type Limit = v.InferOutput<typeof limitSchema>;

export function sessionStartsFile(directory: string): string {
	return join(directory, "logins.json");
}

export class SessionStarts {
	#times: number[] | undefined;
	#lastReason: string | undefined;
	#fileError: string | undefined;
	#maxConcurrency = 1;

	constructor(
		private readonly file: string | undefined,
		private readonly log: Log,
		private readonly now: () => number = Date.now,
	) {}

	/** As counted by the bot itself. */
	get count(): number {
		return this.#recent().length;
	}

	/** Of any process that uses the file; Infinity if there was none. */
	get sinceLastMs(): number {
		return this.now() - (this.#recent().at(-1) ?? -Infinity);
	}

	/** By Discord's latest response; 1 until there is one. */
	get maxConcurrency(): number {
		return this.#maxConcurrency;
	}

	/**
	 * Waits for Discord's limit. Without a response of `fetchLimit` (GET /gateway/bot), only the bot's own count
	 * applies.
	 */
	async wait(
		fetchLimit: () => Promise<unknown>,
		signal: AbortSignal,
		onWait: (reason: string) => void,
		sessions: () => number = () => 1,
	): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const limit = readLimit(await fetchLimit().catch(() => undefined));
			signal.throwIfAborted();
			this.#maxConcurrency = limit?.max_concurrency ?? this.#maxConcurrency;
			const waitMs = this.#waitMs(limit, sessions());
			if (waitMs <= 0) {
				this.#lastReason = undefined;
				return;
			}
			const until = new Date(this.now() + waitMs).toISOString();
			const reason = `too many logins to Discord in 24 hours (${this.count} by this bot${limit ? `, ${limit.remaining} of ${limit.total} left` : ""}): after ${limit?.total ?? defaultTotal} Discord resets the token, so the bot waits until about ${until}`;
			onWait(reason);
			if (this.#lastReason === undefined)
				this.log.error("Discord login limit reached, waiting before the next login", { reason });
			this.#lastReason = reason;
			const jump = Promise.withResolvers<void>();
			const unwatch = clockWatch.subscribe(jump.resolve);
			const waiting = sleep(Math.min(waitMs, maxWaitMs), undefined, { signal });
			await Promise.race([waiting, jump.promise]).finally(unwatch);
		}
	}

	/** Call it just before the login, so that a crash cannot lose the record. */
	note(): void {
		const stored = this.#read();
		// `--check` may have written to the file too. If the file cannot be written, memory has more.
		if (stored.length > this.#recent().length) this.#times = stored;
		this.#times = [...this.#recent(), this.now()];
		this.#write(this.#times);
	}

	#waitMs(limit: Limit | undefined, sessions: number): number {
		const total = limit?.total ?? defaultTotal;
		// Other servers of the API may allow very few; a limit of one has no reserve.
		const reserved = Math.floor(total * reservedShare);
		const max = total - reserved;
		// With more shards than the limit allows logins, the bot starts as many as it may.
		const more = Math.min(sessions, max);
		if (limit && limit.remaining < reserved + more) return Math.max(Math.min(limit.reset_after, dayMs), minWaitMs);
		const times = this.#recent();
		const most = max - more;
		if (times.length <= most) return 0;
		// When the count is low enough again.
		return (times.at(-1 - most) ?? 0) + dayMs - this.now();
	}

	#recent(): number[] {
		const now = this.now();
		const times = this.#times ?? this.#read();
		// After the clock was set back, times in the future must not count for longer than a day.
		const isAhead = times.some((time) => time > now);
		this.#times = times.map((time) => Math.min(time, now)).filter((time) => time > now - dayMs);
		if (isAhead) this.#write(this.#times);
		return this.#times;
	}

	#read(): number[] {
		if (this.file === undefined) return [];
		try {
			const stored = parseJson(readFileSync(this.file, "utf8"));
			return Array.isArray(stored) ? stored.filter(Number.isFinite) : [];
		} catch (error) {
			if (codeOf(error) !== "ENOENT") this.#logFileError(error);
			return [];
		}
	}

	#write(times: readonly number[]): void {
		if (this.file === undefined) return;
		const draft = `${this.file}.${process.pid}`;
		try {
			mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
			writeFileSync(draft, `${JSON.stringify(times)}\n`);
			// Atomic: a crash leaves either the old or the new file.
			renameSync(draft, this.file);
		} catch (error) {
			this.#logFileError(error);
		}
	}

	#logFileError(error: unknown): void {
		const reason = codeOf(error) ?? String(error);
		if (this.#fileError === undefined)
			this.log.info("cannot use the file that counts Discord logins across restarts", { reason });
		this.#fileError = reason;
	}
}

function codeOf(error: unknown): string | undefined {
	return (error as NodeJS.ErrnoException).code;
}

function readLimit(response: unknown): Limit | undefined {
	const limit = isObject(response) ? response.session_start_limit : undefined;
	const { success, output } = v.safeParse(limitSchema, limit);
	return success ? output : undefined;
}
