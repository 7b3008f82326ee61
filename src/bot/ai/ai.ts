// AI for features: several providers with failover and a circuit breaker for each.

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
	/** Author of a user message. It is put before the text, as few providers support a field for it. */
	name?: string;
}

export interface AnswerOptions {
	/** Aborts the request. Its reason is then thrown. */
	signal?: AbortSignal | undefined;
	/** Maximum answer length, if lower than the provider's. */
	maxTokens?: number | undefined;
	/** Called at the end of an answer, unless it broke off. */
	onEnd?(finish: Finish): void;
}

export interface Ai {
	/** Provider names in failover order. */
	readonly providers: readonly string[];
	/**
	 * Streams an answer of at most 32,000 characters. Throws an AiError if there is no answer, with `midway` if it broke off.
	 * Ending the iteration aborts the request.
	 */
	answer(
		messages: readonly AiMessage[],
		options?: AnswerOptions,
	): AsyncIterable<string>;
	/** Returns a complete answer. Throws an AiError if it breaks off; an answer of the maximum length counts as complete. */
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
	/** A monotonic clock, in milliseconds. */
	now?: () => number;
}

/** Maximum number of concurrent answers. */
const maxInFlight = 32;

const second = 1_000;
const minute = 60 * second;
/** Cooldown after a failure: first and maximum. It doubles with each failure in a row. */
const firstCooldownMs = 2 * second;
const maxCooldownMs = 2 * minute;
/** Cooldown after an error that only the operator can fix. */
const keyCooldownMs = 5 * minute;
/** Cooldown after a rate limit without Retry-After. */
const rateLimitCooldownMs = 15 * second;
const maxRateLimitCooldownMs = 10 * minute;

/** Returns undefined if no provider is configured. */
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

	/** Streams an answer from one provider, without leading white space. */
	async function* askProvider(
		backend: Backend,
		messages: readonly AiMessage[],
		{ signal, maxTokens, onEnd }: AnswerOptions,
	): AsyncGenerator<string> {
		const { name } = backend.provider;
		let hasStarted = false;
		// Stays so if the reader stops early.
		let outcome: AiErrorKind | "answered" | "abandoned" = "abandoned";
		try {
			const request = { messages: messages.map(toWire), maxTokens, signal };
			for await (const event of complete(backend.provider, request)) {
				if ("finish" in event) {
					if (!hasStarted)
						throw new AiError("nonsense", {
							detail: `an empty answer (${event.finish})`,
						});
					outcome = "answered";
					onEnd?.(event.finish);
					return;
				}
				const text = hasStarted ? event.text : event.text.trimStart();
				if (text === "") continue;
				if (!hasStarted) backend.recover();
				hasStarted = true;
				yield text;
			}
		} catch (error) {
			if (signal?.aborted) throw signal.reason;
			if (!(error instanceof AiError)) throw error;
			const { kind, details } = error;
			outcome = kind;
			const cooldownMs = backend.fail(error);
			log.warn("AI provider failed", {
				provider: name,
				kind,
				reason: details.detail ?? "",
				...(hasStarted && { midway: true }),
				...(cooldownMs > 0 && {
					cooldown_seconds: Math.ceil(cooldownMs / second),
				}),
			});
			throw new AiError(kind, { ...details, midway: hasStarted });
		} finally {
			requests?.add([name, outcome]);
		}
	}

	async function* askInOrder(
		messages: readonly AiMessage[],
		options: AnswerOptions,
	): AsyncGenerator<string> {
		let failure: AiError | undefined;
		const ready = backends.filter(({ cooldownMs }) => cooldownMs <= 0);
		for (const backend of ready)
			try {
				yield* askProvider(backend, messages, options);
				return;
			} catch (error) {
				if (!(error instanceof AiError) || error.midway) throw error;
				failure ??= error;
			}
		throw failure ?? cooldownError(backends);
	}

	async function* answer(
		messages: readonly AiMessage[],
		options: AnswerOptions = {},
	): AsyncGenerator<string> {
		options.signal?.throwIfAborted();
		if (inFlight >= maxInFlight) throw new AiError("busy");
		inFlight += 1;
		try {
			yield* askInOrder(messages, options);
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

/** A provider with its circuit breaker. */
class Backend {
	#failures = 0;
	#cooldownUntil = Number.NEGATIVE_INFINITY;
	/** The latest error. */
	lastKind: AiErrorKind = "unavailable";

	constructor(
		readonly provider: AiProvider,
		private readonly now: () => number,
	) {}

	/** Remaining cooldown in milliseconds; not positive if there is none. */
	get cooldownMs(): number {
		return this.#cooldownUntil - this.now();
	}

	recover(): void {
		this.#failures = 0;
	}

	/** Starts the cooldown for an error. Returns its length in milliseconds. */
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
		if (kind === "limited")
			return Math.min(Math.max(retryAfterMs, second), maxRateLimitCooldownMs);
		return doubledMs(this.#failures - 1, [firstCooldownMs, maxCooldownMs]);
	}
}

/** Returns the error while all providers are in cooldown: that of the one available next. */
function cooldownError(backends: readonly Backend[]): AiError {
	const [next] = backends.toSorted((a, b) => a.cooldownMs - b.cooldownMs);
	return new AiError(next?.lastKind ?? "none", {
		detail: "all providers are in cooldown",
		retryAfterMs: next?.cooldownMs,
	});
}

function toWire({ role, content, name }: AiMessage) {
	const prefix =
		role === "user" && name !== undefined ? `${oneLine(name)}: ` : "";
	return { role, content: prefix + content };
}
