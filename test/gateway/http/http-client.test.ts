// The client against a TCP server that says exactly what a test wants it to say.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HttpClient, type HttpClientOptions } from "../../../src/gateway/http/http-client.ts";
import { ByteBudget } from "../../../src/lib/byte-budget.ts";
import {
	HttpFailure,
	type HttpRequest,
	type HttpResponse,
	type Progress,
	type ResponseHandler,
} from "../../../src/lib/http.ts";
import { sendBy } from "../../support/send.ts";
import { until } from "../../support/until.ts";
import { certificateAuthority, keyPair } from "../oauth/clients/certificates.ts";

type Peer = Bun.Socket<{ received: string; requests: number }>;

const closers: (() => void)[] = [];
afterEach(() => {
	for (const close of closers.splice(0)) close();
});

/** A server that calls `answer` with each whole request, and `early` as soon as there is a connection's first byte. */
function startStub(
	answer: (peer: Peer, request: string, n: number) => void,
	{ hostname = "127.0.0.1", early = (_peer: Peer) => {} } = {},
) {
	const stub = { url: "", accepted: 0, alive: new Set<Peer>(), requests: 0 };
	const listener = Bun.listen<Peer["data"]>({
		hostname,
		port: 0,
		socket: {
			open(peer) {
				peer.data = { received: "", requests: 0 };
				stub.accepted++;
				stub.alive.add(peer);
			},
			data(peer, bytes) {
				if (peer.data.received === "") early(peer);
				peer.data.received += bytes.toString("latin1");
				for (;;) {
					const request = takeRequest(peer);
					if (request === undefined) return;
					stub.requests++;
					answer(peer, request, ++peer.data.requests);
				}
			},
			close: (peer) => void stub.alive.delete(peer),
		},
	});
	closers.push(() => listener.stop(true));
	const host = hostname.includes(":") ? `[${hostname}]` : hostname;
	stub.url = `http://${host}:${listener.port}/mcp?a=1`;
	return stub;
}

function takeRequest(peer: Peer): string | undefined {
	const { received } = peer.data;
	const end = received.indexOf("\r\n\r\n") + 4;
	if (end < 4) return undefined;
	const length = /content-length: (\d+)/i.exec(received.slice(0, end))?.[1];
	const total = end + Number(length ?? 0);
	if (received.length < total) return undefined;
	peer.data.received = received.slice(total);
	return received.slice(0, total);
}

function clientFor(url: string, options: Partial<HttpClientOptions> = {}) {
	const client = new HttpClient({ url, ...options });
	closers.push(() => client.close());
	return Object.assign(client, { send: sendBy(client.dispatch) });
}

type Client = ReturnType<typeof clientFor>;

/** A stub, and a client of it. The stub answers "x" unless told otherwise. */
function startPair(
	options: Partial<HttpClientOptions> = {},
	answer: Parameters<typeof startStub>[0] = (peer) => void peer.write(ok("x")),
) {
	const stub = startStub(answer);
	return { stub, client: clientFor(stub.url, options) };
}

