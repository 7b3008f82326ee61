import { expect, test } from "bun:test";
import type { ForwardedCall } from "../../../src/gateway/backends/backend.ts";
import { ClientError } from "../../../src/mcp/client.ts";
import { createTestBackend } from "../../support/gateway.ts";
import { rpcError, stall, startStubBackend } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const echo: ForwardedCall = {
	method: "tools/call",
	tool: "echo",
	params: '{"name":"echo","arguments":{}}',
	requestId: "r1",
};
const backendOf = (url: string) => createTestBackend({ url });

/** A stub that answers `notifications/initialized` when it is released. */
function startHeld() {
	const { promise, resolve } = Promise.withResolvers<void>();
	const initialized = () => promise.then(() => new Response(null, { status: 202 }));
	const on = { "notifications/initialized": initialized };
	return { stub: startStubBackend({ on }), release: resolve };
}

async function fault(call: Promise<unknown>): Promise<ClientError> {
	const error = await call.then(
		() => undefined,
		(error) => error,
	);
	if (error instanceof ClientError) return error;
	throw new Error(`it came to ${error}`);
}

test("a call that was given up before it began opens no session", async () => {
	await using stub = startStubBackend();
	await stub.stop();
	const { backend } = backendOf(stub.url);
	const late = backend.call(echo, AbortSignal.abort());
	expect(await fault(late)).toMatchObject({ reached: "unsent" });
	// An opening that nobody waits for would reject unhandled by now, which ends a program and fails this test.
	for (let count = 0; count < 5; count++) await expect(fetch(stub.url)).rejects.toThrow();
});

test("a call given up while the session is opened leaves the opening to the others", async () => {
	const { stub, release } = startHeld();
	await using _stub = stub;
	const { backend } = backendOf(stub.url);
	const controller = new AbortController();
	const first = backend.call(echo, controller.signal);
	const second = backend.call(echo, AbortSignal.timeout(60_000));
	await stub.arrived("notifications/initialized");
	controller.abort();
	expect(await fault(first)).toMatchObject({ reached: "unsent" });
	release();
	expect((await second).message).toHaveProperty("result");
	expect(stub.received("initialize")).toHaveLength(1);
	expect(stub.received("echo")).toHaveLength(1);
});

test("its state changes are logged once each, with the reason", async () => {
	await using stub = startStubBackend();
	const { backend, messages } = backendOf(stub.url);
	expect(backend.state).toMatchObject({ online: false, reason: "not yet reached" });
	await backend.refresh();
	await backend.refresh();
	expect(backend.state).toMatchObject({ online: true });
	await stub.stop();
	await backend.check();
	await backend.check();
	expect(messages()).toEqual(["bot is online", "bot is offline"]);
});

test("a bot's error message is quoted, cut to 300 characters", async () => {
	await using stub = startStubBackend({ on: { "tools/list": ({ id }) => rpcError(id, 1, "no ".repeat(100_000)) } });
	const { backend, messages } = backendOf(stub.url);
	await backend.refresh();
	const state = backend.state;
	expect(state.online ? "" : state.reason).toStartWith(
		'the bot answered tools/list with an error: {"code":1,"message":"no no ',
	);
	expect(JSON.stringify([state, messages()]).length).toBeLessThan(1_000);
});

test("a check that is not answered in time is offline, for want of an answer", async () => {
	await using stub = startStubBackend();
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	stub.on["tools/list"] = stall;
	expect(await backend.check()).toMatchObject({ online: false, reason: "no response in time" });
});

test("a call that is not answered in time has the bot asked how it is", async () => {
	await using stub = startStubBackend({ on: { echo: stall } });
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	await fault(backend.call(echo, AbortSignal.timeout(5)));
	expect(backend.health.lastError?.message).toBe("no response in time");
	expect(backend.health.isDoubtful).toBe(true);
	await backend.close();
});

test("a caller who has gone says nothing of the bot", async () => {
	await using stub = startStubBackend({ on: { echo: stall } });
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	const controller = new AbortController();
	const call = backend.call(echo, controller.signal);
	await stub.arrived("echo");
	controller.abort();
	await fault(call);
	expect(backend.health.lastError).toBeUndefined();
	expect(backend.health.isDoubtful).toBe(false);
	await backend.close();
});

test("one that answers a call again is asked for what it has to offer, at once", async () => {
	await using stub = startStubBackend();
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	await stub.stop();
	await backend.check();
	await using again = startStubBackend({ port: stub.port, guilds: { "300": "C" } });
	await backend.call(echo, AbortSignal.timeout(60_000));
	await backend.refresh();
	expect([...backend.guilds.keys()]).toEqual(["300"]);
	expect(again.received("list_guilds")).toHaveLength(1);
	await backend.close();
});

test("concurrent checks and refreshes are done once", async () => {
	await using stub = startStubBackend();
	const { backend } = backendOf(stub.url);
	await Promise.all([backend.refresh(), backend.refresh(), backend.refresh()]);
	expect(stub.received("tools/list")).toHaveLength(1);
	await Promise.all([backend.check(), backend.check(), backend.check()]);
	expect(stub.received("tools/list")).toHaveLength(2);
	await backend.close();
});

test("a refresh whose answer is lost leaves the session to the calls in it", async () => {
	const release = Promise.withResolvers<void>();
	let lost = 0;
	await using stub = startStubBackend({
		on: {
			echo: async () => {
				await release.promise;
				return undefined;
			},
			"tools/list": () => (lost++ === 1 ? new Response(null, { status: 503 }) : undefined),
		},
	});
	const { backend } = backendOf(stub.url);
	await backend.refresh();
	const call = backend.call(echo, AbortSignal.timeout(60_000));
	await stub.arrived("echo");
	await backend.refresh();
	expect(backend.state.online).toBe(false);
	release.resolve();
	expect((await call).message).toHaveProperty("result");
	expect(stub.received("DELETE")).toEqual([]);
	expect(stub.received("initialize")).toHaveLength(1);
	await backend.close();
});

test("a session that is being opened when the gateway ends is ended, too", async () => {
	const { stub, release } = startHeld();
	await using _stub = stub;
	const { backend } = backendOf(stub.url);
	const refreshing = backend.refresh();
	await stub.arrived("notifications/initialized");
	const closing = backend.close();
	release();
	await closing;
	await refreshing;
	expect(stub.received("DELETE")).toHaveLength(1);
	expect(await fault(backend.call(echo, AbortSignal.timeout(60_000)))).toMatchObject({
		reached: "unsent",
		message: "the gateway is stopping",
	});
});

test("new guilds of a bot are reported although it is slow to list its prompts", async () => {
	const prompts = Promise.withResolvers<undefined>();
	await using stub = startStubBackend({ guilds: { "1": "one" }, prompts: [] });
	const { backend, changes } = backendOf(stub.url);
	await backend.refresh();
	const before = changes.count;
	stub.on["prompts/list"] = () => prompts.promise;
	stub.guilds = { "1": "one", "2": "two" };
	const refreshing = backend.refresh();
	await until("the new guild", () => backend.guilds.has("2"));
	expect(changes.count).toBe(before + 1);
	prompts.resolve(undefined);
	await refreshing;
	await backend.close();
});
