// Starts an HTTP server with the options that all our servers share.

import { ConfigError } from "./config.ts";
import type { Log } from "./log.ts";

export interface ListenOptions {
	hostname: string;
	/** 0 takes any free port. */
	port: number;
	/** Names of the two settings, for errors. */
	settings: { hostname: string; port: string };
	fetch(
		request: Request,
		http: Bun.Server<undefined>,
	): Response | Promise<Response>;
	log: Log;
}

export interface Listener {
	/** The port in use. */
	port: number;
	/** `http://host:port`, with a loopback address if it listens on all interfaces. */
	url: string;
	/** Stops accepting connections and resolves when requests in flight are answered, or cut off after `graceMs`. */
	close(graceMs: number): Promise<void>;
}

// Above it Bun answers 413 before authentication. Handlers limit the body themselves.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

/** Starts listening. Throws a ConfigError if the address is not available. */
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
				log.error("request failed", { error });
				return new Response("Internal error\n", { status: 500 });
			},
			development: false,
			// Otherwise two processes could share a port, and each would get some of the requests.
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

/** The host for URLs that reach a server listening on `hostname` from this machine. */
export function reachableHost(hostname: string): string {
	const host = /^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname;
	return host.includes(":") ? `[${host}]` : host;
}

/** The request's path. "" if it cannot be parsed: with an invalid Host header, `request.url` is only a path or invalid. */
export function pathOf(request: Request): string {
	return URL.parse(request.url, "http://localhost")?.pathname ?? "";
}

/** 405 with the allowed methods. */
export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", {
		status: 405,
		headers: { Allow: allow },
	});
}
