// The output of the demo fits a small terminal, and has colours only where the terminal shows them.

import { expect, test } from "bun:test";
import { stripVTControlCharacters } from "node:util";
import type { DemoFacts } from "../../src/demo/demo.ts";
import { summary } from "../../src/demo/directions.ts";

/** The fields that the summary reads, with ports of the maximum length. */
const facts = {
	gateway: {
		url: "http://127.0.0.1:65535/mcp",
		console: "http://127.0.0.1:65535/console",
		console_link: `http://127.0.0.1:65535/console#in=${"a".repeat(12)}.${"b".repeat(6)}.${"c".repeat(22)}`,
		token: "0123456789abcdef0123456789abcdef",
	},
	platform: { url: "http://127.0.0.1:65534/" },
	worlds: [{ notes: ["a", "b"] }],
} as unknown as DemoFacts;

test("the summary fits 24 lines of 80 columns", () => {
	const lines = summary(facts).split("\n");
	expect(lines.length).toBeLessThanOrEqual(21);
	expect(lines.filter((line) => line.length > 80)).toEqual([]);
	expect(lines).toContain("2 differences from the guild documents; --verbose lists them.");
});

test.each([
	["FORCE_COLOR", true],
	["NO_COLOR", false],
])("with %s=1 it has colours: %p", (variable, hasColours) => {
	const script = `
		import { summary } from "./src/demo/directions.ts";
		console.log(summary(${JSON.stringify(facts)}));
	`;
	const { stdout } = Bun.spawnSync([process.execPath, "-e", script], {
		cwd: `${import.meta.dir}/../..`,
		env: { [variable]: "1" },
	});
	const text = stdout.toString();
	expect(text.includes("\u001b[")).toBe(hasColours);
	expect(stripVTControlCharacters(text)).toBe(`${summary(facts)}\n`);
});
