// A strict HTTP/1.1 response parser: bytes in; head and pieces of the body out. It does no I/O.
// https://www.rfc-editor.org/rfc/rfc9112

/** Invalid, or exceeds a limit. */
export class ParseError extends Error {
	override name = "ParseError";

	/** `problem` is a sentence. */
	constructor(problem: string) {
		super(`invalid HTTP response: ${problem}`);
	}
}

export interface ResponseSink {
	onHead(head: ResponseHead): void;
	/** Of the body. A view of the received buffer, not a copy. */
	onPiece(bytes: Uint8Array): void;
}

export interface ResponseHead {
	/** 1 for HTTP/1.1, 0 for HTTP/1.0. */
	readonly minor: number;
	readonly status: number;
	/** By lower-case name. */
	readonly fields: ReadonlyMap<string, string>;
	readonly headers: { get(name: string): string | null };
	readonly hasBody: boolean;
	/** Content-Length in bytes. */
	readonly length: number | undefined;
	readonly isChunked: boolean;
	readonly isKeepAlive: boolean;
}

type HeadLines = Pick<ResponseHead, "minor" | "status" | "fields">;

type State =
	| "head"
	| "sized body"
	| "body until close"
	| "chunk line"
	| "chunk"
	| "chunk end"
	| "trailers"
	/** Also between two responses. */
	| "complete";

/** Status line and headers, and also trailers. */
const maxHeadBytes = 16 * 1_024;
const maxFields = 100;
const maxChunkLineBytes = 1_024;
const maxInterimResponses = 8;
/** Parsing millions of tiny chunks would delay all other responses. */
const maxChunks = 100_000;
const maxCachedHeads = 256;
/** By their text. Of all connections: with a cache for each, calls to many bots would find theirs in no processor cache. */
const heads = new Map<string, ResponseHead>();

const empty = Buffer.alloc(0);

export class ResponseParser {
	/** Known only after the whole response has been parsed. */
	isKeepAlive = false;
	#state: State = "complete";
	#input: Buffer = empty;
	#at = 0;
	#maxBodyBytes = 0;
	#bodyBytes = 0;
	#bytesLeft = 0;
	#interimResponses = 0;
	#chunks = 0;

	/** `maxBodyBytes` includes the chunk headers of chunked encoding. */
	start(maxBodyBytes: number): void {
		this.#maxBodyBytes = maxBodyBytes;
		this.#bodyBytes = 0;
		this.#interimResponses = 0;
		this.#chunks = 0;
		this.isKeepAlive = false;
		this.#transition("head");
	}

	/** Neither a Content-Length nor chunks. */
	get endsWithConnection(): boolean {
		return this.#state === "body until close";
	}

