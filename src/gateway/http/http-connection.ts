// One keep-alive connection: sends a request at a time and fills the Exchange that it returned for it.
// It is told what happens to its socket, and knows neither its pool nor who reads the response.

import {
	describeConnectionError,
	HttpFailure,
	type Progress,
} from "../../lib/http.ts";
import {
	ParseError,
	type ParserEvent,
	type ParserOptions,
	type ResponseHead,
	ResponseParser,
} from "./response-parser.ts";

/** What it needs of a socket. */
export type Socket = Pick<
	Bun.Socket,
	"write" | "ref" | "unref" | "end" | "terminate"
>;

type State =
	/** The first request is sent once there is a connection. */
	"connecting" | "busy" | "idle" | "closed";

export class Connection {
	readonly #parser: ResponseParser;
	#socket: Socket | undefined;
	#state: State = "connecting";
	/** What it is busy with, or will be. */
	#exchange: Exchange | undefined;
	#idleSince = 0;
	/** The rest of a request that the socket has not taken yet. */
	#unwritten: Uint8Array | undefined;

	constructor(parser: ParserOptions) {
		this.#parser = new ResponseParser(parser);
	}

	get isClosed(): boolean {
		return this.#state === "closed";
	}

	/** Since when it is idle, in milliseconds of the monotonic clock; undefined in any other state. */
	get idleSince(): number | undefined {
		return this.#state === "idle" ? this.#idleSince : undefined;
	}

	/** Sends a request over a connection that is new or idle. `maxBodyBytes` limits the body of the response. */
	send(request: string, maxBodyBytes: number): Exchange {
		const exchange = new Exchange(request);
		this.#parser.start(maxBodyBytes);
		this.#exchange = exchange;
		if (this.#state === "idle") {
			this.#transition("busy");
			this.#write(exchange);
		}
		return exchange;
	}

	/** Stops an exchange that is under way: it fails for this reason, or without one ends with what has come so far. */
	cancel(exchange: Exchange, reason?: HttpFailure): void {
		if (!exchange.isOpen) return;
		this.#transition("closed");
		if (reason) exchange.fail(reason);
		else exchange.finish();
	}

	/** Closes it; a request that is under way fails. */
	close(): void {
		this.onClose();
	}

	onOpen(socket: Socket) {
		// Cancelled while it was connecting, which cannot be stopped.
		if (this.#state !== "connecting") return socket.terminate();
		this.#socket = socket;
		this.#transition("busy");
		if (this.#exchange) this.#write(this.#exchange);
	}

	onDrain(): void {
		const exchange = this.#exchange;
		// Once the response has begun, the rest of the request does not change it.
		if (!this.#unwritten || !exchange || exchange.hasBegun) return;
		const count = this.#writeSome(exchange, this.#unwritten);
		// The connection is lost: onClose follows, perhaps after the rest of the response.
		if (count < 0) return;
		const rest = this.#unwritten.subarray(count);
		this.#unwritten = rest.length > 0 ? rest : undefined;
	}

	onData(bytes: Buffer) {
		const exchange = this.#exchange;
		// Bytes that nobody requested would be taken for the response to the next request.
		if (!exchange) return this.close();
		exchange.advance("answered");
		try {
			this.#parser.push(bytes);
			let event = this.#parser.next();
			for (; event; event = this.#parser.next()) {
				if (event.type === "end") return this.#finish(exchange);
				exchange.add(event);
			}
		} catch (cause) {
			return this.#fail(
				cause instanceof ParseError
					? new HttpFailure(`invalid response: ${cause.message}`, "answered")
					: cause,
			);
		}
	}

	/** The other end sends no more. */
	onEnd(): void {
		const exchange = this.#exchange;
		// After a failed write Bun reports a reset as an orderly end.
		if (exchange && !this.#unwritten && this.#parser.endsWithConnection)
			exchange.finish();
		this.onClose();
	}

	/** The connection is lost, or could not be made. */
	onClose(cause?: unknown): void {
		const exchange = this.#exchange;
		this.#transition("closed");
		if (exchange?.isOpen) exchange.fail(connectionLost(exchange, cause));
	}

	#transition(next: State): void {
		if (this.#state === "closed") return;
		const exchange = this.#exchange;
		this.#state = next;
		if (next === "busy") {
			this.#socket?.ref();
			return;
		}
		this.#exchange = undefined;
		if (next === "idle") {
			this.#idleSince = performance.now();
			// An idle connection does not keep the process alive.
			this.#socket?.unref();
		} else if (exchange?.isOpen) this.#socket?.terminate();
		else this.#socket?.end();
	}

	#finish(exchange: Exchange): void {
		exchange.finish();
		const isKept = this.#parser.isKeepAlive && !this.#unwritten;
		this.#transition(isKept ? "idle" : "closed");
	}

	#fail(reason: unknown): void {
		const exchange = this.#exchange;
		this.#transition("closed");
		exchange?.fail(reason);
	}

	#write(exchange: Exchange): void {
		const { request } = exchange;
		const count = this.#writeSome(exchange, request);
		// Only a request that was cut is needed as bytes.
		if (count < Buffer.byteLength(request))
			this.#unwritten = Buffer.from(request).subarray(Math.max(0, count));
		// A reset that no event has reported yet.
		if (count < 0) this.onClose();
	}

