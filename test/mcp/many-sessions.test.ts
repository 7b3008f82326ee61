// Clients that open sessions and never end one. What a limit does: session.test.ts.

import { expect, test } from "bun:test";
import { postTo, startBothServers } from "../support/both-servers.ts";

const initialize =
	'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"one of many","version":"1"}}}';
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test("a bot keeps the thousand sessions used last", async () => {
	await using servers = await startBothServers({ tools: [] });
	const open = async () => {
		const response = await postTo(servers.bot, initialize);
		await response.text();
		return response.headers.get("mcp-session-id") ?? "";
	};
	const lives = async (id: string) => {
		const response = await postTo(servers.bot, ping, { "Mcp-Session-Id": id });
		await response.text();
		return response.status === 200;
	};
	// The gateway has a session, too, and may open it anew meanwhile.
	const [first, second] = [await open(), await open()];
	for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 49 }, open));
	expect([await lives(first), await lives(second)]).toEqual([true, true]);
	await Promise.all(Array.from({ length: 50 }, open));
	expect(await lives(first)).toBe(true);
	for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 49 }, open));
	expect(await lives(second)).toBe(false);
});
