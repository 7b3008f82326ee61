// Both servers fed with what nobody should send, and the gateway with what no bot should answer. FUZZ_SEED repeats a run,
// FUZZ_SECONDS makes it longer.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { errorCode } from "../../src/mcp/json-rpc.ts";
import { textResult } from "../../src/mcp/tool.ts";
import { type BothServers, modernRequest, postTo, rawTool, startBothServers, token } from "../support/both-servers.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type Random, seeded } from "../support/random.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import { type RecordedRequest, type StubBackend, startStubBackend } from "../support/stub-backend.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const batchSize = 40;
/** A batch has to be answered within this; nothing here works for that long. */
const hangMs = 5_000;
console.log(`FUZZ_SEED=${seed}`);

const modernCall = modernRequest("tools/call", {
	name: "echo",
	arguments: { text: "é", n: [1, { a: null }] },
	_meta: { progressToken: 1 },
});
const modernList = modernRequest("tools/list", {}, '"a\\u0062"');
const bases: { body: string; headers: Record<string, string> }[] = [
	modernCall,
	modernList,
	modernRequest("server/discover"),
	...[
		'{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}',
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud83d","guild_id":"","instance":"lonely"},"_meta":{"progressToken":"t"}}}',
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bug"}}',
		'{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"cursor":null}}',
		'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
		'{"jsonrpc":"2.0","id":3,"result":{}}',
	].map((body) => ({ body, headers: {} })),
];

/** What a mutation puts somewhere: what means something to a parser of ours. */
const words =
	'{ } [ ] , : " \\ \\u0000 \\ud800 null true -0 1e999 1.5 "id" "method" "params" "name" "arguments" "_meta" "__proto__" "constructor" "tools/call" "instance" "guild_id" \n \r\n \u2028 \ufeff \0 é \u{1f600}'.split(
		" ",
	);
const values = [
	"",
	"2026-07-28",
	"2025-11-25",
	"1999-01-01",
	"tools/call",
	"echo",
	"=?base64?ZWNobw==?=",
	"=?base64?%?=",
	"null",
	"text/plain",
	"application/json",
	"\t",
	"\x80\xff",
	"x".repeat(2_000),
	"localhost, localhost",
	`Bearer ${token}`,
	"gateway-session",
	"1",
];
const names = [
	"Host",
	"Origin",
	"Authorization",
	"Content-Type",
	"Accept",
	"MCP-Protocol-Version",
	"Mcp-Method",
	"Mcp-Name",
	"Mcp-Session-Id",
	"Expect",
	"X-Forwarded-Host",
];
const lines = [
	"GET /mcp",
	"DELETE /mcp",
	"PUT /mcp",
	"OPTIONS *",
	"POST /healthz",
	"GET /readyz",
	"POST //mcp",
	"POST /mcp?%zz",
	"POST /%6dcp",
	"POST http://evil.example/mcp",
];

/** Bytes changed at a few random places: taken away, doubled, replaced, or words put between. */
function mutate(random: Random, text: string): Uint8Array {
	let bytes = Buffer.from(text);
	for (let count = 1 + random.below(4); count > 0; count--) {
		const at = random.below(bytes.length + 1);
		const length = random.below(12);
		const before = bytes.subarray(0, at);
		const after = bytes.subarray(at);
		const put = [
			() => Buffer.from(random.pick(words)),
			() => Buffer.from([random.below(256)]),
			() => after.subarray(0, length),
			() => Buffer.from(random.pick(words).repeat(1 + random.below(2_000))),
			() => Buffer.alloc(0),
		];
		const dropped = random.chance(0.5) ? length : 0;
		bytes = Buffer.concat([before, random.pick(put)(), after.subarray(dropped)]);
	}
	return bytes;
}

