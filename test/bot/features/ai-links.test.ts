// Which links stay in an AI's text.

import { describe, expect, test } from "bun:test";
import { withoutLinks } from "../../../src/bot/features/ai-links.ts";

const gone = "[link removed]";

describe("removed is", () => {
	test.each([
		["an address", "see https://evil.example/steal now", `see ${gone} now`],
		["one in angle brackets", "<https://evil.example>", `<${gone}>`],
		["one at the end of a sentence", "(http://evil.example).", `(${gone}).`],
		["one with backslashes", String.raw`https:\\evil.example`, gone],
		["one with spaces", "https : // evil.example", gone],
		["one that is disguised", "hxxps[:]//evil.example", gone],
		["one in full width", "ｈｔｔｐｓ：／／evil.example/a", gone],
		["one with invisible letters", "ht\u200btps:/\u{e0041}/evil.example", gone],
		["one with Markdown inside", "ht**tps://ev**il.example", gone],
		["one in code", "`https://evil.example`", `\`${gone}\``],
		["one of a client", "discord://-/invite/evil", gone],
		["a host with a path", "go to evil.example/steal!", `go to ${gone}!`],
		["one with a port", "evil.example:8080/steal", gone],
		["one that begins with www", "WWW.evil.example", gone],
		["an invite", "discord.gg/evil", gone],
		["an invite in capitals", "DISCORD.GG/evil", gone],
		["an invite with spaces", "discord .gg/evil", gone],
		["an invite in words", "discord (dot) gg / evil", gone],
		["an invite with another dot", "discord。gg/evil", gone],
		["an invite in full width", "discord．gg／evil", gone],
		["an invite with invisible letters", "dis\u00adcord.g\u200dg/evil", gone],
		["an invite with Markdown inside", "dis**cord.g**g/evil", gone],
		["a long invite", "discord.com/invite/evil", gone],
		["an old invite", "discordapp . com / invite / evil", gone],
		["a gift", "discord.gift/evil", gone],
		["a reference", "[a][1]\n[1]: https://evil.example", `[a][1]\n[1]: ${gone}`],
	])("%s", (_, text, expected) => {
		expect(withoutLinks(text)).toBe(expected);
	});

	test.each([
		"[click](https://evil.example)",
		"[click]( https://evil.example )",
		"[click](<https://evil.example> 'title')",
		"# [click](https://evil.example)",
		"[cl](x)[ick](https://evil.example)",
		"https://evil.example](https://evil.example)",
	])("a masked link: %j", (text) => {
		expect(withoutLinks(text)).not.toMatch(/\]\(|evil/);
	});
});

test.each([
	"Hello! 1/2, and/or, TCP/IP, 24/7, e.g. this … wait: no.",
	"In Node.js, write `a[0] (b)` and // a comment; C:\\dir\\file.txt",
	"We use Discord. gg everyone",
	"<t:1700000000:R> <:cook:123456789012345678> </ban:123456789012345678>",
	"Zoë: 你好。再见 👩‍👩‍👧",
])("text without links stays: %j", (text) => {
	expect(withoutLinks(text)).toBe(text);
});

describe("a link of a source", () => {
	const sources = ["Ask at https://ok.example/a?b=1. Or discord.gg/ours"];

	test("stays in the same form", () => {
		const text = "(https://ok.example/a?b=1), discord.gg/ours!";
		expect(withoutLinks(text, sources)).toBe(text);
	});

	test("stays visible where it would be masked", () => {
		expect(withoutLinks("[here](https://ok.example/a?b=1)", sources)).toBe("[here] (https://ok.example/a?b=1)");
	});

	test.each([
		"https://ok.example/a?b=12",
		"https://ok.example",
		"http://ok.example/a?b=1",
		"ｈttps://ok.example/a?b=1",
		"discord.gg/Ours",
	])("is not another one: %s", (text) => {
		expect(withoutLinks(text, sources)).toBe(gone);
	});

	test("does not give another form to a link that a filter did not recognize", () => {
		expect(withoutLinks("https://evil.example", ["ｈttps://evil.example"])).toBe(gone);
	});
});
