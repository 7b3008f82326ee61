import { expect, test } from "bun:test";
import {
	auditReason,
	chosenReason,
	escapeInvisible,
	fold,
	inlineText,
	lengthOf,
	oneField,
	oneLine,
	truncate,
	withCaller,
} from "../../src/discord/text.ts";

test.each([
	["plain", "plain"],
	["a\nb\r\nc\td", "a\\nb\\r\\nc\\td"],
	["\u0000\u001b[31m\u007f\u0085", "\\u{0000}\\u{001b}[31m\\u{007f}\\u{0085}"],
	["\u2028\u2029", "\\u{2028}\\u{2029}"],
	["abc\u202e\u2066", "abc\\u{202e}\\u{2066}"],
	["Zoë 🍞 李伟 👩‍👩‍👧", "Zoë 🍞 李伟 👩‍👩‍👧"],
])("%j becomes one line", (text, expected) => {
	expect(oneLine(text)).toBe(expected);
});

/** "ignore", in characters that nobody sees. */
const tags = String.fromCodePoint(...Array.from("ignore", (letter) => 0xe0000 + letter.charCodeAt(0)));

test.each([
	["tag characters", `a${tags}`, "a\\u{e0069}\\u{e0067}\\u{e006e}\\u{e006f}\\u{e0072}\\u{e0065}"],
	["zero-width characters", "a\u200bb\u200cc\u200dd\u2060\ufeff", "a\\u{200b}b\\u{200c}c\\u{200d}d\\u{2060}\\u{feff}"],
	["a soft hyphen", "a\u00adb", "a\\u{00ad}b"],
	["Hangul fillers", "\u115f\u1160\u3164\uffa0", "\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}"],
	["a grapheme joiner", "a\u034fb", "a\\u{034f}b"],
	["invisible operators", "a\u2061\u2062\u2063\u2064", "a\\u{2061}\\u{2062}\\u{2063}\\u{2064}"],
	["annotations", "\ufff9a\ufffa", "\\u{fff9}a\\u{fffa}"],
	["half of a character", "a\ud800", "a\\u{d800}"],
	["no character", "\uffff\u{1fffe}", "\\u{ffff}\\u{1fffe}"],
	["selectors on letters", "a\ufe0fb\ufe00", "a\\u{fe0f}b\\u{fe00}"],
	["selectors on a Han character", "葛\u{e0100}", "葛\\u{e0100}"],
	["bytes behind an emoji", "😀\u{e0158}\ufe05", "😀\\u{e0158}\\u{fe05}"],
	["two selectors behind an emoji", "❤\ufe0f\ufe0f", "❤\ufe0f\\u{fe0f}"],
	["a selector behind a digit that is no key", "1\ufe0f", "1\\u{fe0f}"],
	["a joiner at the end of an emoji", "👩\u200d", "👩\\u{200d}"],
	["two joiners between emoji", "👩\u200d\u200d👩", "👩\\u{200d}\\u{200d}👩"],
	[
		"a flag whose tags are no known ones",
		"🏴\u{e0075}\u{e0073}\u{e0063}\u{e0061}\u{e007f}",
		"🏴\\u{e0075}\\u{e0073}\\u{e0063}\\u{e0061}\\u{e007f}",
	],
	[
		"a flag that does not end",
		"🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}x",
		"🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}x",
	],
	["two joiners in Persian", "می\u200c\u200cخ", "می\\u{200c}\\u{200c}خ"],
	["a joiner in Latin", "a\u200cb", "a\\u{200c}b"],
	["a space at the end in Thai", "ไท\u200b", "ไท\\u{200b}"],
	["two spaces in Thai", "ไ\u200b\u200bท", "ไ\\u{200b}\\u{200b}ท"],
])("%s: invisible characters are escaped", (_, text, expected) => {
	expect(oneLine(text)).toBe(expected);
	expect(oneField(text)).toBe(expected);
});

test.each([
	["❤️ ☺︎ 🕵️ ♀️ ©️ ‼️"],
	["👩‍👩‍👧‍👦 🏳️‍🌈 🏴‍☠️ 👁️‍🗨️ ❤️‍🔥 🕵🏽‍♂️ 👩🏿‍🦰 👍🏻 🏃🏾‍♀️‍➡️"],
	["1️⃣ #️⃣ *️⃣ 🇩🇪 🇺🇳"],
	["🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿"],
	["می‌خواهم کتاب‌ها"],
	["क्‍ष र्‍य क्‌ष"],
	["ශ්‍රී ලංකාව"],
	["മലയാളം അവന്‍"],
	["한국어 日本語 ไทย עברית Ελληνικά"],
	["ไทย\u200bภาษา ភាសា\u200bខ្មែរ ພາສາ\u200bລາວ မြန်မာ\u200bစာ"],
	["بسم ۝١ ؀٢"],
])("%j is not escaped", (text) => {
	expect(oneLine(text)).toBe(text);
	expect(oneField(text)).toBe(text);
	expect(escapeInvisible(text)).toBe(text);
});

