// A keep-alive HTTP/1.1 client for one `http:` URL, on `Bun.connect` (https://www.rfc-editor.org/rfc/rfc9112): a bounded
// pool, answers read strictly, and of a failed request how far it got. A request is never sent twice.

import type { ByteBudget, ByteHolder } from "../lib/byte-budget.ts";
import {
	describeFault,
	givenUp,
	HttpFailure,
	type HttpRequest,
	type HttpResponse,
	noRoom,
	type Progress,
	type Send,
	tooLarge,
} from "../lib/http.ts";
import type { Signal } from "../lib/signal.ts";

export interface HttpClientOptions {
	/** An `http:` URL, path included. */
	url: string;
	/** Sends beyond it wait for their turn. */
	maxConnections: number;
	/** A kept connection is closed after this; less than Node's 5 s and Bun's 10 s, so that we are first. Default 4,000. */
	idleTimeoutMs?: number;
	/** Of an answer's head, and of its trailers. Default 16 KiB. */
	maxHeadBytes?: number;
	/** Of an answer's body, with the framing of its chunks. Default 16 MiB. */
	maxBodyBytes?: number;
	/** Limits the answers that are on their way, with those of other clients. */
	budget?: ByteBudget | undefined;
}

export interface HttpClient {
	send: Send;
	/** Connections there are: idle, busy, and those being made. */
	readonly open: number;
	/** Closes idle connections now and busy ones as they end. Later sends fail "unsent"; those that wait still get their turn. */
	close(): void;
}

/** A client that has no connection yet. Throws a TypeError where the URL is not an `http:` one. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
	return new Pool(options);
}

const maxFields = 100;
const maxChunkLineBytes = 1_024;
const maxInterimAnswers = 8;
/** Of an answer: millions of tiny ones would take the time of all other answers. */
const maxChunks = 100_000;

