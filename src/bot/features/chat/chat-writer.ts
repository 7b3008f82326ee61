// Writes a growing text to Discord: sends messages as text arrives, edits them at an interval, splits long text. The
// final text is always written.

import { PlatformBusy, PlatformFailure, PlatformTimeout } from "../../../discord/rest/rest.ts";
import { splitAnswer } from "./chat-split.ts";

const firstMessageDelayMs = 250;
const maxFailures = 5;
const maxRetryAfterMs = 15_000;

export interface MessageApi {
	/** Resolves with the content as stored. `index` counts from 0; a second call with the same index sends nothing. */
	send(content: string, index: number): Promise<SentMessage>;
	edit(messageId: string, content: string): Promise<void>;
}

export interface SentMessage {
	id: string;
	content: string;
}

interface WriterOptions {
	api: MessageApi;
	editIntervalMs(): number;
	/** Called for each Discord message of the answer after it is sent. `index` is its position in the answer, from 0. */
	onMessage(message: WrittenMessage, index: number): void;
	signal: AbortSignal;
}

export interface WrittenMessage {
	readonly id: string;
	/** Start index, in UTF-16 code units, of the part of the AI's answer that one Discord message shows. */
	from: number;
	/** End index (exclusive) of the part of the AI's answer that one Discord message shows. */
	to: number;
	content: string;
}

export function createWriter(options: WriterOptions) {
	const { api, signal } = options;
	const written: WrittenMessage[] = [];
	let text = "";
	let isFinal = false;
	let failures = 0;
	let change = Promise.withResolvers<void>();

	function wake(): void {
		change.resolve();
		change = Promise.withResolvers();
	}

	async function until(condition: () => boolean): Promise<void> {
		while (!condition() && !signal.aborted) await change.promise;
	}

	async function pause(ms: number, isOver = () => false): Promise<void> {
		const end = performance.now() + ms;
		const timer = setTimeout(wake, ms);
		await until(() => isOver() || performance.now() >= end);
		clearTimeout(timer);
	}

	const messages = () => splitAnswer(text).filter(({ content }) => content.trim() !== "");

	const isWritten = () => messages().every(({ content }, index) => written[index]?.content === content);

	/** Resolves with the milliseconds to wait before a retry, or 0. Rejects when a retry would not help. */
	async function write(): Promise<number> {
		try {
			for (const [index, { from, to, content }] of messages().entries()) {
				if (signal.aborted) return 0;
				const existing = written[index];
				if (existing) {
					if (existing.content !== content) await api.edit(existing.id, content);
					// The range can change without the content: a line break at a cut is not shown.
					Object.assign(existing, { from, to, content });
				} else {
					const sent = await api.send(content, index);
					// Discord trims white space.
					const isNew = sent.content === content.trim();
					const stored = isNew ? content : sent.content;
					const message = { id: sent.id, from, to, content: stored };
					written.push(message);
					options.onMessage(message, index);
				}
			}
			failures = 0;
			return 0;
		} catch (error) {
			failures += 1;
			const waitMs = retryAfterMs(error);
			if (waitMs === undefined || failures >= maxFailures) throw error;
			return waitMs;
		}
	}

	async function run(): Promise<void> {
		await until(() => isFinal || text !== "");
		await pause(firstMessageDelayMs, () => isFinal);
		for (;;) {
			await until(() => isFinal || !isWritten());
			if (signal.aborted) return;
			const waitMs = await write();
			if (isFinal && isWritten()) return;
			await pause(Math.max(waitMs, options.editIntervalMs()));
		}
	}

	signal.addEventListener("abort", wake, { once: true });
	const done = run().finally(() => signal.removeEventListener("abort", wake));
	// `finish` reports the error.
	done.catch(() => {});

	return {
		written,
		done,
		update(newText: string) {
			text = newText;
			wake();
		},
		finish(finalText: string) {
			text = finalText;
			isFinal = true;
			wake();
			return done;
		},
	};
}

/** Returns the wait in milliseconds before a failed Discord request is retried; undefined if a retry would not help. */
function retryAfterMs(error: unknown): number | undefined {
	if (error instanceof PlatformBusy) return Math.min(error.retryAfterMs, maxRetryAfterMs);
	// Safe to repeat: messages have an enforced nonce, and edits are idempotent.
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure) return 0;
	return undefined;
}
