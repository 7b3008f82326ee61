// The AI that features ask: several providers behind one, each of which is asked when those before it cannot answer.

import { doubledMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import {
	type AiProvider,
	type AiSettings,
	type ApiKeys,
	chooseProviders,
} from "../config/ai-providers.ts";
import { oneLine } from "../discord/text.ts";
import { complete, type Finish } from "./completion.ts";
import { AiError, type AiErrorKind } from "./error.ts";

export interface AiMessage {
	role: "system" | "user" | "assistant";
	content: string;
	/** Who wrote it. A user's stands before the text, as one line: providers that know a field for it are few. */
	name?: string;
}

/** How an answer ended. */
export interface AnswerEnd {
	provider: string;
	/** "length": it was as long as it may be, and is not whole. */
	finish: Finish;
}

export interface AnswerOptions {
	/** Gives up; its reason is then thrown. */
	signal?: AbortSignal | undefined;
	/** The longest answer, where that is less than the provider's own. */
	maxTokens?: number | undefined;
	/** Is told how a whole answer ended, after its last piece. */
	onEnd?(end: AnswerEnd): void;
}

export interface Ai {
	/** Their names, in the order in which they are asked. */
	readonly providers: readonly string[];
	/**
	 * The pieces of an answer, as they come: some text, of at most 32,000 characters. Throws an AiError when there is
	 * none; one with `midway` when there is no more of it. Whoever stops reading ends the request.
	 */
	answer(
		messages: readonly AiMessage[],
		options?: AnswerOptions,
	): AsyncIterable<string>;
	/** A whole answer at once; an AiError where it is not whole. One that is as long as it may be counts as whole. */
	complete(
		messages: readonly AiMessage[],
		options?: AnswerOptions,
	): Promise<string>;
}

export interface AiOptions {
	/** [ai] of config.toml. */
	settings: AiSettings;
	apiKeys: ApiKeys;
	log: Log;
	registry?: Registry | undefined;
	/** The monotonic clock, in milliseconds. */
	now?: () => number;
}

/** Answers that are being waited for at once: more would be of use to nobody. */
const maxInFlight = 32;

const second = 1_000;
const minute = 60 * second;
/** A provider that failed is left alone this long, doubled with each failure in a row. */
const firstRestMs = 2 * second;
const maxRestMs = 2 * minute;
/** What people have to see to first. */
const keyRestMs = 5 * minute;
/** Where a provider does not say how long. */
const limitedRestMs = 15 * second;
const maxLimitedRestMs = 10 * minute;

/** Those that have nothing to do with the state of the provider: the next request may be answered. */
const harmless: ReadonlySet<AiErrorKind> = new Set(["refused", "rejected"]);

/** Undefined where no provider can be asked. */
export function createAi({
	settings,
	apiKeys,
	log,
	registry,
	now = () => performance.now(),
}: AiOptions): Ai | undefined {
	const backends = chooseProviders(settings, apiKeys).map(
		(provider) => new Backend(provider, now),
	);
	if (backends.length === 0) return undefined;
	const requests = registry?.counter(
		"guildhall_bot_ai_requests_total",
		"Requests to AI providers by provider and outcome.",
		["provider", "outcome"],
	);
	let inFlight = 0;

	/** Asks one. Yields nothing, or text that begins with more than white space. */
	async function* ask(
		backend: Backend,
		messages: readonly AiMessage[],
		{ signal, maxTokens, onEnd }: AnswerOptions,
	): AsyncGenerator<string> {
		const { name } = backend.provider;
		let begun = false;
		// Until something else has come of it: whoever reads may stop at any piece.
		let outcome: AiErrorKind | "answered" | "abandoned" = "abandoned";
		try {
			const request = { messages: messages.map(onWire), maxTokens, signal };
			for await (const event of complete(backend.provider, request)) {
				if ("finish" in event) {
					if (!begun)
						throw new AiError("nonsense", {
							detail: `an empty answer (${event.finish})`,
						});
					outcome = "answered";
					onEnd?.({ provider: name, finish: event.finish });
					return;
				}
				const text = begun ? event.text : event.text.trimStart();
				if (text === "") continue;
				if (!begun) backend.recover();
				begun = true;
				yield text;
			}
		} catch (error) {
			if (signal?.aborted) throw signal.reason;
			if (!(error instanceof AiError)) throw error;
			const { kind, details } = error;
			outcome = kind;
			const restMs = backend.fail(error);
			log.warn("an AI provider failed", {
				provider: name,
				kind,
				reason: details.detail ?? "",
				...(begun && { midway: true }),
				...(restMs > 0 && { rest_seconds: Math.ceil(restMs / second) }),
			});
			throw new AiError(kind, { ...details, midway: begun });
		} finally {
			requests?.add([name, outcome]);
		}
	}

	async function* askAll(
		messages: readonly AiMessage[],
		options: AnswerOptions,
	): AsyncGenerator<string> {
		let failure: AiError | undefined;
		const ready = backends.filter(({ restMs }) => restMs <= 0);
		for (const backend of ready)
			try {
				yield* ask(backend, messages, options);
				return;
			} catch (error) {
				if (!(error instanceof AiError) || error.midway) throw error;
				failure ??= error;
			}
		throw failure ?? restError(backends);
	}

	async function* answer(
		messages: readonly AiMessage[],
		options: AnswerOptions = {},
	): AsyncGenerator<string> {
		options.signal?.throwIfAborted();
		if (inFlight >= maxInFlight) throw new AiError("busy");
		inFlight += 1;
		try {
			yield* askAll(messages, options);
		} finally {
			inFlight -= 1;
		}
	}

	return {
		providers: backends.map(({ provider }) => provider.name),
		answer,
		async complete(messages, options) {
			let whole = "";
			for await (const text of answer(messages, options)) whole += text;
			return whole.trimEnd();
		},
	};
}

/** A provider, and whether it is left alone for now. */
class Backend {
	#failures = 0;
	#restUntil = Number.NEGATIVE_INFINITY;
	/** What it rests for. */
	lastKind: AiErrorKind = "unavailable";

	constructor(
		readonly provider: AiProvider,
		private readonly now: () => number,
	) {}

	/** How long it is left alone from now on; not at all where that is not positive. */
	get restMs(): number {
		return this.#restUntil - this.now();
	}

	recover(): void {
		this.#failures = 0;
	}

	/** Returns how long it rests. */
	fail({ kind, retryAfterMs }: AiError): number {
		if (harmless.has(kind)) return 0;
		// Requests that were under way together fail together: that is one failure.
		if (this.restMs <= 0) this.#failures += 1;
		this.lastKind = kind;
		const rest = this.#restFor(kind, retryAfterMs);
		this.#restUntil = Math.max(this.#restUntil, this.now() + rest);
		return this.restMs;
	}

	#restFor(kind: AiErrorKind, retryAfterMs = limitedRestMs): number {
		if (kind === "key") return keyRestMs;
		if (kind === "limited")
			return Math.min(Math.max(retryAfterMs, second), maxLimitedRestMs);
		return doubledMs(this.#failures - 1, [firstRestMs, maxRestMs]);
	}
}

/** What is said while all rest: what the first of them to be back rests for. */
function restError(backends: readonly Backend[]): AiError {
	const [next] = backends.toSorted((a, b) => a.restMs - b.restMs);
	return new AiError(next?.lastKind ?? "none", {
		detail: "all providers rest",
		retryAfterMs: next?.restMs,
	});
}

function onWire({ role, content, name }: AiMessage) {
	return {
		role,
		content:
			role === "user" && name !== undefined
				? `${oneLine(name)}: ${content}`
				: content,
	};
}
