// A keep-alive HTTP/1.1 client for one `http:` URL (https://www.rfc-editor.org/rfc/rfc9112): a bounded pool of
// connections. A failed request says how far it got, and is never sent twice.

import type { ByteBudget } from "../lib/byte-budget.ts";
import {
	givenUp,
	HttpFailure,
	type HttpRequest,
	type HttpResponse,
	type Send,
} from "../lib/http.ts";
import { Semaphore } from "../lib/semaphore.ts";
import type { Signal } from "../lib/signal.ts";
import {
	Connection,
	type ConnectionOptions,
	type Exchange,
} from "./http-connection.ts";
import { fieldName, type ResponseHead } from "./response-parser.ts";

export interface HttpClientOptions {
	/** An `http:` URL, path included. */
	url: string;
	/** Further requests wait in order. */
	maxConnections: number;
	/**
	 * An idle connection is closed after this. Less than Node's 5 s and Bun's 10 s, so that the server does not close it
	 * first. Default 4,000.
	 */
	idleTimeoutMs?: number;
	/** Limit of a response's head, and of its trailers. Default 16 KiB. */
	maxHeadBytes?: number;
	/** Limit of a response's body, with the framing of its chunks. Default 16 MiB. */
	maxBodyBytes?: number;
	/** Limits the unfinished responses, together with those of other clients. */
	budget?: ByteBudget | undefined;
}

export interface HttpClient {
	send: Send;
	/** Connections: idle, busy and being made. */
	readonly open: number;
	/** Closes idle connections now and busy ones as they end. Later requests fail "unsent"; those that wait still get their turn. */
	close(): void;
}

/** A client without a connection yet. Throws a TypeError if the URL is not an `http:` one. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
	return new Pool(options);
}

class Pool implements HttpClient {
	readonly #url: URL;
	readonly #connectionOptions: ConnectionOptions;
	readonly #idleTimeoutMs: number;
	readonly #maxBodyBytes: number;
	readonly #permits: Semaphore;
	readonly #connections = new Set<Connection>();
	/** The least recently used first. */
	#idle: Connection[] = [];
	/** Serialized headers. */
	readonly #fieldLines = new WeakMap<HttpRequest["headers"], string>();
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;

	constructor({
		url,
		maxConnections,
		idleTimeoutMs = 4_000,
		maxHeadBytes = 16 * 1_024,
		maxBodyBytes = 16 * 1_024 * 1_024,
		budget,
	}: HttpClientOptions) {
		this.#url = new URL(url);
		if (this.#url.protocol !== "http:")
			throw new TypeError(
				`expected an http: URL, received ${this.#url.protocol}`,
			);
		this.#connectionOptions = {
			hostname: this.#url.hostname.replace(/^\[|\]$/g, ""),
			port: Number(this.#url.port || 80),
			parser: { maxHeadBytes, heads: new Map() },
			budget,
			owner: this,
		};
		this.#idleTimeoutMs = idleTimeoutMs;
		this.#maxBodyBytes = maxBodyBytes;
		this.#permits = new Semaphore({ max: maxConnections });
	}

	get open(): number {
		let count = 0;
		for (const { isClosed } of this.#connections) if (!isClosed) count++;
		return count;
	}

	send: Send = async (request, signal) => {
		if (signal.aborted) throw givenUp(signal, "unsent");
		if (this.#isClosed) throw new HttpFailure("the client is closed", "unsent");
		const text = this.#serialize(request);
		const { maxBodyBytes = this.#maxBodyBytes } = request;
		for (;;) {
			const turn = this.#permits.acquire(signal);
			if (turn)
				await turn.catch(() => {
					throw givenUp(signal, "unsent");
				});
			const kept = this.#takeIdle();
			const connection = kept ?? this.#connect();
			const exchange = connection.send(text, maxBodyBytes);
			const abort = () =>
				connection.cancel(exchange, givenUp(signal, exchange.progress));
			signal.addEventListener("abort", abort);
			void exchange.finished.then(() => {
				signal.removeEventListener("abort", abort);
				this.#release(connection);
			});
			try {
				const head = await exchange.head;
				return new PooledResponse(head, connection, exchange, signal);
			} catch (error) {
				// A kept connection was lost before a byte of the request left.
				const isUnsent = kept && exchange.progress === "unsent";
				if (!isUnsent || signal.aborted) throw error;
			}
		}
	};

	close(): void {
		this.#isClosed = true;
		for (const connection of this.#idle.splice(0)) connection.close();
	}

	/** The whole request as one text. Throws a TypeError for headers that would make another request of it. */
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

	#connect(): Connection {
		const connection = new Connection(this.#connectionOptions);
		this.#connections.add(connection);
		void connection.closed.then(() => {
			this.#connections.delete(connection);
			const at = this.#idle.indexOf(connection);
			if (at >= 0) this.#idle.splice(at, 1);
		});
		return connection;
	}

	/** After an exchange: keeps the connection if it can be kept, and lets the next request begin. */
	#release(connection: Connection): void {
		const isWanted = !this.#isClosed || this.#permits.waiting > 0;
		if (!isWanted) connection.close();
		else if (connection.idleSince !== undefined) {
			this.#idle.push(connection);
			if (!this.#timer) this.#closeExpiredIn(this.#idleTimeoutMs);
		}
		this.#permits.release();
	}

	/** The idle connection used last. */
	#takeIdle(): Connection | undefined {
		// The timer is late if the process was busy.
		if (this.#idle.length > 0) this.#closeExpired();
		return this.#idle.pop();
	}

	/** Closes connections that were idle for too long. Returns when the next one became idle, if there is one. */
	#closeExpired(): number | undefined {
		const limit = performance.now() - this.#idleTimeoutMs;
		for (;;) {
			const [oldest] = this.#idle;
			if (!oldest) return undefined;
			const { idleSince } = oldest;
			if (idleSince !== undefined && idleSince > limit) return idleSince;
			this.#idle.shift();
			oldest.close();
		}
	}

	#closeExpiredIn(delayMs: number): void {
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			const since = this.#closeExpired();
			if (since === undefined) return;
			const ageMs = performance.now() - since;
			this.#closeExpiredIn(Math.max(1, this.#idleTimeoutMs - ageMs));
		}, delayMs);
		this.#timer.unref();
	}
}

