// Load over HTTP/1.1: so many connections, each with one request at a time. It writes and reads sockets itself, because
// fetch would cost more than what is measured, and looks at every answer.

import { gunzipSync } from "node:zlib";
import { Histogram } from "./figures.ts";

export interface LoadJob {
	url: string;
	connections: number;
	method: "POST" | "GET";
	/** Beside Host and Content-Length; the connections take them in turn. */
	headers: readonly Record<string, string>[];
	/** The members of a JSON-RPC request but its version and id; the connections take them in turn. None for a GET. */
	requests: readonly string[];
	/** "result": a result for the id that was sent; "gzip": the same, unpacked now and then; "file": status 200. */
	expect: "result" | "gzip" | "file";
}

export interface LoadFigures {
	requests: number;
	/** Requests a second. */
	rate: number;
	/** Half of the answers took at most so many milliseconds. */
	p50: number;
	p99: number;
	/** The slowest answer. */
	max: number;
}

/** Ids have so many digits, so that a request is written over the last one. */
const idDigits = 10;
const firstId = 10 ** (idDigits - 1);
/** Unpacking costs more than what is measured: one in so many answers. */
const unpackedOneIn = 200;
/** An answer begins with its id, and says at its end whether it is an error. */
const edgeBytes = 120;

export class Load {
	readonly #clients: Client[];

	private constructor(clients: Client[]) {
		this.#clients = clients;
	}

	/** Connects. Nothing is sent yet. */
	static async open(job: LoadJob): Promise<Load> {
		const clients = Array.from({ length: job.connections }, (_, index) => new Client(job, index));
		await Promise.all(clients.map((client) => client.connect()));
		return new Load(clients);
	}

