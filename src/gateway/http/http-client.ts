// A keep-alive HTTP/1.1 client for one URL (https://www.rfc-editor.org/rfc/rfc9112). It opens a connection when none is idle. A
// failed request says how far it got. No request is written twice.

import type { ByteBudget } from "../../lib/byte-budget.ts";
import { abortFailure, type Dispatch, HttpFailure, type HttpRequest } from "../../lib/http.ts";
import { principalHeader } from "../../lib/principal.ts";
import { Connection, Exchange } from "./http-connection.ts";

/** With the chunk headers of chunked encoding. */
const defaultMaxBodyBytes = 16 * 1_024 * 1_024;

export interface HttpClientOptions {
	/** With the scheme `http:` or `https:` and the path. */
	url: string;
	/** Milliseconds; shorter than the timeouts of servers: 5 s (Node) and 10 s (Bun). Default 4,000. */
	idleTimeoutMs?: number;
	/** For partly received responses, shared with other clients. */
	budget?: ByteBudget | undefined;
}

/** The constructor throws a TypeError for a URL of another scheme. */
export class HttpClient {
	readonly #url: URL;
	readonly #idleTimeoutMs: number;
	readonly #budget: ByteBudget | undefined;
	readonly #connections = new Set<Connection>();
	readonly #idle: Connection[] = [];
	readonly #requestHeads = new WeakMap<HttpRequest["headers"], string>();
	#timer: Timer | undefined;
	#isClosed = false;

	constructor({ url, idleTimeoutMs = 4_000, budget }: HttpClientOptions) {
		this.#url = new URL(url);
		const { protocol } = this.#url;
		if (!/^https?:$/.test(protocol)) throw new TypeError(`expected an http: or https: URL, received ${protocol}`);
		this.#idleTimeoutMs = idleTimeoutMs;
		this.#budget = budget;
	}

	get #isSecure(): boolean {
		return this.#url.protocol === "https:";
	}

	/** Idle, busy and being opened. */
	get open(): number {
		return this.#connections.size;
	}

	dispatch: Dispatch = (request, signal, handler) => {
		try {
			if (signal.aborted) throw abortFailure(signal, "unsent");
			if (this.#isClosed) throw new HttpFailure("the HTTP client is closed", "unsent");
			const { maxBodyBytes = defaultMaxBodyBytes } = request;
			const exchange = new Exchange(this.#serialize(request), maxBodyBytes, signal, handler, this);
			this.#send(exchange, this.#takeIdle() ?? this.#connect());
		} catch (error) {
			handler.failed(error);
		}
	};

	#send(exchange: Exchange, connection: Connection): void {
		exchange.attach(connection);
		connection.send(exchange);
		// A reset may be detected only when the request is written.
		this.#settle(connection);
	}

	/** Busy connections close after their request. New requests fail as "unsent". */
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
		if (requestId !== undefined) head += fieldLine("X-Request-Id", requestId);
		if (caller !== undefined) head += fieldLine(principalHeader, caller);
		if (trace?.traceparent !== undefined) head += fieldLine("traceparent", trace.traceparent);
		if (trace?.tracestate !== undefined) head += fieldLine("tracestate", trace.tracestate);
		if (method === "POST" || body !== "") head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
		return `${method}${head}\r\n${body}`;
	}

	#connect(): Connection {
		const connection = new Connection(this.#settle);
		this.#connections.add(connection);
		const { hostname, port } = this.#url;
		Bun.connect({
			hostname: hostname.replace(/^\[|\]$/g, ""),
			port: Number(port || (this.#isSecure ? 443 : 80)),
			tls: this.#isSecure,
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
			socket.data.onConnect(socket);
			if (!this.#isSecure) socket.data.onOpen();
			this.#settle(socket.data);
		},
		handshake: (socket, isTrusted, cause) => {
			if (isTrusted) socket.data.onOpen();
			else socket.data.onClose(cause);
			this.#settle(socket.data);
		},
		data: ({ data: connection }, bytes) => {
			connection.onData(bytes);
			const { exchange } = connection;
			// Most responses arrive in one piece and do not count towards the budget.
			if (exchange?.isOpen) this.#budget?.hold(exchange, bytes.length);
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
			this.#send(exchange, this.#connect());
			return;
		}
		if (!exchange || exchange.isOpen) return;
		connection.exchange = undefined;
		exchange.detach();
		if (exchange.heldBytes > 0) this.#budget?.release(exchange);
		if (!connection.isClosed) {
			this.#idle.push(connection);
			if (this.#isClosed) this.#close(connection);
			else this.#timer ??= setInterval(this.#closeExpired, this.#idleTimeoutMs).unref();
		}
		exchange.report();
	};

	#close(connection: Connection): void {
		connection.onClose();
		this.#settle(connection);
	}

	#takeIdle(): Connection | undefined {
		const last = this.#idle.at(-1);
		// The timer runs seldom. All others have been idle for longer.
		if (last && last.idleSince <= performance.now() - this.#idleTimeoutMs) this.closeIdle();
		return this.#idle.pop();
	}

	readonly #closeExpired = (): void => {
		const limit = performance.now() - this.#idleTimeoutMs;
		for (const connection of this.#idle.filter(({ idleSince }) => idleSince <= limit)) this.#close(connection);
		if (this.#idle.length > 0) return;
		clearInterval(this.#timer);
		this.#timer = undefined;
	};
}

function headOf({ pathname, search, host }: URL, headers: HttpRequest["headers"]): string {
	const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => fieldLine(name, value));
	// Joined, because the parts of a string made with + stay apart: each request would gather them all again.
	return [` ${pathname}${search} HTTP/1.1\r\n`, ...lines].join("");
}

function fieldLine(name: string, value: string): string {
	// The value may be a secret.
	if (!/^[\t\x20-\x7e]*$/.test(value)) throw new TypeError(`the value of the header ${name} is not ASCII text`);
	return `${name}: ${value}\r\n`;
}
