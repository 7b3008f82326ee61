import { expect, test } from "bun:test";
import { Overloaded, Semaphore } from "../../src/lib/semaphore.ts";

const never = new AbortController().signal;

test("up to the maximum are acquired at once, and given back", () => {
	const semaphore = new Semaphore({ max: 2 });
	expect(semaphore.acquire(never)).toBeUndefined();
	expect(semaphore.acquire(never)).toBeUndefined();
	expect(semaphore.held).toBe(2);
	semaphore.release();
	expect(semaphore.held).toBe(1);
	expect(semaphore.acquire(never)).toBeUndefined();
	semaphore.release();
	semaphore.release();
	expect(semaphore.held).toBe(0);
});

test("the next ones wait in order, up to the limit of the queue", async () => {
	const semaphore = new Semaphore({ max: 2, maxWaiting: 2 });
	semaphore.acquire(never);
	semaphore.acquire(never);
	const order: string[] = [];
	const first = semaphore.acquire(never)?.then(() => order.push("first"));
	const second = semaphore.acquire(never)?.then(() => order.push("second"));
	expect(() => semaphore.acquire(never)).toThrow(Overloaded);
	expect(() => semaphore.acquire(never)).toThrow("2 running, 2 waiting");
	semaphore.release();
	await first;
	expect(order).toEqual(["first"]);
	expect(semaphore.held).toBe(2);
	semaphore.release();
	await second;
	semaphore.release();
	semaphore.release();
	expect(semaphore.held).toBe(0);
	expect(semaphore.acquire(never)).toBeUndefined();
});

test("a waiter rejects after its timeout, and gets no permit later", async () => {
	const semaphore = new Semaphore({ max: 1, maxWaitMs: 5 });
	semaphore.acquire(never);
	await expect(semaphore.acquire(never)).rejects.toThrow(new Overloaded("1 running, no place within 0.005 s"));
	semaphore.release();
	expect(semaphore.held).toBe(0);
});

test("a waiter whose signal fires leaves the queue, with the signal's reason", async () => {
	const semaphore = new Semaphore({ max: 1 });
	semaphore.acquire(never);
	const controller = new AbortController();
	const waiting = semaphore.acquire(controller.signal);
	const reason = new Error("enough");
	controller.abort(reason);
	await expect(waiting).rejects.toBe(reason);
	const next = semaphore.acquire(never);
	semaphore.release();
	await next;
	expect(semaphore.held).toBe(1);
	semaphore.release();
	expect(semaphore.held).toBe(0);
});

test("a caller with an aborted signal does not wait", async () => {
	const semaphore = new Semaphore({ max: 1 });
	semaphore.acquire(never);
	const reason = new Error("gone");
	await expect(semaphore.acquire(AbortSignal.abort(reason))).rejects.toBe(reason);
	semaphore.release();
	expect(semaphore.held).toBe(0);
});

test("a waiter released and aborted at the same moment holds a permit or has left, never both", async () => {
	for (const releaseFirst of [true, false]) {
		const semaphore = new Semaphore({ max: 1 });
		semaphore.acquire(never);
		const controller = new AbortController();
		const outcome = semaphore.acquire(controller.signal)?.then(
			() => "has it",
			() => "has left",
		);
		if (releaseFirst) semaphore.release();
		controller.abort();
		if (!releaseFirst) semaphore.release();
		const has = (await outcome) === "has it";
		expect(has).toBe(releaseFirst);
		expect(semaphore.held).toBe(has ? 1 : 0);
	}
});

test("a named caller holds at most half of the permits, and while another waits, half of the queue", async () => {
	const semaphore = new Semaphore({ max: 4, maxWaiting: 4 });
	const order: string[] = [];
	const refused: unknown[] = [];
	const ask = (caller: string, name: string) =>
		semaphore.acquire(never, caller)?.then(
			() => order.push(name),
			(error) => refused.push(`${name}: ${error.message}`),
		);
	for (const name of ["held", "held", "m1", "m2", "m3", "m4"]) ask("many", name);
	expect(semaphore.held).toBe(2);
	expect(() => semaphore.acquire(never, "many")).toThrow("2 running, 4 waiting");
	expect(ask("few", "at once")).toBeUndefined();
	expect(ask("few", "at once")).toBeUndefined();
	for (const name of ["f1", "f2"]) ask("few", name);
	expect(() => semaphore.acquire(never, "few")).toThrow(Overloaded);
	semaphore.release("few");
	semaphore.release("many");
	await Bun.sleep(0);
	expect(refused).toEqual(["m4: 4 running, 4 waiting", "m3: 4 running, 4 waiting"]);
	expect(order).toEqual(["f1", "m1"]);
	for (let ended = 0; ended < 3; ended++) semaphore.release("many");
	for (let ended = 0; ended < 3; ended++) semaphore.release("few");
	expect(semaphore.held).toBe(0);
});
