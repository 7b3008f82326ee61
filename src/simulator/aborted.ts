// Waiting for a client that may hang up.

/** Resolves when the signal fires, or at once where it has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (signal.aborted) resolve();
	signal.addEventListener("abort", () => resolve(), { once: true });
	return promise;
}
