import { expect, test } from "bun:test";
import { Backend } from "../../src/gateway/backend.ts";
import { recordLog } from "../support/log.ts";
import { rpcError, stall, startStubBackend } from "../support/stub-backend.ts";

function backendOf(url: string) {
	const { log, messages } = recordLog();
	const backend = new Backend({
		instance: { name: "alpha", url, endpoint: `${url}/mcp` },
		token,
		info: { name: "test", version: "1" },
		log,
	});
	return { backend, messages };
}

const echo = '{"name":"echo","arguments":{}}';

const token = "a-token-of-enough-length";

test("a call that was given up before it began opens no session", async () => {
	await using stub = startStubBackend();
	await stub.stop();
	const { backend } = backendOf(stub.url);
	const reason = new Error("too late");
	await expect(backend.call(echo, AbortSignal.abort(reason))).rejects.toBe(
		reason,
	);
	// An opening that nobody waits for would reject unhandled by now, which ends a program and fails this test.
	for (let count = 0; count < 5; count++)
		await expect(fetch(stub.url)).rejects.toThrow();
});

test("a call given up while the session is opened leaves the opening to the others", async () => {
	const release = Promise.withResolvers<void>();
	await using stub = startStubBackend({
		on: {
			"notifications/initialized": async () => {
				await release.promise;
				return new Response(null, { status: 202 });
			},
		},
	});
	const { backend } = backendOf(stub.url);
	const controller = new AbortController();
	const first = backend.call(echo, controller.signal);
	const second = backend.call(echo, AbortSignal.timeout(4_000));
	await stub.arrived("notifications/initialized");
	const reason = new Error("enough");
	controller.abort(reason);
	await expect(first).rejects.toBe(reason);
	release.resolve();
	expect((await second).message).toHaveProperty("result");
	expect(stub.received("initialize")).toHaveLength(1);
	expect(stub.received("echo")).toHaveLength(1);
});

test("its state changes are logged once each, with the reason", async () => {
	await using stub = startStubBackend();
	const { backend, messages } = backendOf(stub.url);
	expect(backend.state).toEqual({ online: false, reason: "not yet reached" });
	await backend.refresh();
	await backend.refresh();
	expect(backend.state).toEqual({ online: true });
	await stub.stop();
	await backend.check(4_000);
	await backend.check(4_000);
	expect(messages()).toEqual([
		"alpha is online",
		expect.stringMatching(/^alpha is offline: .+/),
	]);
});

test("what a bot says of its fault is quoted, but not at any length", async () => {
	await using stub = startStubBackend({
		on: { "tools/list": ({ id }) => rpcError(id, 1, "no ".repeat(100_000)) },
	});
	const { backend, messages } = backendOf(stub.url);
	await backend.refresh();
	const state = backend.state;
	expect(state.online ? "" : state.reason).toStartWith(
		'tools/list was answered with an error: {"code":1,"message":"no no ',
	);
	expect(JSON.stringify([state, messages()]).length).toBeLessThan(1_000);
});

test("a check that is not answered in time is offline, for want of an answer", async () => {
	await using stub = startStubBackend();
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	stub.on["tools/list"] = stall;
	expect(await backend.check(1)).toEqual({
		online: false,
		reason: "no answer in time",
	});
});
