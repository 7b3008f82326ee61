// Random answers, valid and broken, cut at random bytes: what our client accepts, `fetch` accepts with the same bytes.
// FUZZ_SEED repeats a run, FUZZ_SECONDS makes it longer.

import { afterAll, expect, test } from "bun:test";
import { HttpClient } from "../../../src/gateway/http/http-client.ts";
import { seeded } from "../../support/random.ts";
import { randomResponse } from "../../support/random-response.ts";
import { sendBy } from "../../support/send.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const batchSize = 40;
console.log(`FUZZ_SEED=${seed}`);

/** What is sent back for a request whose body is the key. */
const planned = new Map<string, Uint8Array[]>();
const stub = Bun.listen<{ received: string }>({
	hostname: "127.0.0.1",
	port: 0,
	socket: {
		open(peer) {
			peer.data = { received: "" };
			peer.setNoDelay(true);
		},
		async data(peer, bytes) {
			peer.data.received += bytes.toString("latin1");
			const key = /\r\n\r\n(\d+);$/.exec(peer.data.received)?.[1];
			if (key === undefined) return;
			for (const piece of planned.get(key) ?? []) {
				peer.write(piece);
				await Bun.sleep(0);
			}
			peer.end();
		},
	},
});
const url = `http://127.0.0.1:${stub.port}/`;
// The stub closes each connection after its answer, so none is used again.
const client = new HttpClient({ url, idleTimeoutMs: 0 });
const send = sendBy(client.dispatch);
afterAll(() => {
	client.close();
	stub.stop(true);
});

type Outcome = { status: number; body: string } | { refused: string };

async function outcomeOf(exchange: () => Promise<{ status: number; body: unknown }>): Promise<Outcome> {
	try {
		const { status, body } = await exchange();
		const pieces: Uint8Array[] = [];
		if (body) for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece);
		return { status, body: Buffer.concat(pieces).toString("latin1") };
	} catch (cause) {
		return { refused: cause instanceof Error ? cause.message : String(cause) };
	}
}

let lastKey = 0;

/** What ours and `fetch` make of the same bytes. */
async function compare(pieces: Uint8Array[]) {
	const key = String(lastKey++);
	planned.set(key, pieces);
	const method = "POST";
	const body = `${key};`;
	// Nothing here works for that long.
	const signal = AbortSignal.timeout(60_000);
	const [ours, theirs] = await Promise.all([
		outcomeOf(() => send({ method, headers: {}, body }, signal)),
		outcomeOf(() =>
			fetch(url, {
				method,
				body,
				signal,
				keepalive: false,
				redirect: "manual",
				// Bun prints a line for each body that it cannot decompress.
				decompress: false,
			}),
		),
	]);
	planned.delete(key);
	return { ours, theirs };
}

interface Difference {
	what: string;
	why: string;
	/** What ours says, and what of it is in the answer. */
	refused: RegExp;
	answer: RegExp;
	example: string;
}

const head = "HTTP/1.1 200 OK\r\n";
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;

