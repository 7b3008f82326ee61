import { expect, test } from "bun:test";
import { LruMap } from "../../src/lib/lru-map.ts";

test("a full map forgets the entry that was not used for the longest time", () => {
	const map = new LruMap<string, number>(2);
	map.set("a", 1);
	map.set("b", 2);
	expect(map.get("a")).toBe(1);
	map.set("c", 3);
	expect(["a", "b", "c"].map((key) => map.get(key))).toEqual([1, undefined, 3]);
	map.set("a", 4);
	expect(map.size).toBe(2);
	expect(map.get("c")).toBe(3);
});

test("a value is made only if there is none", () => {
	const map = new LruMap<string, object>(1);
	const made = map.getOrMake("a", () => ({}));
	expect(map.getOrMake("a", () => ({}))).toBe(made);
	map.getOrMake("b", () => ({}));
	expect(map.getOrMake("a", () => ({}))).not.toBe(made);
});
