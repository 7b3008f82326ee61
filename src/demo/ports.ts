// TCP ports for the demo.

import { createServer } from "node:net";

/** The port (a free one for 0), or the code of the error, such as EADDRINUSE. */
export function tryPort(port: number, address = "127.0.0.1"): Promise<number | string> {
	const { promise, resolve } = Promise.withResolvers<number | string>();
	const probe = createServer()
		.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
		.listen({ port, host: address, exclusive: true }, () => {
			const listening = probe.address();
			const chosen = typeof listening === "object" ? listening?.port : port;
			probe.close(() => resolve(chosen ?? port));
		});
	return promise;
}