	/** Sends requests for so long, or so many in all. Rejects with the first answer that is not what it should be. */
	async run(until: { ms: number } | { count: number }): Promise<LoadFigures> {
		const times = new Histogram();
		const from = performance.now();
		const endsAt = "ms" in until ? from + until.ms : Number.POSITIVE_INFINITY;
		let left = "count" in until ? until.count : Number.POSITIVE_INFINITY;
		let requests = 0;
		let slowest = 0;
		const more = (now: number) => now < endsAt && left-- > 0;
		const done = (ms: number) => {
			requests++;
			times.add(ms);
			if (ms > slowest) slowest = ms;
		};
		await Promise.all(this.#clients.map((client) => client.run(more, done)));
		const seconds = (performance.now() - from) / 1000;
		return { requests, rate: requests / seconds, p50: times.quantile(0.5), p99: times.quantile(0.99), max: slowest };
	}

	close(): void {
		for (const client of this.#clients) client.close();
	}
}

/** One connection. */
class Client {
	readonly #job: LoadJob;
	readonly #request: Buffer;
	/** Where the id stands in the request. */
	readonly #idAt: number;
	#id: number;
	readonly #answer = new AnswerReader();
	/** How long an answer to a request of this connection is. */
	#length: number | undefined;
	#sentAt = 0;
	#answers = 0;
	#socket: Bun.Socket<undefined> | undefined;
	#more: (now: number) => boolean = () => false;
	#done: (ms: number) => void = () => {};
	#end = Promise.withResolvers<void>();

	constructor(job: LoadJob, index: number) {
		this.#job = job;
		const { pathname, host } = new URL(job.url);
		const request = at(job.requests, index);
		const body = request ? `{"jsonrpc":"2.0","id":${firstId},${request}}` : undefined;
		const headers = {
			Host: host,
			...at(job.headers, index),
			...(body && { "Content-Length": String(Buffer.byteLength(body)) }),
		};
		const lines = Object.entries(headers).map(([name, to]) => `${name}: ${to}`);
		const head = `${[`${job.method} ${pathname} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
		this.#request = Buffer.from(head + (body ?? ""));
		this.#idAt = body ? head.length + body.indexOf(String(firstId)) : -1;
		// Of their own for each connection, so that another's answer is noticed.
		this.#id = firstId + index * 1_000_000;
	}

	async connect(): Promise<void> {
		const { hostname, port } = new URL(this.#job.url);
		this.#socket = await Bun.connect<undefined>({
			hostname,
			port: Number(port),
			socket: {
				open: (socket) => void socket.setNoDelay(true),
				data: (_, bytes) => this.#take(bytes),
				close: () => this.#end.reject(new Error("a connection was closed")),
				error: (_, error) => this.#end.reject(error),
			},
		});
	}

	/** Requests as long as there are to be more. */
	run(more: (now: number) => boolean, done: (ms: number) => void): Promise<void> {
		this.#more = more;
		this.#done = done;
		this.#end = Promise.withResolvers();
		this.#next(performance.now());
		return this.#end.promise;
	}

	close(): void {
		// Nobody waits any more for what this would reject.
		this.#end.promise.catch(() => {});
		this.#socket?.end();
	}

	#next(now: number): void {
		if (!this.#more(now)) {
			this.#end.resolve();
			return;
		}
		const request = this.#request;
		if (this.#idAt >= 0) request.write(String(++this.#id), this.#idAt, "latin1");
		this.#sentAt = now;
		if (this.#socket?.write(request) !== request.length)
			this.#end.reject(new Error("a request could not be written at once"));
	}

	#take(bytes: Buffer): void {
		if (!this.#answer.take(bytes)) return;
		const now = performance.now();
		const fault = this.#fault();
		if (fault) {
			const shown = this.#answer.shown();
			this.#end.reject(new Error(`${this.#job.url}: ${fault}: ${shown}`));
			return;
		}
		this.#answer.clear();
		this.#done(now - this.#sentAt);
		this.#next(now);
	}

	/** What is wrong with the answer. */
	#fault(): string | undefined {
		const { expect } = this.#job;
		const answer = this.#answer;
		if (answer.status !== 200) return "its status is not 200";
		this.#answers++;
		if (expect === "gzip") {
			if (!answer.packed) return "it is not packed";
			if (this.#answers % unpackedOneIn !== 1) return undefined;
			return this.#resultFault(gunzipSync(answer.body()));
		}
		if (answer.packed !== undefined && expect === "result") return "it is packed";
		this.#length ??= answer.length;
		if (answer.length !== this.#length) return `it has not ${this.#length} bytes`;
		return expect === "file" ? undefined : this.#resultFault(answer.edges());
	}

	#resultFault(body: Buffer): string | undefined {
		const text = [
			body.toString("latin1", 0, edgeBytes),
			body.toString("latin1", Math.max(0, body.length - edgeBytes)),
		].join();
		if (!text.includes(`"id":${this.#id}`) || !text.includes('"result":{')) return "it is no result for what was asked";
		return text.includes('"isError":true') ? "it is an error" : undefined;
	}
}

function at<T>(values: readonly T[], index: number): T | undefined {
	return values[index % values.length];
}

const headEnd = Buffer.from("\r\n\r\n");

/** Reads one response: its length is announced, or it is chunked. */
class AnswerReader {
	#parts: Buffer[] = [];
	#received = 0;
	#bodyAt = 0;
	/** Of the whole response; undefined where it is chunked. */
	#wholeLength: number | undefined;
	#chunksLength = 0;
	status = 0;
	/** What it is packed with. */
	packed: string | undefined;

	/** Bytes that have arrived; whether the response is whole now. */
	take(bytes: Buffer): boolean {
		this.#parts.push(bytes);
		this.#received += bytes.length;
		if (this.#bodyAt === 0 && !this.#readHead()) return false;
		if (this.#wholeLength !== undefined) return this.#received >= this.#wholeLength;
		// Where it does not end like one that is over, it is not.
		const end = bytes.toString("latin1", Math.max(0, bytes.length - 5));
		return "0\r\n\r\n".endsWith(end) && this.#lastChunk();
	}

	clear(): void {
		this.#parts = [];
		this.#received = 0;
		this.#bodyAt = 0;
	}

	/** Of the body, without what chunks have around them. */
	get length(): number {
		return this.#wholeLength === undefined ? this.#chunksLength : this.#wholeLength - this.#bodyAt;
	}

	/** The body, its first and last bytes at least. */
	edges(): Buffer {
		const [first, last] = [this.#parts[0], this.#parts.at(-1)];
		const enough = first && last && first.length >= this.#bodyAt + edgeBytes && last.length >= edgeBytes;
		if (!enough) return this.#whole().subarray(this.#bodyAt);
		if (first === last) return first.subarray(this.#bodyAt);
		return Buffer.concat([first.subarray(this.#bodyAt, this.#bodyAt + edgeBytes), last.subarray(-edgeBytes)]);
	}

	/** The body, of announced length. */
	body(): Buffer {
		return this.#whole().subarray(this.#bodyAt);
	}

	/** Its beginning, for people. */
	shown(): string {
		return this.#whole().toString("utf8", 0, 1_000);
	}

	#whole(): Buffer {
		const [first] = this.#parts;
		if (first && this.#parts.length === 1) return first;
		const whole = Buffer.concat(this.#parts);
		this.#parts = [whole];
		return whole;
	}

	#readHead(): boolean {
		const whole = this.#whole();
		const end = whole.indexOf(headEnd);
		if (end < 0) return false;
		const head = whole.toString("latin1", 0, end);
		this.status = Number(head.slice(9, 12));
		this.packed = /\r\ncontent-encoding: *(\S+)/i.exec(head)?.[1];
		this.#bodyAt = end + headEnd.length;
		const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
		this.#wholeLength = length === undefined ? undefined : this.#bodyAt + Number(length);
		return true;
	}

	/** Whether the last of the chunks is there, of which it is known where each ends. */
	#lastChunk(): boolean {
		const whole = this.#whole();
		this.#chunksLength = 0;
		for (let start = this.#bodyAt; ; ) {
			const end = whole.indexOf("\r\n", start);
			if (end < 0) return false;
			const size = Number.parseInt(whole.toString("latin1", start, end), 16);
			start = end + 2 + size + 2;
			if (size === 0) return start <= whole.length;
			this.#chunksLength += size;
			if (Number.isNaN(size) || start > whole.length) return false;
		}
	}
}
