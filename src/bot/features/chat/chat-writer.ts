// An answer that appears on Discord while it is still being given: sent as soon as there is something of it, edited as it
// grows, as often as Discord takes it. What is there at the end is always shown.

import {
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
} from "../../discord/rest/rest.ts";
import { cutIntoPieces } from "./chat-pieces.ts";

/** The first words are waited for this long together: many an answer is whole by then. */
const gatherMs = 250;
/** So many times in a row Discord may fail to take what is new. */
const maxFailures = 5;
const maxPauseMs = 15_000;

/** How messages get to Discord. */
export interface Pen {
	/**
	 * Sends the message with this number, 0 being the first. Sent again, it is the same message, and says what it said.
	 * Gives what Discord has of it.
	 */
	send(
		content: string,
		number: number,
	): Promise<{ id: string; content: string }>;
	edit(messageId: string, content: string): Promise<void>;
}

export interface WriterOptions {
	pen: Pen;
	/** The least time between two looks at what is new. */
	paceMs(): number;
	/** Is told of each message that is new. */
	onMessage(message: Written, number: number): void;
	/** Ends it where it is. */
	signal: AbortSignal;
}

/** A message of an answer. */
export interface Written {
	readonly id: string;
	/** The part of the answer that it shows. */
	from: number;
	to: number;
	/** What it says. */
	shown: string;
}

export interface Writer {
	/** In the order of the answer. */
	readonly written: readonly Written[];
	/** The text so far. */
	update(text: string): void;
	/** All of it. Resolves when it is shown, or the signal has ended it; rejects with what keeps it from being shown. */
	finish(text: string): Promise<void>;
	/** As what `finish` gives. */
	readonly done: Promise<void>;
}

export function createWriter(options: WriterOptions): Writer {
	const { pen, signal } = options;
	const written: Written[] = [];
	let text = "";
	let ended = false;
	let failures = 0;
	let news = Promise.withResolvers<void>();

	function wake(): void {
		news.resolve();
		news = Promise.withResolvers();
	}

	async function until(condition: () => boolean): Promise<void> {
		while (!condition() && !signal.aborted) await news.promise;
	}

	/** For so long; until the end of it all at the latest. */
	async function pause(ms: number, isOver = () => false): Promise<void> {
		const end = performance.now() + ms;
		const timer = setTimeout(wake, ms);
		await until(() => isOver() || performance.now() >= end);
		clearTimeout(timer);
	}

	/** The parts of the text that say something. */
	const pieces = () =>
		cutIntoPieces(text).filter(({ shown }) => shown.trim() !== "");

	const isShown = () =>
		pieces().every(({ shown }, number) => written[number]?.shown === shown);

	/** Shows what is new. Gives how long to wait where Discord did not take it, and may do so later. */
	async function show(): Promise<number> {
		try {
			for (const [number, { from, to, shown }] of pieces().entries()) {
				if (signal.aborted) return 0;
				const there = written[number];
				if (there) {
					if (there.shown !== shown) await pen.edit(there.id, shown);
					// Its part may end elsewhere all the same: with the end of a line that nothing shows.
					Object.assign(there, { from, to, shown });
				} else {
					const sent = await pen.send(shown, number);
					// Discord takes white space off the ends.
					const isNew = sent.content === shown.trim();
					const says = isNew ? shown : sent.content;
					const message = { id: sent.id, from, to, shown: says };
					written.push(message);
					options.onMessage(message, number);
				}
			}
			failures = 0;
			return 0;
		} catch (error) {
			failures += 1;
			const waitMs = waitAfter(error);
			if (waitMs === undefined || failures >= maxFailures) throw error;
			return waitMs;
		}
	}

	async function run(): Promise<void> {
		const isOver = () => ended;
		await until(() => ended || text !== "");
		await pause(gatherMs, isOver);
		for (;;) {
			await until(() => ended || !isShown());
			if (signal.aborted) return;
			const waitMs = await show();
			if (ended && isShown()) return;
			await pause(Math.max(waitMs, options.paceMs()));
		}
	}

	signal.addEventListener("abort", wake, { once: true });
	const done = run().finally(() => signal.removeEventListener("abort", wake));
	// Whoever finishes is told.
	done.catch(() => {});

	return {
		...{ written, done },
		update(given) {
			text = given;
			wake();
		},
		finish(given) {
			text = given;
			ended = true;
			wake();
			return done;
		},
	};
}

/** How long to wait before Discord is asked again; undefined where that would not help. */
function waitAfter(error: unknown): number | undefined {
	if (error instanceof PlatformBusy)
		return Math.min(error.retryAfterMs, maxPauseMs);
	// What was sent can be sent again: messages by their nonce, edits by what they say.
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
		return 0;
	return undefined;
}
