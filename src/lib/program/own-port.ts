// Requests to the program that listens on a port of this machine, to find out which one it is.

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { reachableHost } from "./listen.ts";

interface PortResponse {
	status: number | undefined;
	body: string;
}

/** Sends a GET, never through an HTTP proxy. Rejects without a response, and when `signal` aborts. */
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