	/** The number of bytes that left; negative if the connection is lost. */
	#writeSome(exchange: Exchange, bytes: string | Uint8Array): number {
		const count = this.#socket?.write(bytes) ?? -1;
		if (count > 0) exchange.advance("sent");
		return count;
	}
}

/** A request, and what came of it so far. Its connection fills it; it outlives its turn there until its body is read. */
export class Exchange {
	progress: Progress = "unsent";
	hasBegun = false;
	/** Rejects with an HttpFailure if no head comes. */
	readonly head: Promise<ResponseHead>;
	#state: "open" | "complete" | "failed" = "open";
	#failure: unknown;
	#pieces: Uint8Array[] = [];
	readonly #head = Promise.withResolvers<ResponseHead>();
	#wanted: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

	constructor(readonly request: string) {
		this.head = this.#head.promise;
	}

	/** Whether the connection is still busy with it. */
	get isOpen(): boolean {
		return this.#state === "open";
	}

	advance(progress: Progress): void {
		if (this.progress !== "answered") this.progress = progress;
	}

	add(event: Exclude<ParserEvent, { type: "end" }>): void {
		if (event.type === "head") {
			this.hasBegun = true;
			this.#head.resolve(event);
		} else if (this.#wanted) {
			this.#wanted.resolve({ value: event.bytes, done: false });
			this.#wanted = undefined;
		} else this.#pieces.push(event.bytes);
	}

	finish(): void {
		this.#state = "complete";
		this.#wanted?.resolve({ value: undefined, done: true });
	}

	fail(reason: unknown): void {
		this.#state = "failed";
		this.#failure = reason;
		this.#head.reject(reason);
		this.#wanted?.reject(reason);
	}

	/** The body, if all of it is there as one piece and none of it was read. */
	takeWhole(): Uint8Array | undefined {
		return this.#state === "complete" && this.#pieces.length === 1
			? this.#pieces.pop()
			: undefined;
	}

	/** What has come of the body since the last call, as one piece; undefined if nothing has. */
	take(): Uint8Array | undefined {
		// Joined: read one by one, chunks of a byte each would delay every other response.
		const pieces = this.#pieces.splice(0);
		return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0];
	}

	/** The next piece of the body once it comes, when `take` has nothing. Rejects with an HttpFailure. */
	async next(): Promise<IteratorResult<Uint8Array>> {
		if (this.#state === "complete") return { value: undefined, done: true };
		if (this.#state === "failed") throw this.#failure;
		this.#wanted = Promise.withResolvers();
		return this.#wanted.promise;
	}
}

function connectionLost({ progress }: Exchange, cause: unknown): HttpFailure {
	const message =
		progress === "answered"
			? "the connection was lost in the middle of the answer"
			: cause === undefined
				? "the connection was lost"
				: describeConnectionError(cause);
	return new HttpFailure(message, progress, { cause });
}
