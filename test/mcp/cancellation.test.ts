// Who ends a call before its answer, and what of it reaches the tool.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ToolCall } from "../../src/mcp/tool.ts";
import { type BothServers, modernRequest, postTo, rawTool, startBothServers } from "../support/both-servers.ts";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { stall, startStubBackend } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";

/** The calls of `wait`, by their key: each waits until it is released or its signal fires. */
const calls = new Map<string, ToolCall & { release(): void }>();
const wait = rawTool("wait", async ({ key, progress }, call) => {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (progress) call.reportProgress(1);
	call.signal?.addEventListener("abort", () => resolve());
	calls.set(String(key), { ...call, release: resolve });
	await promise;
	return JSON.stringify({ content: [{ type: "text", text: key }] });
});

let servers: BothServers;
beforeAll(async () => {
	servers = await startBothServers({ tools: [wait] });
});
afterAll(() => servers[Symbol.asyncDispose]());

async function openSession(url = servers.bot): Promise<string> {
	const params = { protocolVersion: "2025-11-25", capabilities: {} };
	const response = await postTo(url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
	await response.text();
	return response.headers.get("mcp-session-id") ?? "";
}

const inSession = (session?: string) => (session === undefined ? {} : { "Mcp-Session-Id": session });

interface Wait {
	at?: "bot" | "gateway";
	era?: "modern" | "legacy";
	id?: string;
	session?: string | undefined;
	/** Reports progress at once. */
	progress?: boolean;
}

let count = 0;

/** Sends a call of `wait`, and returns when it has begun. */
async function begin({ at = "bot", era = "legacy", id = "1", session, progress = false }: Wait = {}) {
	const key = `${++count}`;
	const client = new AbortController();
	const params = { name: "wait", arguments: { key, progress }, _meta: progress ? { progressToken: "p" } : {} };
	const legacy = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${JSON.stringify(params)}}`;
	const { body, headers } =
		era === "modern" ? modernRequest("tools/call", params) : { body: legacy, headers: inSession(session) };
	const answer = postTo(servers[at], body, headers, client.signal);
	const { signal, release } = await until(`call ${key} has begun`, () => calls.get(key));
	const isAborted = () => signal?.aborted ?? false;
	expect(isAborted()).toBe(false);
	return {
		answer,
		isAborted,
		release,
		hangUp() {
			client.abort();
			answer.catch(() => {});
		},
		aborted: () => until("its signal fired", isAborted),
		/** Lets it end, and checks its answer. */
		async ends() {
			expect(isAborted()).toBe(false);
			release();
			const text = await (await answer).text();
			const { result } = JSON.parse(/data: (.*)\n\n$/.exec(text)?.[1] ?? "{}");
			expect(result.content[0].text).toBe(key);
		},
	};
}

/** Sends `notifications/cancelled`, which is answered 202 whatever it says. */
async function cancel(at: "bot" | "gateway", requestId: unknown, session?: string) {
	const params = { requestId, reason: "a test" };
	const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
	const response = await postTo(servers[at], body, inSession(session));
	expect(response.status).toBe(202);
	expect(await response.text()).toBe("");
}

/** What the gateway shows to every client is no session of theirs. */
const shared = "gateway-session";

describe.each(["bot", "gateway"] as const)("on the %s", (at) => {
	const session = at === "gateway" ? shared : undefined;

	test.each(["modern", "legacy"] as const)(
		"a %s client without a session that hangs up ends its call, and no other under the same id",
		async (era) => {
			const [one, other] = [await begin({ at, era, session }), await begin({ at, era })];
			one.hangUp();
			await one.aborted();
			await other.ends();
		},
	);

	test("twelve calls under one id in one session have an answer each", async () => {
		const session = await openSession(servers[at]);
		const all = await Promise.all(Array.from({ length: 12 }, () => begin({ at, session })));
		await cancel(at, 1, session);
		for (const one of all.reverse()) await one.ends();
	});
});

describe("on the bot", () => {
	test("a client with a session that hangs up does not end its call", async () => {
		const call = await begin({ session: await openSession() });
		call.hangUp();
		// What came after it has been served: it was heard.
		for (let count = 0; count < 3; count++) await openSession();
		expect(call.isAborted()).toBe(false);
		call.release();
	});

	test("a modern client that hangs up after a notification ends its call", async () => {
		const call = await begin({ era: "modern", progress: true });
		await (await call.answer).body?.getReader().read();
		call.hangUp();
		await call.aborted();
	});

	test.each([["7"], ['"7"'], ['"\\u0037 é"']])(
		"notifications/cancelled ends the call %s in its session, which is not answered",
		async (id) => {
			const session = await openSession();
			const call = await begin({ id, session });
			await cancel("bot", JSON.parse(id), session);
			expect(call.isAborted()).toBe(true);
			const response = await call.answer;
			expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
			expect(await response.text()).toBe("");
		},
	);

	test("a cancelled call that has sent a notification is not answered either", async () => {
		const session = await openSession();
		const call = await begin({ session, progress: true });
		await cancel("bot", 1, session);
		const text = await (await call.answer).text();
		expect(text.match(/data: /g)).toHaveLength(1);
		expect(text).toContain("notifications/progress");
	});

	test("nothing else ends it", async () => {
		const session = await openSession();
		const [call, modern] = [await begin({ id: "5", session }), await begin({ era: "modern" })];
		await cancel("bot", 5, await openSession());
		await cancel("bot", 5);
		await cancel("bot", 1);
		for (const id of ["5", 5.5, 6, null, undefined, [5], { id: 5 }, true, 1]) await cancel("bot", id, session);
		await modern.ends();
		await call.ends();
		// It is over: nothing is left to cancel, and the id may be used again.
		await cancel("bot", 5, session);
		await (await begin({ id: "5", session })).ends();
	});

	test("of two under one id, the one that is left can be cancelled", async () => {
		const session = await openSession();
		const [first, second] = [await begin({ session }), await begin({ session })];
		await first.ends();
		await cancel("bot", 1, session);
		expect(second.isAborted()).toBe(true);
		expect(await (await second.answer).text()).toBe("");
	});
});

describe("on the gateway", () => {
	const at = "gateway";
	const cancelModern = async (requestId: unknown) => {
		const { body, headers } = modernRequest("notifications/cancelled", { requestId });
		expect((await postTo(servers.gateway, body.replace('"id":1,', ""), headers)).status).toBe(202);
	};

	test("notifications/cancelled is ignored by a modern call, whatever id it names and in either era", async () => {
		const call = await begin({ at, era: "modern" });
		for (let id = 0; id < 5; id++) await cancel(at, id, shared);
		await cancelModern(1);
		await call.ends();
	});

	test("notifications/cancelled ends the only call under its id, down to the bot, and it is not answered", async () => {
		const call = await begin({ at, id: "31", session: shared });
		for (const id of ["31", 32, null]) await cancel(at, id, shared);
		await cancelModern(31);
		expect(call.isAborted()).toBe(false);
		await cancel(at, 31, shared);
		await call.aborted();
		expect(await (await call.answer).text()).toBe("");
	});

	test("notifications/cancelled ends no call while two have its id", async () => {
		const [one, two] = [await begin({ at, id: "41" }), await begin({ at, id: "41" })];
		await cancel(at, 41);
		await one.ends();
		await two.ends();
	});

	test("tells the bot of a hang-up in either era, by the id that the bot knows, and of nothing else", async () => {
		await using stub = startStubBackend({ on: { echo: stall } });
		await using gateway = await startTestGateway({ alpha: stub }, { env: { DEFAULT_INSTANCE: "alpha" } });
		const eras = [
			(name: string) => modernRequest("tools/call", { name }, '"mine"'),
			(name: string) => ({
				headers: {},
				body: `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"${name}"}}`,
			}),
		];
		const post = ({ body, headers }: ReturnType<typeof modernRequest>, signal?: AbortSignal) =>
			postTo(`${gateway.url}/mcp`, body, { ...headers, Authorization: `Bearer ${gatewayToken}` }, signal);
		for (const [index, call] of eras.entries()) {
			await (await post(call("quick"))).text();
			const client = new AbortController();
			const answer = post(call("echo"), client.signal);
			await stub.arrived("echo", index + 1);
			client.abort();
			expect(answer).rejects.toThrow();
			await stub.arrived("notifications/cancelled", index + 1);
			await (await post(call("quick"))).text();
		}
		const sessionOf = ({ headers }: { headers: Headers }) => headers.get("mcp-session-id") ?? "none";
		const expected = stub.received("echo").map((call) => [{ requestId: Number(call.id) }, sessionOf(call)]);
		const sent = stub.received("notifications/cancelled");
		expect(sent.map((one) => [JSON.parse(one.body).params, sessionOf(one)])).toEqual(expected as never);
		expect(sent).toHaveLength(2);
	});
});