	/** Split anywhere. True at the end of the response. Throws a ParseError, after which the parser must not be used again. */
	read(bytes: Buffer, into: ResponseSink): boolean {
		const isRead = this.#at === this.#input.length;
		this.#input = isRead ? bytes : Buffer.concat([this.#input.subarray(this.#at), bytes]);
		this.#at = 0;
		while (this.#state !== "complete") {
			const from = this.#at;
			const isBody = this.#state !== "head";
			if (from < this.#input.length) this.#step(into);
			if (isBody) this.#bodyBytes += this.#at - from;
			if (this.#bodyBytes > this.#maxBodyBytes) throw bodyTooLarge(this.#maxBodyBytes);
			if (this.#at === from) return false;
		}
		// There are more bytes than announced, so the connection cannot be reused.
		if (this.#at < this.#input.length) this.isKeepAlive = false;
		// Otherwise an idle connection would keep its last response in memory.
		this.#input = empty;
		this.#at = 0;
		return true;
	}

	#step(into: ResponseSink): undefined {
		switch (this.#state) {
			case "head":
				return this.#readHead(into);
			case "sized body":
				return this.#readPiece("complete", into);
			case "chunk":
				return this.#readPiece("chunk end", into);
			case "body until close":
				this.#bytesLeft = this.#input.length;
				return this.#readPiece("body until close", into);
			case "chunk line":
				return this.#readChunkLine();
			case "chunk end":
				return this.#readChunkEnd();
			case "trailers":
				return this.#readTrailers();
		}
	}

	#transition(state: State): void {
		this.#state = state;
	}

	#readHead(into: ResponseSink): undefined {
		const from = this.#at;
		const end = this.#endOfBlock("head");
		if (end < 0) return checkBeginning(this.#input.subarray(from));
		const text = this.#input.toString("latin1", from, end);
		const head = heads.get(text) ?? readHead(text);
		this.#at = end + 4;
		if (head.status < 200) return this.#skipInterim(head);
		const { hasBody, length, isChunked } = head;
		if (length !== undefined && length > this.#maxBodyBytes) throw bodyTooLarge(this.#maxBodyBytes);
		this.isKeepAlive = head.isKeepAlive;
		if (!hasBody) {
			// Some servers send the body that they announce even where there must be none.
			if (length || isChunked) this.isKeepAlive = false;
			this.#transition("complete");
		} else if (isChunked) this.#transition("chunk line");
		else if (length === undefined) this.#transition("body until close");
		else {
			this.#bytesLeft = length;
			this.#transition(length > 0 ? "sized body" : "complete");
		}
		into.onHead(head);
	}

	#endOfBlock(part: "head" | "trailer section"): number {
		const end = this.#input.indexOf(emptyLine, this.#at);
		if ((end < 0 ? this.#input.length : end + 4) - this.#at > maxHeadBytes)
			throw new ParseError(`the ${part} is larger than ${maxHeadBytes} bytes`);
		return end;
	}

	#skipInterim({ status, fields }: HeadLines): undefined {
		if (status === 101) throw new ParseError("the server switches protocols (101), which was not requested");
		if (fields.has("content-length") || fields.has("transfer-encoding"))
			throw new ParseError("an interim response (1xx) announces a body");
		if (++this.#interimResponses > maxInterimResponses)
			throw new ParseError(`the server sent more than ${maxInterimResponses} interim responses (1xx)`);
	}

	#readPiece(following: State, into: ResponseSink): undefined {
		const from = this.#at;
		const length = Math.min(this.#input.length - from, this.#bytesLeft);
		this.#at += length;
		this.#bytesLeft -= length;
		if (this.#bytesLeft === 0) this.#transition(following);
		into.onPiece(this.#input.subarray(from, this.#at));
	}

	#readChunkLine(): undefined {
		const input = this.#input;
		const end = input.indexOf(lineEnd, this.#at);
		if ((end < 0 ? input.length : end) - this.#at > maxChunkLineBytes)
			throw new ParseError(`a chunk header is longer than ${maxChunkLineBytes} bytes`);
		if (end < 0) return;
		const line = chunkLine.exec(input.toString("latin1", this.#at, end));
		if (!line) throw new ParseError("a chunk header is malformed");
		if (++this.#chunks > maxChunks) throw new ParseError(`the body has more than ${maxChunks} chunks`);
		this.#bytesLeft = Number.parseInt(line[1] ?? "", 16);
		// This line end is read again as part of the empty line that ends the trailers, since there may be no trailers.
		this.#at = this.#bytesLeft > 0 ? end + 2 : end;
		this.#transition(this.#bytesLeft > 0 ? "chunk" : "trailers");
	}

	#readChunkEnd(): undefined {
		const at = this.#at;
		if (this.#input.length - at < 2) return;
		if (this.#input[at] !== 13 || this.#input[at + 1] !== 10)
			throw new ParseError("a chunk is longer than its header says");
		this.#at += 2;
		this.#transition("chunk line");
	}

	#readTrailers(): undefined {
		const from = this.#at;
		const end = this.#endOfBlock("trailer section");
		if (end < 0) return;
		// Trailers are validated and ignored.
		if (end > from) parseFields(this.#input.toString("latin1", from + 2, end).split("\r\n"));
		this.#at = end + 4;
		this.#transition("complete");
	}
}

const emptyLine = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*$/;
const fieldName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const fieldLine = /^[\t\x20-\x7e\x80-\xff]*$/;
const chunkLine = /^([\dA-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/;

function bodyTooLarge(maxBytes: number): ParseError {
	return new ParseError(`the body is larger than ${maxBytes} bytes`);
}

function checkBeginning(input: Buffer): undefined {
	const expected = "HTTP/1.";
	const begun = input.toString("latin1", 0, expected.length);
	if (!expected.startsWith(begun)) throw new ParseError("the status line is malformed");
	const newline = input.indexOf(10);
	if (newline >= 0 && input[newline - 1] !== 13) throw new ParseError("a header line does not end with CR LF");
}

function readHead(text: string): ResponseHead {
	const [first = "", ...lines] = text.split("\r\n");
	const [, minor, status] = statusLine.exec(first) ?? [];
	if (!status) throw new ParseError("the status line is malformed");
	const fields = parseFields(lines);
	const known = { minor: Number(minor), status: Number(status), fields };
	const head: ResponseHead = {
		...known,
		...(known.status < 200 ? noBody : framingOf(known)),
		headers: { get: (name) => fields.get(name.toLowerCase()) ?? null },
	};
	if (heads.size >= maxCachedHeads) heads.clear();
	heads.set(text, head);
	return head;
}

function parseFields(lines: readonly string[]): Map<string, string> {
	if (lines.length > maxFields) throw new ParseError(`the response has more than ${maxFields} headers`);
	const fields = new Map<string, string>();
	for (const line of lines) {
		const colon = line.indexOf(":");
		const name = line.slice(0, Math.max(0, colon)).toLowerCase();
		if (!fieldName.test(name) || !fieldLine.test(line)) throw new ParseError("a header line is malformed");
		const value = trim(line, colon + 1);
		const before = fields.get(name);
		// Repeated headers are joined. Where that is ambiguous (a length, an encoding), the joined value is refused.
		fields.set(name, before === undefined ? value : `${before}, ${value}`);
	}
	return fields;
}

function trim(line: string, start: number): string {
	const isSpace = (at: number) => line[at] === " " || line[at] === "\t";
	let [from, to] = [start, line.length];
	while (from < to && isSpace(from)) from++;
	while (to > from && isSpace(to - 1)) to--;
	return line.slice(from, to);
}

const noBody = { hasBody: false, length: undefined, isChunked: false, isKeepAlive: false };

function framingOf(head: HeadLines) {
	const { status, fields } = head;
	// The client requests no encoding and decodes none.
	if (!/^identity$/i.test(fields.get("content-encoding") ?? "identity"))
		throw new ParseError("the body has a Content-Encoding that this client does not support");
	return {
		hasBody: status !== 204 && status !== 205 && status !== 304,
		length: contentLength(fields),
		isChunked: isChunked(head),
		isKeepAlive: isKeepAlive(head),
	};
}

function contentLength(fields: HeadLines["fields"]): number | undefined {
	const length = fields.get("content-length");
	if (length === undefined) return undefined;
	if (!/^\d+$/.test(length)) throw new ParseError("the Content-Length is not a number");
	return Number(length);
}

function isChunked({ minor, fields }: HeadLines): boolean {
	const coding = fields.get("transfer-encoding");
	if (coding === undefined) return false;
	if (minor === 0 || !/^chunked$/i.test(coding))
		throw new ParseError("the body has a Transfer-Encoding that this client does not support");
	if (fields.has("content-length"))
		throw new ParseError("the headers contain both Content-Length and Transfer-Encoding");
	return true;
}

function isKeepAlive({ minor, fields }: HeadLines): boolean {
	const connection = fields.get("connection")?.toLowerCase();
	if (connection === undefined) return minor === 1;
	const options = connection.split(",").map((option) => option.trim());
	if (options.includes("close")) return false;
	return minor === 1 || options.includes("keep-alive");
}
