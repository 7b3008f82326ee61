// Requests to the program that listens on a port of this machine, to find out which one it is.

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { reachableHost } from "./listen.ts";

/** The response to a request: its HTTP status and its body. */
export interface PortResponse {
	status: number | undefined;
	body: string;
}

/**
 * Returns a function that sends a GET request to the program that listens on this address of this machine, never
 * through an HTTP proxy. The function rejects if no response arrives, and when `signal` is aborted.
 */
export function askPort(
	{ hostname, port }: { hostname: string; port: number },
	signal: AbortSignal,
): (path: string, headers?: Record<string, string>) => Promise<PortResponse> {
	return async (path, headers = {}) => {
		// Not fetch, which might send a token through a proxy.
		const request = get(`http://${reachableHost(hostname)}:${port}${path}`, {
			// Programs of Guildhall always allow loopback names.
			headers: { Host: `localhost:${port}`, ...headers },
			agent: false,
			signal,
		});
		const [response] = (await once(request, "response")) as [IncomingMessage];
		return { status: response.statusCode, body: await text(response) };
	};
}
