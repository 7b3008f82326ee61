// Timeouts of a streaming request: total and idle.

import { raceSignal } from "../lib/wait.ts";
import { AiError } from "./error.ts";
import type { AiProvider } from "./providers.ts";

export type Timeouts = ReturnType<typeof createTimeouts>;

/**
 * Starts the timeout of a whole request to an AI provider. Returns the request's abort signal, a function that waits
 * for data with the idle timeout, and a function that ends the request. The signal `caller` also aborts the request.
 */
export function createTimeouts({ timeoutMs, idleTimeoutMs }: AiProvider, caller: AbortSignal | undefined) {
	const controller = new AbortController();
	const own = controller.signal;
	const signal = caller ? AbortSignal.any([caller, own]) : own;
	const startTimeout = (ms: number, text: string) => {
		const detail = `${text} ${ms / 1_000} seconds`;
		const fail = () => controller.abort(new AiError("timeout", { detail }));
		return setTimeout(fail, ms);
	};
	const total = startTimeout(timeoutMs, "the AI provider sent no complete answer within");
	return {
		signal,
		async within<T>(work: Promise<T>, explain: (cause: unknown) => Error) {
			const idle = startTimeout(idleTimeoutMs, "the AI provider sent no data for");
			try {
				return await raceSignal(work, signal);
			} catch (cause) {
				throw signal.aborted ? signal.reason : explain(cause);
			} finally {
				clearTimeout(idle);
			}
		},
		end() {
			clearTimeout(total);
			controller.abort();
		},
	};
}
