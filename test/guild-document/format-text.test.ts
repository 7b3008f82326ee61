import { expect, test } from "bun:test";
import { partNames } from "../../src/guild-document/format/document.ts";
import { formatText } from "../../src/guild-document/format/format-text.ts";

test("the format's description has every part, and describes no object twice", () => {
	const lines = formatText();
	for (const part of partNames) expect(lines.filter((line) => line.startsWith(`${part}?: `))).toHaveLength(1);
	expect(lines.join("\n")).toContain("categories?: list. Categories with their channels, from the top.");
	expect(lines.filter((line) => /^ *topic\?/.test(line))).toHaveLength(1);
	expect(lines).toContain(" channels?: list. as in channels. Its channels, from the top.");
	// It must fit into an assistant's context beside a document.
	expect(Buffer.byteLength(lines.join("\n"))).toBeLessThan(9_000);
});
