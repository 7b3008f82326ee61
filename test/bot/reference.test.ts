// The reference says what the definitions of the tools say. Its examples are tried in reference.long.test.ts.

import { expect, test } from "bun:test";
import { referenceFile, writeReference } from "./reference.ts";

test("the reference shows every tool as it is defined", async () => {
	const written = await Bun.file(referenceFile).text();
	// When this fails: bun run reference.
	expect(written.replace(/^```\n[\s\S]*?^```\n\n/gm, "")).toBe(writeReference(new Map()));
});
