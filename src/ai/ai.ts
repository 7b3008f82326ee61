// AI for features: several providers with failover and a circuit breaker for each.

import { doubledMs } from "../lib/back-off.ts";
import type { Log } from "../lib/log.ts";
import type { Registry } from "../lib/metrics.ts";
import { type AnswerEnd, type CompletionRequest, complete } from "./completion.ts";
import { AiError, type AiErrorKind } from "./error.ts";
import { type AiProvider, type ApiKeys, chooseProviders } from "./providers.ts";
import type { AiSettings } from "./settings.ts";
import type { AiMessage } from "./tool-calls.ts";

export type { AnswerEnd, Finish } from "./completion.ts";
export type { AiMessage, ToolCall, ToolSpec } from "./tool-calls.ts";

export interface AnswerOptions extends Omit<CompletionRequest, "messages"> {
	/** Called when the AI's answer has ended. Not called if it fails. With the finish "tools" it may have no text. */
	onEnd?(end: AnswerEnd): void;
}

export interface Ai {
	readonly providers: readonly string[];
	/** Tries the providers in order; at most 32,000 characters. Throws an AiError. Ending the iteration aborts it. */
	answer(messages: readonly AiMessage[], options?: AnswerOptions): AsyncIterable<string>;
	/** Also if it was cut at the maximum length. Throws an AiError if there is none, or the connection breaks. */
	complete(messages: readonly AiMessage[], options?: AnswerOptions): Promise<string>;
}

interface AiOptions {
	settings: AiSettings;
	apiKeys: ApiKeys;
	log: Log;
	registry?: Registry | undefined;
	/** Clock for cooldowns: returns milliseconds that never decrease. Defaults to `performance.now`. */
	now?: () => number;
}

const maxInFlight = 32;

const second = 1_000;
const minute = 60 * second;
const cooldownRangeMs = [2 * second, 2 * minute] as const;
const keyCooldownMs = 5 * minute;
const rateLimitCooldownMs = 15 * second;
const maxRateLimitCooldownMs = 10 * minute;

/** Creates the client for the configured AI providers. Returns undefined if no provider is configured. */
export function createAi({
	settings,
	apiKeys,
	log,
	registry,
	now = () => performance.now(),
}: AiOptions): Ai | undefined {
	const backends = chooseProviders(settings, apiKeys).map((provider) => new Backend(provider, now));
	if (backends.length === 0) return undefined;
	const requests = registry?.counter(
		"guildhall_bot_ai_requests_total",
		"Requests to AI providers by provider and outcome.",
		["provider", "outcome"],
	);
	const tokens = registry?.counter(
		"guildhall_bot_ai_tokens_total",
		"Tokens of answers, as far as AI providers report them, by provider and kind: input or output.",
		["provider", "kind"],
	);
	let inFlight = 0;

	async function* askProvider(backend: Backend, messages: readonly AiMessage[], { onEnd, ...request }: AnswerOptions) {
		const { name } = backend.provider;
		let hasStarted = false;
		// Stays so if the reader stops early.
		let outcome: AiErrorKind | "answered" | "abandoned" = "abandoned";
		try {
			for await (const event of complete(backend.provider, { ...request, messages })) {
				if ("end" in event) {
					if (!hasStarted && event.end.finish !== "tools")
						throw new AiError("nonsense", {
							detail: `the AI provider sent an empty answer (finish reason: ${event.end.finish})`,
						});
					backend.recover();
					outcome = "answered";
					for (const [kind, count] of Object.entries(event.end.usage ?? {})) tokens?.add([name, kind], count);
					onEnd?.(event.end);
					return;
				}
				const text = hasStarted ? event.text : event.text.trimStart();
				if (text === "") continue;
				if (!hasStarted) backend.recover();
				hasStarted = true;
				yield text;
			}
		} catch (error) {
			if (request.signal?.aborted) throw request.signal.reason;
			if (!(error instanceof AiError)) throw error;
			const { kind, details } = error;
			outcome = kind;
			const cooldownMs = backend.fail(error);
			log.warn("request to an AI provider failed", {
				provider: name,
				kind,
				reason: details.detail ?? "",
				...(hasStarted && { part_of_answer_sent: true }),
				...(cooldownMs > 0 && { cooldown_seconds: Math.ceil(cooldownMs / second) }),
			});
			throw new AiError(kind, { ...details, midway: hasStarted });
		} finally {
			requests?.add([name, outcome]);
		}
	}

	async function* answer(messages: readonly AiMessage[], options: AnswerOptions = {}): AsyncGenerator<string> {
		options.signal?.throwIfAborted();
		if (inFlight >= maxInFlight) throw new AiError("busy");
		inFlight += 1;
		let failure: AiError | undefined;
		try {
			for (const backend of backends.filter(({ cooldownMs }) => cooldownMs <= 0))
				try {
					yield* askProvider(backend, messages, options);
					return;
				} catch (error) {
					if (!(error instanceof AiError) || error.midway) throw error;
					failure ??= error;
				}
			throw failure ?? cooldownError(backends);
		} finally {
			inFlight -= 1;
		}
	}

	return {
		providers: backends.map(({ provider }) => provider.name),
		answer,
		async complete(messages, options) {
			let answerText = "";
			for await (const text of answer(messages, options)) answerText += text;
			return answerText.trimEnd();
		},
	};
}

class Backend {
	#failures = 0;
	#cooldownUntil = Number.NEGATIVE_INFINITY;
	lastKind: AiErrorKind = "unavailable";

	constructor(
		readonly provider: AiProvider,
		private readonly now: () => number,
	) {}

	get cooldownMs(): number {
		return this.#cooldownUntil - this.now();
	}

	recover(): void {
		this.#failures = 0;
	}

	fail({ kind, details }: AiError): number {
		// The request is at fault, not the provider.
		if (kind === "refused" || kind === "rejected") return 0;
		// Concurrent requests fail together and count as one failure.
		if (this.cooldownMs <= 0) this.#failures += 1;
		this.lastKind = kind;
		const ms = this.#cooldownFor(kind, details.retryAfterMs);
		this.#cooldownUntil = Math.max(this.#cooldownUntil, this.now() + ms);
		return this.cooldownMs;
	}

	#cooldownFor(kind: AiErrorKind, retryAfterMs = rateLimitCooldownMs): number {
		if (kind === "key") return keyCooldownMs;
		if (kind === "limited") return Math.min(Math.max(retryAfterMs, second), maxRateLimitCooldownMs);
		return doubledMs(this.#failures - 1, cooldownRangeMs);
	}
}

function cooldownError(backends: readonly Backend[]): AiError {
	const [next] = backends.toSorted((a, b) => a.cooldownMs - b.cooldownMs);
	return new AiError(next?.lastKind ?? "none", {
		detail: "all AI providers are in cooldown after failures",
		retryAfterMs: next?.cooldownMs,
	});
}
