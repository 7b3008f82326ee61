import { expect, test } from "bun:test";
import {
	auditReason,
	encodedLength,
	fitted,
	fold,
	oneField,
	oneLine,
	shown,
} from "../../../src/bot/discord/text.ts";

test.each([
	["plain", "plain"],
	["a\nb\r\nc\td", "a\\nb\\r\\nc\\td"],
	["\u0000\u001b[31m\u007f\u0085", "\\u{0000}\\u{001b}[31m\\u{007f}\\u{0085}"],
	["\u2028\u2029", "\\u{2028}\\u{2029}"],
	["abc\u202e\u2066", "abc\\u{202e}\\u{2066}"],
	["Zoë 🍞 李伟 👩‍👩‍👧", "Zoë 🍞 李伟 👩‍👩‍👧"],
])("%j is shown on one line", (text, expected) => {
	expect(oneLine(text)).toBe(expected);
});

test("a field cannot pass for two", () => {
	expect(oneField("x | y: 1\n")).toBe("x \\| y: 1\\n");
	expect(oneField("x \\| y: 1")).toBe("x \\\\\\| y: 1");
});

test.each([
	["x (ID: 1)", "x (ID\\: 1)"],
	["(@ada, id :\u00a0١)", "(@ada, id \\:\u00a0١)"],
	["ID:1 ID:2", "ID\\:1 ID\\:2"],
	["ID\\: 1", "ID\\\\: 1"],
	["ID: none, valid: 1, ID", "ID: none, valid: 1, ID"],
])("of %j nothing passes for an id", (text, expected) => {
	expect(oneField(text)).toBe(expected);
});

test.each([
	["か", "が"],
	["कि", "की"],
	["ab", "abc"],
])("%s and %s are different names", (a, b) => {
	expect(fold(a)).not.toBe(fold(b));
});

test.each([
	["Zoë", "ZOE"],
	["Łukasz Øster", "lukasz oster"],
	["José García", "jose garcia"],
	["Ｆｕｌｌ", "full"],
	["e\u0301", "é"],
])("%s and %s are the same name", (a, b) => {
	expect(fold(a)).toBe(fold(b));
});

test.each(["a", "ü", "😀", "%", "\n", "\ud800"])(
	"a reason of many %j is cut to what Discord takes, and no shorter than that",
	(character) => {
		const reason = auditReason(character.repeat(4_000));
		const length = encodedLength(reason);
		expect(length).toBeLessThanOrEqual(512);
		expect(length).toBeGreaterThan(512 - 13);
		expect(reason).toEndWith("…");
		expect(reason.isWellFormed()).toBe(true);
		expect(auditReason(character)).not.toContain("…");
	},
);

test("what fits is left as it is, and what does not is cut to the character", () => {
	expect(fitted("abcde", 5)).toBe("abcde");
	expect(fitted("abcdef", 5)).toBe("abcd…");
	expect(fitted("", 0)).toBe("");
	for (const text of [
		"*".repeat(3_000),
		"<@1>".repeat(900),
		"\u202e".repeat(900),
	])
		expect(shown(text, 1_024).length).toBeLessThanOrEqual(1_024);
	expect(shown("<@&1> *x* [a](b)\n", 99)).toBe("\\<@&1> \\*x\\* \\[a](b)\\\\n");
});
