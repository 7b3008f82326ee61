// Starts HTTP servers, and reads request bodies within limits of size and time.

import { ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import { within } from "../wait.ts";

export interface ListenOptions {
	hostname: string;
	/** The TCP port to listen on; 0 takes any free port. */
	port: number;
	/** Names of the settings for hostname and port, such as "MCP_PORT", for error messages. */
	settings: { hostname: string; port: string };
	fetch(
		request: Request,
		http: Bun.Server<undefined>,
	): Response | Promise<Response>;
	log: Log;
}

export interface Listener {
	port: number;
	/** URL of the server, `http://host:port`. If the server listens on all interfaces, the host is a loopback address. */
	url: string;
	/**
	 * Stops accepting connections. Resolves when all requests in flight have their responses. After `graceMs`
	 * milliseconds, the remaining requests are cut off.
	 */
	close(graceMs: number): Promise<void>;
}

// Above its limit Bun would answer 413 before the token is checked, so handlers limit the body themselves.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

/**
 * Starts an HTTP server. Throws a ConfigError if it cannot listen on the address, for example because the port is in
 * use.
 */
export function listen(options: ListenOptions): Listener {
	const { hostname, port, settings, log } = options;
	let http: Bun.Server<undefined>;
	try {
		http = Bun.serve({
			hostname,
			port,
			maxRequestBodySize,
			fetch: options.fetch,
			error(error) {
				log.error("could not handle an HTTP request: internal error", {
					error,
				});
				return new Response("Internal error\n", { status: 500 });
			},
			development: false,
			// Two processes that share a port would each get some of the requests.
			reusePort: false,
		});
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? String(error);
		const issue =
			code === "EADDRINUSE"
				? `${settings.port}: ${hostname}:${port} is already in use: stop the program that uses it, or change ${settings.port}`
				: `${settings.hostname}, ${settings.port}: cannot listen on ${hostname}:${port} (${code})`;
		throw new ConfigError("the environment", [issue]);
	}
	const given = http.port ?? port;
	return {
		port: given,
		url: `http://${reachableHost(hostname)}:${given}`,
		async close(graceMs) {
			const cut = setTimeout(() => void http.stop(true), graceMs);
			await http.stop();
			clearTimeout(cut);
		},
	};
}

/**
 * Returns the host name or address at which programs on this machine reach a server that listens on `hostname`, such as
 * "127.0.0.1" for "0.0.0.0".
 */
export function reachableHost(hostname: string): string {
	const host = /^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname;
	return host.includes(":") ? `[${host}]` : host;
}

/** Returns the path of a request's URL; "" if the URL cannot be parsed. */
export function pathOf(request: Request): string {
	return URL.parse(request.url, "http://localhost")?.pathname ?? "";
}

/** Returns a 405 response whose Allow header lists the allowed HTTP methods. */
export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", {
		status: 405,
		headers: { Allow: allow },
	});
}

/**
 * Reads the body of an HTTP request. Resolves with "too long" as soon as the body exceeds `maxBytes`, and with "late"
 * if it is incomplete after `timeoutMs`.
 */
export function readBody(
	request: Request,
	maxBytes: number,
	timeoutMs: number,
): Promise<Uint8Array | "too long" | "late"> {
	return within(timeoutMs, readAtMost(request, maxBytes));
}

async function readAtMost(
	request: Request,
	maxBytes: number,
): Promise<Uint8Array | "too long"> {
	const announced = request.headers.get("content-length");
	if (announced !== null)
		return Number(announced) > maxBytes ? "too long" : request.bytes();
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body) {
		length += chunk.length;
		if (length > maxBytes) return "too long";
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
