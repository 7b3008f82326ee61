// TCP ports for programs that need to know them before they start.

import { createServer } from "node:net";

/** The port, or the code of the error, such as EADDRINUSE. */
export function tryPort(port: number, address = "127.0.0.1"): Promise<number | string> {
	const { promise, resolve } = Promise.withResolvers<number | string>();
	const probe = createServer()
		.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
		.listen({ port, host: address, exclusive: true }, () => {
			probe.close(() => resolve(port));
		});
	return promise;
}

/**
 * A port that nothing listens on. It is below the ephemeral ports (Linux: from 32,768, others: from 49,152), so that no
 * other program gets it by chance before a server listens there.
 */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = await tryPort(15_000 + Math.floor(Math.random() * 17_000));
		if (typeof port === "number") return port;
	}
}
