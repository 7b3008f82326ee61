// What needs a clock, a short timeout or a broken request. Every other rule has a row in exchanges.test.ts.

import { expect, test } from "bun:test";
import { connect } from "node:net";
import { listen } from "../../src/lib/program/listen.ts";
import { createServer, promptMethods, toolSource } from "../../src/mcp/server.ts";
import { Sessions } from "../../src/mcp/session.ts";
import { createEndpoint } from "../../src/mcp/streamable-http.ts";
import { recordLog } from "../support/log.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import { toolSet } from "../support/tool-set.ts";

type Header = readonly [name: string, value: string];

const json: Header = ["Content-Type", "application/json"];

const noTools = toolSet([]);

function start(sessions: Sessions | string = "the-constant", bodyTimeoutMs = 10_000) {
	const { log } = recordLog();
	const server = createServer({
		info: { name: "test", title: "Test", version: "1" },
		instructions: "",
		prompts: promptMethods(() => []),
		tools: toolSource(() => ({ set: noTools, context: {} })),
		log,
	});
	const listener = listen({
		hostname: "127.0.0.1",
		port: 0,
		settings: { hostname: "ADDR", port: "PORT" },
		fetch: createEndpoint({ server, maxBodyBytes: 1_000, bodyTimeoutMs, sessions }),
		log,
	});
	const send = (headers: readonly Header[], body: string) => {
		const head = requestText("POST /mcp", [["Host", "test"], ...headers]);
		return exchange(listener.url, head, body);
	};
	return {
		port: listener.port,
		send,
		post: (body: string, headers: readonly Header[] = [json]) =>
			send([["Content-Length", String(body.length)], ...headers], body),
		[Symbol.asyncDispose]: () => listener.close(0),
	};
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';

test("a body of endless chunks is 413 without waiting for the end", async () => {
	await using server = start();
	const chunk = `7d0\r\n${"x".repeat(2_000)}\r\n`;
	const response = await server.send([json, ["Transfer-Encoding", "chunked"]], chunk);
	expect(response.status).toBe(413);
});

test("initialize opens a session, which ends after the idle timeout; a refused one opens none", async () => {
	const clock = { now: 0 };
	const limits = { idleTimeoutMs: 1_000, maxSessions: 10 };
	const sessions = new Sessions(limits, () => clock.now);
	await using server = start(sessions);
	for (const refused of ["7", "null"]) await server.post(initialize.replace('"2025-06-18"', refused));
	await server.post(initialize, [json, ["MCP-Protocol-Version", "x"]]);
	expect(sessions.size).toBe(0);
	const { headers } = await server.post(initialize);
	const id = headers.get("mcp-session-id") ?? "";
	expect(sessions.find(id)).toMatchObject({ protocolVersion: "2025-06-18", clientName: "c" });
	const status = async () => {
		const response = await server.post(ping, [json, ["Mcp-Session-Id", id]]);
		return response.status;
	};
	clock.now += 999;
	expect(await status()).toBe(200);
	clock.now += 1_000;
	expect(await status()).toBe(404);
});

test("an upload that breaks off does not affect other requests", async () => {
	await using server = start();
	const cut = server.send([json, ["Content-Length", "50"]], "{");
	expect((await server.post(ping)).status).toBe(200);
	void cut.catch(() => "it was never answered, which is right");
});

test.each([
	["Content-Length: 100\r\n\r\n", "{"],
	["Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"],
])("a body that comes too slowly, after %j, is 408, and the connection ends", async (rest, begun) => {
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
		'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the request body did not arrive in time"}}',
	);
});