const post: HttpRequest = { method: "POST", headers: {}, body: "hello" };
const never = new AbortController().signal;
const ok = (body: string, headers = "") =>
	`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** How far a request got that was given up. */
function givenUpAt(fault: unknown): Progress {
	if (!(fault instanceof HttpFailure) || fault.cause !== "enough") throw fault;
	return fault.progress;
}

async function read({ body }: HttpResponse): Promise<string> {
	const pieces: Uint8Array[] = [];
	for await (const piece of body) pieces.push(piece);
	return Buffer.concat(pieces).toString();
}

/** The failure of sending, or of reading the body. */
async function failureOf(sent: Promise<HttpResponse>): Promise<HttpFailure> {
	const fault = await sent.then(read).then(
		(body) => new Error(`it was answered ${body}`),
		(cause) => cause,
	);
	if (!(fault instanceof HttpFailure)) throw fault;
	return fault;
}

const expectPostFails = (client: Client, ...rest: [Progress, RegExp | string]) =>
	expectFailure(client.send(post, never), ...rest);

async function expectFailure(sent: Promise<HttpResponse>, progress: Progress, message: RegExp | string) {
	const failure = await failureOf(sent);
	expect(failure.message).toMatch(message);
	expect(failure.progress).toBe(progress);
}

/** Writes all of it, however slowly it is read. */
async function writeAll(peer: Peer, bytes: Uint8Array) {
	for (let at = 0; at < bytes.length; ) {
		const count = peer.write(bytes.subarray(at));
		if (count < 0) return;
		at += count;
		await Bun.sleep(1);
	}
}

describe("a request", () => {
	async function requestSeen(request: HttpRequest, url?: (url: string) => string) {
		let seen = "";
		const stub = startStub((peer, text) => {
			seen = text;
			peer.write(ok(""));
		});
		const client = clientFor(url ? url(stub.url) : stub.url);
		await read(await client.send(request, never));
		return { seen, host: new URL(stub.url).host };
	}

	test("has the headers it was given, the URL's Host and its length in bytes", async () => {
		const headers = { Accept: "a/b", "X-Y": "1\t2" };
		const { seen, host } = await requestSeen({ ...post, headers, body: "é" });
		expect(seen).toBe(
			`POST /mcp?a=1 HTTP/1.1\r\nHost: ${host}\r\nAccept: a/b\r\nX-Y: 1\t2\r\nContent-Length: 2\r\n\r\n${Buffer.from("é").toString("latin1")}`,
		);
	});

	test("has a Host that was given", async () => {
		const { seen } = await requestSeen({ ...post, headers: { Host: "a.b" } });
		expect(seen.match(/^host:.*$/gim)).toEqual(["Host: a.b"]);
	});

	test("has a length of 0 when it is a POST without a body, and none when it is a DELETE", async () => {
		const bare = { headers: {}, body: undefined };
		expect((await requestSeen({ method: "POST", ...bare })).seen).toContain("\r\nContent-Length: 0\r\n\r\n");
		expect((await requestSeen({ method: "DELETE", ...bare })).seen).not.toMatch(/content-length/i);
	});

	test.each([
		["CR", { a: "1\r2" }],
		["LF", { a: "1\n2" }],
		["NUL", { a: "1\u00002" }],
		["what is not ASCII", { a: "é" }],
	])("is refused with %s in its headers, and nothing is begun", async (_what, headers) => {
		const { client } = startPair({}, (peer) => peer.write(ok("")));
		const sent = client.send({ ...post, headers }, never);
		expect(await sent.catch((cause) => cause)).toBeInstanceOf(TypeError);
		expect(client.open).toBe(0);
	});

	test("goes to an IPv6 address, and by name", async () => {
		const six = startStub((peer) => peer.write(ok("six")), { hostname: "::1" });
		expect(await read(await clientFor(six.url).send(post, never))).toBe("six");
		const four = startStub((peer) => peer.write(ok("four")));
		const named = clientFor(four.url.replace("127.0.0.1", "localhost"));
		expect(await read(await named.send(post, never))).toBe("four");
	});

	test("goes to an https: URL whose certificate is valid for its name, with keep-alive, and is else not sent", async () => {
		const authority = certificateAuthority();
		const ca = join(mkdtempSync(join(tmpdir(), "guildhall-test-")), "ca.pem");
		closers.push(() => rmSync(dirname(ca), { recursive: true, force: true }));
		await Bun.write(ca, authority.certificate);
		let requests = 0;
		const ports = new Set<number>();
		await using server = Bun.serve({
			port: 0,
			tls: keyPair(authority, "localhost"),
			async fetch(request, http) {
				requests++;
				ports.add(http.requestIP(request)?.port ?? 0);
				return new Response(await request.text());
			},
		});
		const file = JSON.stringify(`${import.meta.dir}/../../../src/gateway/http/http-client.ts`);
		const code = `
			const { HttpClient } = await import(${file});
			const body = "x".repeat(1_000_000);
			for (const host of ["localhost", "127.0.0.1"]) {
				const client = new HttpClient({ url: "https://" + host + ":${server.port}/" });
				for (let n = 0; n < 2; n++) {
					const { promise, resolve } = Promise.withResolvers();
					const handler = { responded: async (response) => resolve((await new Response(response.body).text()) === body), failed: resolve };
					client.dispatch({ method: "POST", headers: {}, body }, new AbortController().signal, handler);
					const outcome = await promise;
					console.log(outcome === true ? "echoed" : outcome.progress + ": " + outcome.message);
				}
			}
		`;
		const child = Bun.spawn([process.execPath, "-e", code], {
			env: { ...process.env, NODE_EXTRA_CA_CERTS: ca },
			stdout: "pipe",
		});
		closers.push(() => child.kill());
		const [echoed, again, ...refused] = (await child.stdout.text()).trim().split("\n");
		expect([echoed, again, requests, ports.size]).toEqual(["echoed", "echoed", 2, 1]);
		expect(refused).toHaveLength(2);
		for (const line of refused) expect(line).toStartWith("unsent: Hostname/IP does not match certificate's altnames");
	});

	test("goes with its request if the TLS handshake does not end", async () => {
		const stub = startStub(() => {});
		const client = clientFor(stub.url.replace("http:", "https:"));
		const aborter = new AbortController();
		const failed = client.send(post, aborter.signal).catch((error) => error);
		await until("the server has the connection", () => stub.alive.size === 1);
		aborter.abort();
		expect((await failed).progress).toBe("unsent");
		await until("it is closed", () => stub.alive.size === 0);
	});

	test("goes only to http: and https: URLs", () => {
		for (const url of ["ftp://a.b/", "a.b"]) expect(() => new HttpClient({ url })).toThrow(TypeError);
	});
});

const answers: [what: string, bytes: string, status: number, body: string][] = [
	["with a length", ok("hello", "A: b\r\n"), 200, "hello"],
	["without a body", ok(""), 200, ""],
	[
		"in chunks",
		'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n00A; x="y"\r\n0123456789\r\n0\r\n\r\n',
		200,
		"abc0123456789",
	],
	["with trailers", "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0;z\r\nX: 1\r\nY:\r\n\r\n", 200, "a"],
	[
		"after interim ones",
		`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok("x")}`,
		200,
		"x",
	],
	["204", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
	["304 with the length of what it does not bring", "HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n", 304, ""],
	["of an error", `HTTP/1.1 503 x\r\nContent-Length: 2\r\n\r\nno`, 503, "no"],
	["of HTTP/1.0 that is kept", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 200, "x"],
];

describe("an answer", () => {
	test.each(answers)("%s is read, wherever it is cut", async (_what, bytes, status, body) => {
		let cut = 0;
		const stub = startStub(async (peer) => {
			peer.setNoDelay(true);
			peer.write(bytes.slice(0, cut));
			await Bun.sleep(1);
			peer.write(bytes.slice(cut));
		});
		const client = clientFor(stub.url);
		for (cut = 1; cut < bytes.length; cut++) {
			const response = await client.send(post, never);
			expect(response.status).toBe(status);
			expect(await read(response)).toBe(body);
		}
		expect(stub.accepted).toBe(1);
	});

	test.each(answers)("%s is read byte by byte", async (_what, bytes, status, body) => {
		const stub = startStub(async (peer) => {
			peer.setNoDelay(true);
			for (const byte of bytes) {
				peer.write(byte);
				await Bun.sleep(0);
			}
		});
		const response = await clientFor(stub.url).send(post, never);
		expect([response.status, await read(response)]).toEqual([status, body]);
	});

	test("has its headers by name in any case, repeated ones joined, without the space around", async () => {
		const stub = startStub((peer) => peer.write(ok("", "X-A:  1 \t\r\nx-a: 2\r\nEmpty:\r\nX-B: \xe9\xa0\r\n")));
		const { headers } = await clientFor(stub.url).send(post, never);
		expect(headers.get("X-a")).toBe("1, 2");
		expect(headers.get("EMPTY")).toBe("");
		expect(headers.get("none")).toBeNull();
	});

	test("without a length ends with the connection, which is not kept", async () => {
		const stub = startStub((peer) => peer.end("HTTP/1.1 200 OK\r\n\r\nall of it"));
		const client = clientFor(stub.url);
		expect(await read(await client.send(post, never))).toBe("all of it");
		expect(client.open).toBe(0);
	});

	test("without a length is cut off by a reset", async () => {
		const stub = startStub(async (peer) => {
			peer.write("HTTP/1.1 200 OK\r\n\r\nsome");
			await until("read", () => got === "some");
			peer.terminate();
		});
		let got = "";
		const { body } = await clientFor(stub.url).send(post, never);
		const reading = (async () => {
			for await (const piece of body) got += Buffer.from(piece).toString();
		})();
		const fault = await reading.catch((cause) => cause);
		expect(fault).toBeInstanceOf(HttpFailure);
		expect(fault.progress).toBe("answered");
		expect(got).toBe("some");
	});

	test.each([
		["Connection: close", ok("x", "Connection: x, Close\r\n")],
		["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"],
		["bytes after its end", `${ok("x")}HTTP/1.1 200 OK\r\n\r\n`],
		["204 and a length", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n"],
		["204 in chunks", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"],
	])("with %s counts, and its connection is not kept", async (_what, bytes) => {
		const { stub, client } = startPair({}, (peer) => peer.write(bytes));
		for (const accepted of [1, 2]) {
			expect(await read(await client.send(post, never))).toMatch(/^x?$/);
			expect(client.open).toBe(0);
			expect(stub.accepted).toBe(accepted);
		}
	});

	const head = "HTTP/1.1 200 OK\r\n";
	const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
	test.each<[what: string, bytes: string]>([
		["no HTTP", "SSH-2.0-x\r\n"],
		["an empty line first", `\r\n${ok("")}`],
		["HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n"],
		["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"],
		["lower case", "http/1.1 200 OK\r\n\r\n"],
		["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
		["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
		["status 099", "HTTP/1.1 099 OK\r\n\r\n"],
		["status 600", "HTTP/1.1 600 OK\r\n\r\n"],
		["no space after the status", "HTTP/1.1 200\r\n\r\n"],
		["two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n"],
		["a control character in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"],
		["101", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
		["too many interim answers", "HTTP/1.1 103 x\r\n\r\n".repeat(9)],
		["an interim answer with a length", `HTTP/1.1 103 x\r\nContent-Length: 0\r\n\r\n${ok("")}`],
		["bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"],
		["a bare LF in the head", `${head}A: b\nContent-Length: 0\r\n\r\n`],
		["a bare CR in the head", `${head}A: b\rContent-Length: 0\r\n\r\n`],
		["NUL in a header", `${head}A: \0\r\n\r\n`],
		["DEL in a header", `${head}A: \x7f\r\n\r\n`],
		["a folded header", `${head}A: b\r\n c\r\n\r\n`],
		["a header without a colon", `${head}A\r\n\r\n`],
		["a header without a name", `${head}: a\r\n\r\n`],
		["a space before the colon", `${head}Content-Length : 0\r\n\r\n`],
		["too many headers", `${head}${"A: b\r\n".repeat(101)}\r\n`],
		["a head too large", `${head}A: ${"x".repeat(17_000)}`],
		["a whole head too large", `${head}A: ${"x".repeat(17_000)}\r\n\r\n`],
		...["", "x", "+1", "-1", "0x1", "1.0", "1 1", "1,1", "99999999999999999999"].map((length): [string, string] => [
			`Content-Length ${length}`,
			`${head}Content-Length: ${length}\r\n\r\nx`,
		]),
		["Content-Length twice", `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`],
		["Content-Length and chunks", `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
		...["gzip, chunked", "identity", "", "chunked, chunked", "xchunked"].map((coding): [string, string] => [
			`Transfer-Encoding ${coding}`,
			`${head}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`,
		]),
		["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
		["Content-Encoding gzip", `${head}Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n`],
		["a chunk without a length", `${chunked}\r\n`],
		["a chunk of -1", `${chunked}-1\r\n`],
		["a chunk of 0x1", `${chunked}0x1\r\na\r\n`],
		["a chunk with a length too long", `${chunked}000000001\r\na\r\n`],
		["a chunk's line that ends in LF", `${chunked}1\na\n0\n\n\r\n`],
		["a chunk longer than its length", `${chunked}1\r\nab\r\n0\r\n\r\n`],
		["a chunk's extension with a control character", `${chunked}1;\x01\r\na\r\n`],
		["a chunk's extension that is too long", `${chunked}1;${"x".repeat(2_000)}`],
		["too many chunks", `${chunked}${"1\r\na\r\n".repeat(100_001)}`],
		["a bad trailer", `${chunked}0\r\nA b\r\n\r\n`],
		["too many trailers", `${chunked}0\r\n${"A: b\r\n".repeat(101)}\r\n`],
		["trailers too large", `${chunked}0\r\nA: ${"x".repeat(17_000)}`],
		["a length over the limit", `${head}Content-Length: 16777217\r\n\r\n`],
	])("is refused for %s", async (_what, bytes) => {
		const stub = startStub((peer) => void writeAll(peer, Buffer.from(bytes, "latin1")));
		const client = clientFor(stub.url);
		await expectPostFails(client, "answered", /^invalid HTTP response: /);
		expect(client.open).toBe(0);
	});

	test("whose chunks came together is read as one", async () => {
		const bytes = `${chunked}${"1\r\na\r\n".repeat(1_000)}0\r\n\r\n`;
		const stub = startStub((peer) => void peer.write(bytes));
		const { body } = await clientFor(stub.url).send(post, never);
		const sizes: number[] = [];
		for await (const piece of body) sizes.push(piece.length);
		expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
		// The first may be read before the others are there.
		expect(sizes.length).toBeLessThan(10);
	});

	const tooLong = [
		["chunks", `${chunked}5\r\n12345\r\n5\r\n67890\r\n0\r\n\r\n`],
		["no length", `${head}\r\n1234567890`],
		["a length", `${head}Content-Length: 10\r\n\r\n1234567890`],
	] as const;
	test.each(tooLong)(
		"whose body of %s is larger than its request wants is refused, and no other",
		async (_what, bytes) => {
			const stub = startStub((peer) => void peer.end(bytes));
			const { send } = clientFor(stub.url);
			const wanting = (maxBodyBytes: number) => send({ ...post, maxBodyBytes }, never);
			await expectFailure(wanting(9), "answered", "larger than 9 bytes");
			expect(await read(await wanting(50))).toBe("1234567890");
		},
	);
});

