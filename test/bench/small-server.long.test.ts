import { expect, test } from "bun:test";
import { readDocument } from "../support/documents.ts";
import { measureUp, smallServer } from "./up-footprint.ts";

test.skipIf(process.platform !== "linux")("a server of 512 MB carries what README says", async () => {
	const { text } = await readDocument("README.md");
	expect(text.replaceAll("\n", " ")).toContain("512 MB of memory are enough for two bots with 20,000 members each");
	expect(await measureUp(smallServer)).toBeLessThan(smallServer.limit);
});
