import { expect, test } from "bun:test";
import { stagger } from "../../src/lib/stagger.ts";

const hour = 3_600_000;

/** Tasks that end when they are told to. */
function tasks(count: number) {
	const started: number[] = [];
	const ends = Array.from({ length: count }, () => Promise.withResolvers<string>());
	const run = (item: number) => {
		started.push(item);
		return ends[item]?.promise ?? Promise.reject(new Error("no such task"));
	};
	return { items: ends.map((_, index) => index), started, ends, run };
}

test("the first tasks start at once, and each that ends or fails lets the next one start", async () => {
	const { items, started, ends, run } = tasks(4);
	const all = stagger(items, run, { max: 2, slowMs: hour });
	expect(started).toEqual([0, 1]);
	ends[1]?.resolve("one");
	expect(await all[1]).toBe("one");
	await Promise.resolve();
	expect(started).toEqual([0, 1, 2]);
	ends[2]?.reject(new Error("failed"));
	expect(all[2]).rejects.toThrow("failed");
	ends[3]?.resolve("three");
	expect(await all[3]).toBe("three");
	expect(started).toEqual([0, 1, 2, 3]);
	ends[0]?.resolve("zero");
	expect(await all[0]).toBe("zero");
});

test("slow tasks do not delay the others", async () => {
	const { items, started, ends, run } = tasks(5);
	const all = stagger(items, run, { max: 1, slowMs: 1 });
	ends[4]?.resolve("last");
	expect(await all[4]).toBe("last");
	expect(started).toEqual(items);
});
