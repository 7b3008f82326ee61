// A keep-alive HTTP/1.1 client for one `http:` URL (https://www.rfc-editor.org/rfc/rfc9112) with a bounded pool of
// connections. A failed request says how far it got. No request is written twice.

import type { ByteBudget } from "../../lib/byte-budget.ts";
import { abortFailure, type Dispatch, HttpFailure, type HttpRequest } from "../../lib/http.ts";
import { principalHeader } from "../../lib/principal.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { Connection, Exchange } from "./http-connection.ts";
import { fieldName, type ParserOptions } from "./response-parser.ts";

const defaults = { idleTimeoutMs: 4_000, maxHeadBytes: 16 * 1_024, maxBodyBytes: 16 * 1_024 * 1_024 };

/** Shared: with a cache for each client, calls to many bots would find theirs in no processor cache. */
const responseHeads: ParserOptions["heads"] = new Map();

export interface HttpClientOptions {
	/** With the scheme `http:` and the path. */
	url: string;
	/** Further requests wait in order. */
	maxConnections: number;
	/** Milliseconds; shorter than the timeouts of servers: 5 s (Node) and 10 s (Bun). Default 4,000. */
	idleTimeoutMs?: number;
	/** Status line and headers, and also trailers. Default 16 KiB. */
	maxHeadBytes?: number;
	/** With the chunk headers of chunked encoding. Default 16 MiB. */
	maxBodyBytes?: number;
	/** For partly received responses, shared with other clients. */
	budget?: ByteBudget | undefined;
}

/** The constructor throws a TypeError unless the URL is an `http:` URL. */
export class HttpClient {
	readonly #url: URL;
	readonly #parserOptions: ParserOptions;
	readonly #options: HttpClientOptions & typeof defaults;
	readonly #permits: Semaphore;
	readonly #connections = new Set<Connection>();
	readonly #idle: Connection[] = [];
	readonly #requestHeads = new WeakMap<HttpRequest["headers"], string>();
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;

