import { describe, expect, test } from "bun:test";
import { HttpClient } from "../../src/gateway/http/http-client.ts";
import { stopped } from "../../src/lib/signal.ts";
import {
	type ClientOptions,
	type ClientResponse,
	type ClientSession,
	createClient,
	withId,
} from "../../src/mcp/client.ts";
import {
	eventStream,
	json,
	type RecordedRequest,
	rpcError,
	type StubBackend,
	sse,
	stall,
	startStubBackend,
} from "../support/stub-backend.ts";

const token = "a-token-of-the-test";
/** Ends a test that would hang; nothing waits for it. */
const testTimeout = () => AbortSignal.timeout(60_000);
const session: ClientSession = { id: "s", protocolVersion: "2025-11-25" };

function clientOf(url: string, options: Partial<ClientOptions> = {}) {
	const client = createClient({
		dispatch: new HttpClient({ url: `${url}/mcp` }).dispatch,
		token,
		info: { name: "test", version: "1" },
		...options,
	});
	const call = (params = "{}"): Promise<ClientResponse> => client.request(session, "tools/call", params, testTimeout());
	return { ...client, call };
}

/** A stub that answers every `tools/call` so, and a client of it. */
function start(answer: (request: RecordedRequest) => Response | Promise<Response>) {
	const stub = startStubBackend({ sessions: false, on: { "tools/call": answer } });
	return { stub, ...clientOf(stub.url), [Symbol.asyncDispose]: () => stub.stop() };
}

/** What a rejected promise was rejected with, in short. */
async function fault(promise: Promise<unknown>): Promise<string> {
	const error = await promise.then(
		() => new Error("it did not reject"),
		(error) => error,
	);
	return error.reached ? `${error.name} ${error.reached}` : String(error);
}

const ours = (id: string, result = '{"x":"ours"}') => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;

