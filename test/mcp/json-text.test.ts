import { describe, expect, test } from "bun:test";
import { findMember, MemberReader, readElements, readMembers, rewriteObject } from "../../src/mcp/json-text.ts";

// The same texts in every run, so that a failure can be looked at again.
function createRandom(seed: number) {
	let state = seed;
	// mulberry32
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const below = (limit: number) => Math.floor(next() * limit);
	const pick = <T>(items: readonly [T, ...T[]]): T => items[below(items.length)] ?? items[0];
	return { below, pick };
}
type Random = ReturnType<typeof createRandom>;

// As JSON text: everything a careless scanner stumbles over.
const strings = [
	'""',
	'"a"',
	'"\\""',
	'"\\\\"',
	'"\\\\\\""',
	'"\\\\\\\\"',
	'"},{"',
	'"[1,2"',
	'"]:}"',
	'"\\u0022"',
	'"\\u005c"',
	'"\\u005C\\""',
	'"i\\u0064"',
	'"id"',
	'"\\/\\b\\f\\n\\r\\t"',
	'" \\u0000 "',
	'"ünï😀\u2028\u2029\u00a0\ufeff"',
	'"\\ud800"',
	'"__proto__"',
	'"constructor"',
] as const;
const scalars = [
	...["0", "-0", "1.0", "1e400", "-1E-7", "12345678901234567890123"],
	...["true", "false", "null"],
] as const;
const spaces = ["", "", "", " ", "\n", "\r\n", "\t", " \r\n\t "] as const;

function randomValue(random: Random, depth: number): string {
	const kind = depth > 3 ? random.below(2) : random.below(4);
	if (kind === 0) return random.pick(strings);
	if (kind === 1) return random.pick(["0", ...scalars]);
	return kind === 2 ? randomObject(random, depth + 1) : randomArray(random, depth + 1);
}

function randomObject(random: Random, depth: number): string {
	const space = () => random.pick(spaces);
	const members = Array.from(
		{ length: random.below(5) },
		() => `${space()}${random.pick(strings)}${space()}:${space()}${randomValue(random, depth)}${space()}`,
	);
	return `{${members.join(",") || space()}}`;
}

function randomArray(random: Random, depth: number): string {
	const space = () => random.pick(spaces);
	const elements = Array.from({ length: random.below(5) }, () => `${space()}${randomValue(random, depth)}${space()}`);
	return `[${elements.join(",") || space()}]`;
}

const rounds = 3_000;

describe("on random JSON", () => {
	test("members are where JSON.parse finds them", () => {
		const random = createRandom(1);
		for (let round = 0; round < rounds; round++) {
			const before = random.pick(spaces);
			const text = `${before}${randomObject(random, 0)}${random.pick(spaces)}`;
			const members = readMembers(text);
			const read = Object.fromEntries(
				members.map(({ key, start, end }): [string, unknown] => [key, JSON.parse(text.slice(start, end))]),
			);
			expect(read).toEqual(JSON.parse(text));
			const reader = new MemberReader(text);
			for (const { from, start, end, key } of members) {
				expect(reader.next()).toBe(true);
				for (const other of members)
					if (!other.key.includes("\\")) expect(reader.is(other.key)).toBe(other.key === key);
				expect(reader.value).toBe(text.slice(start, end));
				expect(JSON.parse(`{${text.slice(from, end)}}`)).toHaveProperty([key]);
				// No white space around a value.
				expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
			}
			expect(reader.next()).toBe(false);
			expect(text.slice(reader.after).trim()).toBe("}");
			// Inside something else they are the same.
			expect(readMembers(`[1,${text}]`, 3)).toEqual(
				members.map(({ key, from, start, end }) => ({ key, from: from + 3, start: start + 3, end: end + 3 })),
			);
		}
	});

	test("elements are where JSON.parse finds them", () => {
		const random = createRandom(2);
		for (let round = 0; round < rounds; round++) {
			const text = `${random.pick(spaces)}${randomArray(random, 0)}`;
			const elements = readElements(text).map(({ start, end }) => text.slice(start, end));
			expect(elements.map((element) => JSON.parse(element))).toEqual(JSON.parse(text));
			expect(elements).toEqual(elements.map((element) => element.trim()));
		}
	});

	test("a rewritten object lacks what was dropped and keeps every other byte", () => {
		const random = createRandom(3);
		for (let round = 0; round < rounds; round++) {
			const text = randomObject(random, 0);
			const members = readMembers(text);
			const dropped: string = JSON.parse(random.pick(strings));
			const rewritten = rewriteObject(text, members, (key) => key === dropped, ['"added":1.0']);
			const expected = JSON.parse(text);
			delete expected[dropped];
			expected.added = 1;
			expect(JSON.parse(rewritten)).toEqual(expected);
			const kept = members.filter(({ key }) => key !== dropped);
			expect(
				readMembers(rewritten)
					.slice(0, -1)
					.map(({ from, end }) => rewritten.slice(from, end)),
			).toEqual(kept.map(({ from, end }) => text.slice(from, end)));
		}
	});
});

test("numbers, order and unknown members survive a rewrite byte for byte", () => {
	const text = ' { "z" : 1e400 ,"drop":{"a":[1]}, "a":1.0,\n"n":12345678901234567890, "s":"\\u00e9\\/" } ';
	expect(rewriteObject(text, readMembers(text), (key) => key === "drop")).toBe(
		'{"z" : 1e400,"a":1.0,"n":12345678901234567890,"s":"\\u00e9\\/"}',
	);
});

test("a key is compared as what it means, not as it is written", () => {
	const text = '{"\\u0069d":1,"i\\u0064":2,"ID":3}';
	const members = readMembers(text);
	expect(members.map(({ key }) => key)).toEqual(["id", "id", "ID"]);
	const reader = new MemberReader(text);
	const isId = members.map(() => reader.next() && reader.is("id"));
	expect(isId).toEqual([true, true, false]);
});

test("of members with one key the last is found, as JSON.parse has it", () => {
	const text = '{"a":1,"a":2}';
	const member = findMember(readMembers(text), "a");
	expect(text.slice(member?.start, member?.end)).toBe("2");
	expect(findMember(readMembers(text), "b")).toBeUndefined();
});

test("nesting of any depth that JSON.parse takes is read", () => {
	const deep = "[".repeat(50_000) + "]".repeat(50_000);
	const text = `{"a":${deep},"b":1}`;
	expect(readMembers(text).map(({ key }) => key)).toEqual(["a", "b"]);
});

test.each(["[]", '"x"', "null", "1", "", " [{}]"])("%j, which is not an object, throws", (text) => {
	expect(() => readMembers(text)).toThrow(TypeError);
});

test.each(["{}", '"x"', "null", "1", "", ' {"a":[]}'])("%j, which is not an array, throws", (text) => {
	expect(() => readElements(text)).toThrow(TypeError);
});
