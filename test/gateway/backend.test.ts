import { expect, test } from "bun:test";
import { ClientError } from "../../src/mcp/client.ts";
import { createTestBackend } from "../support/gateway.ts";
import { rpcError, stall, startStubBackend } from "../support/stub-backend.ts";

const echo = {
	tool: "echo",
	params: '{"name":"echo","arguments":{}}',
	requestId: "r1",
};
const backendOf = (url: string) => createTestBackend({ url });

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
	controller.abort();
	expect(await fault(first)).toMatchObject({ reached: "unsent" });
	release.resolve();
	expect((await second).message).toHaveProperty("result");
	expect(stub.received("initialize")).toHaveLength(1);
	expect(stub.received("echo")).toHaveLength(1);
});

test("its state changes are logged once each, with the reason", async () => {
	await using stub = startStubBackend();
	const { backend, messages } = backendOf(stub.url);
	expect(backend.state).toMatchObject({
		online: false,
		reason: "not yet reached",
	});
	await backend.refresh();
	await backend.refresh();
	expect(backend.state).toMatchObject({ online: true });
	await stub.stop();
	await backend.check();
	await backend.check();
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
	expect(await backend.check()).toMatchObject({
		online: false,
		reason: "no answer in time",
	});
});
