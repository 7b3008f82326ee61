// One row a rule: what is sent, byte for byte, and what has to come back, from the real bot and from the real gateway
// with that bot behind it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorCode } from "../../src/mcp/json-rpc.ts";
import {
	type BothServers,
	modernMeta,
	modernRequest,
	rawTool,
	startBothServers,
	token,
} from "../support/both-servers.ts";
import { chunked, exchange, type RawResponse, requestText } from "../support/raw-http.ts";

/** A value, one for each time that the header stands there, or null for a header that is left away. */
type Headers = Record<string, string | readonly string[] | null>;

interface Row {
	rule: string;
	/** "POST /mcp" unless given. */
	line?: string;
	/** Beside Host, Authorization and Content-Type, which they can replace. */
	headers?: Headers;
	body?: string | Uint8Array;
	/** Sends the body in chunks of this many characters. */
	chunkLength?: number;
	status: number;
	/** By lower-case name; null: the answer has no such header. */
	answers?: Record<string, string | null>;
	/** The code of the JSON-RPC error. */
	code?: number;
	/** The id in the answer, as JSON text; "1" unless given. */
	id?: string;
	/** The answer's result, as JSON text. */
	result?: string;
	/** What the result has to match. */
	like?: Record<string, unknown>;
	/** The error's data. */
	data?: unknown;
	/** The body, whole. */
	text?: string;
	/** Whether the answer is one of the stateless revision, or one that comes before the message is looked at. */
	era?: "modern" | "none";
}

type ServerName = "bot" | "gateway";

const odd =
	'{"content":[{"type":"text","text":"\\u00e9\\/ü"}],"structuredContent":{"n":12345678901234567890,"x":1e400, "z":-0,"a":[ ]}}';
const ownType = '{"resultType":"input_required","content":[]}';

