// Whether the signal of a request aborts when its client disconnects, and only then.

import { expect, test } from "bun:test";
import { ClientSignal } from "../../src/lib/signal.ts";
import { until } from "../support/until.ts";

/** A server whose requests wait until they are released, and the signal of each. */
function startServer() {
	const signals: ClientSignal[] = [];
	const aborts: number[] = [];
	const released = Promise.withResolvers<void>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const signal = new ClientSignal(request);
			const number = signals.push(signal);
			const listener = () => aborts.push(number);
			signal.addEventListener("abort", listener);
			await released.promise;
			signal.removeEventListener("abort", listener);
			return new Response("done");
		},
	});
	return {
		url: server.url.href,
		signals,
		aborts,
		release: released.resolve,
		[Symbol.asyncDispose]: async () => {
			released.resolve();
			await server.stop(true);
		},
	};
}

test("aborts once when the client disconnects, and not for other clients", async () => {
	await using server = startServer();
	const [leaving, staying] = [new AbortController(), new AbortController()];
	const left = fetch(server.url, { signal: leaving.signal });
	await until("the first request", () => server.signals.length === 1);
	const answered = fetch(server.url, { signal: staying.signal });
	await until("the second request", () => server.signals.length === 2);

	leaving.abort();
	await expect(left).rejects.toThrow();
	await until("the abort", () => server.aborts.length > 0);
	server.release();
	expect(await (await answered).text()).toBe("done");
	expect(server.aborts).toEqual([1]);
	expect(server.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
	expect(server.signals[0]?.reason).toMatchObject({ name: "AbortError" });
});

test("follows the request's own signal only if it keeps its listener", async () => {
	const own = new AbortController();
	let asked = 0;
	const request = {
		get signal() {
			asked++;
			return own.signal;
		},
	} as Request;
	const listener = () => {};
	const short = new ClientSignal(request);
	short.addEventListener("abort", listener);
	short.removeEventListener("abort", listener);
	expect(asked).toBe(0);

	const long = new ClientSignal(request);
	let aborts = 0;
	const count = () => aborts++;
	long.addEventListener("abort", count);
	await until("the request's signal is asked for", () => asked > 0);
	own.abort("gone");
	expect([aborts, long.aborted, long.reason]).toEqual([1, true, "gone"]);
	expect(short.aborted).toBe(false);
});

test("a client that disconnected before the first look is noticed at it", async () => {
	const request = { signal: AbortSignal.abort("gone") } as Request;
	const signal = new ClientSignal(request);
	signal.addEventListener("abort", () => {});
	expect(signal.aborted).toBe(false);
	await until("the abort", () => signal.aborted);
	expect(signal.reason).toBe("gone");
});