describe("a budget of bytes", () => {
	const part = (bytes: number, length = 1_000) =>
		`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${"x".repeat(bytes)}`;
	const full = "unfinished responses together exceed 1000 bytes";

	test("is shared: the largest of who holds most is given up, and another goes on", async () => {
		const budget = new ByteBudget(1_000);
		const peers: Peer[] = [];
		const flooding = startStub((peer) => peer.write(part(400)));
		const honest = startStub((peer) => {
			peers.push(peer);
			peer.write(part(300, 550));
		});
		const start = (url: string, count: number) => {
			const { send } = clientFor(url, { budget });
			return Array.from({ length: count }, () => {
				const done = send(post, never).then(read);
				return { done, failure: done.then(() => "", String) };
			});
		};
		const floods = start(flooding.url, 2);
		await until("both are held", () => budget.usedBytes >= 800);
		const [other] = start(honest.url, 1);
		const lost = await Promise.race(floods.map(({ failure }) => failure));
		expect(lost).toContain(full);
		peers[0]?.write("x".repeat(250));
		expect(await other?.done).toHaveLength(550);
	});

	test("is free again when answers end, fail or are given up", async () => {
		const budget = new ByteBudget(1_000_000);
		const pieces: Peer[] = [];
		const stub = startStub((peer) => {
			pieces.push(peer);
			peer.write(part(400));
		});
		const { send } = clientFor(stub.url, { budget });
		const controller = new AbortController();
		for (const end of [
			(peer: Peer) => peer.write("x".repeat(600)),
			(peer: Peer) => peer.terminate(),
			() => controller.abort("enough"),
		]) {
			const outcome = send(post, controller.signal).then(read).catch(String);
			await until("it is held", () => budget.usedBytes >= 400);
			end(pieces.at(-1) as Peer);
			await outcome;
			expect(budget.usedBytes).toBe(0);
		}
	});

	test("does not count what comes in one piece", async () => {
		const budget = new ByteBudget(1);
		const stub = startStub((peer) => void peer.write(ok("hello")));
		const { send } = clientFor(stub.url, { budget });
		expect(await read(await send(post, never))).toBe("hello");
	});
});