/** A request whose framing is right, whatever the rest is: it has to be answered. */
function randomRequest(random: Random): (string | Uint8Array)[] {
	const base = random.pick(bases);
	const body = random.chance(0.8) ? mutate(random, base.body) : Buffer.from(base.body);
	const headers: [string, string][] = [
		["Host", "localhost"],
		["Authorization", `Bearer ${token}`],
		["Content-Type", "application/json"],
		...Object.entries(base.headers),
	];
	if (random.chance(0.4)) {
		const at = random.below(headers.length);
		const name = headers[at]?.[0] ?? random.pick(names);
		const value = random.pick(values);
		if (random.chance(0.5)) headers[at] = [name, value];
		else headers.splice(at, random.below(2), [random.pick(names), value]);
	}
	const chunks = random.chance(0.4);
	headers.push(chunks ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(body.length)]);
	const line = random.chance(0.85) ? "POST /mcp" : random.pick(lines);
	const head = Buffer.from(requestText(line, headers), "latin1");
	const pieces = random.cut(body, 6).filter((piece) => piece.length > 0);
	if (!chunks) return [...random.cut(head, 3), ...pieces];
	return [head, ...pieces.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, "\r\n"]), "0\r\n\r\n"];
}

const statuses = [200, 202, 204, 400, 401, 403, 404, 405, 413, 415, 431, 503];
const codes: readonly number[] = Object.values(errorCode);

