import { expect, test } from "bun:test";
import { partNames } from "../../src/guild-document/format/document.ts";
import { formatText } from "../../src/guild-document/format/format-text.ts";

test("the overview of the format has every part, each object once, and at most 3.5 KB", () => {
	const lines = formatText();
	const text = lines.join("\n");
	for (const part of partNames) expect(lines.filter((line) => line.startsWith(part))).toHaveLength(1);
	for (const fields of [
		"kind: text|voice|forum|stage|announcement|media",
		"overwrites: [{role, member: user, allow: [permission], deny: [permission]}]",
		"role_menu: {roles!, style: buttons|select",
		"channels: [{channel!, description!, emoji}]",
		"entity_type: stage|voice|external, channel, location",
		"actions: [block_message|send_alert_message|",
		"members (Their roles. None are taken away): [{id!: user, roles!}]",
		"verification_level: ENUM,",
	])
		expect(text.split(fields)).toHaveLength(2);
	expect(Buffer.byteLength(text)).toBeLessThan(3_584);
});

test("the format of chosen parts has a line for each field, and describes no object twice", () => {
	const lines = formatText(["channels", "categories"]);
	expect(lines).toContain("categories: [{}] (Categories with their channels, from the top)");
	expect(lines).toContain("  role: role (Key of the role; @everyone for all members)");
	expect(lines.filter((line) => /^ *topic\b/.test(line))).toHaveLength(1);
	expect(lines).toContain(" channels: [{}] (Its channels, from the top)");
	expect(lines.join("\n")).not.toContain("automod");
	// All must fit into an assistant's context beside a document.
	expect(Buffer.byteLength(formatText(partNames).join("\n"))).toBeLessThan(9_000);
});
