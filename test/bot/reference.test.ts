// The reference is what the definitions and the simulated guild make it. With WRITE_REFERENCE it is written anew.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { collectExamples, toolsetSizes, writeReference } from "./reference.ts";

const file = join(import.meta.dir, "../../src/bot/tools/README.md");

test("the reference shows every tool as it is", async () => {
	const reference = writeReference(await collectExamples());
	if (process.env.WRITE_REFERENCE) {
		await Bun.write(file, reference);
		console.table(toolsetSizes());
	}
	// When this fails: bun run reference.
	expect(await Bun.file(file).text()).toBe(reference);
});
