// Requests to the program that listens on a port of this machine, to find out which one it is.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { reachableHost } from "./listen.ts";

interface PortResponse {
	status: number | undefined;
	body: string;
}

/** Sends a GET, or a POST with a body, never through an HTTP proxy. Rejects without a response, and when `signal` aborts. */
export function askPort(
	{ hostname, port }: { hostname: string; port: number },
	signal: AbortSignal,
): (path: string, headers?: Record<string, string>, body?: string) => Promise<PortResponse> {
	return async (path, headers = {}, body = undefined) => {
		// Not fetch, which might send a token through a proxy.
		const asked = request(`http://${reachableHost(hostname)}:${port}${path}`, {
			method: body === undefined ? "GET" : "POST",
			// Programs of Guildhall always allow loopback names.
			headers: { Host: `localhost:${port}`, ...headers },
			agent: false,
			signal,
		});
		const responded = once(asked, "response");
		asked.end(body);
		const [response] = (await responded) as [IncomingMessage];
		return { status: response.statusCode, body: await text(response) };
	};
}
