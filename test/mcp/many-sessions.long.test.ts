// Clients that open sessions and never end one.

import { expect, test } from "bun:test";
import { postTo, startBothServers } from "../support/both-servers.ts";

const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"one of many","version":"1"}}}';
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test("ten thousand initialize leave the thousand sessions used last, and ten thousand more no memory", async () => {
	await using servers = await startBothServers({ tools: [] });
	const open = async () => {
		const response = await postTo(servers.bot, initialize);
		await response.text();
		return response.headers.get("mcp-session-id") ?? "";
	};
	const openMany = async (count: number) => {
		const ids: string[] = [];
		while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: 50 }, open))));
		return ids;
	};
	const lives = async (id: string) => {
		const headers = { "Mcp-Session-Id": id };
		const response = await postTo(servers.bot, ping, headers);
		await response.text();
		return response.status === 200;
	};
	const living = async (ids: readonly string[]) => {
		let count = 0;
		for (const id of ids) if (await lives(id)) count += 1;
		return count;
	};
	const memory = () => {
		Bun.gc(true);
		return process.memoryUsage.rss();
	};

	const first = await open();
	const ids = [first];
	for (let round = 0; round < 10; round++) {
		ids.push(...(await openMany(1_000 - (round === 9 ? 0 : 50))));
		// In use, it is never the one used least recently.
		if (round < 9) expect(await lives(first)).toBe(true);
	}
	ids.push(...(await openMany(500)));
	expect(ids.length).toBeGreaterThanOrEqual(10_000);
	expect(new Set(ids).size).toBe(ids.length);
	// A thousand and more came after the first was used.
	expect(await lives(first)).toBe(false);
	// The gateway has a session, too, and may open it anew meanwhile.
	expect(await living(ids.slice(-1_000))).toBeGreaterThanOrEqual(999);
	expect(await living(ids.slice(-2_000, -1_000))).toBe(0);

	const before = memory();
	await openMany(10_000);
	expect(memory()).toBeLessThan(before * 1.5 + 32 * 1024 * 1024);
});

test("an initialize that fails opens no session, and ends none", async () => {
	await using servers = await startBothServers({ tools: [] });
	const response = await postTo(servers.bot, initialize);
	await response.text();
	const id = response.headers.get("mcp-session-id") ?? "";
	const failing: [body: string, headers?: Record<string, string>][] = [
		[initialize.replace('"2025-11-25"', "7")],
		[initialize.replace("{", "[{").concat("]")],
		[initialize.replace('"id":1', '"id":null')],
		[initialize, { "MCP-Protocol-Version": "2099-01-01" }],
		[initialize, { "MCP-Protocol-Version": "2026-07-28" }],
		[initialize, { "Mcp-Session-Id": "nope" }],
		[initialize, { "Content-Type": "text/plain" }],
		[initialize, { Authorization: "Bearer x" }],
		[initialize.replace('"id":1,', "")],
	];
	for (let round = 0; round < 150; round++) {
		const answers = failing.map(([body, headers]) => postTo(servers.bot, body, headers));
		for (const answer of await Promise.all(answers)) {
			await answer.text();
			expect(answer.headers.has("mcp-session-id")).toBe(false);
		}
	}
	const alive = await postTo(servers.bot, ping, { "Mcp-Session-Id": id });
	expect(alive.status).toBe(200);
});
