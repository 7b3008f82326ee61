import { createServer } from "node:net";

/**
 * A port that nothing listens on. It is below the ephemeral ports, so that it is still free when a killed server starts
 * again.
 */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = 15_000 + Math.floor(Math.random() * 17_000);
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const probe = createServer()
			.once("error", () => resolve(false))
			.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
		if (await promise) return port;
	}
}
