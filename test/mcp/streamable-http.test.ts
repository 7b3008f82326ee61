import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import * as v from "valibot";
import { listen } from "../../src/lib/listen.ts";
import { createServer, toolSource } from "../../src/mcp/server.ts";
import { Sessions } from "../../src/mcp/session.ts";
import { createEndpoint } from "../../src/mcp/streamable-http.ts";
import { tool } from "../../src/mcp/tool.ts";
import { recordLog } from "../support/log.ts";
import {
	chunked,
	exchange,
	type RawResponse,
	requestText,
} from "../support/raw-http.ts";

type Header = readonly [name: string, value: string];

const maxBodyBytes = 1_000;

function start(
	sessions: Sessions | string = "the-constant",
	bodyTimeoutMs = 10_000,
) {
	const { log, lines } = recordLog();
	const calls: string[] = [];
	const note = tool({
		name: "note",
		title: "Note",
		description: "Note a text.",
		effect: "write",
		input: v.strictObject({ text: v.optional(v.string(), "") }),
		run({ text }) {
			calls.push(text);
			return text;
		},
	});
	const endpoint = createEndpoint({
		server: createServer({
			info: { name: "test", title: "Test", version: "1" },
			instructions: "",
			tools: toolSource([note], {}),
			log,
		}),
		maxBodyBytes,
		bodyTimeoutMs,
		sessions,
	});
	const listener = listen({
		hostname: "127.0.0.1",
		port: 0,
		settings: { hostname: "ADDR", port: "PORT" },
		fetch: endpoint,
		log,
	});
	return {
		calls,
		lines,
		/** Headers and body as given; the length is added. */
		post(
			body: string | Uint8Array,
			headers: readonly Header[] = [["Content-Type", "application/json"]],
		): Promise<RawResponse> {
			const head: Header[] = [
				["Host", "test"],
				["Content-Length", String(Buffer.byteLength(body))],
				...headers,
			];
			return exchange(listener.url, requestText("POST /mcp", head), body);
		},
		port: listener.port,
		send: (...parts: string[]) => exchange(listener.url, ...parts),
		[Symbol.asyncDispose]: () => listener.close(0),
	};
}

const json: Header = ["Content-Type", "application/json"];
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const pong = '{"jsonrpc":"2.0","id":1,"result":{}}';
const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';

/** What stands in the one frame that the body is; throws for any other body. */
function frame(response: RawResponse): string {
	const match = /^event: message\ndata: ([^\r\n]*)\n\n$/.exec(response.body);
	if (match?.[1] === undefined)
		throw new Error(`not one frame: ${JSON.stringify(response.body)}`);
	return match[1];
}

function expectUsualHeaders({ headers }: RawResponse) {
	expect(headers.get("content-type")).toBe("text/event-stream");
	expect(headers.get("cache-control")).toBe("no-cache");
	expect(headers.get("x-accel-buffering")).toBe("no");
	expect(headers.get("mcp-session-id")).toBe("the-constant");
}

const errorOf = (code: number, id: string) =>
	expect.stringMatching(
		new RegExp(
			`^\\{"jsonrpc":"2.0","id":${id},"error":\\{"code":${code},"message":"`,
		),
	);

describe("a request is answered with one frame", () => {
	test.each<[name: string, status: number, body: string, answer: unknown]>([
		["a ping", 200, ping, pong],
		["white space about", 200, ` \r\n${ping}\n`, pong],
		[
			"a big id",
			200,
			ping.replace("1,", "12345678901234567890,"),
			pong.replace("1,", "12345678901234567890,"),
		],
		[
			"an unknown method",
			200,
			ping.replace("ping", "pong"),
			errorOf(-32601, "1"),
		],
		[
			"arguments that do not match",
			200,
			'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note","arguments":{"text":1}}}',
			errorOf(-32602, "2"),
		],
		["no body", 400, "", errorOf(-32700, "null")],
		["half a body", 400, ping.slice(0, -1), errorOf(-32700, "null")],
		["a batch", 400, `[${ping}]`, errorOf(-32600, "null")],
		["an empty batch", 400, "[]", errorOf(-32600, "null")],
		["no message", 400, "{}", errorOf(-32600, "null")],
		[
			"an id of null",
			400,
			ping.replace("1,", "null,"),
			errorOf(-32600, "null"),
		],
		[
			"params that are no object",
			400,
			'{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}',
			errorOf(-32602, '"a"'),
		],
	])("%s: %d", async (_, status, body, answer) => {
		await using server = start();
		const response = await server.post(body);
		expect(response.status).toBe(status);
		expectUsualHeaders(response);
		expect(frame(response)).toEqual(answer as string);
	});
});

