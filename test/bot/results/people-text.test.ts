// The text of results and errors for people on Discord.

import { describe, expect, test } from "bun:test";
import { peopleText } from "../../../src/bot/results/people-text.ts";
import { ActingPerson, actAs, forClients } from "../../../src/discord/acting-person.ts";
import { describeBits } from "../../../src/discord/permissions.ts";

const words = [
	"remove_timeout",
	"create_role_menu",
	"send_message",
	"list_cases",
	"dry_run",
	"temp_ban",
	"add_role",
	"next_before",
	"unlock = true",
	"now is 2026-01-31T12:00:00Z",
];

describe("every line stays", () => {
	test.each(words)("a result with %s", (word) => {
		const plain = word.replaceAll("_", "").replace(/^now.*/, "now is");
		const lines = [`#1 | ${word} | reason: told them about ${word}. Use ${word}; then ${word}`, word, "the end"];
		for (const isError of [false, true]) {
			const shown = peopleText(lines.join("\n"), { isError }).split("\n");
			expect(shown).toHaveLength(3);
			for (const line of shown.slice(0, 2)) expect(line.replace(/\\?_/g, "")).toContain(plain);
			expect(peopleText(word, { isError })).not.toBe("");
		}
	});
});

test("an error never becomes empty", () => {
	for (const text of ["", "Invalid parameters: ", "\n \n"])
		expect(peopleText(text, { isError: true })).toStartWith("It failed.");
});

test("errors name permissions and the server as Discord does", () => {
	const of = (text: string) => peopleText(text, { isError: true });
	expect(of("You lack CONNECT, MODERATE_MEMBERS in #a.")).toBe("You lack Connect, Timeout Members in #a.");
	expect(of(`The guild ${"1".repeat(18)} has no case.`)).toBe("This server has no case.");
});

test("advice for assistants is for clients", () => {
	const seen = () => [forClients("Use list_roles."), describeBits(1n << 40n)];
	expect(seen()).toEqual(["Use list_roles.", "MODERATE_MEMBERS"]);
	expect(actAs(new ActingPerson("1"), seen)).toEqual(["Use list_roles.", "MODERATE_MEMBERS"]);
	expect(actAs(new ActingPerson("1", true), seen)).toEqual(["", "MODERATE_MEMBERS"]);
});

test.each<[string, string, string]>([
	[
		"fields",
		"#1 | 2026-01-31T12:00:00Z | temp_ban | reason: see list_cases; get_bans",
		"#1 | <t:1769860800:f> | temp\\_ban | reason: see list\\_cases; get\\_bans",
	],
	["a member called like a tool", "Kicked get_bans (@get_bans, ID: 1).", "Kicked get\\_bans (@get\\_bans, ID: 1)."],
	[
		"Markdown and mentions",
		"Kicked [x](https://a.example) **b** <@1>",
		"Kicked \\[x](https://a.example) \\*\\*b\\*\\* \\<@1>",
	],
])("%s are escaped", (_, text, shown) => {
	expect(peopleText(text, { isError: false })).toBe(shown);
});