class PooledResponse
	implements HttpResponse, AsyncIterableIterator<Uint8Array>
{
	readonly status: number;
	readonly headers: HttpResponse["headers"];
	readonly #length: number | undefined;

	constructor(
		{ status, headers, length }: ResponseHead,
		readonly connection: Connection,
		readonly exchange: Exchange,
		readonly signal: Signal,
	) {
		this.status = status;
		this.headers = headers;
		this.#length = length;
	}

	get body(): AsyncIterable<Uint8Array> {
		return this;
	}

	whole(): Uint8Array | Promise<Uint8Array> | undefined {
		if (this.#length === undefined) return undefined;
		return this.exchange.takeWhole() ?? this.#collect();
	}

	async #collect(): Promise<Uint8Array> {
		return Buffer.concat(await Array.fromAsync(this));
	}

	discard(): void {
		this.connection.cancel(this.exchange);
		this.exchange.take();
	}

	[Symbol.asyncIterator]() {
		return this;
	}

	async next(): Promise<IteratorResult<Uint8Array>> {
		const value = this.exchange.take();
		if (!value) return this.exchange.next();
		if (this.signal.aborted) throw givenUp(this.signal, "answered");
		return { value, done: false };
	}

	async return(): Promise<IteratorResult<Uint8Array>> {
		this.discard();
		return { value: undefined, done: true };
	}
}

/** The headers that frame the request and decide about the connection. */
const reservedHeaders =
	/^(?:content-length|transfer-encoding|connection|upgrade|expect)$/i;
const sentValue = /^[\t\x20-\x7e]*$/;

/** Headers, a line each, with the Host first unless one is among them. */
function fieldLines(headers: HttpRequest["headers"], host: string): string {
	let fields = "";
	let hosts = 0;
	for (const [name, value] of Object.entries(headers)) {
		if (/^host$/i.test(name)) hosts++;
		fields += fieldLine(name, value);
	}
	if (hosts > 1) throw new TypeError("the header Host cannot be sent twice");
	return hosts === 0 ? fieldLine("Host", host) + fields : fields;
}

function fieldLine(name: string, value: string): string {
	if (!fieldName.test(name) || reservedHeaders.test(name))
		throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
	// The value may be a secret.
	if (!sentValue.test(value))
		throw new TypeError(`the value of the header ${name} cannot be sent`);
	return `${name}: ${value}\r\n`;
}