class Pool implements HttpClient {
	open = 0;
	readonly limits: Limits;
	readonly budget: ByteBudget | undefined;
	/** The one used last is last: it is the next to be used, and the first is the next to be too old. */
	readonly #idle: Connection[] = [];
	readonly #waiting = new Set<Exchange>();
	readonly #url: URL;
	/** What the lines of headers are that were sent before. */
	readonly #fieldLines = new WeakMap<HttpRequest["headers"], string>();
	readonly #hostname: string;
	readonly #maxConnections: number;
	readonly #idleTimeoutMs: number;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#closed = false;

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
		this.#hostname = this.#url.hostname.replace(/^\[|\]$/g, "");
		this.#maxConnections = maxConnections;
		this.#idleTimeoutMs = idleTimeoutMs;
		this.limits = { maxHeadBytes, maxBodyBytes, heads: new Map() };
		this.budget = budget;
	}

	send: Send = (request, signal) =>
		new Promise((resolve, reject) => {
			if (signal.aborted) throw givenUp(signal, "unsent");
			if (this.#closed) throw new HttpFailure("the client is closed", "unsent");
			const text = this.#requestText(request);
			const { maxBodyBytes = this.limits.maxBodyBytes } = request;
			const exchange = new Exchange(
				this,
				text,
				maxBodyBytes,
				signal,
				resolve,
				reject,
			);
			const kept = this.#takeIdle();
			if (kept) kept.carry(exchange);
			else if (this.open < this.#maxConnections) this.connect(exchange);
			else this.#waiting.add(exchange);
		});

	/** The whole request, in one piece. Throws a TypeError for headers that would make another request of it. */
	#requestText({ method, headers, requestId, body = "" }: HttpRequest): string {
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

	close() {
		this.#closed = true;
		for (const connection of [...this.#idle]) connection.drop();
	}

	/** Makes a connection for an exchange. */
	connect(exchange: Exchange) {
		const connection = new Connection(this, exchange);
		this.open++;
		Bun.connect({
			hostname: this.#hostname,
			port: Number(this.#url.port || 80),
			data: connection,
			socket: socketHandlers,
		}).catch((cause) => connection.lost(cause));
	}

	/** A connection has done its work and may do more. */
	free(connection: Connection) {
		const exchange = this.#takeWaiting();
		if (exchange) return connection.carry(exchange);
		if (this.#closed) return connection.drop();
		connection.rest();
		this.#idle.push(connection);
		if (!this.#timer) this.#closeOldIn(this.#idleTimeoutMs);
	}

	/** A connection is no more, and leaves room for another. */
	gone(connection: Connection) {
		this.open--;
		const index = this.#idle.indexOf(connection);
		if (index >= 0) this.#idle.splice(index, 1);
	}

	/** Uses the room there is. */
	connectWaiting() {
		if (this.open >= this.#maxConnections) return;
		const exchange = this.#takeWaiting();
		if (exchange) this.connect(exchange);
	}

	forget(exchange: Exchange) {
		this.#waiting.delete(exchange);
	}

	#takeWaiting(): Exchange | undefined {
		for (const exchange of this.#waiting) {
			this.#waiting.delete(exchange);
			return exchange;
		}
		return undefined;
	}

	#takeIdle(): Connection | undefined {
		// The timer is late where the process was busy.
		if (this.#idle.length > 0) this.#closeOld();
		return this.#idle.pop();
	}

	#closeOld() {
		const limit = performance.now() - this.#idleTimeoutMs;
		for (;;) {
			const [oldest] = this.#idle;
			if (!oldest || oldest.idleSince > limit) return oldest;
			oldest.drop();
		}
	}

	#closeOldIn(delayMs: number) {
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			const oldest = this.#closeOld();
			if (!oldest) return;
			const ageMs = performance.now() - oldest.idleSince;
			this.#closeOldIn(Math.max(1, this.#idleTimeoutMs - ageMs));
		}, delayMs);
		this.#timer.unref();
	}
}

const socketHandlers: Bun.SocketHandler<Connection> = {
	open: (socket) => socket.data.opened(socket),
	data: (socket, bytes) => socket.data.received(bytes),
	drain: (socket) => socket.data.writeOn(),
	end: (socket) => socket.data.ended(),
	close: (socket, cause) => socket.data.lost(cause),
};

/** A socket, and the exchange it is busy with. */
class Connection {
	idleSince = 0;
	readonly #pool: Pool;
	readonly #reader: AnswerReader;
	#socket: Bun.Socket<Connection> | undefined;
	#exchange: Exchange | undefined;
	/** What the socket has not taken of the request. */
	#unwritten: Uint8Array | undefined;
	#reused = false;
	#gone = false;

	constructor(pool: Pool, exchange: Exchange) {
		this.#pool = pool;
		this.#reader = new AnswerReader(pool.limits, exchange);
		this.#exchange = exchange;
		exchange.connection = this;
	}

	opened(socket: Bun.Socket<Connection>) {
		// Given up while it was being made, which cannot be stopped.
		if (this.#gone) return socket.terminate();
		this.#socket = socket;
		this.#write();
	}

	/** Sends another request over a connection that is idle. */
	carry(exchange: Exchange) {
		this.#reused = true;
		this.#reader.start(exchange);
		this.#exchange = exchange;
		exchange.connection = this;
		this.#socket?.ref();
		this.#write();
	}

	/** Waits for another request, without keeping the process alive. */
	rest() {
		this.idleSince = performance.now();
		this.#socket?.unref();
	}

	#write() {
		if (!this.#exchange) return;
		const { text } = this.#exchange;
		const count = this.#writeSome(text);
		// Only a request that was cut is needed as bytes.
		if (count < Buffer.byteLength(text))
			this.#unwritten = Buffer.from(text).subarray(Math.max(0, count));
		// A reset that no event has told of yet.
		if (count < 0) this.lost();
	}

	writeOn() {
		// An answer that came early will not change.
		if (!this.#unwritten || !this.#exchange || this.#exchange.hasBegun) return;
		const count = this.#writeSome(this.#unwritten);
		// Where the connection is lost, its end follows; an answer may stand before it.
		if (count < 0) return;
		const rest = this.#unwritten.subarray(count);
		this.#unwritten = rest.length > 0 ? rest : undefined;
	}

	/** The number of bytes that left; -1 where the connection is lost. */
	#writeSome(bytes: string | Uint8Array): number {
		const count = this.#socket?.write(bytes) ?? -1;
		if (count > 0) this.#exchange?.advance("sent");
		return count;
	}

	received(bytes: Buffer) {
		const exchange = this.#exchange;
		// What comes unasked would be taken for the answer to the next request.
		if (!exchange) return this.lost();
		exchange.advance("answered");
		let whole: boolean;
		try {
			whole = this.#reader.read(bytes);
		} catch (cause) {
			this.drop();
			return exchange.fail(asFailure(cause));
		}
		// Most answers come in one piece, and are never counted.
		if (!whole) return exchange.hold(bytes.length);
		this.#exchange = undefined;
		exchange.finish();
		if (this.#reader.keepsConnection && !this.#unwritten) this.#pool.free(this);
		else this.drop();
	}

	/** The other end sends no more. */
	ended() {
		const exchange = this.#exchange;
		// After a failed write Bun reports a reset as an orderly end.
		if (exchange && !this.#unwritten && this.#reader.endsWithConnection) {
			this.#exchange = undefined;
			exchange.finish();
		}
		this.lost();
	}

	/** The connection is no more, or not of use. */
	lost(cause?: unknown) {
		if (this.#gone) return;
		const exchange = this.#exchange;
		this.#leave();
		if (exchange && this.#reused && exchange.progress === "unsent")
			this.#pool.connect(exchange);
		else exchange?.fail(lossOf(exchange.progress, cause));
		this.#pool.connectWaiting();
	}

	/** Closes the connection, whatever it is busy with. */
	drop() {
		if (this.#gone) return;
		this.#leave();
		this.#pool.connectWaiting();
	}

	#leave() {
		this.#gone = true;
		if (this.#exchange) this.#socket?.terminate();
		else this.#socket?.end();
		this.#exchange = undefined;
		this.#pool.gone(this);
	}
}

/**
 * One request and its answer, wherever they are on their way: to whoever sent the request it is the answer, once the head
 * of that is there. It holds what came of the body until that is read.
 */
class Exchange
	implements HttpResponse, AsyncIterableIterator<Uint8Array>, ByteHolder
{
	heldBytes = 0;
	progress: Progress = "unsent";
	connection: Connection | undefined;
	hasBegun = false;
	status = 0;
	headers: HttpResponse["headers"] = noHeaders;
	readonly #pool: Pool;
	readonly #signal: Signal;
	readonly #resolve: (answer: HttpResponse) => void;
	readonly #reject: (reason: unknown) => void;
	/** Of the body, where it was announced. */
	#length: number | undefined;
	#pieces: Uint8Array[] = [];
	#state: "open" | "whole" | "failed" = "open";
	#fault: unknown;
	#wanted: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

	constructor(
		pool: Pool,
		readonly text: string,
		readonly maxBodyBytes: number,
		signal: Signal,
		resolve: (answer: HttpResponse) => void,
		reject: (reason: unknown) => void,
	) {
		this.#pool = pool;
		this.#signal = signal;
		this.#resolve = resolve;
		this.#reject = reject;
		signal.addEventListener("abort", this.#abort);
	}

	get body(): AsyncIterable<Uint8Array> {
		return this;
	}

	/** All exchanges with a bot are one owner. */
	get owner(): object {
		return this.#pool;
	}

	/** More of the answer is there, and not all of it. */
	hold(bytes: number) {
		this.#pool.budget?.hold(this, bytes);
	}

	overflow() {
		const { budget } = this.#pool;
		if (budget) this.#giveUp(noRoom(budget));
	}

	advance(progress: Progress) {
		if (this.progress !== "answered") this.progress = progress;
	}

	/** The answer's head is there. */
	begin({ status, headers, length }: Head) {
		this.hasBegun = true;
		this.status = status;
		this.headers = headers;
		this.#length = length;
		this.#resolve(this);
	}

	/** A piece of the answer's body is there. */
	push(value: Uint8Array) {
		if (!this.#wanted) return void this.#pieces.push(value);
		this.#wanted.resolve({ value, done: false });
		this.#wanted = undefined;
	}

	finish() {
		this.#leave();
		this.#state = "whole";
		this.#wanted?.resolve({ value: undefined, done: true });
	}

	fail(reason: unknown) {
		this.#leave();
		this.#state = "failed";
		this.#fault = reason;
		this.#reject(reason);
		this.#wanted?.reject(reason);
	}

	discard() {
		this.#pieces = [];
		if (this.#state !== "open") return;
		const { connection } = this;
		this.finish();
		connection?.drop();
	}

	whole(): Uint8Array | Promise<Uint8Array> | undefined {
		if (this.#length === undefined) return undefined;
		const pieces = this.#pieces;
		return this.#state === "whole" && pieces.length === 1
			? pieces.pop()
			: this.#collect();
	}

	async #collect(): Promise<Uint8Array> {
		const pieces: Uint8Array[] = [];
		for await (const piece of this) pieces.push(piece);
		return Buffer.concat(pieces);
	}

	[Symbol.asyncIterator]() {
		return this;
	}

	async next(): Promise<IteratorResult<Uint8Array>> {
		// All as one: read one by one, chunks of a byte each would hold up every other answer.
		const pieces = this.#pieces.splice(0);
		const value = pieces.length > 1 ? Buffer.concat(pieces) : pieces[0];
		if (value) {
			if (this.#signal.aborted) throw givenUp(this.#signal, "answered");
			return { value, done: false };
		}
		if (this.#state === "whole") return { value: undefined, done: true };
		if (this.#state === "failed") throw this.#fault;
		this.#wanted = Promise.withResolvers();
		return this.#wanted.promise;
	}

	async return(): Promise<IteratorResult<Uint8Array>> {
		this.discard();
		return { value: undefined, done: true };
	}

	#abort = () => {
		this.#pool.forget(this);
		this.#giveUp(givenUp(this.#signal, this.progress));
	};

	#giveUp(reason: HttpFailure) {
		const { connection } = this;
		this.fail(reason);
		connection?.drop();
	}

	#leave() {
		this.connection = undefined;
		if (this.heldBytes > 0) this.#pool.budget?.release(this);
		this.#signal.removeEventListener("abort", this.#abort);
	}
}

const noHeaders: HttpResponse["headers"] = { get: () => null };

interface Limits {
	maxHeadBytes: number;
	maxBodyBytes: number;
	/** Heads that were read lately, by their text: a bot's are the same for a second, but for a length. */
	heads: Map<string, Head>;
}

/** How many of them are kept. */
const maxKeptHeads = 64;

interface HeadLines {
	/** Of HTTP/1.x. */
	minor: number;
	status: number;
	/** By lower-case name. */
	fields: ReadonlyMap<string, string>;
}

interface Head extends HeadLines, Framing {
	headers: HttpResponse["headers"];
}

/** What a head says of the body and of the connection. */
interface Framing {
	hasNoBody: boolean;
	length: number | undefined;
	chunked: boolean;
	keepsConnection: boolean;
}

/** What is wrong with an answer, as the end of a sentence. */
class BadAnswer extends Error {}

/** Reads a connection's answers from bytes that are cut anywhere, and tells the exchange of head and pieces of the body. */
class AnswerReader {
	keepsConnection = false;
	endsWithConnection = false;
	readonly #limits: Limits;
	/** Whose answer it reads. */
	#exchange: Exchange | undefined;
	/** Reads what it can: the number of bytes, 0 where it needs more to go on. */
	#step: ((input: Buffer) => number) | undefined = this.#readHead;
	/** What came and could not be read yet: never more than a head. */
	#unread: Buffer | undefined;
	#interimAnswers = 0;
	#chunks = 0;
	#bodyBytes = 0;
	/** Of the body, or of the chunk. */
	#bytesLeft = 0;

	constructor(limits: Limits, exchange: Exchange) {
		this.#limits = limits;
		this.#exchange = exchange;
	}

	/** Goes on to the answer of another exchange, after one that was whole. */
	start(exchange: Exchange) {
		this.#exchange = exchange;
		this.keepsConnection = false;
		this.#step = this.#readHead;
		this.#interimAnswers = 0;
		this.#chunks = 0;
		this.#bodyBytes = 0;
	}

	/** True: the answer is whole. Throws a BadAnswer. */
	read(bytes: Buffer): boolean {
		let input = this.#unread ? Buffer.concat([this.#unread, bytes]) : bytes;
		this.#unread = undefined;
		while (this.#step && input.length > 0) {
			const inBody = this.#step !== this.#readHead;
			const count = this.#step(input);
			if (count === 0) {
				this.#unread = input;
				return false;
			}
			if (inBody) this.#countBody(count);
			input = input.subarray(count);
		}
		if (this.#step) return false;
		// More than was announced: what follows cannot be trusted.
		if (input.length > 0) this.keepsConnection = false;
		// The connection may be idle for a while, and hold nothing of it.
		this.#exchange = undefined;
		return true;
	}

	#countBody(count: number) {
		this.#bodyBytes += count;
		this.#checkLength(this.#bodyBytes);
	}

	#checkLength(bytes: number) {
		const { maxBodyBytes = this.#limits.maxBodyBytes } = this.#exchange ?? {};
		if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
	}

	#readHead(input: Buffer): number {
		const end = this.#endOfBlock(input, "head");
		if (end < 0) {
			checkBeginning(input);
			return 0;
		}
		const text = input.toString("latin1", 0, end);
		const head = this.#limits.heads.get(text) ?? this.#newHead(text);
		if (head.status >= 200) this.#begin(head);
		else this.#skipInterim(head);
		return end + 4;
	}

	#newHead(text: string): Head {
		const head = parseHead(text);
		const { heads } = this.#limits;
		// Of an interim answer nothing follows but the next head.
		const framing = head.status < 200 ? noBody : framingOf(head);
		const { fields } = head;
		const headers = {
			get: (name: string) => fields.get(name.toLowerCase()) ?? null,
		};
		const read = { ...head, ...framing, headers };
		if (heads.size >= maxKeptHeads) heads.clear();
		heads.set(text, read);
		return read;
	}

	/** Where the empty line begins that ends a head or trailers; below 0 where it has not come yet. */
	#endOfBlock(input: Buffer, what: string): number {
		const end = input.indexOf(emptyLine);
		const { maxHeadBytes } = this.#limits;
		if ((end < 0 ? input.length : end + 4) > maxHeadBytes)
			throw new BadAnswer(`its ${what} is larger than ${maxHeadBytes} bytes`);
		return end;
	}

	#skipInterim({ status, fields }: HeadLines) {
		if (status === 101) throw new BadAnswer("it changes the protocol");
		if (fields.has("content-length") || fields.has("transfer-encoding"))
			throw new BadAnswer("an interim answer has a body");
		if (++this.#interimAnswers > maxInterimAnswers)
			throw new BadAnswer("there are too many interim answers");
	}

	#begin(head: Head) {
		const { length, chunked } = head;
		this.#checkLength(length ?? 0);
		this.keepsConnection = head.keepsConnection;
		if (head.hasNoBody) {
			this.#step = undefined;
			// There is no body, but whoever announces one may send it.
			if (length || chunked) this.keepsConnection = false;
		} else if (chunked) this.#step = this.#readChunkLine;
		else if (length === undefined) {
			this.#step = this.#readToEnd;
			this.endsWithConnection = true;
		} else {
			this.#bytesLeft = length;
			this.#step = length > 0 ? this.#readSized : undefined;
		}
		this.#exchange?.begin(head);
	}

	#readToEnd(input: Buffer): number {
		this.#exchange?.push(input);
		return input.length;
	}

	#readSized(input: Buffer): number {
		const count = this.#pushLeft(input);
		if (this.#bytesLeft === 0) this.#step = undefined;
		return count;
	}

	#pushLeft(input: Buffer): number {
		const count = Math.min(input.length, this.#bytesLeft);
		this.#exchange?.push(
			count < input.length ? input.subarray(0, count) : input,
		);
		this.#bytesLeft -= count;
		return count;
	}

	#readChunkLine(input: Buffer): number {
		const end = input.indexOf(lineEnd);
		if ((end < 0 ? input.length : end) > maxChunkLineBytes)
			throw new BadAnswer("a chunk's first line is too long");
		if (end < 0) return 0;
		const line = chunkLine.exec(input.toString("latin1", 0, end));
		if (!line) throw new BadAnswer("a chunk's length is none");
		if (++this.#chunks > maxChunks)
			throw new BadAnswer(`it has more than ${maxChunks} chunks`);
		this.#bytesLeft = Number.parseInt(line[1] ?? "", 16);
		if (this.#bytesLeft > 0) {
			this.#step = this.#readChunk;
			return end + 2;
		}
		this.#step = this.#readTrailers;
		// Left for the trailers, which are none where an empty line follows at once.
		return end;
	}

	#readChunk(input: Buffer): number {
		const count = this.#pushLeft(input);
		if (this.#bytesLeft === 0) this.#step = this.#readChunkEnd;
		return count;
	}

	#readChunkEnd(input: Buffer): number {
		if (input.length < 2) return 0;
		if (input[0] !== 13 || input[1] !== 10)
			throw new BadAnswer("a chunk is longer than its length");
		this.#step = this.#readChunkLine;
		return 2;
	}

	#readTrailers(input: Buffer): number {
		const end = this.#endOfBlock(input, "trailer section");
		if (end < 0) return 0;
		// Checked, and of no use here.
		if (end > 0) parseFields(input.toString("latin1", 2, end).split("\r\n"));
		this.#step = undefined;
		return end + 4;
	}
}

const emptyLine = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*$/;
const fieldName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const chunkLine = /^([\dA-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

/** Whether a head that has only begun can become one: who does not speak HTTP may never end it. */
function checkBeginning(input: Buffer) {
	const expected = "HTTP/1.";
	const begun = input.toString("latin1", 0, expected.length);
	if (!expected.startsWith(begun)) throw new BadAnswer("its first line");
	const newline = input.indexOf(10);
	if (newline >= 0 && input[newline - 1] !== 13)
		throw new BadAnswer("a line that does not end in CR LF");
}

function parseHead(text: string): HeadLines {
	const [first = "", ...lines] = text.split("\r\n");
	const [, minor, status] = statusLine.exec(first) ?? [];
	if (!status) throw new BadAnswer("its first line");
	return {
		minor: Number(minor),
		status: Number(status),
		fields: parseFields(lines),
	};
}

function parseFields(lines: readonly string[]): Map<string, string> {
	if (lines.length > maxFields)
		throw new BadAnswer(`it has more than ${maxFields} headers`);
	const fields = new Map<string, string>();
	for (const line of lines) {
		const colon = line.indexOf(":");
		const name = line.slice(0, Math.max(0, colon)).toLowerCase();
		if (!fieldName.test(name) || !fieldValue.test(line))
			throw new BadAnswer("a header line");
		const value = trim(line, colon + 1);
		const before = fields.get(name);
		// Where joining would mislead, the joined value is refused: a length, a coding.
		fields.set(name, before === undefined ? value : `${before}, ${value}`);
	}
	return fields;
}

/** `line` from `start`, without the spaces and tabs around; trim() knows other spaces, too. */
function trim(line: string, start: number): string {
	const isSpace = (at: number) => line[at] === " " || line[at] === "\t";
	let [from, to] = [start, line.length];
	while (from < to && isSpace(from)) from++;
	while (to > from && isSpace(to - 1)) to--;
	return line.slice(from, to);
}

const noBody: Framing = {
	hasNoBody: true,
	length: undefined,
	chunked: false,
	keepsConnection: false,
};

/** Throws a BadAnswer for what leaves a doubt where the body ends. */
function framingOf(head: HeadLines): Framing {
	const { status, fields } = head;
	const length = contentLength(fields);
	const chunked = isChunked(head);
	checkContentEncoding(fields);
	return {
		hasNoBody: status === 204 || status === 205 || status === 304,
		length,
		chunked,
		keepsConnection: wantsToBeKept(head),
	};
}

function contentLength(fields: HeadLines["fields"]) {
	const length = fields.get("content-length");
	if (length === undefined) return undefined;
	if (!/^\d+$/.test(length)) throw new BadAnswer("its Content-Length");
	return Number(length);
}

function isChunked({ minor, fields }: HeadLines): boolean {
	const coding = fields.get("transfer-encoding");
	if (coding === undefined) return false;
	if (minor === 0 || !/^chunked$/i.test(coding))
		throw new BadAnswer("its Transfer-Encoding");
	if (fields.has("content-length"))
		throw new BadAnswer("both Content-Length and Transfer-Encoding");
	return true;
}

/** None was asked for, and none is undone. */
function checkContentEncoding(fields: HeadLines["fields"]) {
	const encoding = fields.get("content-encoding");
	if (encoding !== undefined && !/^identity$/i.test(encoding))
		throw new BadAnswer("its Content-Encoding");
}

function wantsToBeKept({ minor, fields }: HeadLines): boolean {
	const connection = fields.get("connection")?.toLowerCase();
	if (connection === undefined) return minor === 1;
	const options = connection.split(",").map((option) => option.trim());
	if (options.includes("close")) return false;
	return minor === 1 || options.includes("keep-alive");
}

/** The headers that say where a request ends and what becomes of the connection. */
const ourHeaders =
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
	if (!fieldName.test(name) || ourHeaders.test(name))
		throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
	// The value may be a secret.
	if (!sentValue.test(value))
		throw new TypeError(`the value of the header ${name} cannot be sent`);
	return `${name}: ${value}\r\n`;
}

/** How an exchange fails whose connection is no more. */
function lossOf(progress: Progress, cause: unknown): HttpFailure {
	const message =
		progress === "answered"
			? "the connection was lost in the middle of the answer"
			: cause === undefined
				? "the connection was lost"
				: describeFault(cause);
	return new HttpFailure(message, progress, { cause });
}

function asFailure(cause: unknown): unknown {
	if (!(cause instanceof BadAnswer)) return cause;
	return new HttpFailure(
		`the answer is not valid: ${cause.message}`,
		"answered",
	);
}
