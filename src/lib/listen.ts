// Listening for HTTP, with what every server of ours asks of Bun.serve.

import { ConfigError } from "./config.ts";
import type { Log } from "./log.ts";

export interface ListenOptions {
	hostname: string;
	/** 0 asks the system for a free one. */
	port: number;
	/** What the operator calls the two, for the issue when they cannot be had. */
	settings: { hostname: string; port: string };
	fetch(
		request: Request,
		http: Bun.Server<undefined>,
	): Response | Promise<Response>;
	log: Log;
}

export interface Listener {
	/** The port that was given. */
	port: number;
	/** `http://host:port`, with a loopback name where it listens on all interfaces. */
	url: string;
	/** Accepts nothing more, and resolves when what is in flight is answered; after `graceMs` that is cut off. */
	close(graceMs: number): Promise<void>;
}

// Bun answers 413 by itself above this, before we have looked at who asks. Who reads a body counts it.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

/** Starts listening. Throws a ConfigError when the address cannot be had. */
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
			// Outside development Bun shares a port that another process has: each would get some of the requests.
			reusePort: false,
		});
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? String(error);
		const issue =
			code === "EADDRINUSE"
				? `${settings.port}: ${hostname}:${port} is already in use: stop the program that has it, or give ${settings.port} another value`
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

/** Where what listens on `hostname` can be reached from this machine, as it stands in a URL. */
export function reachableHost(hostname: string): string {
	const host = /^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname;
	return host.includes(":") ? `[${host}]` : host;
}

/** The path that is asked for. Where the Host header is none, `request.url` is a path or cannot be parsed: then it is "". */
export function pathOf(request: Request): string {
	return URL.parse(request.url, "http://localhost")?.pathname ?? "";
}

/** 405, naming what is allowed. */
export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", {
		status: 405,
		headers: { Allow: allow },
	});
}
