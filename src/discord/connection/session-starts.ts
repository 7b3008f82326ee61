// Discord resets the token after 1,000 sessions in 24 hours; the bot stops at 90 %, by Discord's count or, where that is
// unavailable, its own. https://discord.com/developers/docs/events/gateway#identifying

import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { Log } from "../../lib/log.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";

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

export class SessionStarts {
	readonly #own: SlidingWindow;
	#isWaiting = false;
	/** By Discord's latest response; 1 until there is one. */
	maxConcurrency = 1;
	#countedByDiscord = 0;

	constructor(
		private readonly log: Log,
		now?: () => number,
	) {
		this.#own = new SlidingWindow({ max: defaultTotal, windowMs: dayMs, ...(now && { now }) });
	}

	/** In 24 hours, by Discord's latest count or, if that is more, of this process. */
	get count(): number {
		return Math.max(this.#own.count, this.#countedByDiscord);
	}

	/** Waits for Discord's limit, which `fetchLimit` reads (GET /gateway/bot). */
	async wait(
		fetchLimit: () => Promise<unknown>,
		signal: AbortSignal,
		onWait: (reason: string) => void,
		sessions: () => number = () => 1,
	): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const response = await fetchLimit().catch(() => undefined);
			const { success, output } = v.safeParse(limitSchema, Object(response).session_start_limit);
			const limit = success ? output : undefined;
			signal.throwIfAborted();
			if (limit) this.#countedByDiscord = limit.total - limit.remaining;
			this.maxConcurrency = limit?.max_concurrency ?? this.maxConcurrency;
			const waitMs = this.#waitMs(limit, sessions());
			if (waitMs <= 0) {
				this.#isWaiting = false;
				return;
			}
			const until = new Date(Date.now() + waitMs).toISOString();
			const reason = `too many logins to Discord in 24 hours (${this.#own.count} by this process${limit ? `, ${limit.remaining} of ${limit.total} left` : ""}): after ${limit?.total ?? defaultTotal} Discord resets the token, so the bot waits until about ${until}`;
			onWait(reason);
			if (!this.#isWaiting) this.log.error("Discord login limit reached, waiting before the next login", { reason });
			this.#isWaiting = true;
			await sleep(Math.min(waitMs, maxWaitMs), undefined, { signal });
		}
	}

	note(): void {
		this.#own.add();
	}

	#waitMs(limit: Limit | undefined, sessions: number): number {
		const total = limit?.total ?? defaultTotal;
		// Other servers of the API may allow very few; a limit of one has no reserve.
		const reserved = Math.floor(total * reservedShare);
		// With more shards than the limit allows logins, the bot starts as many as it may.
		const more = Math.min(sessions, total - reserved);
		const { remaining = total - this.#own.count, reset_after = maxWaitMs } = limit ?? {};
		return remaining < reserved + more ? Math.max(Math.min(reset_after, dayMs), minWaitMs) : 0;
	}
}