describe("the response is found", () => {
	test.each<[name: string, answer: (request: RecordedRequest) => Response]>([
		["in an SSE answer", ({ id }) => sse(ours(id))],
		["in a JSON answer", ({ id }) => json(ours(id))],
		["in a JSON answer of another type's name", ({ id }) => new Response(ours(id))],
		["after a priming event", ({ id }) => eventStream(`id: 1\nretry: 5\ndata: \n\ndata: ${ours(id)}\n\n`)],
		["after comments", ({ id }) => eventStream(`: hi\n\n: ho\ndata: ${ours(id)}\n\n`)],
		[
			"after notifications",
			({ id }) => sse('{"jsonrpc":"2.0","method":"notifications/message","params":{}}', ours(id)),
		],
		[
			"after a request of the server's under the same id",
			({ id }) => sse(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`, ours(id)),
		],
		[
			"after another request's response",
			({ id }) => sse(ours("99999", '{"x":"theirs"}'), ours(`"${id}"`, '{"x":"theirs"}'), ours(id)),
		],
		[
			"after another request's error",
			({ id }) => sse('{"jsonrpc":"2.0","id":99999,"error":{"code":1,"message":"Session not found"}}', ours(id)),
		],
		["after what is no JSON", ({ id }) => sse("hello", "[]", "null", "1", ours(id))],
		[
			"in lines of data",
			({ id }) => eventStream(`data: {"jsonrpc":"2.0",\ndata: "id":${id},\ndata: "result":{"x":"ours"}}\n\n`),
		],
		["with CR LF", ({ id }) => eventStream(`event: message\r\ndata: ${ours(id)}\r\n\r\n`)],
		["in events of another name", ({ id }) => eventStream(`event: x\ndata: ${ours(id)}\n\n`)],
		["before others", ({ id }) => sse(ours(id), ours(id, '{"x":"again"}'))],
		[
			"with a type in capitals",
			({ id }) => {
				const response = sse(ours(id));
				response.headers.set("Content-Type", "Text/Event-Stream; charset=utf-8");
				return response;
			},
		],
		["with a byte order mark", ({ id }) => json(`\ufeff${ours(id)}`)],
	])("%s", async (_, answer) => {
		await using world = start(answer);
		const { message, text } = await world.call();
		expect(message.result).toEqual({ x: "ours" });
		expect(JSON.parse(text)).toEqual(message);
	});

	test("when its event is complete, though the stream stays open, which is then given up", async () => {
		const cancelled = Promise.withResolvers<void>();
		await using world = start(({ id }) =>
			eventStream(`data: ${ours(id)}\n\n`, { open: true, onCancel: () => cancelled.resolve() }),
		);
		expect((await world.call()).message.result).toEqual({ x: "ours" });
		await cancelled.promise;
	});

	test("with every byte of its text", async () => {
		const result = '{"n":1e400, "z":1.0,"a":12345678901234567890,"s":"\\u00e9\\/ü","_meta":{"x":null}}';
		await using world = start(({ id }) => sse(ours(id, result)));
		const { text } = await world.call();
		expect(text).toBe(ours("1", result));
	});

	test("but not compressed, for which we never ask", async () => {
		await using world = start(({ id }) => {
			const response = new Response(Bun.gzipSync(ours(id)));
			response.headers.set("Content-Type", "application/json");
			response.headers.set("Content-Encoding", "gzip");
			return response;
		});
		expect(await fault(world.call())).toBe("ClientError unknown");
	});

	const twice = (name: string, more: string) => [name, (id: string) => `{${more.replaceAll("ID", id)}}`] as const;
	test.each([
		twice("an id", '"id":99999,"result":{},"id":ID'),
		twice("the same id", '"id":ID,"result":{},"id":ID'),
		twice("an escaped id", '"\\u0069d":99999,"result":{},"id":ID'),
		twice("a result", '"id":ID,"result":{},"result":{"x":1}'),
		twice("an escaped result", '"id":ID,"result":{},"r\\u0065sult":{}'),
		twice("an error", '"id":ID,"error":{},"error":{"code":1}'),
		twice("an error without an id", '"error":{},"error":{"code":1}'),
		twice(
			"an id after a result in the usual form",
			'"jsonrpc":"2.0","id":ID,"result":{"content":[]},"id":ID,"x":{"y":[]}',
		),
	])("but not where it has %s twice", async (_, text) => {
		for (const answer of [sse, json]) {
			await using world = start(({ id }) => answer(text(id)));
			const error = await world.call().catch((error) => error);
			expect(error).toMatchObject({
				reached: "unknown",
				message: expect.stringMatching(/^the MCP server's response has a duplicate key: "\w+"$/),
			});
		}
	});

	test("as an error, by our id or without one", async () => {
		for (const [answered, status] of [
			[undefined, 200],
			["null", 200],
			[undefined, 400],
			["null", 400],
			[undefined, 500],
		] as const) {
			await using world = start(({ id }) => rpcError(answered ?? id, -32601, "Method not found: x", status));
			const { message } = await world.call();
			expect(message.error).toEqual({ code: -32601, message: "Method not found: x" });
		}
	});
});

describe("a lost session", () => {
	const lost: [name: string, answer: (request: RecordedRequest) => Response][] = [
		["404", () => new Response(null, { status: 404 })],
		["404 with any body", ({ id }) => json(ours(id), 404)],
		["an error", ({ id }) => rpcError(id, -32001, "Session not found")],
		["an error in another case", ({ id }) => rpcError(id, -32000, "bad: SESSION NOT FOUND!")],
		["an error without an id", () => rpcError("null", -32600, "session Not Found")],
		[
			"an error on SSE",
			({ id }) => sse(`{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"Session not found"}}`),
		],
		["an error with a status", ({ id }) => rpcError(id, 1, "Session not found", 400)],
		["a body of status 400", () => new Response("Session not found", { status: 400 })],
		["a body of status 401", () => new Response("<p>session not found</p>", { status: 401 })],
		["another request's error of status 400", () => rpcError("77", 1, "Session not found", 400)],
	];
	test.each(lost)("shows in %s", async (_, answer) => {
		await using world = start(answer);
		expect(await fault(world.call())).toStartWith("SessionNotFound");
	});

	const kept: [name: string, answer: (request: RecordedRequest) => Response, outcome: string][] = [
		[
			"a result",
			({ id }) => json(ours(id, '{"isError":true,"content":[{"type":"text","text":"Session not found"}]}')),
			"a response",
		],
		[
			"a result of status 400",
			({ id }) => json(ours(id, '{"text":"no session of yours"}'), 400),
			"ClientError refused",
		],
		[
			"an error's data",
			({ id }) => json(`{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"x","data":"Session not found"}}`),
			"a response",
		],
		["an error of a tool that ran", ({ id }) => rpcError(id, 1, "Kicked, but game session not found"), "a response"],
		["an error of status 500", ({ id }) => rpcError(id, 1, "Session not found", 500), "a response"],
		["a body of status 502", () => new Response("upstream: session not found", { status: 502 }), "ClientError unknown"],
		["another error", ({ id }) => rpcError(id, 1, "Session expired"), "a response"],
		["a body of status 200", () => new Response("Session not found"), "ClientError unknown"],
	];
	test.each(kept)("does not show in %s", async (_, answer, outcome) => {
		await using world = start(answer);
		const got = world.call().then(() => "a response");
		expect(await got.catch(() => fault(got))).toBe(outcome);
	});
});

describe("a request that brings no response", () => {
	test.each<[name: string, answer: (request: RecordedRequest) => Response, reached: string]>([
		["an empty 200", () => new Response(), "unknown"],
		["an empty JSON answer", () => json(""), "unknown"],
		["an empty stream", () => sse(), "unknown"],
		["202", () => new Response(null, { status: 202 }), "unknown"],
		["204", () => new Response(null, { status: 204 }), "unknown"],
		["garbage", () => new Response(Uint8Array.of(0, 255, 128, 10)), "unknown"],
		["garbage for an event stream", () => eventStream("\u0000\n\n{}\n\ndata\n\n"), "unknown"],
		["another's response only", () => json(ours("99999")), "unknown"],
		["a result that is none", ({ id }) => json(ours(id, "null")), "unknown"],
		["a list for a result", ({ id }) => json(ours(id, "[]")), "unknown"],
		["a result under status 500", ({ id }) => json(ours(id), 500), "unknown"],
		["ours without result or error", ({ id }) => json(`{"jsonrpc":"2.0","id":${id}}`), "unknown"],
		["a response cut off in its last event", ({ id }) => eventStream(`data: ${ours(id)}\n`), "unknown"],
		["half of a JSON answer", ({ id }) => json(ours(id).slice(0, -1)), "unknown"],
		["400", () => new Response("bad", { status: 400 }), "refused"],
		["401", () => new Response(null, { status: 401 }), "refused"],
		["403", () => new Response("Host header is not allowed", { status: 403 }), "refused"],
		["408", () => new Response(null, { status: 408 }), "unknown"],
		["413", () => new Response(null, { status: 413 }), "refused"],
		["500", () => new Response("oops", { status: 500 }), "unknown"],
		["503", () => new Response(null, { status: 503 }), "unknown"],
	])("after %s may have got this far: %s", async (_, answer, reached) => {
		await using world = start(answer);
		expect(await fault(world.call())).toBe(`ClientError ${reached}`);
		expect(world.stub.received("tools/call")).toHaveLength(1);
	});

	test("because it is redirected is not sent on, nor is the token", async () => {
		await using other = startStubBackend();
		for (const status of [301, 302, 303, 307, 308]) {
			await using world = start(() => new Response(null, { status, headers: { Location: `${other.url}/mcp` } }));
			expect(await fault(world.call())).toBe("ClientError unknown");
		}
		expect(other.requests).toEqual([]);
	});

	test("because the connection is refused was not sent", async () => {
		await using world = start(() => new Response());
		await world.stub.stop();
		expect(await fault(world.call())).toBe("ClientError unsent");
		const opening = world.connect(testTimeout());
		expect(await fault(opening)).toBe("ClientError unsent");
	});

	test("because the connection is cut, and the next one refused, is of unknown outcome", async () => {
		let requests = 0;
		const stub = Bun.listen({
			hostname: "127.0.0.1",
			port: 0,
			socket: {
				data(peer) {
					requests += 1;
					stub.stop();
					peer.end();
				},
			},
		});
		const { call } = clientOf(`http://127.0.0.1:${stub.port}`);
		expect(await fault(call())).toBe("ClientError unknown");
		expect(requests).toBe(1);
		expect(await fault(call())).toBe("ClientError unsent");
	});

	test("because the host's name stands for nothing was not sent", async () => {
		// Longer than a name's part can be: refused without asking anyone.
		const { call } = clientOf(`http://${"x".repeat(64)}:9`);
		expect(await fault(call())).toBe("ClientError unsent");
	});

	test.each<[name: string, type: string, piece: string]>([
		["an answer", "application/json", "x".repeat(1024 * 1024)],
		["an event", "text/event-stream", `data: ${"x".repeat(1024 * 1024)}\n`],
		["a line of an event", "text/event-stream", "x".repeat(1024 * 1024)],
	])("because %s is endless is given up", async (_, type, piece) => {
		const cancelled = Promise.withResolvers<void>();
		const bytes = new TextEncoder().encode(piece);
		await using world = start(() => {
			const body = new ReadableStream({
				pull: (controller) => controller.enqueue(bytes),
				cancel: () => cancelled.resolve(),
			});
			return new Response(body, { headers: { "Content-Type": type } });
		});
		expect(await fault(world.call())).toBe("ClientError unknown");
		await cancelled.promise;
	});

	test.each<[name: string, answer: () => Response | undefined]>([
		["before its answer", () => undefined],
		["within its answer", () => eventStream(": hi\n\n", { open: true })],
	])("because it was aborted %s is of unknown outcome, and is cancelled at the server", async (_, answer) => {
		await using world = start((request) => answer() ?? stall(request));
		const controller = new AbortController();
		const request = world.request(session, "tools/call", "{}", controller.signal);
		await world.stub.arrived("tools/call");
		controller.abort();
		expect(await fault(request)).toBe("ClientError unknown");
		await world.stub.arrived("notifications/cancelled");
		const [cancelled] = world.stub.received("notifications/cancelled");
		const [call] = world.stub.received("tools/call");
		expect(JSON.parse(cancelled?.body ?? "").params.requestId).toBe(JSON.parse(call?.body ?? "").id);
	});

	test("because the program stops is not cancelled at the server", async () => {
		await using world = start(stall);
		for (const [index, reason] of [stopped, new DOMException("the client left", "AbortError")].entries()) {
			const controller = new AbortController();
			const request = world.request(session, "tools/call", "{}", controller.signal);
			await world.stub.arrived("tools/call", index + 1);
			controller.abort(reason);
			expect(await fault(request)).toBe("ClientError unknown");
		}
		await world.stub.arrived("notifications/cancelled");
		const [, second] = world.stub.received("tools/call");
		const ids = world.stub.received("notifications/cancelled").map(({ body }) => JSON.parse(body).params.requestId);
		expect(ids).toEqual([JSON.parse(second?.body ?? "").id]);
	});
});