test("a JSON text with line breaks in its id and a tool's text still is one frame", async () => {
	await using server = start();
	const text = "a\nb\r\nc\u2028d\n\ndata: e";
	const response = await server.post(
		JSON.stringify({
			jsonrpc: "2.0",
			id: text,
			method: "tools/call",
			params: { name: "note", arguments: { text } },
		}),
	);
	expect(JSON.parse(frame(response))).toEqual({
		jsonrpc: "2.0",
		id: text,
		result: { content: [{ type: "text", text }] },
	});
});

describe("no UTF-8 is no JSON: 400 and -32700", () => {
	test.each<[string, readonly number[]]>([
		["a lone continuation byte", [0x80]],
		["a byte that never occurs", [0xff]],
		["an overlong slash", [0xc0, 0xaf]],
		["a surrogate", [0xed, 0xa0, 0x80]],
		["half a character", [0xe2, 0x82]],
	])("%s", async (_, bytes) => {
		await using server = start();
		const body = Buffer.concat([
			Buffer.from('{"jsonrpc":"2.0","id":"'),
			Buffer.from(bytes),
			Buffer.from('","method":"ping"}'),
		]);
		const response = await server.post(body);
		expect(response.status).toBe(400);
		expectUsualHeaders(response);
		expect(JSON.parse(frame(response))).toEqual({
			jsonrpc: "2.0",
			id: null,
			error: { code: -32700, message: "Parse error" },
		});
		expect(server.lines).toEqual([]);
	});
});

describe("the Content-Type", () => {
	test.each([
		[[]],
		[[["Content-Type", "application/json"]]],
		[[["Content-Type", "application/json; charset=utf-8"]]],
		[[["content-type", "Application/JSON ;charset=UTF-8"]]],
	] as [Header[]][])("%j counts as JSON", async (headers) => {
		await using server = start();
		const response = await server.post(ping, headers);
		expect(response.status).toBe(200);
		expect(frame(response)).toBe(pong);
	});

	test.each([
		"text/plain",
		"text/plain;application/json",
		"application/jsonp",
		"application/json-patch+json",
		"application/vnd.api+json",
		"x application/json",
		"application/x-www-form-urlencoded",
		"multipart/form-data; boundary=application/json",
	])("%j is 415, and nothing is run", async (type) => {
		await using server = start();
		const response = await server.post(
			'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note"}}',
			[["Content-Type", type]],
		);
		expect(response.status).toBe(415);
		expectUsualHeaders(response);
		expect(frame(response)).toEqual(errorOf(-32600, "null"));
		expect(server.calls).toEqual([]);
	});
});

describe.each(["*/*", "application/json", "text/html", ""])(
	"the Accept header %j",
	(accept) => {
		test("refuses nothing", async () => {
			await using server = start();
			const response = await server.post(ping, [json, ["Accept", accept]]);
			expect(response.status).toBe(200);
			expect(frame(response)).toBe(pong);
		});
	},
);