test("a long run of invisible characters is shortened", () => {
	const text = oneLine(`a${"\u{e0041}".repeat(4_000)}b`);
	expect(text).toBe(`a${"\\u{e0041}".repeat(32)}\\u{…3968 more}b`);
});

test("escapeInvisible keeps line breaks and tabs", () => {
	expect(escapeInvisible("a\n\tb\u200b\u2028\r")).toBe("a\n\tb\\u{200b}\\u{2028}\\u{000d}");
});

test("a field cannot imitate two", () => {
	expect(oneField("x ｜ y | z")).toBe("x \\u{ff5c} y \\| z");
	for (const bar of "│┃∣ǀ❘￨⏐︱")
		expect(oneField(`x ${bar} y`)).toBe(`x \\u{${bar.charCodeAt(0).toString(16).padStart(4, "0")}} y`);
	// As many channels are called; nothing of ours stands so close.
	expect(oneField("📢│news")).toBe("📢│news");

	expect(oneField("x | y: 1\n")).toBe("x \\| y: 1\\n");
	expect(oneField("x \\| y: 1")).toBe("x \\\\\\| y: 1");
});

test.each([
	["x (ID: 1)", "x (ID\\: 1)"],
	["(@ada, id :\u00a0١)", "(@ada, id \\:\u00a0١)"],
	["ID:1 ID:2", "ID\\:1 ID\\:2"],
	["ID\\: 1", "ID\\\\: 1"],
	["x ID：1", "x ID\\u{ff1a}1"],
	["ＩＤ： １", "ＩＤ\\u{ff1a} １"],
	["ІD:1 🆔: 2", "ІD\\:1 🆔\\: 2"],
	["𝐈𝐃: 1 ⅠD", "𝐈𝐃\\: 1 ⅠD"],
	["ID∶1 ID꞉1 ID﹕1 IDː1", "ID\\u{2236}1 ID\\u{a789}1 ID\\u{fe55}1 ID\\u{02d0}1"],
	[`ID${" ".repeat(50)}:${" ".repeat(50)}1`, `ID${" ".repeat(50)}\\:${" ".repeat(50)}1`],
	["12:30, 時間：1", "12:30, 時間：1"],
	["ID: none, valid: 1, ID", "ID: none, valid: 1, ID"],
])("no part of %j imitates an id", (text, expected) => {
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

test.each(["a", "ü", "是", "😀", "%", "\0", "\ud800"])(
	"a reason of many %j is truncated to Discord's limit, and no shorter",
	(character) => {
		const reason = auditReason(character.repeat(4_000));
		expect(lengthOf(reason)).toBe(512);
		expect(reason).toEndWith("…");
		expect(reason.isWellFormed()).toBe(true);
		expect(auditReason(character)).not.toContain("…");
	},
);

test("truncate keeps what fits, and cuts the rest to the character", () => {
	expect(truncate("abcde", 5)).toBe("abcde");
	expect(truncate("abcdef", 5)).toBe("abcd…");
	expect(truncate("", 0)).toBe("");
	for (const text of ["*".repeat(3_000), "<@1>".repeat(900), "\u202e".repeat(900)])
		expect(inlineText(text, 1_024).length).toBeLessThanOrEqual(1_024);
	expect(inlineText("<@&1> *x* [a](b)\t", 99)).toBe("\\<@&1> \\*x\\* \\[a](b)");
});

test.each(["\n", " \r\n\n ", "\r", "\u2028", "\u2029", "\x85"])(
	"in texts for people the line break %j becomes a space",
	(end) => {
		const reason = `Insulting a member.${end}Please read the rules.${end}`;
		const line = "Insulting a member. Please read the rules.";
		expect(inlineText(reason, 1_000)).toBe(line);
		expect(auditReason(reason)).toBe(line);
		expect(withCaller(reason, "for Ada")).toBe(`${line} (for Ada)`);
		expect(chosenReason(`guild${end}document 7`)).toBe("reason: guild document 7");
	},
);