/** Throws unless an answer is one that our servers may give. One that is passed on is, but for its id, the bot's. */
function checkAnswer({ status, type, body }: { status: number; type: string; body: string }, passedOn = false) {
	expect(statuses).toContain(status);
	expect(body).not.toMatch(/\bat \S+ \(|\.ts\b|node_modules|\/src\/|the bug/);
	if (status === 202 || status === 204) expect(body).toBe("");
	// The bot's Discord is not there.
	if (status === 503) expect(body).toBe("Discord is not connected\n");
	const texts =
		type === "application/json"
			? [body]
			: [...body.matchAll(/event: message\ndata: ([^\r\n]*)\n\n/g)].map(([, data]) => data ?? "");
	if (type === "text/event-stream")
		expect(texts.map((text) => `event: message\ndata: ${text}\n\n`).join("")).toBe(body);
	for (const text of texts) {
		const message = JSON.parse(text);
		if (!passedOn) expect(message.jsonrpc).toBe("2.0");
		if ("error" in message) expect(codes).toContain(message.error.code);
		else expect("result" in message || "method" in message).toBe(true);
	}
}

/** The promise's value; rejects where there is none for so long that it hangs. */
function soon<T>(promise: Promise<T>, what: () => string): Promise<T> {
	const { promise: hanging, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(() => reject(new Error(`no answer: ${what()}`)), hangMs);
	return Promise.race([promise, hanging]).finally(() => clearTimeout(timer));
}

/** Runs at least `batches` batches, and goes on for this test's share of FUZZ_SECONDS. */
async function repeat(batches: number, batch: (random: Random) => unknown) {
	const random = seeded(seed);
	const end = performance.now() + (seconds * 1_000) / 6;
	for (let n = 0; n < batches || performance.now() < end; n++) await batch(random);
}

const timeoutMs = 120_000 + seconds * 1_000;
const shown = (parts: readonly (string | Uint8Array)[]) =>
	JSON.stringify(parts.map((part) => Buffer.from(part).toString("latin1")).join("")).slice(0, 3_000);

let servers: BothServers;
beforeAll(async () => {
	servers = await startBothServers({
		tools: [
			rawTool("echo", (args) => textResult(JSON.stringify(args))),
			rawTool("bug", () => {
				throw new Error("the bug");
			}),
		],
	});
});
afterAll(() => servers[Symbol.asyncDispose]());

async function expectGoodAnswer(url: string) {
	const { body, headers } = modernCall;
	const response = await postTo(url, body, headers);
	expect(response.status).toBe(200);
	expect(await response.text()).toContain('"resultType":"complete"');
}

describe.each(["bot", "gateway"] as const)("the %s", (at) => {
	test(
		"answers whatever it is sent",
		async () => {
			await repeat(12, async (random) => {
				const requests = Array.from({ length: batchSize }, () => randomRequest(random));
				await Promise.all(
					requests.map(async (parts) => {
						const answer = exchange(servers[at], ...parts);
						const response = await soon(answer, () => shown(parts));
						const type = response.headers.get("content-type") ?? "";
						try {
							checkAnswer({ ...response, type });
						} catch (cause) {
							const what = `${shown(parts)} was answered ${response.status} ${response.body}`;
							throw new Error(what, { cause });
						}
					}),
				);
				await expectGoodAnswer(servers[at]);
			});
		},
		timeoutMs,
	);

	test(
		"survives requests that end anywhere",
		async () => {
			await repeat(4, async (random) => {
				const requests = Array.from({ length: batchSize }, () => {
					const parts = randomRequest(random).map((part) => Buffer.from(part));
					const whole = Buffer.concat(parts);
					return random.chance(0.5)
						? whole.subarray(0, random.below(whole.length))
						: mutate(random, whole.toString("latin1"));
				});
				const answers = await Promise.all(requests.map((bytes) => answerToNonsense(servers[at], bytes)));
				for (const answer of answers) {
					if (answer === "") continue;
					const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
					expect([...statuses, 505]).toContain(Number(status));
					expect(answer).not.toMatch(/\bat \S+ \(|\.ts\b|node_modules/);
				}
				await expectGoodAnswer(servers[at]);
			});
		},
		timeoutMs,
	);
});

/** What comes back for bytes that may be no request, until the connection is hung up. */
function answerToNonsense(url: string, bytes: Uint8Array): Promise<string> {
	const { hostname, port } = new URL(url);
	const { promise, resolve } = Promise.withResolvers<string>();
	let received = "";
	const socket = connect(Number(port), hostname, () => {
		socket.write(bytes);
		// It may rightly wait for more. Whoever hangs up then is gone.
		setTimeout(() => socket.destroy(), 30);
	});
	socket.setEncoding("latin1");
	socket.on("data", (chunk) => {
		received += chunk;
	});
	socket.on("error", () => "a reset is an answer, too");
	socket.on("close", () => resolve(received));
	return promise;
}

describe("the gateway's client", () => {
	let stub: StubBackend;
	let gateway: TestGateway;
	/** The bodies of the answers to come, by the `text` of the call. */
	const planned = new Map<string, { type: string; pieces: Uint8Array[] }>();

	beforeAll(async () => {
		const answer = ({ body, id: given }: RecordedRequest) => {
			const key = JSON.parse(body).params.arguments.text;
			const plan = planned.get(key);
			planned.delete(key);
			if (!plan) return undefined;
			const stream = new ReadableStream<Uint8Array>({
				async pull(controller) {
					const piece = plan.pieces.shift();
					if (piece === undefined) return controller.close();
					await Promise.resolve();
					if (piece.length > 0) controller.enqueue(withGivenId(piece, given));
					else return this.pull?.(controller);
				},
			});
			return new Response(stream, { headers: { "Content-Type": plan.type } });
		};
		stub = startStubBackend({ on: { echo: answer } });
		gateway = await startTestGateway({ alpha: stub }, { env: { DEFAULT_INSTANCE: "alpha" } });
	});
	afterAll(async () => {
		await gateway[Symbol.asyncDispose]();
		await stub[Symbol.asyncDispose]();
	});

	/** Ids are known only when the call arrives; a stand-in of one byte cannot be cut in two. */
	function withGivenId(piece: Uint8Array, given: string): Uint8Array {
		const text = Buffer.from(piece).toString("latin1");
		return Buffer.from(text.replaceAll("\u0001", given), "latin1");
	}

	async function call(random: Random, key: string) {
		const params = { name: "echo", arguments: { text: key } };
		const auth = { Authorization: `Bearer ${gatewayToken}` };
		const url = `${gateway.url}/mcp`;
		const modern = modernRequest("tools/call", params);
		const response = random.chance(0.5)
			? await postTo(url, modern.body, { ...modern.headers, ...auth })
			: await postTo(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }), auth);
		const body = await response.text();
		const type = response.headers.get("content-type") ?? "";
		checkAnswer({ status: response.status, type, body }, true);
		const frame = /^event: message\ndata: ([^\r\n]*)\n\n$/.exec(body)?.[1];
		return JSON.parse(frame ?? "{}").result;
	}

	const result = {
		content: [{ type: "text", text: "é\u2028 \u{1f600}\r\n\n data: {" }],
		structuredContent: { n: [1, 2, { deep: null }] },
	};

	/** An event stream with the result in it, in one of the many ways to write one. */
	function randomStream(random: Random): string {
		const end = random.pick(["\n", "\r", "\r\n"]);
		const space = random.pick(["", " "]);
		const text = `{"jsonrpc":"2.0","id":\u0001,"result":${JSON.stringify(result)}}`;
		const noise = () =>
			random.pick([
				"",
				`: keep-alive${end}`,
				`id: ${random.below(9)}${end}`,
				`retry:${random.below(9)}${end}`,
				`nonsense${end}`,
				`data:${end}${end}`,
				`event: other${end}data: not json${end}${end}`,
				`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}${end}${end}`,
				`data: {"jsonrpc":"2.0","id":-5,"result":{}}${end}${end}`,
				`${end}${end}`,
			]);
		// JSON may be broken between its tokens, and so may its event.
		const data = text
			.replace('"jsonrpc"', () => `${random.chance(0.5) ? "\n" : ""}"jsonrpc"`)
			.replace(/\}$/, () => `${random.chance(0.5) ? "\n" : ""}}`)
			.split("\n")
			.map((line) => `data:${space}${line}${end}`)
			.join("");
		return `${random.chance(0.2) ? "\ufeff" : ""}${noise()}${noise()}${noise()}${data}${end}${noise()}`;
	}

	test(
		"finds the response in any stream that is one, however it is cut",
		async () => {
			await repeat(6, async (random) => {
				const calls = Array.from({ length: batchSize }, async (_, n) => {
					const stream = randomStream(random);
					const pieces = random.cut(Buffer.from(stream), 30);
					planned.set(String(n), { type: "text/event-stream", pieces });
					const answer = call(random, String(n));
					const given = await soon(answer, () => JSON.stringify(stream));
					const { resultType: _type, ...rest } = given ?? {};
					if (!Bun.deepEquals(rest, result))
						throw new Error(`${JSON.stringify(stream)} became ${JSON.stringify(given)}`);
				});
				await Promise.all(calls);
			});
		},
		timeoutMs,
	);

	test(
		"has an answer for whatever a bot answers",
		async () => {
			await repeat(6, async (random) => {
				const calls = Array.from({ length: batchSize }, async (_, n) => {
					const stream = randomStream(random);
					const bytes = mutate(random, stream);
					const type = random.pick([
						"text/event-stream",
						"text/event-stream;charset=utf-8",
						"application/json",
						"text/html",
					]);
					planned.set(String(n), { type, pieces: random.cut(bytes, 30) });
					await soon(call(random, String(n)), () => shown([bytes]));
				});
				await Promise.all(calls);
				expect(await call(random, "unplanned")).toMatchObject({ content: [{ type: "text", text: "ran echo" }] });
			});
		},
		timeoutMs,
	);
});

test("what went wrong meanwhile was the tool that is a bug, and nothing else", () => {
	const errors = servers.logged.filter((line) => line.includes('"level":"error"'));
	expect(errors).not.toEqual([]);
	for (const line of errors) expect(line).toContain("the bug");
});
