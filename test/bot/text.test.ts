import { expect, test } from "bun:test";
import { fold, oneField, oneLine } from "../../src/bot/text.ts";

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
	expect(oneField("x | ID: 1\n")).toBe("x \\| ID: 1\\n");
	expect(oneField("x \\| ID: 1")).toBe("x \\\\\\| ID: 1");
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
