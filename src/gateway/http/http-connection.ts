// One keep-alive connection: sends one request at a time and passes the response to its Exchange. Its `on…` methods report
// events of the socket. It knows no other connection.

import type { ByteBudget, ByteHolder } from "../../lib/byte-budget.ts";
import {
	abortFailure,
	describeConnectionError,
	HttpFailure,
	type HttpResponse,
	type Progress,
	type ResponseHandler,
} from "../../lib/http.ts";
import type { Signal } from "../../lib/signal.ts";
import { ParseError, type ResponseHead, ResponseParser, type ResponseSink } from "./response-parser.ts";

export type Socket = Pick<Bun.Socket, "write" | "ref" | "unref" | "end" | "terminate">;

type State =
	/** A request that is sent while "connecting" waits until the socket is open. */
	"connecting" | "busy" | "idle" | "closed";

export class Connection {
	/** Lost before any byte of the request was written, which can be sent on another connection. */
	leftUnsent = false;
	/** Until it has ended and the pool has seen it. */
	exchange: Exchange | undefined;
	/** Milliseconds of the monotonic clock. */
	idleSince = 0;
	readonly #parser = new ResponseParser();
	#socket: Socket | undefined;
	#state: State = "connecting";
	#isReused = false;
	#unwritten: Uint8Array | undefined;

	/** `settle`: the exchange or the connection may have ended. */
	constructor(private readonly settle: (connection: Connection) => void) {}

	get isClosed(): boolean {
		return this.#state === "closed";
	}

	/** The connection must be new or idle. */
	send(exchange: Exchange): void {
		this.#parser.start(exchange.maxBodyBytes);
		this.exchange = exchange;
		if (this.#state === "idle") {
			this.#isReused = true;
			this.#transition("busy");
			this.#write(exchange);
		}
	}

	/** With a `reason`, the response fails; otherwise it ends with the bytes received so far. */
	cancel(exchange: Exchange, reason?: HttpFailure): void {
		if (!exchange.isOpen) return;
		this.#transition("closed");
		if (reason) exchange.fail(reason);
		else exchange.finish();
		this.settle(this);
	}

	/** `onOpen` follows, after the TLS handshake if there is one. */
	onConnect(socket: Socket) {
		// Closed while it was connecting, since connecting cannot be stopped.
		if (this.#state !== "connecting") return socket.terminate();
		this.#socket = socket;
	}

	onOpen() {
		this.#transition("busy");
		if (this.exchange) this.#write(this.exchange);
	}

	onDrain(): void {
		const exchange = this.exchange;
		// The server has begun to respond: it does not need the rest of the request.
		if (!this.#unwritten || !exchange || exchange.head) return;
		const count = this.#writeSome(exchange, this.#unwritten);
		// The connection is lost: onClose follows, perhaps after the rest of the response.
		if (count < 0) return;
		const rest = this.#unwritten.subarray(count);
		this.#unwritten = rest.length > 0 ? rest : undefined;
	}

	onData(bytes: Buffer) {
		const exchange = this.exchange;
		// Unrequested bytes would be taken for the response to the next request.
		if (!exchange) return this.onClose();
		exchange.advance("answered");
		try {
			if (this.#parser.read(bytes, exchange)) this.#finish(exchange);
		} catch (cause) {
			this.#transition("closed");
			exchange.fail(cause instanceof ParseError ? new HttpFailure(cause.message, "answered") : cause);
		}
	}

	/** Completes a response whose length is only marked by the end of the connection. */
	onEnd(): void {
		const exchange = this.exchange;
		// After a failed write Bun reports a reset as an orderly end.
		if (exchange && !this.#unwritten && this.#parser.endsWithConnection) exchange.finish();
		this.onClose();
	}

	/** The request fails, unless the connection was reused and no byte was written (`leftUnsent`). */
	onClose(cause?: unknown): void {
		// Terminating the socket reports its end at once.
		if (this.isClosed) return;
		const { exchange } = this;
		this.#transition("closed");
		if (!exchange?.isOpen) return;
		if (this.#isReused && exchange.progress === "unsent") this.leftUnsent = true;
		else exchange.fail(connectionLost(exchange, cause));
	}

	#transition(next: State): void {
		if (this.isClosed) return;
		this.#state = next;
		if (next === "busy") {
			this.#socket?.ref();
			return;
		}
		if (next === "idle") {
			this.idleSince = performance.now();
			// An idle connection does not keep the process alive.
			this.#socket?.unref();
		} else if (this.exchange?.isOpen) this.#socket?.terminate();
		else this.#socket?.end();
	}

	#finish(exchange: Exchange): void {
		exchange.finish();
		const isKept = this.#parser.isKeepAlive && !this.#unwritten;
		this.#transition(isKept ? "idle" : "closed");
	}

	#write(exchange: Exchange): void {
		const { request } = exchange;
		const count = this.#writeSome(exchange, request);
		// Only a partly written request is needed as bytes.
		if (count < Buffer.byteLength(request)) this.#unwritten = Buffer.from(request).subarray(Math.max(0, count));
		// The connection was reset, which no event has reported yet.
		if (count < 0) this.onClose();
	}

	#writeSome(exchange: Exchange, bytes: string | Uint8Array): number {
		const count = this.#socket?.write(bytes) ?? -1;
		if (count > 0) exchange.advance("sent");
		return count;
	}
}

/** Callers get it when the head of the response has arrived. */
export class Exchange implements HttpResponse, AsyncIterableIterator<Uint8Array>, ByteHolder, ResponseSink {
	progress: Progress = "unsent";
	heldBytes = 0;
	head: ResponseHead | undefined;
	#state: "open" | "complete" | "failed" = "open";
	#failure: unknown;
	#isReported = false;
	#piece: Uint8Array | undefined;
	#morePieces: Uint8Array[] | undefined;
	#wanted: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;
	#connection: Connection | undefined;

