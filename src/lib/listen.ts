// Starts HTTP servers, and reads request bodies within limits of size and time.

import { ConfigError } from "./config.ts";
import type { Log } from "./log.ts";
import { within } from "./wait.ts";

export interface ListenOptions {
	hostname: string;
	/** The port; 0 takes any free one. */
	port: number;
	/** Names of the settings for hostname and port, for errors. */
	settings: { hostname: string; port: string };
	fetch(
		request: Request,
		http: Bun.Server<undefined>,
	): Response | Promise<Response>;
	log: Log;
}

export interface Listener {
	port: number;
	/** `http://host:port`, with a loopback address if it listens on all interfaces. */
	url: string;
	/** Stops accepting connections. Resolves when all requests in flight are answered, or cut off after `graceMs`. */
	close(graceMs: number): Promise<void>;
}

// Above its limit Bun would answer 413 before the token is checked, so handlers limit the body themselves.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

/** Starts an HTTP server. Throws a ConfigError if the address is not available. */
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
				log.error("internal error in a request", { error });
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

/** The host for URLs that reach, from this machine, a server that listens on `hostname`. */
export function reachableHost(hostname: string): string {
	const host = /^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname;
	return host.includes(":") ? `[${host}]` : host;
}

/** The path of a request. "" if it cannot be parsed: with an invalid Host header, `request.url` is only a path or invalid. */
export function pathOf(request: Request): string {
	return URL.parse(request.url, "http://localhost")?.pathname ?? "";
}

/** A 405 response that lists the allowed methods. */
export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", {
		status: 405,
		headers: { Allow: allow },
	});
}

/**
 * Reads the body of a request. Resolves with "too long" as soon as `maxBytes` is exceeded, with "late" after `timeoutMs`.
 * Without these limits a client could exhaust memory or hold a connection.
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
