// Starts HTTP servers, and reads request bodies within limits of size and time.

import { ConfigError } from "../config.ts";
import type { Log } from "../log.ts";
import type { Counter } from "../metrics.ts";
import { within } from "../wait.ts";

/** Seconds an HTTP connection may be silent, such as during a long tool call. Bun's longest limit. */
export const maxQuietSeconds = 255;

export interface ListenOptions {
	hostname: string;
	/** 0 takes any free port. */
	port: number;
	settings: { hostname: string; port: string };
	fetch(request: Request, http: Bun.Server<undefined>): Response | Promise<Response>;
	log: Log;
	responses?: Counter;
	/** Processes of the same user share the port (SO_REUSEPORT) to take over from another. All must set it. Linux only. */
	sharePort?: boolean;
}

// Above its limit Bun would answer 413 before the token is checked, so handlers limit the body themselves.
const maxRequestBodySize = Number.MAX_SAFE_INTEGER;

const drainMs = 250;

/** ConfigError if it cannot listen on the address, for example because the port is in use. */
export function listen(options: ListenOptions) {
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
		/** A loopback address if the server listens on all interfaces. */
		url: `http://${reachableHost(hostname)}:${given}`,
		/**
		 * Keeps answering until 250 ms after `work` is done, with `Connection: close`, so that clients send their next request
		 * to the process that takes over. Never rejects.
		 */
		async drain(work?: Promise<unknown>): Promise<void> {
			isDraining = true;
			await work?.catch(() => {});
			await Bun.sleep(drainMs);
		},
		/** Resolves when all requests have their responses; cuts off the rest after `graceMs` milliseconds. */
		async close(graceMs: number): Promise<void> {
			isDraining = true;
			const cut = setTimeout(() => void http.stop(true), graceMs);
			await http.stop();
			clearTimeout(cut);
		},
	};
}

/** The address for programs on this machine, such as "127.0.0.1" for "0.0.0.0". */
export function reachableHost(hostname: string): string {
	const host = /^(0\.0\.0\.0|::)$/.test(hostname) ? "127.0.0.1" : hostname;
	return host.includes(":") ? `[${host}]` : host;
}

// Nearly all requests have the same URL.
let lastUrl = "";
let lastPath = "";

/** "" if the URL cannot be parsed. */
export function pathOf(request: Request): string {
	const { url } = request;
	if (url !== lastUrl) {
		lastPath = URL.parse(url, "http://localhost")?.pathname ?? "";
		lastUrl = url;
	}
	return lastPath;
}

export function methodNotAllowed(allow: string): Response {
	return new Response("Method Not Allowed\n", { status: 405, headers: { Allow: allow } });
}

/** "too long" as soon as it exceeds `maxBytes`, "late" if it is incomplete after `timeoutMs`. */
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
	return bytesAtMost(request.body, maxBytes);
}

/** "too long" as soon as it exceeds `maxBytes`. */
export async function bytesAtMost(
	body: ReadableStream<Uint8Array> | null,
	maxBytes: number,
): Promise<Buffer | "too long"> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of body ?? []) {
		length += chunk.length;
		if (length > maxBytes) return "too long";
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