describe("the body's limit", () => {
	// The same number of bytes, made of characters of one byte and of three.
	const padded = (bytes: number, filler: string) => {
		const [before, after] = [
			'{"jsonrpc":"2.0","id":1,"method":"ping","x":"',
			'"}',
		];
		const room = bytes - before.length - after.length;
		const size = Buffer.byteLength(filler);
		const rest = "y".repeat(room % size);
		return before + filler.repeat(Math.floor(room / size)) + rest + after;
	};
	const sendChunked = (server: ReturnType<typeof start>, body: string) => {
		const third = Math.ceil(body.length / 3);
		const head = requestText("POST /mcp", [
			["Host", "test"],
			json,
			["Transfer-Encoding", "chunked"],
		]);
		const pieces = [0, 1, 2].map((n) => body.slice(n * third, (n + 1) * third));
		return server.send(head, chunked(...pieces));
	};

	test.each(["a", "€"])(
		"is reached and not passed, in characters %j",
		async (filler) => {
			const body = padded(maxBodyBytes, filler);
			expect(Buffer.byteLength(body)).toBe(maxBodyBytes);
			await using server = start();
			for (const response of [
				await server.post(body),
				await sendChunked(server, body),
			]) {
				expect(response.status).toBe(200);
				expect(frame(response)).toBe(pong);
			}
		},
	);

	test.each(["a", "€"])(
		"is passed by one byte: 413, in characters %j",
		async (filler) => {
			const body = padded(maxBodyBytes + 1, filler);
			await using server = start();
			for (const response of [
				await server.post(body),
				await sendChunked(server, body),
			]) {
				expect(response.status).toBe(413);
				expectUsualHeaders(response);
				expect(frame(response)).toEqual(errorOf(-32600, "null"));
			}
		},
	);

	test("is far below what is announced: 413 without waiting for it", async () => {
		await using server = start();
		for (const length of ["1001", "1048577", "999999999999"]) {
			const response = await server.send(
				requestText("POST /mcp", [
					["Host", "test"],
					json,
					["Content-Length", length],
				]),
			);
			expect(response.status).toBe(413);
			expectUsualHeaders(response);
		}
	});

	test("is passed by chunks without end: 413 without waiting for one", async () => {
		await using server = start();
		const response = await server.send(
			requestText("POST /mcp", [
				["Host", "test"],
				json,
				["Transfer-Encoding", "chunked"],
			]),
			`7d0\r\n${"x".repeat(2_000)}\r\n`,
		);
		expect(response.status).toBe(413);
	});
});

describe("what is no request is 202 without a body", () => {
	test.each([
		'{"jsonrpc":"2.0","method":"notifications/initialized"}',
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
		'{"jsonrpc":"2.0","method":"nonsense"}',
		'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"note"}}',
		'{"jsonrpc":"2.0","id":1,"result":{}}',
		'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
	])("%s", async (body) => {
		await using server = start();
		const response = await server.post(body);
		expect(response.status).toBe(202);
		expect(response.body).toBe("");
		expect(response.headers.get("mcp-session-id")).toBe("the-constant");
		expect(server.calls).toEqual([]);
	});
});

describe("other methods", () => {
	test.each(["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])(
		"%s is 405 where there is one session for all",
		async (method) => {
			await using server = start();
			const response = await server.send(
				requestText(`${method} /mcp`, [["Host", "test"]]),
			);
			expect(response.status).toBe(405);
			expect(response.headers.get("allow")).toBe("POST");
		},
	);

	test.each(["GET", "PUT", "OPTIONS"])(
		"%s is 405 where there are sessions",
		async (method) => {
			await using server = start(
				new Sessions({ idleTimeoutMs: 60_000, maxSessions: 10 }),
			);
			const response = await server.send(
				requestText(`${method} /mcp`, [["Host", "test"]]),
			);
			expect(response.status).toBe(405);
			expect(response.headers.get("allow")).toBe("POST, DELETE");
		},
	);
});

describe("MCP-Protocol-Version", () => {
	test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
		"%s is served",
		async (version) => {
			await using server = start();
			const response = await server.post(ping, [
				json,
				["MCP-Protocol-Version", version],
			]);
			expect(response.status).toBe(200);
		},
	);

	test.each(["1999-01-01", "nonsense", "2025-11-25, 2025-11-25"])(
		"%s is 400, under the request's id",
		async (version) => {
			await using server = start();
			const response = await server.post(ping, [
				json,
				["MCP-Protocol-Version", version],
			]);
			expect(response.status).toBe(400);
			expectUsualHeaders(response);
			expect(frame(response)).toEqual(errorOf(-32600, "1"));
		},
	);
});

test("the constant session takes any session header, and keys nothing by it", async () => {
	await using server = start();
	for (const id of ["the-constant", "another", ""]) {
		const response = await server.post(ping, [json, ["Mcp-Session-Id", id]]);
		expect(response.status).toBe(200);
		expect(response.headers.get("mcp-session-id")).toBe("the-constant");
	}
});

