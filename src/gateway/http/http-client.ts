// A keep-alive HTTP/1.1 client for one `http:` URL (https://www.rfc-editor.org/rfc/rfc9112) with a bounded pool of
// connections. A failed request says how far it got. No request is written twice.

import type { ByteBudget } from "../../lib/byte-budget.ts";
import {
	abortFailure,
	HttpFailure,
	type HttpRequest,
	type Send,
} from "../../lib/http.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { Connection, Exchange } from "./http-connection.ts";
import { fieldName, type ParserOptions } from "./response-parser.ts";

const defaults = {
	idleTimeoutMs: 4_000,
	maxHeadBytes: 16 * 1_024,
	maxBodyBytes: 16 * 1_024 * 1_024,
};

export interface HttpClientOptions {
	/** An `http:` URL, path included. */
	url: string;
	/** Limit of connections. Further requests wait in order. */
	maxConnections: number;
	/**
	 * Milliseconds until an idle connection is closed, before the server does it after 5 s (Node) or 10 s (Bun). Default
	 * 4,000.
	 */
	idleTimeoutMs?: number;
	/** Limit in bytes of a response's head, and of its trailers. Default 16 KiB. */
	maxHeadBytes?: number;
	/** Limit in bytes of a response's body, with the framing of its chunks. Default 16 MiB. */
	maxBodyBytes?: number;
	/** Limit shared with the unfinished responses of other clients. */
	budget?: ByteBudget | undefined;
}

interface Slot {
	readonly connection: Connection;
	exchange: Exchange | undefined;
}

/** An HTTP client without a connection at first. The constructor throws a TypeError if the URL is not an `http:` URL. */
export class HttpClient {
	readonly #url: URL;
	readonly #parserOptions: ParserOptions;
	readonly #options: HttpClientOptions & typeof defaults;
	readonly #permits: Semaphore;
	readonly #slots = new Set<Slot>();
	/** Idle connections, the least recently used first. */
	readonly #idle: Slot[] = [];
	/** Serialized headers by the object that they were made from. */
	readonly #fieldLines = new WeakMap<HttpRequest["headers"], string>();
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;

