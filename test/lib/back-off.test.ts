import { expect, spyOn, test } from "bun:test";
import { backOffMs, doubledMs } from "../../src/lib/back-off.ts";

test.each([
	[0, 100, 0, 50],
	[0, 100, 0.5, 75],
	[1, 100, 0, 100],
	[3, 100, 0.5, 600],
	[4, 100, 0, 500],
	[2_000, 100, 0.5, 750],
])("after %p failures, from %p ms up to 1,000, by the chance of %p it is %p ms", (failures, firstMs, chance, ms) => {
	const random = spyOn(Math, "random").mockReturnValue(chance);
	try {
		expect(backOffMs(failures, [firstMs, 1_000])).toBe(ms);
	} finally {
		random.mockRestore();
	}
});

test("without chance it is doubled with each failure, up to the most", () => {
	const waits = [0, 1, 2, 3, 4].map((count) => doubledMs(count, [100, 1_000]));
	expect(waits).toEqual([100, 200, 400, 800, 1_000]);
});
