// A strict HTTP/1.1 response parser: bytes in; head, chunks and end out. It knows no socket.
// https://www.rfc-editor.org/rfc/rfc9112

/** What is wrong with a response. */
export class ParseError extends Error {
	override name = "ParseError";
}

export interface ParserOptions {
	/** Limit of a head, and of the trailers. */
	maxHeadBytes: number;
	/** Parsed heads by their text, shared by the connections of a pool: a server's heads are the same for a second. */
	heads: Map<string, ResponseHead>;
}

export type ParserEvent =
	| ResponseHead
	/** A piece of the body, whether or not the response is chunked. It refers to the bytes that were pushed. */
	| { readonly type: "chunk"; readonly bytes: Uint8Array }
	| { readonly type: "end" };

export interface ResponseHead extends HeadLines, Framing {
	readonly type: "head";
	readonly headers: { get(name: string): string | null };
}

interface HeadLines {
	/** Of HTTP/1.x. */
	readonly minor: number;
	readonly status: number;
	/** By lower-case name. */
	readonly fields: ReadonlyMap<string, string>;
}

interface Framing {
	readonly hasBody: boolean;
	/** Content-Length. */
	readonly length: number | undefined;
	readonly isChunked: boolean;
	readonly isKeepAlive: boolean;
}

type State =
	| "head"
	| "sized body"
	| "body until close"
	| "chunk line"
	| "chunk"
	| "chunk end"
	| "trailers"
	| "complete"
	/** After a complete response, before the next one. */
	| "idle";

const maxFields = 100;
const maxChunkLineBytes = 1_024;
const maxInterimResponses = 8;
/** Of a response. Parsing millions of tiny chunks would delay all other responses. */
const maxChunks = 100_000;
/** The head cache is emptied at this size. */
const maxCachedHeads = 64;

const endEvent: ParserEvent = { type: "end" };
const empty = Buffer.alloc(0);

export class ResponseParser {
	/** Whether the connection may carry another request. Only meaningful after "end". */
	isKeepAlive = false;
	readonly #options: ParserOptions;
	#state: State = "idle";
	#input: Buffer = empty;
	/** Start of the unread part of the input. */
	#at = 0;
	#maxBodyBytes = 0;
	/** Bytes of the body so far, with the framing of its chunks. */
	#bodyBytes = 0;
	/** Bytes left of a sized body or of a chunk. */
	#bytesLeft = 0;
	#interimResponses = 0;
	#chunks = 0;

	constructor(options: ParserOptions) {
		this.#options = options;
	}

	/** Begins the next response. `maxBodyBytes` limits its body, with the framing of its chunks. */
	start(maxBodyBytes: number): void {
		this.#maxBodyBytes = maxBodyBytes;
		this.#bodyBytes = 0;
		this.#interimResponses = 0;
		this.#chunks = 0;
		this.isKeepAlive = false;
		this.#transition("head");
	}

	/** Whether the response is complete if the connection ends now. */
	get endsWithConnection(): boolean {
		return this.#state === "body until close";
	}

