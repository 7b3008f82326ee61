// The language of `where`: what is read, what is refused, and three-valued logic.

import { expect, test } from "bun:test";
import {
	compareCount,
	evaluate,
	type Where,
	WhereParser,
	whereExample,
	whereGrammar,
} from "../../../src/bot/people/where.ts";

const nowMs = Date.parse("2026-11-24T12:00:00Z");
const parse = (text: string) => new WhereParser(text, nowMs).parse();

/** As a Lisp, with times as ISO 8601. */
function shown(where: Where): string {
	if ("not" in where) return `(not ${shown(where.not)})`;
	if ("parts" in where) return `(${where.decisive ? "or" : "and"} ${where.parts.map(shown).join(" ")})`;
	const { field, fromMs, toMs, by, count, items, detail } = where;
	const time = (name: string, ms: number | undefined) =>
		ms === undefined ? [] : [name, new Date(ms).toISOString().slice(0, 16)];
	const counted = ["messages", "cases", "spam"].includes(field) ? [`${by}${count}`] : [];
	return [
		field,
		...counted,
		...items,
		...(detail ? [`+${detail}`] : []),
		...time("from", fromMs),
		...time("to", toMs),
	].join(" ");
}

const week = "from 2026-11-17T12:00";

test.each([
	["joined > 2026-11-20", "joined from 2026-11-20T00:00"],
	["role:(@Head Chef, Sous Chef, 'A, B')", "role @Head Chef Sous Chef A, B"],
	["joined since 2d", "joined from 2026-11-22T12:00"],
	["joined in the last 2 days", "joined from 2026-11-22T12:00"],
	["joined within 36h", "joined from 2026-11-23T00:00"],
	["joined before 2026-10-01", "joined to 2026-10-01T00:00"],
	["joined <= 2026-10-01", "joined to 2026-10-02T00:00"],
	["joined before 30d ago", "joined to 2026-10-25T12:00"],
	["joined = 2026-11-20", "joined from 2026-11-20T00:00 to 2026-11-21T00:00"],
	["joined != 2026-11-20", "(not joined from 2026-11-20T00:00 to 2026-11-21T00:00)"],
	["joined:>2026-11-20T10:30:00Z", "joined from 2026-11-20T10:30"],
	["joined > 2026-11-20 10:30", "joined from 2026-11-20T10:30"],
	["member_for > 7d", "joined to 2026-11-17T12:00"],
	["account < 7d", `account ${week}`],
	["account_age >= 7 days", "account to 2026-11-17T12:00"],
	["age<1d12h", "account from 2026-11-23T00:00"],
	["created after 2026-11-01", "account from 2026-11-01T00:00"],
	["messages = 0 since 7d", `messages =0 ${week}`],
	["messages 0 since 7d", `messages =0 ${week}`],
	["messages since 7d = 0", `messages =0 ${week}`],
	["messages:0 last 7d", `messages =0 ${week}`],
	["no messages since 7d", `(not messages >=1 ${week})`],
	["never wrote", "(not messages >=1)"],
	["wrote in 7d", `messages >=1 ${week}`],
	["messages >= 8 and bot", "(and messages >=8 bot)"],
	["messages != 3", "(not messages =3)"],
	["role:@Member", "role @Member"],
	["has role @Member", "role @Member"],
	['role = "Two Words"', "role Two Words"],
	['role:@"a, (b)"', "role @a, (b)"],
	["role in (@A, @B)", "role @A @B"],
	["role:@A,@B", "role @A @B"],
	["role != @A", "(not role @A)"],
	["without role <@&123456789012345678>", "(not role <@&123456789012345678>)"],
	["no role", "(not role)"],
	["has no roles and bot", "(and (not role) bot)"],
	["role:none", "(not role)"],
	["roles = 0", "(not role)"],
	['role:"none" and role:"0"', "(and role none role 0)"],
	["name:in and bot", "(and name in bot)"],
	["name:! A* or !name:b", "(or (not name A*) (not name b))"],
	["name:!(a, *b) and role:!@A", "(and (not name a *b) (not role @A))"],
	['nickname:!* or name:"!!*"', "(or nickname !* name !!*)"],
	["-name:-a", "(not name -a)"],
	["nickname and no nickname", "(and nickname (not nickname))"],
	["has no nick and nickname:none or nick = a*", "(or (and (not nickname) (not nickname)) nickname a*)"],
	["name:not or user:and", "(or name not user and)"],
	["user:@zoe or user = <@!123456789012345678>", "(or user @zoe user <@!123456789012345678>)"],
	["member of 123456789012345678", "guild 123456789012345678"],
	["cases >= 2 since 7d", `cases >=2 ${week}`],
	["cases:warn >= 2", "cases >=2 +warn"],
	["no cases", "(not cases >=1)"],
	["was in a spam incident", "spam >=1"],
	["spam since 7d", `spam >=1 ${week}`],
	["reacted to https://discord.com/channels/1/2/3", "reacted https://discord.com/channels/1/2/3"],
	["reacted to (1/2, 3/4) with 👍 and bot", "(and reacted 1/2 3/4 +👍 bot)"],
	["reacted:1/2 with <:cake:123456789012345678>", "reacted 1/2 +<:cake:123456789012345678>"],
	["invite:abc", "invite abc"],
	["joined by invite https://discord.gg/abc", "invite https://discord.gg/abc"],
	["in timeout", "timeout"],
	["timed_out = false", "(not timeout)"],
	["NOT bot AND (pending OR timeout)", "(and (not bot) (or pending timeout))"],
	["bot or pending and not timeout", "(or bot (and pending (not timeout)))"],
	["bot && !pending || timeout", "(or (and bot (not pending)) timeout)"],
	[whereExample, `(and joined from 2026-11-22T12:00 (not role @Member) messages =0 ${week})`],
])("%s", (text, expected) => {
	expect(shown(parse(text))).toBe(expected);
});