	constructor(options: HttpClientOptions) {
		this.#options = { ...defaults, ...options };
		const { url, maxConnections, maxHeadBytes } = this.#options;
		this.#url = new URL(url);
		if (this.#url.protocol !== "http:")
			throw new TypeError(
				`expected an http: URL, received ${this.#url.protocol}`,
			);
		this.#parserOptions = { maxHeadBytes, heads: new Map() };
		this.#permits = new Semaphore({ max: maxConnections });
	}

	/** Number of connections: idle, busy and being opened. */
	get open(): number {
		return this.#slots.size;
	}

	send: Send = (request, signal) => {
		try {
			if (signal.aborted) throw abortFailure(signal, "unsent");
			if (this.#isClosed)
				throw new HttpFailure("the HTTP client is closed", "unsent");
			const text = this.#serialize(request);
			const { maxBodyBytes = this.#options.maxBodyBytes } = request;
			const exchange = new Exchange(text, maxBodyBytes, signal, this);
			const permit = this.#permits.acquire(signal);
			// Not async, since each promise costs a measurable part of a call.
			return permit
				? this.#sendLater(exchange, permit)
				: this.#send(exchange, this.#takeIdle() ?? this.#connect());
		} catch (error) {
			return Promise.reject(error);
		}
	};

	async #sendLater(
		exchange: Exchange,
		permit: Promise<void>,
	): Promise<Exchange> {
		const { signal } = exchange;
		await permit.catch(() => {
			throw abortFailure(signal, "unsent");
		});
		if (!signal.aborted)
			return this.#send(exchange, this.#takeIdle() ?? this.#connect());
		// The request was aborted after the permit was released to it.
		this.#permits.release();
		throw abortFailure(signal, "unsent");
	}

	#send(exchange: Exchange, slot: Slot): Promise<Exchange> {
		slot.exchange = exchange;
		exchange.attach((reason) => {
			slot.connection.cancel(exchange, reason);
			this.#settle(slot);
		});
		slot.connection.send(exchange);
		// A reset may be detected only when the request is written.
		this.#settle(slot);
		return exchange.begun;
	}

	/** Closes idle connections now and busy ones after their request. Queued requests are still sent; later ones fail "unsent". */
	close(): void {
		this.#isClosed = true;
		for (const slot of [...this.#idle]) this.#close(slot);
	}

	/** The whole request as text. Throws a TypeError for headers that would change where the request ends. */
	#serialize({ method, headers, requestId, body = "" }: HttpRequest): string {
		const { pathname, search, host } = this.#url;
		let fields = this.#fieldLines.get(headers);
		if (fields === undefined) {
			fields = fieldLines(headers, host);
			this.#fieldLines.set(headers, fields);
		}
		if (requestId !== undefined) fields += fieldLine("X-Request-Id", requestId);
		if (method === "POST" || body !== "")
			fields += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
		return `${method} ${pathname}${search} HTTP/1.1\r\n${fields}\r\n${body}`;
	}

	#connect(): Slot {
		const connection = new Connection(this.#parserOptions);
		const slot = { connection, exchange: undefined };
		this.#slots.add(slot);
		const { hostname, port } = this.#url;
		Bun.connect({
			hostname: hostname.replace(/^\[|\]$/g, ""),
			port: Number(port || 80),
			data: slot,
			socket: this.#handlers,
		}).catch((cause) => {
			connection.onClose(cause);
			this.#settle(slot);
		});
		return slot;
	}

	/** Socket handlers. Each one reports its event to the connection, then updates the pool. */
	readonly #handlers: Bun.SocketHandler<Slot> = {
		open: (socket) => {
			socket.data.connection.onOpen(socket);
			this.#settle(socket.data);
		},
		data: ({ data: slot }, bytes) => {
			slot.connection.onData(bytes);
			const { exchange } = slot;
			// Most responses arrive in one piece and do not count towards the budget.
			if (exchange?.isOpen) this.#options.budget?.hold(exchange, bytes.length);
			this.#settle(slot);
		},
		drain: ({ data: slot }) => slot.connection.onDrain(),
		end: ({ data: slot }) => {
			slot.connection.onEnd();
			this.#settle(slot);
		},
		close: ({ data: slot }, cause) => {
			slot.connection.onClose(cause);
			this.#settle(slot);
		},
	};

	/** Updates the pool after an event: releases an ended request, removes a closed connection. */
	#settle(slot: Slot): void {
		const { connection, exchange } = slot;
		if (connection.isClosed && this.#slots.delete(slot)) {
			const at = this.#idle.indexOf(slot);
			if (at >= 0) this.#idle.splice(at, 1);
		}
		if (exchange?.isOpen && connection.leftUnsent) {
			slot.exchange = undefined;
			// The request keeps its permit and is sent over a new connection.
			void this.#send(exchange, this.#connect());
			return;
		}
		if (!exchange || exchange.isOpen) return;
		slot.exchange = undefined;
		exchange.detach();
		if (exchange.heldBytes > 0) this.#options.budget?.release(exchange);
		if (!connection.isClosed) {
			this.#idle.push(slot);
			if (this.#isClosed && this.#permits.waiting === 0) this.#close(slot);
			else if (!this.#timer) this.#closeExpiredIn(this.#options.idleTimeoutMs);
		}
		this.#permits.release();
	}

	#close(slot: Slot): void {
		slot.connection.onClose();
		this.#settle(slot);
	}

	/** Takes the most recently used idle connection out of the pool. */
	#takeIdle(): Slot | undefined {
		// The timer is late if the process was busy.
		if (this.#idle.length > 0) this.#closeExpired();
		return this.#idle.pop();
	}

	/** Closes connections that were idle for too long. Returns since when the oldest remaining one is idle, if there is one. */
	#closeExpired(): number | undefined {
		const limit = performance.now() - this.#options.idleTimeoutMs;
		for (;;) {
			const [oldest] = this.#idle;
			const idleSince = oldest?.connection.idleSince;
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

/** Headers that callers may not set: they frame the request or control the connection. */
const reservedHeaders =
	/^(?:content-length|transfer-encoding|connection|upgrade|expect)$/i;
const sentValue = /^[\t\x20-\x7e]*$/;

/** The headers as lines, beginning with Host unless `headers` has one. */
function fieldLines(headers: HttpRequest["headers"], host: string): string {
	let fields = "";
	let hosts = 0;
	for (const [name, value] of Object.entries(headers)) {
		if (/^host$/i.test(name)) hosts++;
		fields += fieldLine(name, value);
	}
	if (hosts > 1) throw new TypeError("duplicate header: Host");
	return hosts === 0 ? fieldLine("Host", host) + fields : fields;
}

function fieldLine(name: string, value: string): string {
	if (!fieldName.test(name) || reservedHeaders.test(name))
		throw new TypeError(`invalid or reserved header: ${JSON.stringify(name)}`);
	// The value may be a secret.
	if (!sentValue.test(value))
		throw new TypeError(`the value of the header ${name} is not ASCII text`);
	return `${name}: ${value}\r\n`;
}
