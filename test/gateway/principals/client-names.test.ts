// Which client makes a call: what bots learn of it, for requests for approval and audit logs.

import { expect, test } from "bun:test";
import {
	approvalCapability,
	decodePrincipal,
	principalCapability,
	principalHeader,
} from "../../../src/lib/principal.ts";
import { startTestGateway } from "../../support/gateway.ts";
import { startStubBackend } from "../../support/stub-backend.ts";

/** A caller with limits, without a database. */
const limited = { "X-MCP-Toolsets": "default" };

async function start(experimental: readonly string[]) {
	const stack = new AsyncDisposableStack();
	const alpha = stack.use(startStubBackend({ experimental }));
	const gateway = stack.use(await startTestGateway({ alpha }));
	const send = (method: string, params: object, headers: Record<string, string>) => {
		const body = { jsonrpc: "2.0", id: 1, method, params };
		return gateway.post(JSON.stringify(body), headers);
	};
	return {
		initialize: (name: unknown, headers = {}) =>
			send("initialize", { protocolVersion: "2025-11-25", clientInfo: { name } }, headers),
		/** Calls a tool, and returns the principal that the bot has got. */
		async call(headers = {}, meta?: object) {
			const params = { name: "echo", arguments: { instance: "alpha" }, ...(meta && { _meta: meta }) };
			await send("tools/call", params, headers);
			const sent = alpha.received("echo").at(-1)?.headers;
			return decodePrincipal(sent?.get(principalHeader) ?? "");
		},
		[Symbol.asyncDispose]: () => stack.disposeAsync(),
	};
}

test("a bot learns the client's name from initialize, requests of the stateless revision, or the User-Agent", async () => {
	await using world = await start([principalCapability, approvalCapability]);
	expect((await world.call({ "User-Agent": "curl/8.5" }))?.client).toBe("curl/8.5");
	await world.initialize("Claude Code");
	expect(await world.call()).toMatchObject({ id: "root", client: "Claude Code" });
	const prefix = "io.modelcontextprotocol/";
	const modern = {
		[`${prefix}protocolVersion`]: "2026-07-28",
		[`${prefix}clientCapabilities`]: {},
		[`${prefix}clientInfo`]: { name: "Inspector", version: "1" },
	};
	const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo" };
	expect((await world.call(headers, modern))?.client).toBe("Inspector");
	expect((await world.call())?.client).toBe("Claude Code");
});

test("of several clients with one token, all are named, the last three at most", async () => {
	await using world = await start([principalCapability, approvalCapability]);
	const named = async (...names: unknown[]) => {
		for (const name of names) await world.initialize(name);
		return (await world.call())?.client;
	};
	expect(await named("a", "b", "a")).toBe("a or b");
	expect(await named("c", "d", 7, "")).toBe("d or c or a");
	expect(await named("x".repeat(500), "y".repeat(500))).toHaveLength(200);
});

test("a bot without approvals learns it, too, on one line", async () => {
	await using world = await start([principalCapability]);
	await world.initialize("Claude\n\u202eCode");
	expect(await world.call()).toMatchObject({ id: "root", client: "Claude \\u{202e}Code" });
	expect((await world.call(limited))?.client).toBe("Claude \\u{202e}Code");
});
