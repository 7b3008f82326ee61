// Requests that arrive before the bot has logged in to Discord.

import { expect, test } from "bun:test";
import { loginGate } from "../../../src/bot/server/requests.ts";
import { PlainSignal } from "../../../src/lib/signal.ts";
import type { RpcRequest } from "../../../src/mcp/json-rpc.ts";
import { rightsMethod } from "../../../src/mcp/rights.ts";
import type { Caller } from "../../../src/mcp/server.ts";

const unlimited = { maxWaitMs: 2 ** 30, startMs: 2 ** 30 };

/** Notes which requests have passed the gate, which waits for `login`. */
function startGate(limits = unlimited) {
	const login = Promise.withResolvers<void>();
	const handled: string[] = [];
	const gate = loginGate(login.promise, limits);
	const send = async (method: string, name?: string, caller: Partial<Caller> = {}) => {
		await gate({ method, params: { name } } as unknown as RpcRequest, { requestId: "a", ...caller } as Caller);
		handled.push(`${method} ${name}`);
	};
	return { handled, login, send };
}

test("calls and questions about people wait for the login, other requests do not", async () => {
	const { handled, login, send } = startGate();
	const waiting = [send("tools/call", "send_message"), send("tools/call", "list_guilds"), send(rightsMethod)];
	await send("tools/list");
	// A gateway that refreshes its list of guilds sends no request id.
	await send("tools/call", "list_guilds", { requestId: undefined });
	expect(handled).toEqual(["tools/list undefined", "tools/call list_guilds"]);
	login.resolve();
	await Promise.all(waiting);
	expect(handled).toHaveLength(5);
	await send("tools/call", "send_message");
	expect(handled).toHaveLength(6);
});

test("a call whose caller no longer waits is handled at once, with its aborted signal", async () => {
	const { handled, send } = startGate();
	const signal = new PlainSignal();
	const call = send("tools/call", "send_message", { signal });
	signal.abort("gone");
	await call;
	expect(handled).toEqual(["tools/call send_message"]);
});

test.each([
	["that waits too long", { ...unlimited, maxWaitMs: 1 }],
	["while the login takes too long", { ...unlimited, startMs: 1 }],
])("a call %s is handled without the login", async (_, limits) => {
	const { handled, send } = startGate(limits);
	await send("tools/call", "send_message");
	expect(handled).toEqual(["tools/call send_message"]);
});
