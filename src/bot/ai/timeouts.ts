// Timeouts of a streaming request: total and idle.

import { raceSignal } from "../../lib/wait.ts";
import type { AiProvider } from "../config/ai-providers.ts";
import { AiError } from "./error.ts";

export type Timeouts = ReturnType<typeof createTimeouts>;

/** Starts the total timeout. `caller` may abort earlier. */
export function createTimeouts(
	{ timeoutMs, idleTimeoutMs }: AiProvider,
	caller: AbortSignal | undefined,
) {
	const controller = new AbortController();
	const own = controller.signal;
	const signal = caller ? AbortSignal.any([caller, own]) : own;
	const startTimeout = (ms: number, text: string) => {
		const detail = `${text} ${ms / 1_000} seconds`;
		const fail = () => controller.abort(new AiError("timeout", { detail }));
		return setTimeout(fail, ms);
	};
	const total = startTimeout(timeoutMs, "no complete answer within");
	return {
		/** Aborts on timeout, when the caller aborts, and on `end`. */
		signal,
		/**
		 * Waits for `work`. Rejects with an AiError on timeout, with the caller's reason when it aborts, and with the result
		 * of `explain` when `work` rejects.
		 */
		async within<T>(work: Promise<T>, explain: (cause: unknown) => Error) {
			const idle = startTimeout(idleTimeoutMs, "no data for");
			try {
				return await raceSignal(work, signal);
			} catch (cause) {
				throw signal.aborted ? signal.reason : explain(cause);
			} finally {
				clearTimeout(idle);
			}
		},
		/** Clears the timers and aborts the request. */
		end() {
			clearTimeout(total);
			controller.abort();
		},
	};
}
