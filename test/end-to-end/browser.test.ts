// A page in a real Chromium calls the gateway and a bot: what MCP_ALLOWED_ORIGINS promises is the browser's to keep.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BothServers, modernRequest, rawTool, startBothServers, token } from "../support/both-servers.ts";

const chromium = Bun.which("chromium");
if (!chromium) console.warn("no page is tried in a browser: chromium is not installed");

/** What the page did, by name: what it could read, or the error that the browser gave it instead. */
type Seen = Record<string, unknown>;

interface Exchange {
	name: string;
	method?: string;
	path?: string;
	headers?: Record<string, string>;
	body?: string;
}

const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const call = rpc("tools/call", { name: "count", arguments: {}, _meta: { progressToken: "p" } });
const exchanges: Exchange[] = [
	{ name: "tools/list", body: rpc("tools/list", {}) },
	{ name: "the stateless tools/list", ...modernRequest("tools/list") },
	{ name: "a call", body: call, headers: { "X-Request-Id": "page-1" } },
	{
		name: "initialize",
		body: rpc("initialize", {
			protocolVersion: "2025-11-25",
			capabilities: {},
			clientInfo: { name: "page", version: "1" },
		}),
	},
	{ name: "no JSON", body: "{" },
	{ name: "a wrong token", headers: { Authorization: "Bearer wrong" } },
	{
		name: "OAuth's metadata",
		method: "GET",
		path: "/.well-known/oauth-protected-resource",
		headers: { "MCP-Protocol-Version": "2025-11-25" },
	},
	{ name: "the end of a session", method: "DELETE", headers: { "Mcp-Session-Id": "nope" } },
];

/** Runs in the page, which has `endpoint`, `token` and `exchanges`, and tells its own server what it saw. */
const script = `
const seen = {};
for (const { name, method = "POST", path, headers, body } of exchanges) {
	try {
		const response = await fetch(path ? new URL(path, endpoint) : endpoint, { method,
			headers: { Authorization: "Bearer " + token, "Content-Type": "application/json", ...headers },
			body,
		});
		const events = [];
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		for (let text = ""; ; ) {
			const { done, value = "" } = await reader.read();
			text += value;
			const parts = text.split("\\n\\n");
			text = parts.pop();
			for (const part of parts)
				events.push(JSON.parse(part.split("\\n").find((line) => line.startsWith("data: ")).slice(6)));
			if (done) break;
		}
		seen[name] = { status: response.status, headers: Object.fromEntries(response.headers), events };
	} catch (error) {
		seen[name] = String(error);
	}
}
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
`;

/** A server of pages, which Chromium takes for any host; `endpointOf` is where a page calls. */
function servePages(endpointOf: (at: string | null) => string) {
	const waiting = new Map<string, (seen: Seen) => void>();
	const http = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			if (pathname === "/seen") {
				const seen = (await request.json()) as Seen;
				waiting.get(request.headers.get("host") ?? "")?.(seen);
				return new Response();
			}
			const endpoint = endpointOf(searchParams.get("at"));
			const given = JSON.stringify({ endpoint, token, exchanges });
			return new Response(
				`<!doctype html><title>page</title><script type="module">const { endpoint, token, exchanges } = ${given};${script}</script>`,
				{ headers: { "Content-Type": "text/html" } },
			);
		},
	});
	return {
		port: http.port,
		/** Resolves with what a page of this host saw. */
		seenBy(host: string): Promise<Seen> {
			const { promise, resolve } = Promise.withResolvers<Seen>();
			waiting.set(`${host}:${http.port}`, resolve);
			return promise;
		},
		close: () => http.stop(true),
	};
}

let calls = 0;
let servers: BothServers;
const pages = servePages((at) => (at === "bot" ? servers.bot : servers.gateway));
const profile = mkdtempSync(join(tmpdir(), "guildhall-chromium-"));

beforeAll(async () => {
	servers = await startBothServers({
		tools: [
			rawTool("count", (_, { reportProgress }) => {
				calls++;
				reportProgress(1, 2);
				return '{"content":[{"type":"text","text":"counted"}]}';
			}),
		],
		allowedOrigins: [`http://chat.example:${pages.port}`],
	});
});
afterAll(async () => {
	await servers[Symbol.asyncDispose]();
	await pages.close();
	rmSync(profile, { recursive: true, force: true });
});

/** Opens the page of this host in Chromium. */
async function visit(host: string, at: "gateway" | "bot"): Promise<Seen> {
	const seen = pages.seenBy(host);
	const browser = Bun.spawn(
		[
			...[chromium ?? "", "--headless", "--disable-gpu", "--no-first-run"],
			...["--disable-dev-shm-usage", `--user-data-dir=${profile}`],
			"--host-resolver-rules=MAP *.example 127.0.0.1",
			// Chromium's own sandbox does not run as root.
			...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
			`http://${host}:${pages.port}/?at=${at}`,
		],
		{ stdout: "ignore", stderr: "ignore" },
	);
	try {
		const ended = browser.exited.then((code) => {
			throw new Error(`chromium ended with ${code}`);
		});
		return await Promise.race([seen, ended]);
	} finally {
		browser.kill();
		await browser.exited;
	}
}

const readable = (status: number, more: object = {}) => expect.objectContaining({ status, ...more });
const result = (like: object) => expect.objectContaining({ result: expect.objectContaining(like) });
const tools = result({ tools: expect.arrayContaining([expect.objectContaining({ name: "count" })]) });
const counted = result({ content: [{ type: "text", text: "counted" }] });

test.skipIf(!chromium).each(["gateway", "bot"] as const)(
	"a page of a listed origin calls the %s and reads every answer",
	async (at) => {
		const header = (name: string, value: unknown) => expect.objectContaining({ [name]: value });
		const before = calls;
		expect(await visit("chat.example", at)).toEqual({
			"tools/list": readable(200, { events: [tools] }),
			"the stateless tools/list": readable(200, { events: [tools] }),
			"a call":
				at === "bot"
					? // Progress comes ahead of the result, on the same stream.
						readable(200, { events: [expect.objectContaining({ method: "notifications/progress" }), counted] })
					: readable(200, { events: [counted], headers: header("x-mcp-instance", "lonely") }),
			initialize: readable(200, { headers: header("mcp-session-id", expect.any(String)) }),
			"no JSON": readable(400),
			"a wrong token": readable(401, { headers: header("www-authenticate", 'Bearer error="invalid_token"') }),
			"OAuth's metadata": readable(404),
			"the end of a session": readable(at === "bot" ? 404 : 405),
		});
		expect(calls).toBe(before + 1);
	},
);

test.skipIf(!chromium).each([
	["evil.example", "gateway"],
	["evil.example", "bot"],
	["127.0.0.1", "gateway"],
] as const)(
	"Chromium lets a page of %s, which is not listed, neither call the %s nor read anything",
	async (host, at) => {
		const before = calls;
		const seen = await visit(host, at);
		expect(Object.keys(seen)).toEqual(exchanges.map(({ name }) => name));
		expect(new Set(Object.values(seen))).toEqual(new Set(["TypeError: Failed to fetch"]));
		expect(calls).toBe(before);
	},
);
