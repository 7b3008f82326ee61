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

const begun = (key: string) => until(`${key} began`, () => calls.get(key));
const aborted = (key: string) => calls.get(key)?.signal?.aborted ?? false;

async function openSession(url = servers.bot): Promise<string> {
	const body =
		'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}';
	const response = await postTo(url, body);
	await response.text();
	return response.headers.get("mcp-session-id") ?? "";
}

interface Wait {
	key: string;
	id?: string;
	session?: string | undefined;
	/** Its call reports progress at once. */
	progress?: boolean;
	signal?: AbortSignal;
}

function legacyWait(url: string, { key, id = "1", session, progress = false, signal }: Wait) {
	const _meta = progress ? { progressToken: "p" } : {};
	const params = { name: "wait", arguments: { key, progress }, _meta };
	return postTo(
		url,
		`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${JSON.stringify(params)}}`,
		session === undefined ? {} : { "Mcp-Session-Id": session },
		signal,
	);
}

function modernWait(url: string, { key, progress = false, signal }: Wait) {
	const { body, headers } = modernRequest("tools/call", {
		name: "wait",
		arguments: { key, progress },
		_meta: progress ? { progressToken: "p" } : {},
	});
	return postTo(url, body, headers, signal);
}

/** Sends `notifications/cancelled`, which is answered 202 whatever it says. */
async function cancel(url: string, requestId: unknown, session?: string) {
	const response = await postTo(
		url,
		JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "a test" } }),
		session === undefined ? {} : { "Mcp-Session-Id": session },
	);
	expect(response.status).toBe(202);
	expect(await response.text()).toBe("");
}

/** Lets a call end, and gives the text of the answer that it should have. */
async function released(key: string, answer: Promise<Response>) {
	expect(aborted(key)).toBe(false);
	calls.get(key)?.release();
	const text = await (await answer).text();
	const { result } = JSON.parse(/data: (.*)\n\n$/.exec(text)?.[1] ?? "{}");
	expect(result.content[0].text).toBe(key);
}

describe.each(["bot", "gateway"] as const)("on the %s", (at) => {
	/** What the gateway shows to every client is no session of theirs. */
	const session = at === "gateway" ? "gateway-session" : undefined;

	test.each([
		["modern", modernWait],
		["legacy", legacyWait],
	] as const)("a %s client without a session that hangs up ends its call", async (era, send) => {
		const key = `${at} ${era} hang-up`;
		const client = new AbortController();
		const { signal } = client;
		const answer = send(servers[at], { key, session, signal });
		await begun(key);
		expect(aborted(key)).toBe(false);
		client.abort();
		expect(answer).rejects.toThrow();
		await until("its signal fired", () => aborted(key));
	});

	test.each([
		["modern", modernWait],
		["legacy", legacyWait],
	] as const)("a %s client that hangs up ends no other call under the same id", async (era, send) => {
		const keys = [`${at} ${era} one`, `${at} ${era} other`] as const;
		const client = new AbortController();
		const gone = send(servers[at], { key: keys[0], signal: client.signal });
		const answer = send(servers[at], { key: keys[1] });
		await Promise.all(keys.map(begun));
		client.abort();
		expect(gone).rejects.toThrow();
		await until("the one's signal fired", () => aborted(keys[0]));
		await released(keys[1], answer);
	});

	test("twelve calls under one id in one session have an answer each", async () => {
		const session = await openSession(servers[at]);
		const keys = Array.from({ length: 12 }, (_, n) => `${at} ${n} of 12`);
		const answers = keys.map((key) => legacyWait(servers[at], { key, session }));
		await Promise.all(keys.map(begun));
		await cancel(servers[at], 1, session);
		for (const [index, key] of [...keys.entries()].reverse()) await released(key, answers[index] as Promise<Response>);
	});
});

