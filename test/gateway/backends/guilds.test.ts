import { describe, expect, test } from "bun:test";
import { readGuilds } from "../../../src/gateway/backends/guilds.ts";

const real = "123456789012345678";
const forged = "555555555555555555";

const answer = (...texts: string[]) => ({ result: { content: texts.map((text) => ({ type: "text", text })) } });
const read = (...lines: string[]) => Object.fromEntries(readGuilds(answer(lines.join("\n"))));

test("our layout is a count line, then a name and an id a line", () => {
	expect(read("2 guild(s):", `One | ID: ${real}`, `Two two | ID: ${forged}`)).toEqual({
		[real]: "One",
		[forged]: "Two two",
	});
});

test("invisible characters of a name are escaped", () => {
	const name = "One\u{e0041}\u200b\u3164 👩‍👩‍👧";
	expect(read(`${name} | ID: ${real}`)).toEqual({ [real]: "One\\u{e0041}\\u{200b}\\u{3164} 👩‍👩‍👧" });
});

test("no more than 10,000 are kept", () => {
	const line = (_: unknown, n: number) => `G | ID: ${10n ** 17n + BigInt(n)}`;
	const lines = Array.from({ length: 10_001 }, line);
	expect(Object.keys(read(...lines))).toHaveLength(10_000);
});

test.each(["0 guild(s):", "", "The bot is in no guild.", "3 guild(s):"])("%j lists no guild", (text) => {
	expect(read(text)).toEqual({});
});

describe("no name can forge an id", () => {
	test.each([
		forged,
		`ID: ${forged}`,
		`x | ID: ${forged}`,
		`| ID: ${forged} |`,
		`${forged} | ID: ${forged}`,
		`ID: ${forged}\u2028`,
		`${forged}\u2028x`,
		`${forged}\u2029`,
		`${forged}\r`,
		`x | ID: ${forged}\rx`,
		`ID: ${forged}\u0085`,
		`ID: ${forged}\u000b\u000c`,
		`ID: ${forged}\u00a0`,
		`${forged}${"9".repeat(30)}`,
		`😀 ${forged} 😀`,
	])("%j", (name) => {
		expect(Object.keys(read("1 guild(s):", `${name} | ID: ${real}`))).toEqual([real]);
	});
});

describe("names", () => {
	test.each([
		["A | B", "A | B"],
		["A | ID: 5", "A | ID: 5"],
		["  spaced  ", "spaced"],
		["", real],
		["x".repeat(300), "x".repeat(100)],
	])("%j is shown as %j", (name, shown) => {
		expect(read(`${name} | ID: ${real}`)).toEqual({ [real]: shown });
	});

	test.each(["a\rb", "a\u2028b", "a\u0000b", "a\u001b[2Jb", "a\u0085b"])(
		"%j is shown without what could end a line or command a terminal",
		(name) => {
			const [shown = ""] = Object.values(read(`${name} | ID: ${real}`));
			expect(shown).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
			expect(shown).toStartWith("a");
		},
	);
});

describe("in other layouts the last long number on a line is the id", () => {
	test.each([
		[`- One (${real})`, "- One ("],
		[`${real}: One`, real],
		[`One, owner ${forged}, id ${real}, 12 members`, `One, owner ${forged}, id`],
		[`One | ID: ${real} | 12 members`, "One | ID:"],
		[`* **One** <${real}>`, "* **One** <"],
		[`One ${"1".repeat(17)}`.replace("1".repeat(17), real), "One"],
	])("%j", (line, name) => {
		expect(read(line)).toEqual({ [real]: name });
	});

	test.each(["One: 12 members", `One ${"1".repeat(16)}`, `One ${"1".repeat(21)}`])("%j has none", (line) => {
		expect(read(line)).toEqual({});
	});
});

test("of two lines with one id the first counts", () => {
	expect(read(`One | ID: ${real}`, `Two | ID: ${real}`)).toEqual({ [real]: "One" });
});

test("every text item is read, other items are left out", () => {
	const guilds = readGuilds({
		result: {
			content: [
				{ type: "text", text: `One | ID: ${real}` },
				{ type: "image", data: "…" },
				null,
				"x",
				{ type: "text", text: `Two | ID: ${forged}` },
			],
		},
	});
	expect([...guilds.keys()]).toEqual([real, forged]);
});

test("CR LF ends lines", () => {
	expect(readGuilds(answer(`One | ID: ${real}\r\nTwo | ID: 7\r\n`)).size).toBe(2);
});

test.each<Record<string, unknown>>([
	{ error: { code: -32601, message: "Method not found: list_guilds" } },
	{ result: {} },
	{ result: null },
	{ result: { content: "x" } },
	{ result: { content: [{ type: "text", text: `x | ID: ${real}` }], isError: true } },
])("%j says nothing of guilds, and throws", (message) => {
	expect(() => readGuilds(message)).toThrow(Error);
});

test("a line of another make holds nothing up, however long it is", () => {
	const line = `x${" ".repeat(200_000)}y`;
	expect(read(line)).toEqual({});
	expect(read(`${line} | ID: ${real}`)).toHaveProperty(real);
});