describe("what is sent", () => {
	test("has our headers, ids of our own, and the params as they are", async () => {
		await using stub = startStubBackend({ sessions: false });
		const { call } = clientOf(stub.url, { host: "localhost:9090" });
		const params = '{"name":"x","n":1e400,"z":1.0}';
		await call(params);
		await call();
		const [first, second] = stub.requests;
		expect(first?.body).toBe(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
		expect(second?.id).toBe("2");
		expect(first?.path).toBe("/mcp");
		const { host, authorization, accept, ...others } = Object.fromEntries(first?.headers ?? []);
		expect({ host, authorization, accept }).toEqual({
			host: "localhost:9090",
			authorization: `Bearer ${token}`,
			accept: "application/json, text/event-stream",
		});
		expect(others).toMatchObject({
			"content-type": "application/json",
			"mcp-session-id": "s",
			"mcp-protocol-version": "2025-11-25",
		});
	});

	test("has no Authorization without a token", async () => {
		await using stub = startStubBackend();
		const client = createClient({
			dispatch: new HttpClient({ url: `${stub.url}/mcp` }).dispatch,
			info: { name: "test", version: "1" },
		});
		await client.connect(testTimeout());
		for (const { headers } of stub.requests) expect(headers.has("authorization")).toBe(false);
	});
});

describe("connect", () => {
	const initialized = (stub: StubBackend) => stub.received("notifications/initialized");

	test("is initialize, then initialized in the session; disconnect is DELETE", async () => {
		await using stub = startStubBackend();
		const client = clientOf(stub.url);
		const opened = await client.connect(testTimeout());
		await client.disconnect(opened, testTimeout());
		expect(stub.requests.map(({ rpc }) => rpc)).toEqual(["initialize", "notifications/initialized", "DELETE"]);
		const [initialize, ...rest] = stub.requests;
		expect(JSON.parse(initialize?.body ?? "").params).toEqual({
			protocolVersion: "2025-11-25",
			capabilities: {},
			clientInfo: { name: "test", version: "1" },
		});
		expect(initialize?.headers.has("mcp-session-id")).toBe(false);
		expect(opened.id).toBeString();
		for (const { headers } of rest) expect(headers.get("mcp-session-id")).toBe(opened.id ?? null);
	});

	test.each(["2024-11-05", "2025-03-26", "2026-07-28", "9999-12-31", "draft"])(
		"takes the protocol version %s, and uses it from then on",
		async (protocolVersion) => {
			await using stub = startStubBackend({
				sessions: false,
				on: { initialize: ({ id }) => json(ours(id, JSON.stringify({ protocolVersion }))) },
			});
			expect(await clientOf(stub.url).connect(testTimeout())).toEqual({ id: undefined, protocolVersion });
			const [notification] = initialized(stub);
			expect(notification?.headers.get("mcp-protocol-version")).toBe(protocolVersion);
		},
	);

	test("ends a session whose opening was refused half-way", async () => {
		await using stub = startStubBackend({
			on: { "notifications/initialized": () => new Response(null, { status: 400 }) },
		});
		const opening = clientOf(stub.url).connect(testTimeout());
		expect(await fault(opening)).toBe("ClientError refused");
		await stub.arrived("DELETE");
	});

	test("goes without a session id, and asks for none", async () => {
		await using stub = startStubBackend({ sessions: false });
		const { id } = await clientOf(stub.url).connect(testTimeout());
		expect(id).toBeUndefined();
		expect(initialized(stub)[0]?.headers.has("mcp-session-id")).toBe(false);
	});

	test.each<[name: string, on: StubBackend["on"], outcome: string]>([
		["an error", { initialize: ({ id }) => rpcError(id, -32603, "no") }, "ClientError refused"],
		["a result that is none", { initialize: ({ id }) => json(ours(id, "1")) }, "ClientError unknown"],
		[
			"more than an initialize holds",
			{ initialize: ({ id }) => json(ours(id, `{"x":"${"x".repeat(300_000)}"}`)) },
			"ClientError unknown",
		],
		["401", { initialize: () => new Response(null, { status: 401 }) }, "ClientError refused"],
		["500", { initialize: () => new Response(null, { status: 500 }) }, "ClientError unknown"],
		["404", { initialize: () => new Response(null, { status: 404 }) }, "SessionNotFound refused"],
		[
			"initialized refused",
			{ "notifications/initialized": () => new Response(null, { status: 400 }) },
			"ClientError refused",
		],
	])("fails after %s", async (_, on, outcome) => {
		await using stub = startStubBackend({ on });
		expect(await fault(clientOf(stub.url).connect(testTimeout()))).toBe(outcome);
	});
});

describe("withId", () => {
	test.each([
		['{"jsonrpc":"2.0","id":7,"result":{"id":7,"n":1.0}}', '{"jsonrpc":"2.0","id":NEW,"result":{"id":7,"n":1.0}}'],
		['{ "result" : 1e400 , "i\\u0064"\n:\t7 }', '{ "result" : 1e400 , "i\\u0064"\n:\tNEW }'],
		['{"id":null,"error":{}}', '{"id":NEW,"error":{}}'],
		['{"error":{"code":1}}', '{"error":{"code":1},"id":NEW}'],
	])("of %j changes the id alone", (text, changed) => {
		const id = '"\\u0061-12345678901234567890"';
		expect(withId(text, id)).toBe(changed.replace("NEW", () => id));
	});
});

test("an answer with millions of values is not parsed, and a text of as many brackets is", async () => {
	const many = "{},".repeat(600_000);
	let result = `{"x":[${many}0]}`;
	await using client = start(({ id }) => json(`{"jsonrpc":"2.0","id":${id},"result":${result}}`));
	expect(await client.call().catch((error) => error)).toMatchObject({
		reached: "unknown",
		message: "the MCP server's response has more than 500000 JSON values",
	});
	result = JSON.stringify({ text: `\\"${many}` });
	const { message } = await client.call();
	expect(message).toMatchObject({ result: { text: `\\"${many}` } });
});
