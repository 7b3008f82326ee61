// One keep-alive connection: sends a request at a time and fills the Exchange that it returned for it.
// It knows neither the pool that it belongs to nor who reads the response.

import type { ByteBudget, ByteHolder } from "../lib/byte-budget.ts";
import {
	describeFault,
	HttpFailure,
	noRoom,
	type Progress,
} from "../lib/http.ts";
import {
	ParseError,
	type ParserEvent,
	type ParserOptions,
	type ResponseHead,
	ResponseParser,
} from "./response-parser.ts";

export interface ConnectionOptions {
	hostname: string;
	port: number;
	parser: ParserOptions;
	/** Limits the unfinished responses of this and other connections. */
	budget: ByteBudget | undefined;
	/** Who holds the bytes of its responses in the budget. */
	owner: object;
}

type State =
	/** The first request is sent once there is a connection. */
	| { name: "connecting"; exchange: Exchange | undefined }
	| { name: "busy"; exchange: Exchange }
	/** `since` is in milliseconds of the monotonic clock. */
	| { name: "idle"; since: number }
	| { name: "closed" };

export class Connection implements ByteHolder {
	heldBytes = 0;
	readonly owner: object;
	/** Resolves when it is closed. Never rejects. */
	readonly closed: Promise<void>;
	readonly #budget: ByteBudget | undefined;
	readonly #parser: ResponseParser;
	readonly #resolveClosed: () => void;
	#socket: Bun.Socket<Connection> | undefined;
	#state: State = { name: "connecting", exchange: undefined };
	/** The rest of a request that the socket has not taken yet. */
	#unwritten: Uint8Array | undefined;

	/** Begins to connect. */
	constructor({ hostname, port, parser, budget, owner }: ConnectionOptions) {
		this.owner = owner;
		this.#budget = budget;
		this.#parser = new ResponseParser(parser);
		const { promise, resolve } = Promise.withResolvers<void>();
		this.closed = promise;
		this.#resolveClosed = resolve;
		Bun.connect({
			hostname,
			port,
			data: this,
			socket: socketHandlers,
		}).catch((cause) => this.onClose(cause));
	}

	get isClosed(): boolean {
		return this.#state.name === "closed";
	}

	/** Since when it is idle; undefined in any other state. */
	get idleSince(): number | undefined {
		return this.#state.name === "idle" ? this.#state.since : undefined;
	}

	/** Sends a request over a connection that is new or idle. `maxBodyBytes` limits the body of the response. */
	send(request: string, maxBodyBytes: number): Exchange {
		const exchange = new Exchange(request);
		this.#parser.start(maxBodyBytes);
		if (this.#state.name === "connecting") this.#state.exchange = exchange;
		else {
			this.#transition({ name: "busy", exchange });
			this.#write(exchange);
		}
		return exchange;
	}

	/** Stops an exchange that is under way: it fails for this reason, or without one ends with what has come so far. */
	cancel(exchange: Exchange, reason?: HttpFailure): void {
		if (!exchange.isOpen) return;
		this.#transition({ name: "closed" });
		if (reason) exchange.fail(reason);
		else exchange.finish();
	}

	/** Closes it; a request that is under way fails. */
	close(): void {
		this.onClose();
	}

	/** Called by the budget: the response has to be dropped. */
	overflow(): void {
		if (this.#budget) this.#fail(noRoom(this.#budget));
	}

	onOpen(socket: Bun.Socket<Connection>) {
		// Cancelled while it was connecting, which cannot be stopped.
		if (this.#state.name !== "connecting") return socket.terminate();
		this.#socket = socket;
		const { exchange } = this.#state;
		if (!exchange) return this.close();
		this.#transition({ name: "busy", exchange });
		this.#write(exchange);
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
		// Most responses come in one piece and are never counted.
		this.#budget?.hold(this, bytes.length);
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
		this.#transition({ name: "closed" });
		if (exchange?.isOpen) exchange.fail(connectionLost(exchange, cause));
	}

	get #exchange(): Exchange | undefined {
		return "exchange" in this.#state ? this.#state.exchange : undefined;
	}

	#transition(next: State): void {
		if (this.#state.name === "closed") return;
		const exchange = this.#exchange;
		this.#state = next;
		if (this.heldBytes > 0) this.#budget?.release(this);
		if (next.name === "busy") this.#socket?.ref();
		// An idle connection does not keep the process alive.
		else if (next.name === "idle") this.#socket?.unref();
		else {
			if (exchange?.isOpen) this.#socket?.terminate();
			else this.#socket?.end();
			this.#resolveClosed();
		}
	}

	#finish(exchange: Exchange): void {
		exchange.finish();
		const isKept = this.#parser.isKeepAlive && !this.#unwritten;
		this.#transition(
			isKept ? { name: "idle", since: performance.now() } : { name: "closed" },
		);
	}

	#fail(reason: unknown): void {
		const exchange = this.#exchange;
		this.#transition({ name: "closed" });
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

const socketHandlers: Bun.SocketHandler<Connection> = {
	open: (socket) => socket.data.onOpen(socket),
	data: (socket, bytes) => socket.data.onData(bytes),
	drain: (socket) => socket.data.onDrain(),
	end: (socket) => socket.data.onEnd(),
	close: (socket, cause) => socket.data.onClose(cause),
};

/** A request, and what came of it so far. Its connection fills it; it outlives its turn there until its body is read. */
export class Exchange {
	progress: Progress = "unsent";
	hasBegun = false;
	/** Rejects with an HttpFailure if no head comes. */
	readonly head: Promise<ResponseHead>;
	/** Resolves when the connection has no more to do with it. Never rejects. */
	readonly finished: Promise<void>;
	#state: "open" | "complete" | "failed" = "open";
	#failure: unknown;
	#pieces: Uint8Array[] = [];
	readonly #head = Promise.withResolvers<ResponseHead>();
	readonly #finished = Promise.withResolvers<void>();
	#wanted: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

	constructor(readonly request: string) {
		this.head = this.#head.promise;
		this.finished = this.#finished.promise;
	}

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
		this.#finished.resolve();
		this.#wanted?.resolve({ value: undefined, done: true });
	}

	fail(reason: unknown): void {
		this.#state = "failed";
		this.#failure = reason;
		this.#finished.resolve();
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
				: describeFault(cause);
	return new HttpFailure(message, progress, { cause });
}
