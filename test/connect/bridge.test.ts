// `guildhall connect`: as a process in front of the real gateway, and the bridge in front of a server that answers as written.

import { expect, test } from "bun:test";
import { Bridge } from "../../src/connect/bridge.ts";
import { eachLine } from "../../src/lib/program/lines.ts";
import { modernMeta, rawTool, startBothServers, token } from "../support/both-servers.ts";
import { openPlace } from "../support/place.ts";
import { startCommand } from "../support/program.ts";
import { until } from "../support/until.ts";

/** The program, in front of this URL. */
const command = (url: string) => [process.execPath, `${import.meta.dir}/../../src/guildhall/main.ts`, "connect", url];
const initialize = {
	jsonrpc: "2.0",
	id: "first",
	method: "initialize",
	params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const runtimes: [name: string, command: string[]][] = [["Bun", command("").slice(0, -1)]];
const node = Bun.which("node");
if (node) runtimes.push(["the Node.js of Claude Desktop", [node, "connect.mjs"]]);

test.each(runtimes)("with %s, a client calls tools; the end of stdin cancels what runs", async (_, runtime) => {
	using place = openPlace();
	// As release.sh does.
	const source = `${import.meta.dir}/../../src/connect/main.ts`;
	place.run([process.execPath, "build", "--target=node", "--outfile=connect.mjs", source]);
	const running = Promise.withResolvers<void>();
	const cancelled = Promise.withResolvers<string>();
	const slow = rawTool("slow", (_args, { signal }) => {
		running.resolve();
		signal?.addEventListener("abort", () => cancelled.resolve("{}"));
		return cancelled.promise;
	});
	const quick = rawTool("quick", (args) => `{"content":[{"type":"text","text":${JSON.stringify(args.text)}}]}`);
	await using servers = await startBothServers({ tools: [quick, slow] });
	const options = { cwd: place.path, env: { GUILDHALL_TOKEN: token }, stdin: "pipe", stdout: "pipe" } as const;
	const child = Bun.spawn([...runtime, servers.gateway], options);
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

/** A server that answers as `respond` says, and a bridge to it. `received`: the headers of its requests. */
function bridgeTo(respond: (method: string, signal: AbortSignal) => Response | Promise<Response>) {
	const received: Record<string, string | undefined>[] = [];
	const server = Bun.serve({
		port: 0,
		async fetch(request) {
			const { method } = (await request.json()) as { method: string };
			received.push(request.headers.toJSON());
			return respond(method, request.signal);
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

/** Of what is not sent. */
const unasked = () => empty(500);
const passing = [progress, question, result];

test.each<[name: string, respond: () => Response, expected: object[], line?: string]>([
	["what the server sends before the response passes", () => events(...passing), passing],
	["a second response is dropped", () => events(result, result), [result]],
	["an error of JSON-RPC passes, whatever the HTTP status", () => json(unknown, 404), [unknown]],
	["an error without an id is its request's", () => json(error("too large", null), 413), [error("URL: too large")]],
	["a refused token", () => empty(401), [refused]],
	["an address that has moved", () => empty(301, { Location: "https://x/" }), [moved]],
	["a stream that ends early", () => events(progress), [progress, lost]],
	["a line that is not JSON is answered here", unasked, [error("the line is not JSON", null, -32_700)], "{"],
	["a line that is no message, too", unasked, [error("expected one JSON-RPC message", null, -32_600)], "[]"],
])("%s", async (_name, respond, expected, line = JSON.stringify(call)) => {
	await using place = bridgeTo(respond);
	await place.bridge.send(line);
	const lines = await until("all lines", () => place.lines.length >= expected.length && place.lines);
	expect(lines.map((line) => JSON.parse(line.replaceAll(place.url, "URL")))).toEqual(expected);
	expect(place.received.length).toBe(respond === unasked ? 0 : 1);
});

test("in a session, headers repeat what initialize brought, and cancelling is a message", async () => {
	const { promise: never, resolve } = Promise.withResolvers<Response>();
	await using place = bridgeTo((method) => {
		if (method === "initialize") return json({ ...result, id: "first", result: { protocolVersion: "2025-11-25" } });
		return method === "tools/call" ? never : empty(202);
	});
	await place.bridge.send(JSON.stringify(initialize));
	await place.bridge.send(JSON.stringify(call));
	const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
	await place.bridge.send(JSON.stringify(cancelled));
	resolve(json(result));
	await until("all requests", () => place.received.length === 3);
	const names = ["authorization", "mcp-session-id", "mcp-protocol-version"];
	expect(place.received.map((headers) => names.map((name) => headers[name]))).toEqual([
		["Bearer key", undefined, undefined],
		...Array(2).fill(["Bearer key", "one", "2025-11-25"]),
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
	const [headers, ...more] = place.received;
	expect(headers).toMatchObject({
		"mcp-protocol-version": "2026-07-28",
		"mcp-method": "tools/call",
		"mcp-name": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
	});
	expect(headers).not.toHaveProperty("mcp-session-id");
	expect([more, place.lines]).toEqual([[], []]);
});

test.each(["end of stdin", "SIGTERM"] as const)("a gateway that does not answer does not outlast %s", async (how) => {
	const received = Promise.withResolvers<void>();
	const fetch = () => {
		received.resolve();
		return new Promise<Response>(() => {});
	};
	const server = Bun.serve({ port: 0, idleTimeout: 0, fetch });
	const child = Bun.spawn(command(server.url.href), { stdin: "pipe" });
	child.stdin.write(`${JSON.stringify(initialize)}\n${JSON.stringify(call)}\n`);
	await received.promise;
	if (how === "SIGTERM") child.kill();
	else child.stdin.end();
	expect(await child.exited).toBe(0);
	await server.stop(true);
});

test("a URL of another kind is refused", async () => {
	await using program = startCommand(command("gateway:9100"), {}, { cwd: import.meta.dir });
	expect(await program.exited).toBe(2);
	expect(program.lines[0]).toStartWith("Expected the URL of a gateway");
});