	constructor(options: HttpClientOptions) {
		this.#options = { ...defaults, ...options };
		const { url, maxConnections, maxHeadBytes } = this.#options;
		this.#url = new URL(url);
		if (this.#url.protocol !== "http:") throw new TypeError(`expected an http: URL, received ${this.#url.protocol}`);
		this.#parserOptions = { maxHeadBytes, heads: responseHeads };
		this.#permits = new Semaphore({ max: maxConnections });
	}

	/** Idle, busy and being opened. */
	get open(): number {
		return this.#connections.size;
	}

	dispatch: Dispatch = (request, signal, handler) => {
		try {
			if (signal.aborted) throw abortFailure(signal, "unsent");
			if (this.#isClosed) throw new HttpFailure("the HTTP client is closed", "unsent");
			const text = this.#serialize(request);
			const { maxBodyBytes = this.#options.maxBodyBytes } = request;
			const exchange = new Exchange(text, maxBodyBytes, signal, handler, this);
			const permit = this.#permits.acquire(signal);
			if (permit) void this.#sendLater(exchange, permit);
			else this.#send(exchange, this.#takeIdle() ?? this.#connect());
		} catch (error) {
			handler.failed(error);
		}
	};

	async #sendLater(exchange: Exchange, permit: Promise<void>): Promise<void> {
		const { signal, handler } = exchange;
		const isFree = await permit.then(
			() => true,
			() => false,
		);
		if (isFree && !signal.aborted) {
			this.#send(exchange, this.#takeIdle() ?? this.#connect());
			return;
		}
		// The request was aborted after the permit was released to it.
		if (isFree) this.#permits.release();
		handler.failed(abortFailure(signal, "unsent"));
	}

	#send(exchange: Exchange, connection: Connection): void {
		exchange.attach(connection);
		connection.send(exchange);
		// A reset may be detected only when the request is written.
		this.#settle(connection);
	}

	/** Busy connections close after their request. Queued requests are still sent; new ones fail as "unsent". */
	close(): void {
		this.#isClosed = true;
		this.closeIdle();
	}

	/** The next request opens a new one. */
	closeIdle(): void {
		for (const connection of [...this.#idle]) this.#close(connection);
	}

	#serialize(request: HttpRequest): string {
		const { method, headers, requestId, caller, trace, body = "" } = request;
		let head = this.#requestHeads.get(headers);
		if (head === undefined) {
			head = headOf(this.#url, headers);
			this.#requestHeads.set(headers, head);
		}
		if (requestId !== undefined) head += valueLine("X-Request-Id", requestId);
		if (caller !== undefined) head += valueLine(principalHeader, caller);
		if (trace?.traceparent !== undefined) head += valueLine("traceparent", trace.traceparent);
		if (trace?.tracestate !== undefined) head += valueLine("tracestate", trace.tracestate);
		if (method === "POST" || body !== "") head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
		return `${method}${head}\r\n${body}`;
	}

	#connect(): Connection {
		const connection = new Connection(this.#parserOptions, this.#settle);
		this.#connections.add(connection);
		const { hostname, port } = this.#url;
		Bun.connect({
			hostname: hostname.replace(/^\[|\]$/g, ""),
			port: Number(port || 80),
			data: connection,
			socket: this.#handlers,
		}).catch((cause) => {
			connection.onClose(cause);
			this.#settle(connection);
		});
		return connection;
	}

	readonly #handlers: Bun.SocketHandler<Connection> = {
		open: (socket) => {
			socket.data.onOpen(socket);
			this.#settle(socket.data);
		},
		data: ({ data: connection }, bytes) => {
			connection.onData(bytes);
			const { exchange } = connection;
			// Most responses arrive in one piece and do not count towards the budget.
			if (exchange?.isOpen) this.#options.budget?.hold(exchange, bytes.length);
			this.#settle(connection);
			// The head of a response that has not ended.
			exchange?.report();
		},
		drain: ({ data: connection }) => connection.onDrain(),
		end: ({ data: connection }) => {
			connection.onEnd();
			this.#settle(connection);
		},
		close: ({ data: connection }, cause) => {
			connection.onClose(cause);
			this.#settle(connection);
		},
	};

	readonly #settle = (connection: Connection): void => {
		const { exchange } = connection;
		if (connection.isClosed && this.#connections.delete(connection)) {
			const at = this.#idle.indexOf(connection);
			if (at >= 0) this.#idle.splice(at, 1);
		}
		if (exchange?.isOpen && connection.leftUnsent) {
			connection.exchange = undefined;
			// The request keeps its permit and is sent over a new connection.
			this.#send(exchange, this.#connect());
			return;
		}
		if (!exchange || exchange.isOpen) return;
		connection.exchange = undefined;
		exchange.detach();
		if (exchange.heldBytes > 0) this.#options.budget?.release(exchange);
		if (!connection.isClosed) {
			this.#idle.push(connection);
			if (this.#isClosed && this.#permits.waiting === 0) this.#close(connection);
			else if (!this.#timer) this.#closeExpiredIn(this.#options.idleTimeoutMs);
		}
		this.#permits.release();
		exchange.report();
	};

	#close(connection: Connection): void {
		connection.onClose();
		this.#settle(connection);
	}

	#takeIdle(): Connection | undefined {
		// The timer is late if the process was busy.
		if (this.#idle.length > 0) this.#closeExpired();
		return this.#idle.pop();
	}

	#closeExpired(): number | undefined {
		const limit = performance.now() - this.#options.idleTimeoutMs;
		for (;;) {
			const [oldest] = this.#idle;
			const idleSince = oldest?.idleSince;
			if (!oldest || idleSince === undefined) return undefined;
			if (idleSince > limit) return idleSince;
			this.#close(oldest);
		}
	}

	#closeExpiredIn(delayMs: number): void {
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			const since = this.#closeExpired();
			if (since === undefined) return;
			const ageMs = performance.now() - since;
			this.#closeExpiredIn(Math.max(1, this.#options.idleTimeoutMs - ageMs));
		}, delayMs);
		this.#timer.unref();
	}
}

/** They determine the length of the request or control the connection. */
const reservedHeaders = /^(?:content-length|transfer-encoding|connection|upgrade|expect)$/i;
const sentValue = /^[\t\x20-\x7e]*$/;

function headOf({ pathname, search, host }: URL, headers: HttpRequest["headers"]): string {
	const hosts = Object.keys(headers).filter((name) => /^host$/i.test(name)).length;
	if (hosts > 1) throw new TypeError("the HTTP request has two Host headers");
	const all = Object.entries(hosts === 0 ? { Host: host, ...headers } : headers);
	const lines = all.map(([name, value]) => fieldLine(name, value));
	// Joined, because the parts of a string made with + stay apart: each request would gather them all again.
	return [` ${pathname}${search} HTTP/1.1\r\n`, ...lines].join("");
}

function fieldLine(name: string, value: string): string {
	if (!fieldName.test(name) || reservedHeaders.test(name))
		throw new TypeError(`the HTTP request has an invalid or reserved header: ${JSON.stringify(name)}`);
	return valueLine(name, value);
}

function valueLine(name: string, value: string): string {
	// The value may be a secret.
	if (!sentValue.test(value)) throw new TypeError(`the value of the header ${name} is not ASCII text`);
	return `${name}: ${value}\r\n`;
}