test("every example of the grammar is read", () => {
	for (const example of whereGrammar.slice(1, -1).flatMap((line) => line.split(" | ")))
		expect(() => parse(example.replace(/(?<=.) \([a-z ,:]+\)$/, ""))).not.toThrow();
});

test.each([
	["", "expected a condition, at its end"],
	["names = ada", 'unknown field, at position 1, "names = ada"'],
	["bot and", "expected a condition, at its end"],
	["(bot", 'expected ")", at its end'],
	["bot pending", 'expected "and", "or" or the end (names with spaces need quotation marks), at position 5, "pending"'],
	["role:@Server Booster", 'need quotation marks), at position 14, "Booster"'],
	["role:", "expected a name or id, at its end"],
	[
		"nickname and name:*",
		'expected a name; one that begins with a sign needs quotation marks, such as "!*", at its end',
	],
	["role:(@A @B)", 'expected "," or ")", at position 10'],
	[
		"joined < 7d",
		'a comparison with a duration is ambiguous: write since 2d (newer) or before 2d (older), at position 8, "< 7d"',
	],
	["joined", 'expected "since", "before", < or >, at its end'],
	["joined since soon", 'expected a duration such as 7d, or a date such as 2026-11-20, at position 14, "soon"'],
	["joined since 2026-02-30", "expected a duration such as 7d"],
	["messages > since 7d", 'expected a number, at position 12, "since 7d"'],
	["bot = maybe", "expected true or false, at position 7"],
	[`name:(${"a,".repeat(80)}a)`, "more than 150 words and signs, at position 1"],
	['role:"A', "unexpected character, at position 6"],
])("%s is refused", (text, problem) => {
	const refusal = () => parse(text);
	expect(refusal).toThrow(problem);
	expect(refusal).toThrow(/Fields: joined, .* Example: joined since 2d .* Nothing was done/);
});

test("what is unknown stays unknown unless the rest decides", () => {
	const values: Record<string, boolean | undefined> = { bot: true, pending: false };
	const holds = (text: string) => evaluate(parse(text), ({ field }) => values[field]);
	for (const [text, expected] of [
		["timeout", undefined],
		["not timeout", undefined],
		["timeout and bot", undefined],
		["timeout and pending", false],
		["timeout or bot", true],
		["timeout or pending", undefined],
		["not (timeout and pending)", true],
	] as const)
		expect([text, holds(text)]).toEqual([text, expected]);
});

test("a count that may be higher decides only what more cannot change", () => {
	for (const [by, count, exact, open] of [
		["=", 2, true, undefined],
		["=", 1, false, false],
		["=", 3, false, undefined],
		[">", 1, true, true],
		[">", 2, false, undefined],
		[">=", 2, true, true],
		[">=", 3, false, undefined],
		["<", 2, false, false],
		["<", 3, true, undefined],
		["<=", 1, false, false],
		["<=", 2, true, undefined],
	] as const) {
		const both = [compareCount({ by, count }, 2), compareCount({ by, count }, 2, true)];
		expect([by, count, ...both]).toEqual([by, count, exact, open]);
	}
});