	constructor(
		readonly request: string,
		readonly maxBodyBytes: number,
		readonly signal: Signal,
		readonly handler: ResponseHandler,
		readonly owner: object,
	) {}

	/** It starts to send, and is closed if the request is aborted. */
	attach(connection: Connection): void {
		if (!this.#connection) this.signal.addEventListener("abort", this);
		this.#connection = connection;
	}

	/** Head or failure. Call it when the pool is up to date, since the handler may send another request. */
	report(): void {
		if (this.#isReported || (!this.head && this.isOpen)) return;
		this.#isReported = true;
		if (this.head) this.handler.responded(this);
		else this.handler.failed(this.#failure);
	}

	/** Incomplete and not failed. */
	get isOpen(): boolean {
		return this.#state === "open";
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

	/** The signal aborts. */
	handleEvent(): void {
		this.#connection?.cancel(this, abortFailure(this.signal, this.progress));
	}

	overflow({ maxBytes }: ByteBudget): void {
		const why = `dropped an HTTP response, because all unfinished responses together exceed ${maxBytes} bytes`;
		this.#connection?.cancel(this, new HttpFailure(why, "answered"));
	}

	/** Removes the abort listener. */
	detach(): void {
		this.signal.removeEventListener("abort", this);
	}

	advance(progress: Progress): void {
		if (this.progress !== "answered") this.progress = progress;
	}

	onHead(head: ResponseHead): void {
		this.head = head;
	}

	onPiece(bytes: Uint8Array): void {
		if (this.#wanted) {
			this.#wanted.resolve({ value: bytes, done: false });
			this.#wanted = undefined;
		} else if (this.#piece) {
			this.#morePieces ??= [];
			this.#morePieces.push(bytes);
		} else this.#piece = bytes;
	}

	finish(): void {
		this.#state = "complete";
		this.#wanted?.resolve({ value: undefined, done: true });
	}

	fail(reason: unknown): void {
		this.#state = "failed";
		this.#failure = reason;
		this.#wanted?.reject(reason);
	}

	whole(): Uint8Array | Promise<Uint8Array> | undefined {
		if (this.head?.length === undefined) return undefined;
		const isComplete = this.#state === "complete";
		return (isComplete && this.#takePieces()) || this.#collect();
	}

	async #collect(): Promise<Uint8Array> {
		return Buffer.concat(await Array.fromAsync(this));
	}

	discard(): void {
		this.#connection?.cancel(this);
		this.#takePieces();
	}

	#takePieces(): Uint8Array | undefined {
		const [piece, more] = [this.#piece, this.#morePieces];
		this.#piece = undefined;
		this.#morePieces = undefined;
		// Pieces are joined: reading chunks of one byte each would delay all other responses.
		return piece && more ? Buffer.concat([piece, ...more]) : piece;
	}

	[Symbol.asyncIterator]() {
		return this;
	}

	async next(): Promise<IteratorResult<Uint8Array>> {
		const value = this.#takePieces();
		if (value && this.signal.aborted) throw abortFailure(this.signal, "answered");
		if (value) return { value, done: false };
		if (this.#state === "complete") return { value: undefined, done: true };
		if (this.#state === "failed") throw this.#failure;
		this.#wanted = Promise.withResolvers();
		return this.#wanted.promise;
	}

	async return(): Promise<IteratorResult<Uint8Array>> {
		this.discard();
		return { value: undefined, done: true };
	}
}

const noHeaders: HttpResponse["headers"] = { get: () => null };

function connectionLost({ progress }: Exchange, cause: unknown): HttpFailure {
	const message =
		progress === "answered"
			? "the connection was lost in the middle of the answer"
			: cause === undefined
				? "the connection was lost"
				: describeConnectionError(cause);
	return new HttpFailure(message, progress, { cause });
}