describe("sessions", () => {
	function startWithSessions() {
		const clock = { now: 0 };
		const sessions = new Sessions(
			{ idleTimeoutMs: 1_000, maxSessions: 10 },
			() => clock.now,
		);
		const server = start(sessions);
		const inSession = (id: string) =>
			[json, ["Mcp-Session-Id", id]] satisfies Header[];
		const open = async () => {
			const response = await server.post(initialize);
			return response.headers.get("mcp-session-id") ?? "";
		};
		const end = (id?: string) =>
			server.send(
				requestText("DELETE /mcp", [
					["Host", "test"],
					...(id === undefined ? [] : [["Mcp-Session-Id", id] as const]),
				]),
			);
		return {
			clock,
			sessions,
			server,
			inSession,
			open,
			end,
			[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
		};
	}

	test("initialize opens one, and only it shows its id", async () => {
		await using world = startWithSessions();
		const first = await world.open();
		const second = await world.open();
		expect(first).not.toBe(second);
		const { status, headers } = await world.server.post(
			ping,
			world.inSession(first),
		);
		expect(status).toBe(200);
		expect(headers.has("mcp-session-id")).toBe(false);
		expect(world.sessions.size).toBe(2);
		expect(world.sessions.find(first)).toMatchObject({
			protocolVersion: "2025-06-18",
			clientName: "c",
		});
	});

	test("a refused initialize opens none", async () => {
		await using world = startWithSessions();
		const refused = initialize.replace('"2025-06-18"', "7");
		expect(
			(await world.server.post(refused)).headers.has("mcp-session-id"),
		).toBe(false);
		await world.server.post(initialize, [json, ["MCP-Protocol-Version", "x"]]);
		await world.server.post(initialize, [["Content-Type", "text/plain"]]);
		await world.server.post(initialize.replace('"method"', '"id":1,"method"'));
		expect(world.sessions.size).toBe(0);
	});

	test("a request without one is served", async () => {
		await using world = startWithSessions();
		expect((await world.server.post(ping)).status).toBe(200);
	});

	test.each([ping, '{"jsonrpc":"2.0","method":"notifications/initialized"}'])(
		"in an unknown one %s is 404",
		async (body) => {
			await using world = startWithSessions();
			const response = await world.server.post(body, world.inSession("nope"));
			expect(response.status).toBe(404);
			expect(JSON.parse(frame(response))).toEqual({
				jsonrpc: "2.0",
				id: body === ping ? 1 : null,
				error: { code: -32001, message: "Session not found" },
			});
		},
	);

	test("DELETE ends one: then it is 404, for requests and for DELETE", async () => {
		await using world = startWithSessions();
		const id = await world.open();
		const other = await world.open();
		expect((await world.end(id)).status).toBe(204);
		expect((await world.end(id)).status).toBe(404);
		expect((await world.server.post(ping, world.inSession(id))).status).toBe(
			404,
		);
		expect((await world.server.post(ping, world.inSession(other))).status).toBe(
			200,
		);
	});

	test("DELETE without one is 400, and of an unknown one 404", async () => {
		await using world = startWithSessions();
		await world.open();
		expect((await world.end()).status).toBe(400);
		expect((await world.end("nope")).status).toBe(404);
		expect(world.sessions.size).toBe(1);
	});

	test("one that is idle for too long is 404", async () => {
		await using world = startWithSessions();
		const id = await world.open();
		world.clock.now += 999;
		expect((await world.server.post(ping, world.inSession(id))).status).toBe(
			200,
		);
		world.clock.now += 1_000;
		expect((await world.server.post(ping, world.inSession(id))).status).toBe(
			404,
		);
	});
});

test("an upload that breaks off disturbs nobody", async () => {
	await using server = start();
	const cut = server.send(
		requestText("POST /mcp", [
			["Host", "test"],
			json,
			["Content-Length", "50"],
		]),
		"{",
	);
	expect((await server.post(ping)).status).toBe(200);
	void cut.catch(() => "it was never answered, which is right");
});

test.each([
	["Content-Length: 100\r\n\r\n", "{"],
	["Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"],
])(
	"a body that comes too slowly, after %j, is 408, and the connection ends",
	async (rest, begun) => {
		await using server = start("the-constant", 20);
		const closed = Promise.withResolvers<string>();
		let received = "";
		const socket = connect(server.port, "127.0.0.1");
		socket.on("data", (bytes) => {
			received += bytes;
		});
		socket.on("error", closed.reject);
		socket.on("close", () => closed.resolve(received));
		socket.write(`POST /mcp HTTP/1.1\r\nHost: test\r\n${rest}${begun}`);
		const answer = await closed.promise;
		expect(answer).toStartWith("HTTP/1.1 408 ");
		expect(answer).toContain(
			'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the body came too slowly"}}',
		);
	},
);
