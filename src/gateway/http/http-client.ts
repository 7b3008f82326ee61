// A keep-alive HTTP/1.1 client for one `http:` URL (https://www.rfc-editor.org/rfc/rfc9112): a bounded pool of
// connections. A failed request says how far it got, and is never sent twice.

import type { ByteBudget, ByteHolder } from "../../lib/byte-budget.ts";
import {
	abortFailure,
	HttpFailure,
	type HttpRequest,
	type HttpResponse,
	noRoom,
	type Send,
} from "../../lib/http.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { Connection, type Exchange } from "./http-connection.ts";
import {
	fieldName,
	type ParserOptions,
	type ResponseHead,
} from "./response-parser.ts";

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

/** A connection of the pool, and the request that it is busy with. */
interface Slot {
	readonly connection: Connection;
	response: PooledResponse | undefined;
}

class Pool implements HttpClient {
	readonly #url: URL;
	readonly #parserOptions: ParserOptions;
	readonly #budget: ByteBudget | undefined;
	readonly #idleTimeoutMs: number;
	readonly #maxBodyBytes: number;
	readonly #permits: Semaphore;
	readonly #slots = new Set<Slot>();
	/** The least recently used first. */
	readonly #idle: Slot[] = [];
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
		this.#parserOptions = { maxHeadBytes, heads: new Map() };
		this.#budget = budget;
		this.#idleTimeoutMs = idleTimeoutMs;
		this.#maxBodyBytes = maxBodyBytes;
		this.#permits = new Semaphore({ max: maxConnections });
	}

	get open(): number {
		return this.#slots.size;
	}

	send: Send = async (request, signal) => {
		if (signal.aborted) throw abortFailure(signal, "unsent");
		if (this.#isClosed) throw new HttpFailure("the client is closed", "unsent");
		const text = this.#serialize(request);
		const { maxBodyBytes = this.#maxBodyBytes } = request;
		for (;;) {
			const turn = this.#permits.acquire(signal);
			if (turn) await this.#take(turn, signal);
			const kept = this.#takeIdle();
			const slot = kept ?? this.#connect();
			const { connection } = slot;
			const exchange = connection.send(text, maxBodyBytes);
			const cancel = (reason?: HttpFailure) => {
				connection.cancel(exchange, reason);
				this.#settle(slot);
			};
			const response = new PooledResponse(this, exchange, signal, cancel);
			slot.response = response;
			// A reset may show only when the request is written.
			this.#settle(slot);
			try {
				response.head = await exchange.head;
				return response;
			} catch (error) {
				// A kept connection was lost before a byte of the request left.
				const isUnsent = kept && exchange.progress === "unsent";
				if (!isUnsent || signal.aborted) throw error;
			}
		}
	};

	async #take(turn: Promise<void>, signal: Signal): Promise<void> {
		await turn.catch(() => {
			throw abortFailure(signal, "unsent");
		});
		if (!signal.aborted) return;
		// It fired between the release of the permit and now.
		this.#permits.release();
		throw abortFailure(signal, "unsent");
	}

	close(): void {
		this.#isClosed = true;
		for (const slot of [...this.#idle]) this.#close(slot);
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

	#connect(): Slot {
		const connection = new Connection(this.#parserOptions);
		const slot = { connection, response: undefined };
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

	/** Each tells the connection what happened, and then looks what became of it. */
	readonly #handlers: Bun.SocketHandler<Slot> = {
		open: (socket) => {
			socket.data.connection.onOpen(socket);
			this.#settle(socket.data);
		},
		data: ({ data: slot }, bytes) => {
			slot.connection.onData(bytes);
			const { response } = slot;
			// Most responses come in one piece and are never counted.
			if (response?.exchange.isOpen) this.#budget?.hold(response, bytes.length);
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

	/** Takes note of a request that is over and of a connection that is closed. */
	#settle(slot: Slot): void {
		const { connection, response } = slot;
		if (connection.isClosed && this.#slots.delete(slot)) {
			const at = this.#idle.indexOf(slot);
			if (at >= 0) this.#idle.splice(at, 1);
		}
		if (!response || response.exchange.isOpen) return;
		slot.response = undefined;
		response.finish();
		if (response.heldBytes > 0) this.#budget?.release(response);
		if (!connection.isClosed) {
			this.#idle.push(slot);
			if (this.#isClosed && this.#permits.waiting === 0) this.#close(slot);
			else if (!this.#timer) this.#closeExpiredIn(this.#idleTimeoutMs);
		}
		this.#permits.release();
	}

	#close(slot: Slot): void {
		slot.connection.close();
		this.#settle(slot);
	}

	/** The idle connection used last. */
	#takeIdle(): Slot | undefined {
		// The timer is late if the process was busy.
		if (this.#idle.length > 0) this.#closeExpired();
		return this.#idle.pop();
	}

	/** Closes connections that were idle for too long. Returns when the next one became idle, if there is one. */
	#closeExpired(): number | undefined {
		const limit = performance.now() - this.#idleTimeoutMs;
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
			this.#closeExpiredIn(Math.max(1, this.#idleTimeoutMs - ageMs));
		}, delayMs);
		this.#timer.unref();
	}
}

/** A request's response, given out once its head is there. */
class PooledResponse
	implements HttpResponse, AsyncIterableIterator<Uint8Array>, ByteHolder
{
	heldBytes = 0;
	head: ResponseHead | undefined;

	constructor(
		/** Whose responses share the budget's room as one. */
		readonly owner: object,
		readonly exchange: Exchange,
		readonly signal: Signal,
		/** Stops the request: it fails for this reason, or without one just ends. */
		readonly cancel: (reason?: HttpFailure) => void,
	) {
		signal.addEventListener("abort", this.#abort);
	}

	get status(): number {
		return this.head?.status ?? 0;
	}

	get headers(): HttpResponse["headers"] {
		return this.head?.headers ?? noHeaders;
	}

	get body(): AsyncIterable<Uint8Array> {
		return this;
	}

	readonly #abort = () =>
		this.cancel(abortFailure(this.signal, this.exchange.progress));

	overflow(budget: ByteBudget): void {
		this.cancel(noRoom(budget));
	}

	/** The connection has no more to do with it. */
	finish(): void {
		this.signal.removeEventListener("abort", this.#abort);
	}

	whole(): Uint8Array | Promise<Uint8Array> | undefined {
		if (this.head?.length === undefined) return undefined;
		return this.exchange.takeWhole() ?? this.#collect();
	}

	async #collect(): Promise<Uint8Array> {
		return Buffer.concat(await Array.fromAsync(this));
	}

	discard(): void {
		this.cancel();
		this.exchange.take();
	}

	[Symbol.asyncIterator]() {
		return this;
	}

	async next(): Promise<IteratorResult<Uint8Array>> {
		const value = this.exchange.take();
		if (!value) return this.exchange.next();
		if (this.signal.aborted) throw abortFailure(this.signal, "answered");
		return { value, done: false };
	}

	async return(): Promise<IteratorResult<Uint8Array>> {
		this.discard();
		return { value: undefined, done: true };
	}
}

const noHeaders: HttpResponse["headers"] = { get: () => null };

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