let servers: BothServers;
beforeAll(async () => {
	servers = await startBothServers({
		tools: [
			rawTool("odd", () => odd),
			rawTool("own_type", () => ownType),
			rawTool("empty", () => '{ "content":[] }'),
			rawTool("grüße 日本", () => '{"content":[]}'),
		],
	});
});
afterAll(() => servers[Symbol.asyncDispose]());

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const unknown = '{"jsonrpc":"2.0","id":1,"method":"no/such"}';
const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const batch = `[${ping}]`;
const request = (method: string, params: unknown = {}, id = "1") =>
	`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;
const call = (name: string) => request("tools/call", { name, arguments: {} });
const initialize = (protocolVersion: unknown) =>
	request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } });
const notification = (method: string) => `{"jsonrpc":"2.0","method":"${method}"}`;

/** A modern request, with some headers or members of `_meta` changed or (null) left away. */
function modern(
	method: string,
	params: Record<string, unknown> = {},
	{ headers = {}, meta = {} }: { headers?: Headers; meta?: object } = {},
): { headers: Headers; body: string; era: "modern" } {
	const sent = modernRequest(method, params);
	const _meta = Object.fromEntries(Object.entries({ ...modernMeta, ...meta }).filter(([, value]) => value !== null));
	return { headers: { ...sent.headers, ...headers }, body: request(method, { ...params, _meta }), era: "modern" };
}

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
/** The answer to a ping. */
const empty = { status: 200, result: "{}" };
const pong = { body: ping, ...empty };
/** An error about a message whose id was not read. */
const unread = (status: number, code = -32600) => ({ status, code, id: "null" });
const notFound = { status: 404, era: "none" } as const;
const unauthorized = { "www-authenticate": "Bearer" };
const invalidToken = { "www-authenticate": 'Bearer error="invalid_token"' };

/** The rules, as `at` has them. */
function rows(at: ServerName): Row[] {
	const onBot = at === "bot";
	const maxBytes = (onBot ? 1024 : 64) * 1024;
	const notAllowed = { status: 405, answers: { allow: onBot ? "POST, DELETE" : "POST" }, era: "none" } as const;
	const forbidden = { status: 403, era: "none" } as const;
	const unauthenticated = { status: 401, answers: unauthorized, era: "none" } as const;
	const evil = "http://localhost.evil.example";
	const withoutToken = { Authorization: null };
	return [
		// Who may speak.
		...(
			[
				["no token", null, unauthorized],
				["an empty one", "", unauthorized],
				["another", "Bearer another-token-of-length", invalidToken],
				["the right one and more", `Bearer ${token}x`, invalidToken],
				["its beginning", `Bearer ${token.slice(0, -1)}`, invalidToken],
				["the right one without its scheme", token, unauthorized],
				["another scheme", `Basic ${token}`, unauthorized],
				["it twice", [`Bearer ${token}`, `Bearer ${token}`], invalidToken],
				["it and a wrong one", [`Bearer ${token}`, "Bearer x"], invalidToken],
				["a wrong one and it", ["Bearer x", `Bearer ${token}`], invalidToken],
				["it and an empty one", [`Bearer ${token}`, ""], invalidToken],
				["an empty one and it", ["", `Bearer ${token}`], unauthorized],
				["a scheme and a token apart", ["Bearer", token], unauthorized],
			] as const
		).map(
			([what, Authorization, answers]): Row => ({
				rule: `with ${what}: 401`,
				headers: { Authorization },
				body: ping,
				status: 401,
				answers,
				era: "none",
			}),
		),
		{ rule: "the scheme's letters may be small", headers: { Authorization: `bearer ${token}` }, ...pong },
		...["null", evil, `${evil}:80`, "http://127.0.0.1.nip.io", "file://", ""]
			.concat("http://localhost@evil.example", "http://evil.example#localhost")
			.map(
				(Origin): Row => ({
					rule: `the Origin ${JSON.stringify(Origin)}: 403`,
					headers: { Origin },
					body: ping,
					...forbidden,
				}),
			),
		{ rule: "the Origin twice: 403", headers: { Origin: ["http://localhost", evil] }, body: ping, ...forbidden },
		...["http://localhost", "http://127.0.0.1:1", "https://[::1]:9"].map(
			(Origin): Row => ({ rule: `the Origin ${Origin} passes`, headers: { Origin }, ...pong }),
		),
		...(
			[
				["twice", ["localhost", "localhost"]],
				["twice, once empty", ["localhost", ""]],
				["of two names", "localhost, localhost"],
				["with a user", "localhost@evil.example"],
				...["", "a b", "[::", "%zz", "a:99999999", "x/healthz?"].map(
					(host) => [`that is ${JSON.stringify(host)}`, host] as const,
				),
			] as const
		).map(([what, Host]): Row => ({ rule: `a Host ${what}: 403`, headers: { Host }, body: ping, ...forbidden })),
		...["evil.example", "localhost.evil.example", "evil.example:9090"].map(
			(Host): Row => ({
				rule: `the Host ${Host} is ${onBot ? "refused" : "served: it may be ours"}`,
				headers: { Host },
				body: ping,
				...(onBot ? forbidden : empty),
			}),
		),
		{
			rule: `the Host of a path that is not there is ${onBot ? "refused as well" : "no matter"}`,
			line: "POST /nope",
			headers: { Host: "evil.example" },
			status: onBot ? 403 : 404,
			era: "none",
		},

		// The order of checks: of two faults the earlier one answers.
		{
			rule: "Host before Origin",
			headers: { Host: "evil.example", Origin: "null" },
			...forbidden,
			text: onBot ? "Host header is not allowed" : "Origin is not allowed",
		},
		{ rule: "Origin before bearer", headers: { Origin: "null", ...withoutToken }, ...forbidden },
		{ rule: "Origin before path", line: "POST /nope", headers: { Origin: "null", ...withoutToken }, ...forbidden },
		{ rule: "Origin before readiness", line: "GET /mcp", headers: { Origin: "null" }, ...forbidden },
		onBot
			? {
					rule: "readiness before bearer",
					line: "GET /mcp",
					headers: withoutToken,
					status: 200,
					text: "starting",
					era: "none",
				}
			: { rule: "GET without the token: 401", line: "GET /mcp", headers: withoutToken, ...unauthenticated },
		...[
			...["POST /nope", "POST /register", "GET /authorize"],
			"GET /.well-known/oauth-protected-resource",
			"GET /.well-known/oauth-protected-resource/mcp",
			"GET /.well-known/oauth-authorization-server",
			"GET /.well-known/openid-configuration",
		].flatMap((line) =>
			[null, "Bearer wrong"].map(
				(Authorization): Row => ({
					rule: `the path before bearer: ${line} with ${Authorization}`,
					line,
					headers: { Authorization },
					status: 404,
					answers: { "www-authenticate": null },
					era: "none",
				}),
			),
		),
		...["PUT /mcp", "DELETE /mcp", "OPTIONS /mcp"].map(
			(line): Row => ({ rule: `bearer before ${line}`, line, headers: withoutToken, ...unauthenticated }),
		),
		{
			rule: "bearer before the content type",
			headers: { ...withoutToken, "Content-Type": "text/plain" },
			body: ping,
			...unauthenticated,
		},
		{ rule: "bearer before size", headers: { ...withoutToken, "Content-Length": "999999999" }, ...unauthenticated },
		{ rule: "the path before the method", line: "PUT /nope", ...notFound },
		{
			rule: "the method before the content type",
			line: "PUT /mcp",
			headers: { "Content-Type": "text/plain" },
			...notAllowed,
		},
		{
			rule: "the content type before size",
			headers: { "Content-Type": "text/plain", "Content-Length": "999999999" },
			...unread(415),
		},
		{ rule: "size before JSON", body: "x".repeat(maxBytes + 1), ...unread(413) },
		{
			rule: "JSON before the era",
			headers: { "MCP-Protocol-Version": "1999-01-01" },
			body: ping.slice(1),
			...unread(400, -32700),
		},
		{
			rule: "shape before the era",
			headers: { "MCP-Protocol-Version": "1999-01-01" },
			body: '{"id":1,"method":"ping"}',
			status: 400,
			code: -32600,
			answers: { "mcp-session-id": onBot ? null : "gateway-session" },
		},
		{ rule: "shape before the modern checks", ...modern("no/such"), body: batch, ...unread(400) },
		{
			rule: "the era before the session",
			headers: { "MCP-Protocol-Version": "1999-01-01", "Mcp-Session-Id": "nope" },
			body: ping,
			status: 400,
			code: -32600,
		},
		{
			rule: onBot ? "the session before dispatch" : "the client's session header is ignored",
			headers: { "Mcp-Session-Id": "nope" },
			body: unknown,
			...(onBot ? { status: 404, code: -32001 } : { status: 200, code: -32601 }),
		},

		// Paths and methods.
		...["/", "/mcp/", "/mcp/x", "/MCP", "//mcp", "/favicon.ico"]
			.map((path) => `POST ${path}`)
			.concat(onBot ? "GET /" : [], "GET /healthz/", "GET /healthzz", "GET /HEALTHZ")
			.concat("GET /readyz/x", "GET /%68ealthz", "DELETE /mcp/x")
			.map((line): Row => ({ rule: `${line}: 404`, line, body: ping, ...notFound })),
		{ rule: "a query is no matter", line: "POST /mcp?x=1", ...pong },
		...["PUT", "PATCH", "OPTIONS", "TRACE"].map(
			(method): Row => ({ rule: `${method}: 405`, line: `${method} /mcp`, ...notAllowed }),
		),
		onBot
			? {
					rule: "GET asks for readiness",
					line: "GET /mcp",
					headers: { Accept: "*/*" },
					status: 200,
					text: "starting",
					era: "none",
				}
			: { rule: "GET: 405", line: "GET /mcp", ...notAllowed },
		...["text/event-stream", "application/json, text/event-stream"].map(
			(Accept): Row => ({
				rule: `GET with Accept: ${Accept}: 405`,
				line: "GET /mcp",
				headers: { Accept },
				...notAllowed,
			}),
		),
		...(onBot
			? ([
					{ rule: "DELETE without a session: 400", line: "DELETE /mcp", status: 400, era: "none" },
					{
						rule: "DELETE of an unknown session: 404",
						line: "DELETE /mcp",
						headers: { "Mcp-Session-Id": "nope" },
						...notFound,
					},
				] satisfies Row[])
			: ([
					{ rule: "DELETE: 405", line: "DELETE /mcp", headers: { "Mcp-Session-Id": "gateway-session" }, ...notAllowed },
				] satisfies Row[])),

		// The content type, and Accept.
		...[null, "application/json", "application/json; charset=utf-8", "Application/JSON ;charset=UTF-8"].map(
			(type): Row => ({ rule: `the content type ${type} passes`, headers: { "Content-Type": type }, ...pong }),
		),
		...[
			...["text/plain", "text/plain; application/json", "application/jsonp"],
			...["application/json-patch+json", "x application/json"],
			"multipart/form-data; boundary=application/json",
		].map(
			(type): Row => ({
				rule: `the content type ${type}: 415`,
				headers: { "Content-Type": type },
				body: ping,
				...unread(415),
			}),
		),
		...["", "text/html", "application/json", "text/event-stream", "*/*;q=0"].map(
			(Accept): Row => ({ rule: `Accept: ${Accept} refuses nothing`, headers: { Accept }, ...pong }),
		),

		// Size.
		...[undefined, 10_000, maxBytes].flatMap((chunkLength): Row[] => {
			const how = chunkLength ? `chunks of ${chunkLength}` : "one piece";
			const chunks = chunkLength === undefined ? {} : { chunkLength };
			const wide = request("ping", { x: "€".repeat(maxBytes / 3 - 50) });
			const missing = maxBytes - Buffer.byteLength(wide);
			return [
				...[0, 1].map(
					(extra): Row => ({
						rule: `${maxBytes + extra} bytes of wide characters in ${how}: ${extra ? 413 : "read"}`,
						body: wide + " ".repeat(missing + extra),
						...chunks,
						...(extra ? { ...unread(413) } : { ...empty }),
					}),
				),
				{ rule: `a body of ${maxBytes} bytes in ${how} is read`, body: ping.padEnd(maxBytes), ...chunks, ...empty },
				{
					rule: `a body of ${maxBytes + 1} bytes in ${how}: 413`,
					body: ping.padEnd(maxBytes + 1),
					...chunks,
					...unread(413),
				},
			];
		}),
		{ rule: "a gigabyte that is only announced: 413", headers: { "Content-Length": "1073741824" }, ...unread(413) },

		// JSON and shape.
		...["", "{", "nonsense", `${ping}x`, "\u0000", "{'id':1}"].map(
			(body): Row => ({ rule: `the body ${JSON.stringify(body)}: -32700`, body, ...unread(400, -32700) }),
		),
		...[
			...["\x80", "\xff", "\xc0\xaf"],
			// A surrogate, and half a character.
			...["\xed\xa0\x80", "\xe2\x82"],
		].map(
			(bytes): Row => ({
				rule: `the body ${JSON.stringify(bytes)}, which is not UTF-8: -32700`,
				body: Buffer.from(ping.replace("ping", bytes), "latin1"),
				...unread(400, -32700),
			}),
		),
		{ rule: "sixty thousand brackets: -32700 or -32600", body: "[".repeat(60_000), ...unread(400, -32700) },
		...[batch, "[]", `[${ping},${ping}]`, `[${notification("x")}]`].map(
			(body): Row => ({ rule: `the batch ${body}: -32600`, body, ...unread(400) }),
		),
		...["1", '"x"', "null", "{}", '{"jsonrpc":"2.0"}'].map(
			(body): Row => ({ rule: `no message, ${body}: -32600`, body, ...unread(400) }),
		),
		...(
			[
				['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
				['{"jsonrpc":"2.0","id":1}', -32600],
				['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
				['{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}', -32600],
				['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602],
				['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', -32602],
			] as const
		).map(([body, code]): Row => ({ rule: `the message ${body}: ${code}, under its id`, body, status: 400, code })),

		// Ids.
		...[
			"0",
			"-0",
			"-1",
			"9007199254740993",
			"-12345678901234567890123",
			'"1"',
			'""',
			'"\\u0061"',
			'"\\/é\\n\\r data: x"',
			'"\ud83d\ude00"',
			`"${"x".repeat(10_000)}"`,
		].flatMap((id): Row[] => [
			{
				rule: `the id ${id.slice(0, 30)} comes back as it is`,
				body: request("ping", {}, id),
				status: 200,
				id,
				result: "{}",
			},
			{
				rule: `the id ${id.slice(0, 30)} comes back as it is, of a call`,
				body: request("tools/call", { name: "odd" }, id),
				status: 200,
				id,
				result: odd,
			},
			{
				rule: `the id ${id.slice(0, 30)} comes back as it is, in an error`,
				...modern("no/such"),
				body: request("no/such", { _meta: modernMeta }, id),
				status: 404,
				id,
				code: -32601,
			},
		]),
		...["null", "1.5", "1.0", "1e3", "true", "[]", "{}"].map(
			(id): Row => ({ rule: `the id ${id}: -32600`, body: request("ping", {}, id), ...unread(400) }),
		),

		// Notifications and responses.
		...[
			notification("notifications/initialized"),
			notification("notifications/cancelled"),
			notification("no/such"),
			notification("tools/call"),
			'{"jsonrpc":"2.0","id":1,"result":{}}',
			'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
		].map(
			(body): Row => ({
				rule: `${body}: 202, empty`,
				body,
				status: 202,
				text: "",
				answers: { "content-type": null, "mcp-session-id": onBot ? null : "gateway-session" },
			}),
		),

		// The legacy era.
		...(
			[
				["2025-11-25", "2025-11-25"],
				["2025-06-18", "2025-06-18"],
				["2025-03-26", "2025-11-25"],
				["2024-11-05", "2025-11-25"],
				["2026-07-28", "2025-11-25"],
				["nonsense", "2025-11-25"],
			] as const
		).map(
			([asked, agreed]): Row => ({
				rule: `initialize for ${asked} agrees on ${agreed}`,
				body: initialize(asked),
				status: 200,
				like: {
					protocolVersion: agreed,
					capabilities: { tools: {} },
					serverInfo: { name: `guildhall-${at}` },
					instructions: expect.any(String),
				},
			}),
		),
		{
			rule: "initialize without a version: -32602, and no session",
			body: initialize(7),
			status: 200,
			code: -32602,
			answers: { "mcp-session-id": onBot ? null : "gateway-session" },
		},
		...["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].map(
			(given): Row => ({
				rule: `MCP-Protocol-Version: ${given} is served`,
				headers: { "MCP-Protocol-Version": given },
				body: list,
				status: 200,
				like: { tools: expect.any(Array) },
			}),
		),
		...["2099-01-01", "", "2025-11-2", "2025-11-25, 2025-11-25"].map(
			(given): Row => ({
				rule: `MCP-Protocol-Version: ${given}: 400`,
				headers: { "MCP-Protocol-Version": given },
				body: ping,
				status: 400,
				code: -32600,
			}),
		),
		{
			rule: "a notification under an unknown version: 400",
			headers: { "MCP-Protocol-Version": "2099-01-01" },
			body: notification("notifications/initialized"),
			...unread(400),
		},
		{ rule: "ping, without handshake or version", ...pong },
		{
			rule: "tools/list, without handshake or version, as legacy",
			body: list,
			status: 200,
			like: { tools: expect.any(Array) },
		},
		{ rule: "tools/call, without handshake or version, as legacy", body: call("odd"), status: 200, result: odd },
		{ rule: "an unknown method: -32601, with 200", body: unknown, status: 200, code: -32601 },
		{
			rule: "server/discover without a version: -32601, as any method we do not know",
			body: request("server/discover"),
			status: 200,
			code: -32601,
		},
		{ rule: "an unknown tool: -32601, with 200", body: call("no_such_tool"), status: 200, code: -32601 },
		{
			rule: "a call without a name: -32602",
			body: request("tools/call", { arguments: {} }),
			status: 200,
			code: -32602,
		},
		...["x", "", 7, {}].map(
			(cursor): Row => ({
				rule: `the cursor ${JSON.stringify(cursor)}: -32602`,
				body: request("tools/list", { cursor }),
				status: 200,
				code: -32602,
			}),
		),

		// The modern era.
		{
			rule: "server/discover",
			...modern("server/discover"),
			status: 200,
			like: {
				resultType: "complete",
				supportedVersions: ["2026-07-28"],
				capabilities: { tools: {} },
				ttlMs: expect.any(Number),
				cacheScope: "private",
				instructions: expect.any(String),
				_meta: { "io.modelcontextprotocol/serverInfo": { name: onBot ? "guildhall-bot" : "guildhall-gateway" } },
			},
		},
		{
			rule: "modern tools/list",
			...modern("tools/list"),
			status: 200,
			like: { resultType: "complete", tools: expect.any(Array), ttlMs: expect.any(Number), cacheScope: "private" },
		},
		{
			rule: "a modern call's result gets its type, and every other byte stays",
			...modern("tools/call", { name: "odd" }),
			status: 200,
			result: odd.replace("{", '{"resultType":"complete",'),
		},
		{
			rule: "an empty result gets its type",
			...modern("tools/call", { name: "empty" }),
			status: 200,
			result: '{"resultType":"complete", "content":[] }',
		},
		{
			rule: "modern tools/list with a cursor: -32602",
			...modern("tools/list", { cursor: "x" }),
			status: 200,
			code: -32602,
		},
		{
			rule: "a modern notification: 202, empty",
			...modern("notifications/cancelled"),
			body: notification("notifications/cancelled"),
			status: 202,
			text: "",
		},
		{
			rule: "a modern notification whose Mcp-Method is another's: -32020",
			...modern("notifications/cancelled"),
			headers: { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call" },
			body: notification("notifications/cancelled"),
			status: 400,
			code: -32020,
			id: "null",
		},
		{
			rule: "a modern request in a session: the session is ignored",
			...modern("tools/list", {}, { headers: { "Mcp-Session-Id": "nope" } }),
			status: 200,
			like: { resultType: "complete" },
		},
		{
			rule: "no _meta under the modern header: -32602",
			...modern("tools/list"),
			body: list,
			status: 400,
			code: -32602,
		},
		{
			rule: "no version in _meta: -32602",
			...modern("tools/list", {}, { meta: { [version]: null } }),
			status: 400,
			code: -32602,
		},
		{
			rule: "a version that is no text: -32602",
			...modern("tools/list", {}, { meta: { [version]: 7 } }),
			status: 400,
			code: -32602,
		},
		...[null, "x", []].map(
			(given): Row => ({
				rule: `capabilities ${JSON.stringify(given)}: -32602`,
				...modern("tools/list", {}, { meta: { [capabilities]: given } }),
				status: 400,
				code: -32602,
			}),
		),
		{
			rule: "_meta before the headers",
			...modern("tools/list", {}, { meta: { [capabilities]: null }, headers: { "Mcp-Method": "x" } }),
			status: 400,
			code: -32602,
		},
		...(
			[
				["MCP-Protocol-Version", null],
				["MCP-Protocol-Version", "2025-11-25"],
				["MCP-Protocol-Version", ["2026-07-28", "2026-07-28"]],
				["Mcp-Method", null],
				["Mcp-Method", ""],
				["Mcp-Method", "tools/list"],
				["Mcp-Method", "Tools/Call"],
				["Mcp-Method", ["tools/call", "tools/call"]],
				["Mcp-Name", null],
				["Mcp-Name", ""],
				["Mcp-Name", "ODD"],
				["Mcp-Name", base64("even")],
				["Mcp-Name", "=?base64?b2Rk!?="],
				["Mcp-Name", "=?base64?b2Rk"],
				["Mcp-Name", "=?base64?/w==?="],
				["Mcp-Name", ["odd", "odd"]],
			] as const
		).map(
			([header, value]): Row => ({
				rule: `${header}: ${JSON.stringify(value)} of a call of "odd": -32020`,
				...modern("tools/call", { name: "odd" }, { headers: { [header]: value } }),
				status: 400,
				code: -32020,
			}),
		),
		{
			rule: "Mcp-Name in base64",
			...modern("tools/call", { name: "odd" }, { headers: { "Mcp-Name": base64("odd") } }),
			status: 200,
			like: { resultType: "complete" },
		},
		{
			rule: "Mcp-Name in base64, of a name that no header can carry",
			...modern("tools/call", { name: "grüße 日本" }, { headers: { "Mcp-Name": base64("grüße 日本") } }),
			status: 200,
			like: { resultType: "complete", content: [] },
		},
		{
			rule: "another version in both: -32022, and what is supported",
			...modern(
				"tools/list",
				{},
				{ meta: { [version]: "2099-01-01" }, headers: { "MCP-Protocol-Version": "2099-01-01" } },
			),
			status: 400,
			code: -32022,
			data: { supported: ["2026-07-28"], requested: "2099-01-01" },
		},
		{
			rule: "a header of another version before that it is unsupported",
			...modern("tools/list", {}, { meta: { [version]: "2099-01-01" } }),
			status: 400,
			code: -32020,
		},
		{
			rule: "an unsupported version before the other headers",
			...modern(
				"tools/list",
				{},
				{ meta: { [version]: "2099-01-01" }, headers: { "MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "x" } },
			),
			status: 400,
			code: -32022,
		},
		{
			rule: "the headers before that the method is unknown",
			...modern("no/such", {}, { headers: { "Mcp-Method": "x" } }),
			status: 400,
			code: -32020,
		},
		...["no/such", "initialize", "ping", "logging/setLevel", "subscriptions/listen", "resources/subscribe"].map(
			(method): Row => ({ rule: `modern ${method}: 404 and -32601`, ...modern(method), status: 404, code: -32601 }),
		),
		...[undefined, "a-token"].map(
			(progressToken): Row => ({
				rule: `a modern call of an unknown tool, ${progressToken ? "with" : "without"} a progress token: 200 and -32601`,
				...modern("tools/call", { name: "no_such_tool" }, { meta: progressToken ? { progressToken } : {} }),
				status: 200,
				code: -32601,
			}),
		),
		{
			rule: "broken JSON under the modern header shows no session either",
			...modern("tools/list"),
			body: "{",
			...unread(400, -32700),
		},
	];
}

async function send(url: string, row: Row): Promise<RawResponse> {
	const { body = "", chunkLength } = row;
	const headers: Headers = {
		Host: "localhost",
		Authorization: `Bearer ${token}`,
		"Content-Type": "application/json",
		...(chunkLength === undefined
			? { "Content-Length": String(Buffer.byteLength(body)) }
			: { "Transfer-Encoding": "chunked" }),
		...row.headers,
	};
	const lines = Object.entries(headers).flatMap(([name, values]) =>
		values === null ? [] : [values].flat().map((value) => [name, value] as const),
	);
	const head = requestText(row.line ?? "POST /mcp", lines);
	if (chunkLength === undefined) return exchange(url, head, body);
	const pieces = String(body).match(new RegExp(`[^]{1,${chunkLength}}`, "g")) as string[];
	return exchange(url, head, chunked(...pieces));
}

/** The JSON text that an answer to MCP carries: of its one frame, or as it is. */
function messageText({ headers, body }: RawResponse): string {
	if (headers.get("content-type") === "application/json") return body;
	expect(headers.get("content-type")).toBe("text/event-stream");
	expect(headers.get("cache-control")).toBe("no-cache");
	expect(headers.get("x-accel-buffering")).toBe("no");
	const frame = /^event: message\ndata: ([^\r\n]*)\n\n$/.exec(body)?.[1];
	if (frame === undefined) throw new Error(`not one frame: ${JSON.stringify(body)}`);
	return frame;
}

function check(at: ServerName, row: Row, response: RawResponse) {
	const { status, headers, body } = response;
	expect({ status, body }).toEqual({ status: row.status, body });
	for (const [name, value] of Object.entries(row.answers ?? {})) expect(headers.get(name) ?? null).toBe(value);
	const sessionId = headers.get("mcp-session-id");
	if (row.era || at === "bot") {
		const opened = at === "bot" && row.like?.protocolVersion !== undefined;
		expect(sessionId !== undefined).toBe(opened);
	} else expect(sessionId).toBe("gateway-session");
	if (row.text !== undefined) expect(body).toBe(row.text);
	if (row.era === "none" || status === 202) return;

	const text = messageText(response);
	const id = row.id ?? "1";
	if (row.result !== undefined) expect(text).toBe(`{"jsonrpc":"2.0","id":${id},"result":${row.result}}`);
	expect(text).toStartWith(`{"jsonrpc":"2.0","id":${id},"${row.code === undefined ? "result" : "error"}":`);
	const { result, error } = JSON.parse(text);
	if (row.like) expect(result).toMatchObject(row.like);
	if (row.code === undefined) return;
	expect(Object.values(errorCode) as number[]).toContain(row.code);
	expect(error).toMatchObject({ code: row.code, message: expect.any(String) });
	if (row.data !== undefined) expect(error.data).toEqual(row.data);
	// A client that has not heard of these codes may fall back only on others.
	if (row.era !== "modern") expect([-32020, -32022]).not.toContain(error.code);
}

describe.each<ServerName>(["bot", "gateway"])("the %s", (at) => {
	test.each(rows(at).map((row) => [row.rule, row] as const))("%s", async (_, row) => {
		check(at, row, await send(servers[at], row));
	});

	test("lists its tools in the same order, in both eras", async () => {
		const names = async (row: Partial<Row>) => {
			const sent = await send(servers[at], { rule: "", status: 200, ...row });
			const { result } = JSON.parse(messageText(sent));
			return result.tools.map(({ name }: { name: string }) => name);
		};
		const own = ["odd", "own_type", "empty", "grüße 日本"];
		// The gateway leaves out a name that clients refuse.
		const expected = at === "bot" ? own : [...own.slice(0, -1), "list_instances"];
		for (const row of [{ body: list }, modern("tools/list"), { body: list }])
			expect(await names(row)).toEqual(expected);
	});

	test("lasts as long as it says: ttlMs is a whole number and does not grow", async () => {
		const ttl = async (method: string) => {
			const row = { rule: "", status: 200, ...modern(method) };
			return JSON.parse(messageText(await send(servers[at], row))).result.ttlMs;
		};
		const readings = [await ttl("tools/list"), await ttl("server/discover")];
		expect(readings[1]).toBeLessThanOrEqual(readings[0]);
		for (const reading of readings) {
			expect(reading).toBeInteger();
			expect(reading).toBeWithin(0, 300_001);
		}
	});
});

test("a gateway leaves the type that a bot gave its result", async () => {
	const row = { rule: "", status: 200, ...modern("tools/call", { name: "own_type" }) };
	expect(messageText(await send(servers.gateway, row))).toBe(`{"jsonrpc":"2.0","id":1,"result":${ownType}}`);
});

describe("MCP_ALLOWED_HOSTS and MCP_ALLOWED_ORIGINS", () => {
	let allowing: BothServers;
	beforeAll(async () => {
		allowing = await startBothServers({
			tools: [],
			allowedHosts: ["bot.example", "[fd00::1]"],
			allowedOrigins: ["https://chat.example", "http://chat.example:8080"],
		});
	});
	afterAll(() => allowing[Symbol.asyncDispose]());

	describe.each<ServerName>(["bot", "gateway"])("of the %s", (at) => {
		test.each<[headers: Record<string, string>, status: number]>([
			[{ Host: "bot.example" }, 200],
			[{ Host: "BOT.example:443" }, 200],
			[{ Host: "[FD00::1]:9090" }, 200],
			[{ Host: "localhost:1" }, 200],
			[{ Host: "127.0.0.1" }, 200],
			[{ Host: "evil.example" }, 403],
			[{ Host: "bot.example.evil.example" }, 403],
			[{ Host: "x.bot.example" }, 403],
			[{ Host: "bot.example, localhost" }, 403],
			[{ Host: "[fd00::2]" }, 403],
			[{ Origin: "https://chat.example" }, 200],
			[{ Origin: "HTTPS://chat.EXAMPLE" }, 200],
			[{ Origin: "http://chat.example:8080" }, 200],
			[{ Origin: "http://localhost:5173" }, 200],
			[{ Origin: "http://chat.example" }, 403],
			[{ Origin: "https://chat.example:8443" }, 403],
			[{ Origin: "https://chat.example.evil.example" }, 403],
			[{ Origin: "https://chat.example/" }, 403],
			[{ Origin: "null" }, 403],
			[{ Host: "bot.example", Origin: "https://bot.example" }, 403],
		])("%j is answered %d", async (headers, status) => {
			const row = { rule: "", headers, body: ping, status };
			expect((await send(allowing[at], row)).status).toBe(status);
		});

		/** A header that a page can read is named here. */
		const readable = (answer: RawResponse) => [
			answer.status,
			answer.headers.get("access-control-allow-origin"),
			answer.headers.get("vary")?.includes("Origin"),
			answer.headers.has("access-control-expose-headers"),
		];
		const preflight = {
			"Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "authorization,content-type",
			Authorization: null,
		};
		const page = { Origin: "https://chat.example" };

		test.each<[what: string, row: Partial<Row>, status: number]>([
			["a preflight", { line: "OPTIONS /mcp", headers: preflight }, 204],
			...["/status", "/healthz", "/.well-known/x"].map((path): [string, Partial<Row>, number] => [
				`a preflight for ${path}`,
				{ line: `OPTIONS ${path}`, headers: preflight },
				204,
			]),
			["a call", { body: ping }, 200],
			["a request of the stateless era", modern("tools/list"), 200],
			["no token", { headers: { Authorization: null }, body: ping }, 401],
			["a wrong Host", { headers: { Host: "evil.example" }, body: ping }, 403],
			["an unknown path", { line: "GET /.well-known/x" }, 404],
			["a wrong method", { line: "PUT /mcp" }, 405],
			["a wrong type", { headers: { "Content-Type": "text/plain" } }, 415],
			["no JSON", { body: "{" }, 400],
			["the status", { line: "GET /status" }, 200],
			["health", { line: "GET /healthz" }, 200],
		])("a listed page can read the answer to %s", async (_, row, status) => {
			const headers = { ...page, ...row.headers };
			const answer = await send(allowing[at], { rule: "", status, body: "", ...row, headers });
			expect(readable(answer)).toEqual([status, page.Origin, true, true]);
		});

		test.each([
			["https://evil.example", 403],
			["null", 403],
			// It passes with the token, which a browser does not send with a preflight.
			["http://localhost:5173", 401],
		])("nothing is said to the page of %s", async (Origin, status) => {
			const headers = { ...preflight, Origin };
			const row = { rule: "", line: "OPTIONS /mcp", headers, status };
			for (const answer of [
				await send(allowing[at], { ...row, body: "" }),
				await send(allowing[at], { ...row, line: "POST /mcp", body: ping }),
			]) {
				expect(answer.status).toBe(status);
				const names = [...answer.headers.keys()];
				expect(names.filter((name) => name.startsWith("access-control-"))).toEqual([]);
			}
		});
	});
});

describe("a session of the bot", () => {
	const open = async (asked: string) => {
		const row = { rule: "", body: initialize(asked), status: 200 };
		const { headers } = await send(servers.bot, row);
		return headers.get("mcp-session-id") ?? "";
	};
	const inSession = (id: string, row: Partial<Row>) =>
		send(servers.bot, { rule: "", status: 200, body: ping, ...row, headers: { "Mcp-Session-Id": id, ...row.headers } });

	test("is served before the client says that it is initialized", async () => {
		const id = await open("2025-11-25");
		expect((await inSession(id, {})).status).toBe(200);
		const body = notification("notifications/initialized");
		expect((await inSession(id, { body })).status).toBe(202);
		expect((await inSession(id, { body: list })).status).toBe(200);
	});

	test.each([
		["2025-06-18", null, 200],
		["2025-06-18", "2025-06-18", 200],
		["2025-06-18", "2025-11-25", 400],
		["2025-11-25", "2025-06-18", 400],
		["2025-06-18", "2025-03-26", 200],
		["2025-06-18", "2099-01-01", 400],
	])("of %s asked with the version %s is answered %d", async (agreed, given, status) => {
		const id = await open(agreed);
		const headers = { "MCP-Protocol-Version": given };
		expect((await inSession(id, { headers })).status).toBe(status);
	});

	test("ends with DELETE, and no other does", async () => {
		const [ended, other] = [await open("2025-11-25"), await open("2025-11-25")];
		const end = { line: "DELETE /mcp", body: "" };
		expect((await inSession(ended, end)).status).toBe(204);
		expect((await inSession(ended, {})).status).toBe(404);
		expect((await inSession(ended, end)).status).toBe(404);
		expect((await inSession(other, {})).status).toBe(200);
	});

	test("does not end with a DELETE without the token, or from another origin", async () => {
		const id = await open("2025-11-25");
		for (const headers of [{ Authorization: null }, { Origin: "null" }])
			await inSession(id, { line: "DELETE /mcp", body: "", headers });
		expect((await inSession(id, {})).status).toBe(200);
	});
});

test("none of the rows logged an error or the token", () => {
	expect(servers.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
	expect(servers.logged.filter((line) => line.includes(token))).toEqual([]);
});
