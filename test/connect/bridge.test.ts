// `guildhall connect`: as a process in front of the real gateway, and the bridge in front of a server that answers as written.

import { expect, test } from "bun:test";
import { Bridge } from "../../src/connect/bridge.ts";
import { eachLine } from "../../src/lib/program/lines.ts";
import { modernMeta, rawTool, startBothServers, token } from "../support/both-servers.ts";
import { startCommand } from "../support/program.ts";
import { until } from "../support/until.ts";

const project = `${import.meta.dir}/../..`;
const initialize = {
	jsonrpc: "2.0",
	id: "first",
	method: "initialize",
	params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

test("a client lists and calls tools through stdin and stdout; the end of stdin cancels what runs", async () => {
	const running = Promise.withResolvers<void>();
	const cancelled = Promise.withResolvers<void>();
	const slow = rawTool("slow", (_args, { signal }) => {
		running.resolve();
		const { promise, resolve } = Promise.withResolvers<string>();
		signal?.addEventListener("abort", () => {
			cancelled.resolve();
			resolve("{}");
		});
		return promise;
	});
	const quick = rawTool("quick", (args) => `{"content":[{"type":"text","text":${JSON.stringify(args.text)}}]}`);
	await using servers = await startBothServers({ tools: [quick, slow] });
	const child = Bun.spawn([process.execPath, "src/guildhall/main.ts", "connect", servers.gateway], {
		cwd: project,
		env: { GUILDHALL_TOKEN: token },
		stdin: "pipe",
		stdout: "pipe",
	});
	// JSON does not escape all of them.
	const text = "four\nlines\u2028of\u2029text";
	const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
	send(initialize);
	send({ jsonrpc: "2.0", method: "notifications/initialized" });
	send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "quick", arguments: { text } } });
	send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "slow", arguments: {} } });
	const lines: string[] = [];
	const ended = eachLine(child.stdout, (line) => lines.push(line));
	await running.promise;
	await until("the responses", () => lines.length === 2);
	child.stdin.end();
	await cancelled.promise;
	expect(await child.exited).toBe(0);
	await ended;
	expect(lines.map((line) => JSON.parse(line))).toEqual([
		expect.objectContaining({ id: "first", result: expect.objectContaining({ protocolVersion: "2025-11-25" }) }),
		expect.objectContaining({ id: 2, result: expect.objectContaining({ content: [{ type: "text", text }] }) }),
	]);
});

interface Received {
	headers: Record<string, string>;
	message: { id?: unknown; method?: string };
}

/** A server that answers as `respond` says, and a bridge to it. */
function bridgeTo(respond: (received: Received, signal: AbortSignal) => Response | Promise<Response>) {
	const received: Received[] = [];
	const server = Bun.serve({
		port: 0,
		async fetch(request) {
			const one = { headers: request.headers.toJSON(), message: await request.json() } as Received;
			received.push(one);
			return respond(one, request.signal);
		},
	});
	const lines: string[] = [];
	const bridge = new Bridge({ url: `${server.url}mcp`, token: "key", write: (line) => lines.push(line) });
	return { bridge, received, lines, url: `${server.url}mcp`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const json = (value: unknown, status = 200) => Response.json(value, { status, headers: { "Mcp-Session-Id": "one" } });
const events = (...messages: object[]) =>
	new Response(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(""), {
		headers: { "Content-Type": "text/event-stream" },
	});
const empty = (status: number, headers = {}) => new Response(null, { status, headers });
const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "größe", arguments: {} } };
const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };
const question = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} };
const result = { jsonrpc: "2.0", id: 7, result: {} };
const error = (message: string, id: unknown = 7, code = -32_000) => ({ jsonrpc: "2.0", id, error: { code, message } });
const unknown = error("no", 7, -32_601);
const lost = error("URL: the connection ended before the response: it may have taken effect");
const moved = error("URL: HTTP 301: it is at https://x/ now");
const place = "expected MCP_AUTH_TOKEN or a key made in the console";
const refused = error(`URL: the gateway did not accept GUILDHALL_TOKEN: ${place}`);

