// Who waits for whom.

import { expect, test } from "bun:test";
import { KeyedMutex } from "../../src/lib/keyed-mutex.ts";

/** Work that ends when it is told to, and notes its beginning and its end. */
function worker() {
	const mutex = new KeyedMutex();
	const said: string[] = [];
	const begin = (name: string, keys: string | string[]) => {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const ended = mutex.withLock(keys, async () => {
			said.push(`${name} begins`);
			await promise;
			said.push(`${name} ends`);
		});
		return { end: resolve, fail: reject, ended };
	};
	/** Lets everybody begin who may. */
	const rest = () => Bun.sleep(0);
	return { mutex, said, begin, rest };
}

test("work with several keys waits for all of them, and holds all of them", async () => {
	const { mutex, said, begin, rest } = worker();
	const a = begin("a", "1");
	const b = begin("b", "2");
	const both = begin("both", ["1", "2", "3", "1"]);
	const after = begin("after", "3");
	const other = begin("other", "4");
	await rest();
	expect(said).toEqual(["a begins", "b begins", "other begins"]);
	a.end();
	await rest();
	expect(said).not.toContain("both begins");
	b.end();
	await rest();
	expect(said.slice(3)).toEqual(["a ends", "b ends", "both begins"]);
	both.end();
	await both.ended;
	await rest();
	expect(said.slice(6)).toEqual(["both ends", "after begins"]);
	for (const one of [after, other]) one.end();
	await Promise.all([after.ended, other.ended]);
	expect(mutex.size).toBe(0);
});

test("two that name the same keys in another order do not wait for each other", async () => {
	const { said, begin, rest } = worker();
	const one = begin("one", ["1", "2"]);
	const other = begin("other", ["2", "1"]);
	for (const { end } of [one, other]) end();
	await rest();
	await Promise.all([one.ended, other.ended]);
	expect(said).toEqual([
		"one begins",
		"one ends",
		"other begins",
		"other ends",
	]);
});

test("who fails lets the next begin, and is alone told of it", async () => {
	const { said, begin } = worker();
	const first = begin("first", ["1", "2"]);
	const next = begin("next", "2");
	first.fail(new Error("lost"));
	next.end();
	expect(await first.ended.catch(String)).toBe("Error: lost");
	await next.ended;
	expect(said).toEqual(["first begins", "next begins", "next ends"]);
});
