// Starts HTTP servers, and reads request bodies within limits of size and time.

import { ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import type { Counter } from "../metrics.ts";
import { within } from "../wait.ts";

/**
 * Seconds for which an HTTP connection may be silent, such as during a long tool call, before Bun closes it. It is the
 * longest limit that Bun supports.
 */
export const maxQuietSeconds = 255;

export interface ListenOptions {
	hostname: string;
	/** The TCP port to listen on; 0 takes any free port. */
	port: number;
	/** Names of the settings for hostname and port, such as "MCP_PORT", for error messages. */
	settings: { hostname: string; port: string };
	fetch(request: Request, http: Bun.Server<undefined>): Response | Promise<Response>;
	log: Log;
	/** Counts the responses by their status. */
	responses?: Counter;
	/**
	 * Whether other processes of the same user may listen on the same port (SO_REUSEPORT), so that one can take over from
	 * another. Each new connection then goes to one of them. All of them must set it. Linux only. Default: false.
	 */
	sharePort?: boolean;
}

export interface Listener {
	port: number;
	/** URL of the server, `http://host:port`. If the server listens on all interfaces, the host is a loopback address. */
	url: string;
	/**
	 * Prepares the server for `close`. It keeps accepting connections and answering requests, until 250 ms after `work` is
	 * done; then the promise resolves. Each of its responses has the header `Connection: close` from now on, so that
	 * clients send their next request over a new connection: to the process that takes over, or to none. Never rejects.
	 */
	drain(work?: Promise<unknown>): Promise<void>;
	/**
	 * Stops accepting connections. Resolves when all requests in flight have their responses. After `graceMs`
	 * milliseconds, the remaining requests are cut off.
	 */
	close(graceMs: number): Promise<void>;
}

// Above its limit Bun would answer 413 before the token is checked, so handlers limit the body themselves.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

const drainMs = 250;

/**
 * Starts an HTTP server. Throws a ConfigError if it cannot listen on the address, for example because the port is in
 * use.
 */
export function listen(options: ListenOptions): Listener {
	const { hostname, port, settings, log, responses } = options;
	let http: Bun.Server<undefined>;
	let isDraining = false;
	const count = (status: number) => {
		responses?.add([String(status)]);
		if (responses && status >= 400) log.debug("answered an HTTP request with an error status", { status });
	};
	const ending = (response: Response): Response => {
		count(response.status);
		if (isDraining) response.headers.set("Connection", "close");
		return response;
	};
	try {
		http = Bun.serve({
			hostname,
			port,
			maxRequestBodySize,
			fetch(request, http) {
				const response = options.fetch(request, http);
				return response instanceof Promise ? response.then(ending) : ending(response);
			},
			error(error) {
				count(500);
				log.error("could not handle an HTTP request: internal error", { error });
				return new Response("Internal error\n", { status: 500 });
			},
			development: false,
			// With this, the kernel divides the connections between the processes that share the port.
			reusePort: options.sharePort ?? false,
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
		async drain(work) {
			isDraining = true;
			await work?.catch(() => {});
			await Bun.sleep(drainMs);
		},
		async close(graceMs) {
			isDraining = true;
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

// Nearly all requests have the same URL.
let lastUrl = "";
let lastPath = "";

/** Returns the path of a request's URL; "" if the URL cannot be parsed. */
export function pathOf(request: Request): string {
	const { url } = request;
	if (url !== lastUrl) {
		lastPath = URL.parse(url, "http://localhost")?.pathname ?? "";
		lastUrl = url;
	}
	return lastPath;
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

async function readAtMost(request: Request, maxBytes: number): Promise<Uint8Array | "too long"> {
	const announced = request.headers.get("content-length");
	if (announced !== null) return Number(announced) > maxBytes ? "too long" : request.bytes();
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
