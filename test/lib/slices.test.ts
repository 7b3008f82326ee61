import { expect, test } from "bun:test";
import { atOnce, inSlices } from "../../src/lib/slices.ts";

function* count(seen: string[]): Generator<undefined, number> {
	for (const text of ["a", "b", "c"]) {
		seen.push(text);
		yield;
	}
	return seen.length;
}

test("other work gets its turn between slices", async () => {
	const seen: string[] = [];
	const other = () => {
		seen.push("other");
		if (seen.length < 20) setImmediate(other);
	};
	setImmediate(other);
	const result = await inSlices(count(seen), 0);
	expect(seen.slice(0, result).join(" ")).toBe("a other b other c other");
});

test("work that is shorter than a slice is not interrupted", async () => {
	const seen: string[] = [];
	setImmediate(() => seen.push("other"));
	expect(await inSlices(count(seen), Infinity)).toBe(3);
	expect(atOnce(count([]))).toBe(3);
});

test("an error of the work is that of the promise", async () => {
	const failing = (function* (): Generator<undefined, never> {
		yield;
		throw new Error("why");
	})();
	await expect(inSlices(failing, 0)).rejects.toThrow("why");
});