describe("on the bot", () => {
	test("a client with a session that hangs up does not end its call, which it can cancel by its id", async () => {
		const key = "hang-up in a session";
		const client = new AbortController();
		const session = await openSession(servers.bot);
		const { signal } = client;
		const answer = legacyWait(servers.bot, { key, session, signal });
		const call = await begun(key);
		client.abort();
		expect(answer).rejects.toThrow();
		// What came after it has been served: it was heard.
		for (let count = 0; count < 3; count++) await openSession(servers.bot);
		expect(aborted(key)).toBe(false);
		call.release();
	});

	test("a modern client that hangs up after a notification ends its call", async () => {
		const client = new AbortController();
		const response = await modernWait(servers.bot, { key: "streamed", progress: true, signal: client.signal });
		const reader = response.body?.getReader();
		await reader?.read();
		await begun("streamed");
		client.abort();
		await until("its signal fired", () => aborted("streamed"));
	});

	test.each([["7"], ['"7"'], ['"\\u0037 é"']])(
		"notifications/cancelled ends the call %s in its session, which is not answered",
		async (id) => {
			const session = await openSession();
			const key = `cancelled ${id}`;
			const answer = legacyWait(servers.bot, { key, id, session });
			await begun(key);
			await cancel(servers.bot, JSON.parse(id), session);
			expect(aborted(key)).toBe(true);
			const response = await answer;
			expect(response.status).toBe(200);
			expect(response.headers.get("content-type")).toBe("text/event-stream");
			expect(await response.text()).toBe("");
		},
	);

	test("a cancelled call that has sent a notification is not answered either", async () => {
		const session = await openSession();
		const answer = await legacyWait(servers.bot, { key: "both", session, progress: true });
		await begun("both");
		await cancel(servers.bot, 1, session);
		const text = await answer.text();
		expect(text.match(/data: /g)).toHaveLength(1);
		expect(text).toContain("notifications/progress");
	});

	test("nothing else ends it", async () => {
		const session = await openSession();
		const key = "left alone";
		const answer = legacyWait(servers.bot, { key, id: "5", session });
		await begun(key);
		const other = await openSession();
		await cancel(servers.bot, 5, other);
		await cancel(servers.bot, 5);
		for (const id of ["5", 5.5, 6, null, undefined, [5], { id: 5 }, true]) await cancel(servers.bot, id, session);
		await released(key, answer);
		// It is over: nothing is left to cancel, and the id may be used again.
		await cancel(servers.bot, 5, session);
		const again = legacyWait(servers.bot, { key: "again", id: "5", session });
		await begun("again");
		await released("again", again);
	});

	test("of two under one id, the one that is left can be cancelled", async () => {
		const session = await openSession();
		const [first, second] = ["first", "second"].map((key) => legacyWait(servers.bot, { key, session }));
		await Promise.all([begun("first"), begun("second")]);
		await released("first", first as Promise<Response>);
		await cancel(servers.bot, 1, session);
		expect(aborted("second")).toBe(true);
		expect(await (await second)?.text()).toBe("");
	});

	test("notifications/cancelled of a session does not cancel a modern call", async () => {
		const session = await openSession();
		const answer = modernWait(servers.bot, { key: "modern" });
		await begun("modern");
		await cancel(servers.bot, 1, session);
		await cancel(servers.bot, 1);
		await released("modern", answer);
	});
});

describe("on the gateway", () => {
	const cancelModern = async (requestId: unknown) => {
		const { body, headers } = modernRequest("notifications/cancelled", { requestId });
		expect((await postTo(servers.gateway, body.replace('"id":1,', ""), headers)).status).toBe(202);
	};

	test("notifications/cancelled is ignored by a modern call, whatever id it names and in either era", async () => {
		const answer = modernWait(servers.gateway, { key: "modern, ignored" });
		await begun("modern, ignored");
		for (let id = 0; id < 5; id++) await cancel(servers.gateway, id, "gateway-session");
		await cancelModern(1);
		await released("modern, ignored", answer);
	});

	test("notifications/cancelled ends the only call under its id, down to the bot, and it is not answered", async () => {
		const answer = legacyWait(servers.gateway, { key: "the only one", id: "31", session: "gateway-session" });
		await begun("the only one");
		for (const id of ["31", 32, null]) await cancel(servers.gateway, id, "gateway-session");
		await cancelModern(31);
		expect(aborted("the only one")).toBe(false);
		await cancel(servers.gateway, 31, "gateway-session");
		await until("its signal fired", () => aborted("the only one"));
		expect(await (await answer).text()).toBe("");
	});

	test("notifications/cancelled ends no call while two have its id", async () => {
		const keys = ["one of two", "two of two"] as const;
		const [one, two] = keys.map((key) => legacyWait(servers.gateway, { key, id: "41" }));
		await Promise.all(keys.map(begun));
		await cancel(servers.gateway, 41);
		await released("one of two", one as Promise<Response>);
		await released("two of two", two as Promise<Response>);
	});

	test("tells the bot of a hang-up in either era, by the id that the bot knows, and of nothing else", async () => {
		await using stub = startStubBackend({ on: { echo: stall } });
		await using gateway = await startTestGateway({ alpha: stub }, { env: { DEFAULT_INSTANCE: "alpha" } });
		const eras = {
			modern: (name: string) => modernRequest("tools/call", { name }, '"mine"'),
			legacy: (name: string) => ({
				headers: {},
				body: `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"${name}"}}`,
			}),
		};
		const post = ({ body, headers }: ReturnType<typeof modernRequest>, signal?: AbortSignal) =>
			postTo(`${gateway.url}/mcp`, body, { ...headers, Authorization: `Bearer ${gatewayToken}` }, signal);
		for (const [index, call] of Object.values(eras).entries()) {
			await (await post(call("quick"))).text();
			const client = new AbortController();
			const answer = post(call("echo"), client.signal);
			await stub.arrived("echo", index + 1);
			client.abort();
			expect(answer).rejects.toThrow();
			await stub.arrived("notifications/cancelled", index + 1);
			await (await post(call("quick"))).text();
		}

		const sent = stub.received("notifications/cancelled");
		const calls = stub.received("echo");
		expect(sent).toHaveLength(2);
		for (const [index, { body, headers }] of sent.entries()) {
			const cancelled = calls[index];
			expect(JSON.parse(body)).toEqual({
				jsonrpc: "2.0",
				method: "notifications/cancelled",
				params: { requestId: Number(cancelled?.id) },
			});
			expect(headers.get("mcp-session-id")).toBe(cancelled?.headers.get("mcp-session-id") ?? "none");
		}
	});
});
