// How often the bot begins a session on Discord's Gateway (IDENTIFY). Discord allows 1,000 in 24 hours, and resets the
// token after that; so the bot waits long before. Two counts limit it: Discord's own, which GET /gateway/bot tells and
// which outlives everything, and ours in a file, for when that is wrong or not to be had.
// https://discord.com/developers/docs/events/gateway#identifying

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import { isObject } from "../../../mcp/json-rpc.ts";

const dayMs = 86_400_000;
/** What Discord allows a bot at least. */
const usualTotal = 1_000;
/** So much of what Discord allows is left over, for other programs with the same token and for `--check`. */
const margin = 0.1;
/** A wait is looked at again after this, and no sooner than after that. */
const maxWaitMs = 3_600_000;
const minWaitMs = 60_000;

/** https://discord.com/developers/docs/events/gateway#session-start-limit-object */
interface Limit {
	total: number;
	remaining: number;
	/** In milliseconds. */
	resetAfter: number;
}

export interface SessionStartsOptions {
	/** Where they are counted across restarts; undefined: nowhere. */
	file: string | undefined;
	log: Log;
	/** The wall clock, which may jump. */
	now?: () => number;
}

/** Where an instance counts them. */
export function sessionStartsFile(directory: string): string {
	return join(directory, "logins.json");
}

export class SessionStarts {
	readonly #file: string | undefined;
	readonly #log: Log;
	readonly #now: () => number;
	/** Of the last 24 hours, in epoch milliseconds; undefined until the file was read. */
	#times: number[] | undefined;
	#said: string | undefined;
	#fileFault: string | undefined;

	constructor({ file, log, now = Date.now }: SessionStartsOptions) {
		this.#file = file;
		this.#log = log;
		this.#now = now;
	}

	/** How many there were in the last 24 hours, as far as we know. */
	get count(): number {
		return this.#recent().length;
	}

	/**
	 * Resolves when another one leaves the margin. `ask` gives Discord's answer to GET /gateway/bot; where it rejects, only
	 * our own count limits. `onWait` is told why it waits. Rejects when `signal` aborts.
	 */
	async wait(
		ask: () => Promise<unknown>,
		signal: AbortSignal,
		onWait: (reason: string) => void,
	): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const limit = readLimit(await ask().catch(() => undefined));
			signal.throwIfAborted();
			const waitMs = this.#waitMs(limit);
			if (waitMs <= 0) {
				this.#said = undefined;
				return;
			}
			const until = new Date(this.#now() + waitMs).toISOString();
			const reason = `too many logins to Discord in 24 hours (${this.count} by this bot${limit ? `, ${limit.remaining} of ${limit.total} left` : ""}): after ${limit?.total ?? usualTotal} Discord resets the token, so the bot waits until about ${until}`;
			onWait(reason);
			if (this.#said === undefined)
				this.#log.error("login limit reached, waiting", { reason });
			this.#said = reason;
			await sleep(Math.min(waitMs, maxWaitMs), undefined, { signal });
		}
	}

	/** One is made now. It is written down before. */
	note(): void {
		const kept = this.#read();
		// `--check` may have written, too; where nothing can be written, memory has more.
		if (kept.length > this.#recent().length) this.#times = kept;
		this.#times = [...this.#recent(), this.#now()];
		this.#write(this.#times);
	}

	#waitMs(limit: Limit | undefined): number {
		const total = limit?.total ?? usualTotal;
		// Platforms of other makers may allow very few; one is not left over of one.
		const kept = Math.floor(total * margin);
		if (limit && limit.remaining <= kept)
			return Math.max(limit.resetAfter, minWaitMs);
		const times = this.#recent();
		const max = total - kept;
		if (times.length < max) return 0;
		// When as many have passed as are too many.
		return (times.at(-max) ?? 0) + dayMs - this.#now();
	}

	#recent(): number[] {
		const now = this.#now();
		const times = this.#times ?? this.#read();
		// A clock that was set back must not keep one for longer than a day, whatever restarts the bot meanwhile.
		const isAhead = times.some((time) => time > now);
		this.#times = times
			.map((time) => Math.min(time, now))
			.filter((time) => time > now - dayMs);
		if (isAhead) this.#write(this.#times);
		return this.#times;
	}

	#read(): number[] {
		if (this.#file === undefined) return [];
		try {
			const kept = parseJson(readFileSync(this.#file, "utf8"));
			return Array.isArray(kept) ? kept.filter(Number.isFinite) : [];
		} catch (error) {
			if (codeOf(error) !== "ENOENT") this.#sayFault(error);
			return [];
		}
	}

	#write(times: readonly number[]): void {
		if (this.#file === undefined) return;
		const draft = `${this.#file}.${process.pid}`;
		try {
			mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
			writeFileSync(draft, `${JSON.stringify(times)}\n`);
			// A crash leaves the one or the other.
			renameSync(draft, this.#file);
		} catch (error) {
			this.#sayFault(error);
		}
	}

	/** Once: where nothing can be written, Discord's count is the one that outlives a restart. */
	#sayFault(error: unknown): void {
		const reason = codeOf(error) ?? String(error);
		if (this.#fileFault === undefined)
			this.#log.info("logins are not counted across restarts", { reason });
		this.#fileFault = reason;
	}
}

function codeOf(error: unknown): string | undefined {
	return (error as NodeJS.ErrnoException).code;
}

function readLimit(answer: unknown): Limit | undefined {
	const limit = isObject(answer) ? answer.session_start_limit : undefined;
	if (!isObject(limit)) return undefined;
	const { total, remaining, reset_after: resetAfter } = limit;
	if (typeof total !== "number" || typeof remaining !== "number")
		return undefined;
	return {
		total,
		remaining,
		resetAfter: typeof resetAfter === "number" ? resetAfter : dayMs,
	};
}
