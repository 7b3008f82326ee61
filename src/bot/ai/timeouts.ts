// How long an AI provider is waited for.

import { AiError } from "./error.ts";

export interface PatienceLimits {
	/** In all. */
	timeoutMs: number;
	/** While nothing comes. */
	silenceMs: number;
}

export interface Patience {
	/** Fires when it has ended, for whatever reason. */
	signal: AbortSignal;
	/**
	 * What comes of `work`. Rejects when it takes too long, with an AiError; when the caller gives up, with their reason;
	 * and with what `explain` makes of it when it fails by itself.
	 */
	within<T>(work: Promise<T>, explain: (cause: unknown) => Error): Promise<T>;
	/** Waits for nothing any more. */
	end(): void;
}

/** Begins to wait. `caller` may give up earlier. */
export function createPatience(
	{ timeoutMs, silenceMs }: PatienceLimits,
	caller: AbortSignal | undefined,
): Patience {
	const controller = new AbortController();
	const { promise: over, reject } = Promise.withResolvers<never>();
	// It may come to an end while nobody waits.
	over.catch(() => {});
	let reason: unknown;
	const stop = (why: unknown) => {
		reason ??= why;
		reject(why);
		controller.abort(why);
	};
	const late = (ms: number, what: string) =>
		stop(new AiError("timeout", { detail: `${what} ${ms / 1_000} seconds` }));
	const givenUp = () => stop(caller?.reason);
	caller?.addEventListener("abort", givenUp, { once: true });
	const total = setTimeout(
		late,
		timeoutMs,
		timeoutMs,
		"no whole answer within",
	);
	return {
		signal: controller.signal,
		async within(work, explain) {
			const timer = setTimeout(late, silenceMs, silenceMs, "not a byte for");
			try {
				return await Promise.race([work, over]);
			} catch (cause) {
				throw reason ?? explain(cause);
			} finally {
				clearTimeout(timer);
			}
		},
		end() {
			clearTimeout(total);
			caller?.removeEventListener("abort", givenUp);
			controller.abort();
		},
	};
}
