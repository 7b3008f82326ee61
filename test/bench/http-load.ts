// Calls of a server with sessions: each connection has one of its own.

import { connectTo } from "../support/mcp.ts";
import { until } from "../support/until.ts";
import { Load } from "./load.ts";

export interface Target {
	name: string;
	/** The MCP endpoint. */
	url: string;
	token: string;
	/** What its process has used of the processor so far, in microseconds, and its memory in bytes. */
	usage(): Promise<{ cpuMicros: number; rss: number }>;
}

export interface Measured {
	/** Calls a second. */
	rate: number;
	/** What the server's process used of the processor for each, in microseconds. */
	cpuMicros: number;
}

/** Opens a session, and gives its id. */
export async function openSession({ url, token }: Target): Promise<string> {
	const response = await fetch(url, {
		method: "POST",
		headers: headersFor(token),
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: 0,
			method: "initialize",
			params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "0" } },
		}),
	});
	const text = await response.text();
	const id = response.headers.get("mcp-session-id");
	if (!id) throw new Error(`no session was opened: ${text}`);
	return id;
}

/** Calls a tool for so long, over a connection for each of these sessions. */
export async function measureCalls(
	target: Target,
	tool: { name: string; arguments: Record<string, unknown> },
	sessions: readonly string[],
	ms: number,
): Promise<Measured> {
	const load = await Load.open({
		url: target.url,
		connections: sessions.length,
		method: "POST",
		headers: sessions.map((session) => ({
			...headersFor(target.token),
			"Mcp-Session-Id": session,
			// As a gateway passes calls on: without one, the bot takes list_guilds for a question of the gateway's own.
			"X-Request-Id": "0123abcd",
		})),
		requests: [`"method":"tools/call","params":${JSON.stringify(tool)}`],
		expect: "result",
	});
	try {
		const before = await target.usage();
		const { requests, rate } = await load.run({ ms });
		const after = await target.usage();
		return { rate, cpuMicros: (after.cpuMicros - before.cpuMicros) / requests };
	} finally {
		load.close();
	}
}

/** Resolves when a bot knows everyone in its guilds. */
export async function membersLoaded(url: string, token: string): Promise<void> {
	const client = await connectTo(url, token);
	await until("all members are loaded", async () => {
		const { text } = await client.call("lookup_user_by_name", { query: "ada" });
		return !text.includes("being loaded");
	});
}

function headersFor(token: string) {
	return {
		Authorization: `Bearer ${token}`,
		"Content-Type": "application/json",
		Accept: "application/json, text/event-stream",
		"MCP-Protocol-Version": "2025-11-25",
	};
}