	/** Adds received bytes, split anywhere. Call `next` until it returns undefined before adding more. */
	push(bytes: Buffer): void {
		const isRead = this.#at === this.#input.length;
		this.#input = isRead
			? bytes
			: Buffer.concat([this.#input.subarray(this.#at), bytes]);
		this.#at = 0;
	}

	/** The next event; undefined if more bytes are needed. Throws a ParseError, after which the parser is of no use. */
	next(): ParserEvent | undefined {
		for (;;) {
			if (this.#bodyBytes > this.#maxBodyBytes)
				throw bodyTooLarge(this.#maxBodyBytes);
			if (this.#state === "complete") return this.#end();
			if (this.#state === "idle" || this.#at === this.#input.length)
				return undefined;
			const from = this.#at;
			const isBody = this.#state !== "head";
			const event = this.#read();
			if (isBody) this.#bodyBytes += this.#at - from;
			if (event) return event;
			if (this.#at === from) return undefined;
		}
	}

	/** Reads one element of the input, if it is there as a whole. */
	#read(): ParserEvent | undefined {
		switch (this.#state) {
			case "head":
				return this.#readHead();
			case "sized body":
				return this.#readPiece("complete");
			case "chunk":
				return this.#readPiece("chunk end");
			case "body until close":
				this.#bytesLeft = this.#input.length;
				return this.#readPiece("body until close");
			case "chunk line":
				return this.#readChunkLine();
			case "chunk end":
				return this.#readChunkEnd();
			case "trailers":
				return this.#readTrailers();
			case "complete":
			case "idle":
				return undefined;
		}
	}

	#transition(state: State): void {
		this.#state = state;
	}

	#end(): ParserEvent {
		// More bytes than announced: what follows cannot be trusted.
		if (this.#at < this.#input.length) this.isKeepAlive = false;
		// An idle connection keeps no memory of its last response.
		this.#input = empty;
		this.#at = 0;
		this.#transition("idle");
		return endEvent;
	}

	#readHead(): ParserEvent | undefined {
		const from = this.#at;
		const end = this.#endOfBlock("head");
		if (end < 0) {
			checkBeginning(this.#input.subarray(from));
			return undefined;
		}
		const text = this.#input.toString("latin1", from, end);
		const head = this.#options.heads.get(text) ?? this.#parseHead(text);
		this.#at = end + 4;
		if (head.status < 200) return this.#skipInterim(head);
		const { hasBody, length, isChunked } = head;
		if (length !== undefined && length > this.#maxBodyBytes)
			throw bodyTooLarge(this.#maxBodyBytes);
		this.isKeepAlive = head.isKeepAlive;
		if (!hasBody) {
			// A server that announces a body may send it all the same.
			if (length || isChunked) this.isKeepAlive = false;
			this.#transition("complete");
		} else if (isChunked) this.#transition("chunk line");
		else if (length === undefined) this.#transition("body until close");
		else {
			this.#bytesLeft = length;
			this.#transition(length > 0 ? "sized body" : "complete");
		}
		return head;
	}

	#parseHead(text: string): ResponseHead {
		const { heads } = this.#options;
		const head = parseHead(text);
		if (heads.size >= maxCachedHeads) heads.clear();
		heads.set(text, head);
		return head;
	}

	/** Start of the empty line that ends a head or trailers; negative while it is missing. */
	#endOfBlock(what: string): number {
		const end = this.#input.indexOf(emptyLine, this.#at);
		const { maxHeadBytes } = this.#options;
		if ((end < 0 ? this.#input.length : end + 4) - this.#at > maxHeadBytes)
			throw new ParseError(`${what} larger than ${maxHeadBytes} bytes`);
		return end;
	}

	#skipInterim({ status, fields }: HeadLines): undefined {
		if (status === 101) throw new ParseError("unexpected protocol upgrade");
		if (fields.has("content-length") || fields.has("transfer-encoding"))
			throw new ParseError("interim response with a body");
		if (++this.#interimResponses > maxInterimResponses)
			throw new ParseError("too many interim responses");
	}

	/** What is there of a body or chunk, and once that is complete the transition to the state that follows. */
	#readPiece(following: State): ParserEvent {
		const from = this.#at;
		const length = Math.min(this.#input.length - from, this.#bytesLeft);
		this.#at += length;
		this.#bytesLeft -= length;
		if (this.#bytesLeft === 0) this.#transition(following);
		return { type: "chunk", bytes: this.#input.subarray(from, this.#at) };
	}

	#readChunkLine(): undefined {
		const input = this.#input;
		const end = input.indexOf(lineEnd, this.#at);
		if ((end < 0 ? input.length : end) - this.#at > maxChunkLineBytes)
			throw new ParseError("chunk header too long");
		if (end < 0) return;
		const line = chunkLine.exec(input.toString("latin1", this.#at, end));
		if (!line) throw new ParseError("bad chunk header");
		if (++this.#chunks > maxChunks)
			throw new ParseError(`more than ${maxChunks} chunks`);
		this.#bytesLeft = Number.parseInt(line[1] ?? "", 16);
		// The line end before the trailers is left unread: without trailers an empty line follows it at once.
		this.#at = this.#bytesLeft > 0 ? end + 2 : end;
		this.#transition(this.#bytesLeft > 0 ? "chunk" : "trailers");
	}

	#readChunkEnd(): undefined {
		const at = this.#at;
		if (this.#input.length - at < 2) return;
		if (this.#input[at] !== 13 || this.#input[at + 1] !== 10)
			throw new ParseError("chunk longer than announced");
		this.#at += 2;
		this.#transition("chunk line");
	}

	#readTrailers(): undefined {
		const from = this.#at;
		const end = this.#endOfBlock("trailers");
		if (end < 0) return;
		// They are checked and dropped.
		if (end > from)
			parseFields(this.#input.toString("latin1", from + 2, end).split("\r\n"));
		this.#at = end + 4;
		this.#transition("complete");
	}
}

const emptyLine = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*$/;
/** The name of a header. */
export const fieldName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const fieldLine = /^[\t\x20-\x7e\x80-\xff]*$/;
const chunkLine = /^([\dA-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

function bodyTooLarge(maxBytes: number): ParseError {
	return new ParseError(`body larger than ${maxBytes} bytes`);
}

/** Throws if an incomplete head cannot become one: a server that does not speak HTTP may never end it. */
function checkBeginning(input: Buffer): void {
	const expected = "HTTP/1.";
	const begun = input.toString("latin1", 0, expected.length);
	if (!expected.startsWith(begun)) throw new ParseError("bad status line");
	const newline = input.indexOf(10);
	if (newline >= 0 && input[newline - 1] !== 13)
		throw new ParseError("a line that does not end in CR LF");
}

function parseHead(text: string): ResponseHead {
	const [first = "", ...lines] = text.split("\r\n");
	const [, minor, status] = statusLine.exec(first) ?? [];
	if (!status) throw new ParseError("bad status line");
	const head = {
		minor: Number(minor),
		status: Number(status),
		fields: parseFields(lines),
	};
	return {
		type: "head",
		...head,
		...(head.status < 200 ? noBody : framingOf(head)),
		headers: {
			get: (name: string) => head.fields.get(name.toLowerCase()) ?? null,
		},
	};
}

function parseFields(lines: readonly string[]): Map<string, string> {
	if (lines.length > maxFields)
		throw new ParseError(`more than ${maxFields} headers`);
	const fields = new Map<string, string>();
	for (const line of lines) {
		const colon = line.indexOf(":");
		const name = line.slice(0, Math.max(0, colon)).toLowerCase();
		if (!fieldName.test(name) || !fieldLine.test(line))
			throw new ParseError("bad header line");
		const value = trim(line, colon + 1);
		const before = fields.get(name);
		// Where a repeated header would be ambiguous (a length, an encoding), the joined value is refused.
		fields.set(name, before === undefined ? value : `${before}, ${value}`);
	}
	return fields;
}

/** `line` from `start`, without surrounding spaces and tabs. String.trim() removes other white space, too. */
function trim(line: string, start: number): string {
	const isSpace = (at: number) => line[at] === " " || line[at] === "\t";
	let [from, to] = [start, line.length];
	while (from < to && isSpace(from)) from++;
	while (to > from && isSpace(to - 1)) to--;
	return line.slice(from, to);
}

const noBody: Framing = {
	hasBody: false,
	length: undefined,
	isChunked: false,
	isKeepAlive: false,
};

/** Throws a ParseError if it is ambiguous where the body ends. */
function framingOf(head: HeadLines): Framing {
	const { status, fields } = head;
	const length = contentLength(fields);
	const chunked = isChunked(head);
	checkContentEncoding(fields);
	return {
		hasBody: status !== 204 && status !== 205 && status !== 304,
		length,
		isChunked: chunked,
		isKeepAlive: isKeepAlive(head),
	};
}

function contentLength(fields: HeadLines["fields"]): number | undefined {
	const length = fields.get("content-length");
	if (length === undefined) return undefined;
	if (!/^\d+$/.test(length)) throw new ParseError("bad Content-Length");
	return Number(length);
}

function isChunked({ minor, fields }: HeadLines): boolean {
	const coding = fields.get("transfer-encoding");
	if (coding === undefined) return false;
	if (minor === 0 || !/^chunked$/i.test(coding))
		throw new ParseError("unsupported Transfer-Encoding");
	if (fields.has("content-length"))
		throw new ParseError("both Content-Length and Transfer-Encoding");
	return true;
}

/** No encoding was asked for, and none is decoded. */
function checkContentEncoding(fields: HeadLines["fields"]): void {
	const encoding = fields.get("content-encoding");
	if (encoding !== undefined && !/^identity$/i.test(encoding))
		throw new ParseError("unsupported Content-Encoding");
}

function isKeepAlive({ minor, fields }: HeadLines): boolean {
	const connection = fields.get("connection")?.toLowerCase();
	if (connection === undefined) return minor === 1;
	const options = connection.split(",").map((option) => option.trim());
	if (options.includes("close")) return false;
	return minor === 1 || options.includes("keep-alive");
}