describe("a failure tells how far the request got:", () => {
	test.each(["end", "terminate"] as const)("sent, where the connection is lost before the answer (%s)", async (how) => {
		const { stub, client } = startPair({}, (peer) => void peer[how]());
		await expectPostFails(client, "sent", "the connection was lost");
		expect([client.open, stub.requests]).toEqual([0, 1]);
	});

	test("sent, on a kept connection as well: the request is not repeated", async () => {
		const stub = startStub((peer, _request, n) => (n === 1 ? peer.write(ok("x")) : peer.end()));
		const client = clientFor(stub.url);
		await read(await client.send(post, never));
		await expectPostFails(client, "sent", "the connection was lost");
		expect([stub.accepted, stub.requests]).toEqual([1, 2]);
	});

	test.each([
		["the head", "HTTP/1.1 200 OK\r\nA:"],
		["the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234"],
		["a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1234"],
		["the trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"],
		["what follows an interim answer", "HTTP/1.1 100 Continue\r\n\r\n"],
	])("answered, where %s is cut off", async (_what, bytes) => {
		const stub = startStub((peer) => void peer.end(bytes));
		await expectFailure(clientFor(stub.url).send(post, never), "answered", "in the middle of the answer");
	});
});

describe("a body of known length, as one", () => {
	const text = async (response: HttpResponse) =>
		Buffer.from((await response.whole?.()) ?? "it is of no known length").toString();

	/** A server that sends the second half of each body when it is told. */
	function startHalves() {
		const peers: Peer[] = [];
		const stub = startStub((peer) => {
			peers.push(peer);
			peer.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
		});
		return { client: clientFor(stub.url, { idleTimeoutMs: 1 }), peers };
	}

	test("is there at once, or when all of it is", async () => {
		const { client, peers } = startHalves();
		const early = await client.send(post, never);
		const whole = text(early);
		peers[0]?.write("cd");
		expect(await whole).toBe("abcd");
		const late = await client.send(post, never);
		peers[1]?.write("cd");
		// The body has ended, and then the time for which its connection may be idle.
		await until("ended", () => client.open === 0);
		expect(await text(late)).toBe("abcd");
		const stub = startStub((peer) => peer.write(ok("abcd")));
		expect(await text(await clientFor(stub.url).send(post, never))).toBe("abcd");
	});

	test("rejects when it breaks off", async () => {
		const { client, peers } = startHalves();
		const whole = text(await client.send(post, never));
		peers[0]?.end();
		expect(await whole.catch((fault) => fault.progress)).toBe("answered");
	});

	test("is not to be had in chunks", async () => {
		const stub = startStub((peer) => peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"));
		const response = await clientFor(stub.url).send(post, never);
		expect(response.whole?.()).toBeUndefined();
	});
});

describe("a handler in place of a promise", () => {
	/** A handler that writes down what it is told, and how many connections the client had then. */
	function startHandler(client: Client) {
		const told: string[] = [];
		const { promise, resolve } = Promise.withResolvers<HttpResponse | Error>();
		const tell = (what: string, outcome: HttpResponse | Error) => {
			told.push(`${what}, ${client.open} open`);
			resolve(outcome);
		};
		const handler: ResponseHandler = {
			responded: (response) => tell("responded", response),
			failed: (cause) => tell("failed", cause as Error),
		};
		return { handler, told, outcome: promise };
	}

	test("is told of the response once, with its head", async () => {
		let peer: Peer | undefined;
		const { client } = startPair({}, (one) => {
			peer = one;
			one.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab");
		});
		const { handler, told, outcome } = startHandler(client);
		client.dispatch(post, never, handler);
		const response = (await outcome) as HttpResponse;
		peer?.write("cd");
		expect(await read(response)).toBe("abcd");
		client.close();
		expect(told).toEqual(["responded, 1 open"]);
	});

	test("can send the next request over the same connection at once", async () => {
		const { stub, client } = startPair();
		const { promise, resolve } = Promise.withResolvers<HttpResponse>();
		client.dispatch(post, never, { responded: () => resolve(client.send(post, never)), failed: () => {} });
		expect(await read(await promise)).toBe("x");
		expect([stub.accepted, stub.requests]).toEqual([1, 2]);
	});

	test("is told of a failure once, when the connection is out of the pool", async () => {
		const { client } = startPair({}, (peer) => peer.end());
		const lost = startHandler(client);
		client.dispatch(post, never, lost.handler);
		expect(await lost.outcome).toMatchObject({ progress: "sent" });
		const given = new AbortController();
		const late = startHandler(client);
		client.dispatch(post, given.signal, late.handler);
		given.abort("enough");
		expect(await late.outcome).toMatchObject({ cause: "enough" });
		const closed = startHandler(client);
		client.close();
		client.dispatch(post, never, closed.handler);
		for (const { told } of [lost, late, closed]) expect(told).toEqual(["failed, 0 open"]);
	});
});

describe("connections", () => {
	test("are used again, the one used last first", async () => {
		const ports: number[] = [];
		const stub = startStub(async (peer, request) => {
			ports.push(peer.remotePort);
			if (request.endsWith("both")) await until("both", () => stub.requests >= 2);
			peer.write(ok("x"));
		});
		const client = clientFor(stub.url);
		const both = { ...post, body: "both" };
		await Promise.all([client.send(both, never), client.send(both, never)]);
		await until("both idle", () => stub.requests === 2);
		for (let n = 0; n < 50; n++) await read(await client.send(post, never));
		expect([stub.accepted, client.open]).toEqual([2, 2]);
		expect(new Set(ports.slice(2)).size).toBe(1);
	});

	test("are free as soon as the answer is there, read or not", async () => {
		const { stub, client } = startPair();
		const unread = await client.send(post, never);
		expect(await read(await client.send(post, never))).toBe("x");
		unread.discard();
		expect(client.open).toBe(1);
		expect(stub.accepted).toBe(1);
	});

	test("that the other end closes leave the pool", async () => {
		const { stub, client } = startPair();
		await client.send(post, never);
		for (const peer of stub.alive) peer.end();
		await until("closed", () => client.open === 0);
		expect(await read(await client.send(post, never))).toBe("x");
	});

	test("that were reset before a byte of the request left are replaced", async () => {
		const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
		closers.push(() => rmSync(directory, { recursive: true, force: true }));
		const done = join(directory, "done");
		const server = Bun.spawn([process.execPath, "-e", resettingServer], {
			env: { ...process.env, DONE: done },
			stdin: "pipe",
			stdout: "pipe",
		});
		closers.push(() => server.kill());
		const lines = server.stdout.getReader();
		const nextLine = async () =>
			Buffer.from((await lines.read()).value ?? [])
				.toString()
				.trim();
		const url = `http://127.0.0.1:${await nextLine()}/`;
		const client = clientFor(url);
		expect(await read(await client.send(post, never))).toBe("1");
		server.stdin.write("reset\n");
		server.stdin.flush();
		// The reset arrives while this process does not look.
		while (!existsSync(done)) Bun.sleepSync(5);
		const sent = [client.send(post, never), client.send(post, never)];
		const bodies = sent.map(async (response) => read(await response));
		expect((await Promise.all(bodies)).sort()).toEqual(["2", "3"]);
	});

	test("that bring bytes unasked are closed, and those bytes answer nothing", async () => {
		const stub = startStub((peer) => peer.write(ok("true")));
		// Not for being idle.
		const client = clientFor(stub.url, { idleTimeoutMs: 3_600_000 });
		await client.send(post, never);
		for (const peer of stub.alive) peer.write(ok("smuggled"));
		await until("closed", () => client.open === 0 && stub.alive.size === 0);
		expect(await read(await client.send(post, never))).toBe("true");
		expect(stub.accepted).toBe(2);
	});

	test("are closed when they are idle for too long", async () => {
		const { stub, client } = startPair({ idleTimeoutMs: 30 });
		await client.send(post, never);
		expect(client.open).toBe(1);
		await until("closed", () => client.open === 0 && stub.alive.size === 0);
	});

	test("do not keep a process alive while they are idle", async () => {
		const stub = startStub((peer) => peer.write(ok("x")));
		const file = JSON.stringify(`${import.meta.dir}/../../../src/gateway/http/http-client.ts`);
		const code = `
			const { HttpClient } = await import(${file});
			const client = new HttpClient({ url: ${JSON.stringify(stub.url)}, idleTimeoutMs: 1e8 });
			const responded = () => console.log(client.open);
			client.dispatch({ method: "POST", headers: {}, body: "" }, new AbortController().signal, { responded });
		`;
		const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
		closers.push(() => child.kill());
		expect(await child.exited).toBe(0);
		expect(await child.stdout.text()).toBe("1\n");
	});

	test("to a stalled backend do not delay another client", async () => {
		const stalled = startStub(() => {});
		const other = startStub((peer) => peer.write(ok("x")));
		const slow = clientFor(stalled.url);
		const given = new AbortController();
		const sends = Array.from({ length: 300 }, () => slow.send(post, given.signal).catch(givenUpAt));
		await until("all stalled", () => stalled.requests === 300);
		expect(await read(await clientFor(other.url).send(post, never))).toBe("x");
		given.abort("enough");
		expect(new Set(await Promise.all(sends))).toEqual(new Set(["sent"]));
		expect(slow.open).toBe(0);
		await until("closed", () => stalled.alive.size === 0);
	});
});

const resettingServer = `
	const { createServer } = require("node:net");
	const { writeFileSync } = require("node:fs");
	let last, count = 0;
	const server = createServer((socket) => {
		last = socket;
		socket.on("error", () => {});
		socket.on("data", () => socket.write("HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\n" + ++count));
	}).listen(0, "127.0.0.1", () => console.log(server.address().port));
	process.stdin.on("data", () => {
		last.resetAndDestroy();
		last.on("close", () => writeFileSync(process.env.DONE, ""));
	});
`;

describe("a signal", () => {
	test("that has fired already lets nothing begin", async () => {
		const { stub, client } = startPair();
		const sent = client.send(post, AbortSignal.abort("enough"));
		expect(await sent.catch(givenUpAt)).toBe("unsent");
		expect([client.open, stub.accepted]).toEqual([0, 0]);
	});

	test("ends the making of a connection, and leaves no socket", async () => {
		const { stub, client } = startPair();
		const given = new AbortController();
		const sent = client.send(post, given.signal);
		expect(client.open).toBe(1);
		given.abort("enough");
		expect(await sent.catch(givenUpAt)).toBe("unsent");
		expect(client.open).toBe(0);
		expect(await read(await client.send(post, never))).toBe("x");
		await until("one socket", () => stub.accepted === 2 && stub.alive.size === 1);
		expect(stub.requests).toBe(1);
	});

	test("ends the writing", async () => {
		const stub = startStub(() => {}, { early: (peer) => peer.pause() });
		const body = "x".repeat(20_000_000);
		const client = clientFor(stub.url);
		const given = new AbortController();
		const sent = client.send({ ...post, body }, given.signal);
		await until("begun", () => [...stub.alive].some((peer) => peer.data.received !== ""));
		given.abort("enough");
		expect(await sent.catch(givenUpAt)).toBe("sent");
		expect(client.open).toBe(0);
		expect(stub.requests).toBe(0);
	});

	test.each<[what: string, answer: string, progress: Progress]>([
		["the wait for the head", "", "sent"],
		["the wait in the middle of the head", "HTTP/1.1 2", "answered"],
		["the reading of the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1", "answered"],
	])("ends %s", async (_what, answer, progress) => {
		const budget = new ByteBudget(1_000);
		const { stub, client } = startPair({ budget }, (peer) => answer && peer.write(answer));
		const given = new AbortController();
		const sent = client.send(post, given.signal).then(read);
		sent.catch(() => "looked at below");
		await until("the moment", () => (answer ? budget.usedBytes > 0 : stub.requests === 1));
		given.abort("enough");
		expect(await sent.catch(givenUpAt)).toBe(progress);
		expect(client.open).toBe(0);
		await until("closed", () => stub.alive.size === 0);
	});

	test("ends the reading of a body that is there", async () => {
		const stub = startStub((peer) => peer.write(ok("x")));
		const given = new AbortController();
		const client = clientFor(stub.url);
		const response = await client.send(post, given.signal);
		given.abort("enough");
		expect(await read(response).catch(givenUpAt)).toBe("answered");
		expect(client.open).toBe(1);
	});

	test("that fires after the answer was read does nothing", async () => {
		const { stub, client } = startPair();
		const given = new AbortController();
		await read(await client.send(post, given.signal));
		given.abort("late");
		expect(client.open).toBe(1);
		await read(await client.send(post, never));
		expect(stub.accepted).toBe(1);
	});
});

describe("a body", () => {
	const unfinished = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";

	test("that is discarded before its end closes the connection", async () => {
		const { stub, client } = startPair({}, (peer) => peer.write(unfinished));
		const response = await client.send(post, never);
		response.discard();
		expect(client.open).toBe(0);
		await until("closed", () => stub.alive.size === 0);
		expect(await read(response)).toBe("");
	});

	test("that is not iterated to its end closes the connection", async () => {
		const { stub, client } = startPair({}, (peer) => peer.write(unfinished));
		const { body } = await client.send(post, never);
		for await (const piece of body) {
			expect(Buffer.from(piece).toString()).toBe("a");
			break;
		}
		expect(client.open).toBe(0);
		await until("closed", () => stub.alive.size === 0);
	});

	test("of 10 MB goes both ways", async () => {
		const body = "0123456789abcdef".repeat(640_000);
		const stub = startStub((peer, request) => {
			const echoed = request.slice(request.indexOf("\r\n\r\n") + 4);
			void writeAll(peer, Buffer.from(ok(echoed), "latin1"));
		});
		const client = clientFor(stub.url);
		for (let n = 0; n < 2; n++) {
			const text = await read(await client.send({ ...post, body }, never));
			expect(text === body).toBe(true);
		}
		expect(stub.accepted).toBe(1);
	});

	test("that is answered before it is written is not written on, and the connection not kept", async () => {
		const answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig";
		const stub = startStub(() => {}, {
			early(peer) {
				peer.write(answer);
				peer.pause();
			},
		});
		const client = clientFor(stub.url);
		const body = "x".repeat(10_000_000);
		const response = await client.send({ ...post, body }, never);
		expect(response.status).toBe(413);
		expect(await read(response)).toBe("big");
		expect(client.open).toBe(0);
		expect(stub.requests).toBe(0);
	});

	test("that is answered in part before it is written is not written on", async () => {
		let early: Peer | undefined;
		const stub = startStub(() => {}, {
			early(peer) {
				early = peer;
				peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nb");
				peer.pause();
			},
		});
		const body = "x".repeat(20_000_000);
		const response = await clientFor(stub.url).send({ ...post, body }, never);
		early?.resume();
		// What was under way arrives; then nothing more does.
		let before = -1;
		await until("quiet", async () => {
			await Bun.sleep(30);
			const now = early?.data.received.length ?? 0;
			if (now === before) return true;
			before = now;
			return false;
		});
		expect(before).toBeGreaterThan(0);
		expect(stub.requests).toBe(0);
		early?.write("ig");
		expect(await read(response)).toBe("big");
	});

	test("that is answered without a length before it is written is not known to be whole", async () => {
		const stub = startStub(() => {}, {
			early(peer) {
				peer.write("HTTP/1.1 413 Too Large\r\n\r\nbig");
				peer.pause();
				peer.shutdown();
			},
		});
		const body = "x".repeat(20_000_000);
		const sent = clientFor(stub.url).send({ ...post, body }, never);
		await expectFailure(sent, "answered", "in the middle of the answer");
	});
});

describe("close()", () => {
	test("closes idle connections at once, busy ones as they end, and lets nothing more be sent", async () => {
		let busy: Peer | undefined;
		const stub = startStub((peer, request) => {
			if (request.endsWith("busy")) busy = peer;
			else peer.write(ok("x"));
		});
		const client = clientFor(stub.url);
		const slow = client.send({ ...post, body: "busy" }, never);
		await until("busy", () => busy !== undefined);
		await read(await client.send(post, never));
		expect(client.open).toBe(2);
		client.close();
		expect(client.open).toBe(1);
		await expectPostFails(client, "unsent", "the HTTP client is closed");
		busy?.write(ok("done"));
		expect(await read(await slow)).toBe("done");
		expect(client.open).toBe(0);
		await until("closed", () => stub.alive.size === 0);
	});
});
