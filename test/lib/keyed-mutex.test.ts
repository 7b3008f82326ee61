import { expect, test } from "bun:test";
import { KeyedMutex } from "../../src/lib/keyed-mutex.ts";

/** Work that ends on request, and records its beginning and its end. */
function worker() {
	const mutex = new KeyedMutex();
	const events: string[] = [];
	const begin = (name: string, keys: string | string[]) => {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const ended = mutex.withLock(keys, async () => {
			events.push(`${name} begins`);
			await promise;
			events.push(`${name} ends`);
		});
		return { end: resolve, fail: reject, ended };
	};
	/** Lets all unlocked work begin. */
	const settle = () => Bun.sleep(0);
	return { mutex, events, begin, settle };
}

test("work with several keys waits for all of them, and holds all of them", async () => {
	const { mutex, events, begin, settle } = worker();
	const a = begin("a", "1");
	const b = begin("b", "2");
	const both = begin("both", ["1", "2", "3", "1"]);
	const after = begin("after", "3");
	const other = begin("other", "4");
	await settle();
	expect(events).toEqual(["a begins", "b begins", "other begins"]);
	a.end();
	await settle();
	expect(events).not.toContain("both begins");
	b.end();
	await settle();
	expect(events.slice(3)).toEqual(["a ends", "b ends", "both begins"]);
	both.end();
	await both.ended;
	await settle();
	expect(events.slice(6)).toEqual(["both ends", "after begins"]);
	for (const one of [after, other]) one.end();
	await Promise.all([after.ended, other.ended]);
	expect(mutex.size).toBe(0);
});

test("calls with the same keys in another order do not deadlock", async () => {
	const { events, begin, settle } = worker();
	const one = begin("one", ["1", "2"]);
	const other = begin("other", ["2", "1"]);
	for (const { end } of [one, other]) end();
	await settle();
	await Promise.all([one.ended, other.ended]);
	expect(events).toEqual(["one begins", "one ends", "other begins", "other ends"]);
});

test("work that fails lets the next begin, and only its own caller gets the error", async () => {
	const { events, begin } = worker();
	const first = begin("first", ["1", "2"]);
	const next = begin("next", "2");
	first.fail(new Error("lost"));
	next.end();
	expect(await first.ended.catch(String)).toBe("Error: lost");
	await next.ended;
	expect(events).toEqual(["first begins", "next begins", "next ends"]);
});
