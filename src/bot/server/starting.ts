// Holds calls that arrive before the bot's first login to Discord. Otherwise, calls that the gateway held during a
// restart of the bot would fail.

import { raceSignal, within } from "../../lib/wait.ts";
import type { RpcRequest } from "../../mcp/json-rpc.ts";
import { rightsMethod } from "../../mcp/rights.ts";
import type { Caller, Server } from "../../mcp/server.ts";

const defaults = { maxWaitMs: 5_000, startMs: 10_000 };

export type StartLimits = typeof defaults;

/** Within 10 s of the start, requests wait for `login`, at most 5 s each. `login` settles either way. */
export function waitForLogin(
	server: Server,
	login: Promise<unknown>,
	{ maxWaitMs, startMs }: StartLimits = defaults,
): Server {
	let starting: Promise<unknown> | undefined = within(startMs, login)
		.catch(() => {})
		.finally(() => {
			starting = undefined;
		});

	async function later(login: Promise<unknown>, request: RpcRequest, caller: Caller) {
		const waited = within(maxWaitMs, login);
		const { signal } = caller;
		await (signal ? raceSignal(waited, signal).catch(() => {}) : waited);
		return server.handle(request, caller);
	}

	return {
		handle: (request, caller) =>
			starting && needsDiscord(request, caller) ? later(starting, request, caller) : server.handle(request, caller),
	};
}

function needsDiscord({ method, params: { name } }: RpcRequest, { requestId }: Caller): boolean {
	if (method === rightsMethod) return true;
	// A gateway that refreshes its list of guilds sends no request id and repeats the request soon. Its tools/list must
	// not wait for the login.
	const isRefresh = name === "list_guilds" && requestId === undefined;
	return method === "tools/call" && !isRefresh;
}