test.each([
	[
		"what the server sends before the response passes",
		() => events(progress, question, result),
		[progress, question, result],
	],
	["a second response is dropped", () => events(result, result), [result]],
	["an error of JSON-RPC passes, whatever the HTTP status", () => json(unknown, 404), [unknown]],
	[
		"an error without an id is that of the request",
		() => json(error("too large", null), 413),
		[error("URL: too large")],
	],
	["a refused token", () => empty(401), [refused]],
	["an address that has moved", () => empty(301, { Location: "https://x/" }), [moved]],
	["a stream that ends early", () => events(progress), [progress, lost]],
] as const)("%s", async (_name, respond, expected) => {
	await using place = bridgeTo(respond);
	await place.bridge.send(JSON.stringify(call));
	const lines = await until("all lines", () => place.lines.length >= expected.length && place.lines);
	expect(lines.map((line) => JSON.parse(line.replaceAll(place.url, "URL")))).toEqual([...expected] as never);
});

test.each([
	["{", error("the line is not JSON", null, -32_700)],
	["[]", error("expected one JSON-RPC message", null, -32_600)],
])("a line that is no message is answered: %s", async (line, expected) => {
	await using place = bridgeTo(() => json({}));
	await place.bridge.send(line);
	expect([place.lines.map((text) => JSON.parse(text)), place.received]).toEqual([[expected], []]);
});

test("in a session, headers repeat what initialize brought, and cancelling is a message", async () => {
	const { promise: never, resolve } = Promise.withResolvers<Response>();
	await using place = bridgeTo(({ message }) => {
		if (message.method === "initialize")
			return json({ jsonrpc: "2.0", id: "first", result: { protocolVersion: "2025-11-25" } });
		return message.method === "tools/call" ? never : new Response(null, { status: 202 });
	});
	await place.bridge.send(JSON.stringify(initialize));
	await place.bridge.send(JSON.stringify(call));
	await place.bridge.send(
		JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }),
	);
	resolve(json(result));
	await until("all requests", () => place.received.length === 3);
	const headers = place.received.map(({ headers }) => [
		headers.authorization,
		headers["mcp-session-id"],
		headers["mcp-protocol-version"],
	]);
	expect(headers).toEqual([
		["Bearer key", undefined, undefined],
		["Bearer key", "one", "2025-11-25"],
		["Bearer key", "one", "2025-11-25"],
	]);
	// The cancelled call has no response.
	expect(place.lines.length).toBe(1);
});

test("without a session, headers repeat the message, and cancelling ends the request", async () => {
	const ended = Promise.withResolvers<Response>();
	await using place = bridgeTo((_received, signal) => {
		signal.addEventListener("abort", () => ended.resolve(json(result)));
		return ended.promise;
	});
	await place.bridge.send(JSON.stringify({ ...call, params: { ...call.params, _meta: modernMeta } }));
	await until("the request", () => place.received.length === 1);
	await place.bridge.close();
	await ended.promise;
	expect(place.received[0]?.headers).toMatchObject({
		"mcp-protocol-version": "2026-07-28",
		"mcp-method": "tools/call",
		"mcp-name": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
	});
	expect(place.received[0]?.headers["mcp-session-id"]).toBeUndefined();
	expect([place.received.length, place.lines]).toEqual([1, []]);
});

test.each(["end of stdin", "SIGTERM"] as const)("a gateway that does not answer does not outlast %s", async (how) => {
	const received = Promise.withResolvers<void>();
	const fetch = () => {
		received.resolve();
		return new Promise<Response>(() => {});
	};
	const server = Bun.serve({ port: 0, idleTimeout: 0, fetch });
	const child = Bun.spawn([process.execPath, "src/guildhall/main.ts", "connect", server.url.href], {
		cwd: project,
		stdin: "pipe",
	});
	child.stdin.write(`${JSON.stringify(initialize)}\n${JSON.stringify(call)}\n`);
	await received.promise;
	if (how === "SIGTERM") child.kill();
	else child.stdin.end();
	expect(await child.exited).toBe(0);
	await server.stop(true);
});

test("a URL of another kind is refused", async () => {
	await using program = startCommand(
		[process.execPath, "src/guildhall/main.ts", "connect", "gateway:9100"],
		{},
		{ cwd: project },
	);
	expect(await program.exited).toBe(2);
	expect(program.lines[0]).toStartWith("Expected the URL of a gateway");
});