/** What `fetch` accepts and ours does not. */
const differences: Difference[] = [
	{
		what: "a status line without a space after the status",
		why: "RFC 9112 asks for it; no server we talk to leaves it out",
		refused: /: the status line is malformed$/,
		answer: /HTTP\/1\.\d \d{3}\r?\n/,
		example: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
	},
	{
		what: "more than one space before the status",
		why: "RFC 9112 has one",
		refused: /: the status line is malformed$/,
		answer: /HTTP\/1\.\d {2,}\d/,
		example: "HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
	},
	{
		what: "a minor version other than 0 and 1",
		why: "there is none: whatever says so follows rules unknown to us",
		refused: /: the status line is malformed$/,
		answer: /HTTP\/1\.[^01]/,
		example: "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n",
	},
	{
		what: "a status above 599",
		why: "no class of status is known for it",
		refused: /: the status line is malformed$/,
		answer: /HTTP\/1\.\d [06-9]\d\d/,
		example: "HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n",
	},
	{
		what: "a head's line that ends in LF",
		why: "another reader of the same bytes may see other headers",
		refused: /: (?:the status line is malformed|a header line is malformed|a header line does not end with CR LF)$/,
		answer: /(?:^|[^\r])\n/,
		example: "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
	},
	{
		what: "a head that ends in other than CR LF CR LF",
		why: "another reader of the same bytes may see another head; the end is never found",
		refused: /^the connection was lost in the middle of the answer$/,
		answer: /^(?:HTTP\/1\.1 1\d\d [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)*(?:[^\r\n]+\r\n)*[^\r\n]*(?:\n|\r(?!\n))/,
		example: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n",
	},
	{
		what: "trailers that end in other than CR LF CR LF",
		why: "the same; what follows could be another answer",
		refused: /^the connection was lost in the middle of the answer$/,
		answer: /\r\n0+(?:;[^\r\n]*)?\r\n(?!\r\n)/,
		example: `${chunked}0\r\nA: b\n\r\n`,
	},
	{
		what: "a bad trailer",
		why: "a trailer is a header line, and checked as one",
		refused: /: a header line is malformed$/,
		answer: /\r\n0+(?:;[^\r\n]*)?\r\n[\s\S]/,
		example: `${chunked}0\r\nbad\r\n\r\n`,
	},
	{
		what: "Content-Length twice",
		why: "whether they are equal or not, two hands have written it",
		refused: /: the Content-Length is not a number$/,
		answer: /content-length:[\s\S]*content-length:/i,
		example: `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`,
	},
	{
		what: "Content-Length with Transfer-Encoding",
		why: "the mark of a smuggled answer",
		refused: /: the headers contain both Content-Length and Transfer-Encoding$/,
		answer: /content-length:/i,
		example: `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
	},
	{
		what: "a coding other than chunked, or chunked in HTTP/1.0",
		why: "where such a body ends is a matter of opinion",
		refused: /: the body has a Transfer-Encoding that this client does not support$/,
		answer: /transfer-encoding:/i,
		example: `${head}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
	},
	{
		what: "a Content-Encoding",
		why: "none was asked for, and what is not undone must not be taken for the content",
		refused: /: the body has a Content-Encoding that this client does not support$/,
		answer: /content-encoding:/i,
		example: `${head}Content-Encoding: x\r\nContent-Length: 1\r\n\r\nx`,
	},
	{
		what: "a chunk's length of more than 8 digits, or more than one to the line",
		why: "8 digits hold any length there is; an extension holds no control characters",
		refused: /: a chunk header is malformed$/,
		answer: /chunked/i,
		example: `${chunked}000000001\r\na\r\n0\r\n\r\n`,
	},
];

/** The difference between the two, as ours refuses; undefined where there is none. Throws where ours accepts more. */
function differenceOf({ ours, theirs }: Awaited<ReturnType<typeof compare>>, answer: string) {
	const shown = () =>
		`${JSON.stringify(answer).slice(0, 2_000)}\nours: ${JSON.stringify(ours)}\nfetch: ${JSON.stringify(theirs)}`;
	if (!("refused" in ours)) {
		if (!Bun.deepEquals(ours, theirs)) throw new Error(`ours accepts more: ${shown()}`);
		return undefined;
	}
	if ("refused" in theirs) return undefined;
	const found = differences.find(
		(difference) => difference.refused.test(ours.refused) && difference.answer.test(answer),
	);
	if (!found) throw new Error(`a difference without a reason: ${shown()}`);
	return found.what;
}

test("each difference in the list is one", async () => {
	for (const { what, refused, example } of differences) {
		const { ours, theirs } = await compare([Buffer.from(example, "latin1")]);
		expect({ what, theirs }).toMatchObject({ what, theirs: { status: expect.any(Number) } });
		expect({ what, ours }).toEqual({ what, ours: { refused: expect.stringMatching(refused) } });
		expect(differenceOf({ ours, theirs }, example)).toBe(what);
	}
});

test(
	"what ours accepts, fetch accepts with the same bytes; what only fetch accepts is in the list",
	async () => {
		const random = seeded(seed);
		const end = performance.now() + seconds * 1_000;
		let [accepted, refused] = [0, 0];
		for (let n = 0; n < 150 || performance.now() < end; n++)
			await Promise.all(
				Array.from({ length: batchSize }, async () => {
					const answer = randomResponse(random);
					const pieces = random.cut(Buffer.from(answer, "latin1"), 6);
					const outcomes = await compare(pieces);
					differenceOf(outcomes, answer);
					if ("refused" in outcomes.ours) refused++;
					else accepted++;
				}),
			);
		expect(accepted).toBeGreaterThan(1_000);
		expect(refused).toBeGreaterThan(1_000);
	},
	300_000 + seconds * 1_000,
);
