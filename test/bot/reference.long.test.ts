// The reference is what the definitions and the simulated guild make it. With WRITE_REFERENCE it is written anew.

import { expect, test } from "bun:test";
import { collectExamples, referenceFile, toolsetSizes, writeReference } from "./reference.ts";

test("the reference shows every tool as it is, with an example", async () => {
	const reference = writeReference(await collectExamples());
	if (process.env.WRITE_REFERENCE) {
		await Bun.write(referenceFile, reference);
		console.table(toolsetSizes());
	}
	// When this fails: bun run reference.
	expect(await Bun.file(referenceFile).text()).toBe(reference);
});
