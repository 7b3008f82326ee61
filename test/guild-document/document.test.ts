// Reading guild documents: plain errors for mistakes, and nothing but an InvalidDocument for whatever is given.

import { describe, expect, test } from "bun:test";
import {
	type GuildDocument,
	InvalidDocument,
	readChanges,
	readDocument,
	toYaml,
} from "../../src/guild-document/format/document.ts";
import { mergeDocuments } from "../../src/guild-document/format/merge.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import { type Random, seeded } from "../support/random.ts";
import { randomGuild } from "../support/random-guild.ts";
import { guildState, idOf } from "./state.ts";

/** Returns the issues of an InvalidDocument; none if `read` returns. Any other error fails the test. */
function issuesOf(read: () => unknown): readonly string[] {
	try {
		read();
		return [];
	} catch (error) {
		if (error instanceof InvalidDocument) return error.issues;
		throw error;
	}
}

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

test("a document without a version has the current one", () => {
	expect(readDocument("{}")).toEqual({ version: 1 });
});

describe("a mistake is named with its path", () => {
	const rows: [string, string, string[]][] = [
		["nothing", "", ["the document: expected an object with fields, received null"]],
		["a number", "5", ["the document: expected an object with fields, received 5"]],
		["another version", "version: 2", ["version: expected 1"]],
		[
			"an unknown field",
			"version: 1\nroles: [{ name: a, colour: red, hue: 1 }]",
			[
				"roles[0].colour: is not a known key; did you mean color? Keys: name, id, key, managed, color, hoist, mentionable, icon, permissions",
				"roles[0].hue: is not a known key",
			],
		],
		[
			"wrong types",
			"version: 1\nchannels: {}\nroles: [{ name: 5, hoist: 1, color: reddish }]",
			[
				"roles[0].name: expected a text; put numbers in quotes",
				"roles[0].color: expected the name of a CSS color",
				"roles[0].hoist: expected true or false",
				"channels: expected a list",
			],
		],
		[
			"an id as a number",
			"version: 1\nid: 123456789012345678",
			["id: expected an id in quotes, because it is too long for a number"],
		],
		[
			"unknown permissions",
			"version: 1\neveryone: [VIEW_CHANNEL, FLY, BIT_63]",
			[
				"everyone[1]: expected a permission such as VIEW_CHANNEL",
				"everyone[2]: expected a permission such as VIEW_CHANNEL",
			],
		],
		[
			"a NUL character and a lone surrogate",
			'{"version":1,"roles":[{"name":"a\\u0000"},{"name":"\\ud800"}]}',
			[0, 1].map((index) => `roles[${index}].name: expected a text without NUL characters and lone surrogates`),
		],
		[
			"a list that is there twice",
			"version: 1\nroles: []\nchannels: []\nroles: []",
			["roles: it is there more than once; write one"],
		],
		[
			"an overwrite for nothing",
			"version: 1\nchannels: [{ name: a, overwrites: [{ allow: [] }] }]",
			["channels[0].overwrites[0]: expected either role or member"],
		],
		[
			"durations",
			`channels: [{ name: a, slowmode: 30 }, { name: b, slowmode: 7h }, { name: c, auto_archive: 2d }]
messages: [{ channel: a, poll: { question: "?", answers: [x], duration: 90m } }]`,
			[
				"channels[0].slowmode: expected a duration such as 30s",
				"channels[1].slowmode: expected a duration: up to 6h",
				"channels[2].auto_archive: expected a duration: one of 0s, 1h, 1d, 3d, 7d",
				"messages[0].poll.duration: expected whole hours",
			],
		],
		["a loop of aliases", "a: &a [*a]", ["it has more than 100000 values"]],
	];
	test.each(rows)("%s", (_, text, expected) => {
		expect([...issuesOf(() => readDocument(text))]).toEqual(expected);
	});

	const hint =
		'only a whole part can be removed, such as "roles": null. To leave out one thing, plan a document without it.';
	test.each([
		[
			"categories[0].channels[1].topic",
			{ categories: [{ name: "a", channels: [{ name: "b" }, { name: "c", topic: null }] }] },
		],
		["channels[0].tags", { channels: [{ name: "a", tags: null }] }],
		["roles[0].name", { roles: [{ name: null }] }],
		["roles[1]", { roles: [{ name: "a" }, null] }],
		["everyone[0]", { everyone: [null] }],
		["settings.community", { settings: { community: null } }],
		["omitted", { omitted: null, bans: null }],
	])("%s is null in changes", (path, changes) => {
		for (const given of [changes, JSON.stringify(changes)])
			expect([...issuesOf(() => readChanges(given))]).toEqual([`${path} is null: ${hint}`]);
		expect(issuesOf(() => readDocument(changes))).not.toContain(hint);
	});

	test("an unknown field of changes is unknown, also if it is null", () => {
		expect([...issuesOf(() => readChanges({ rolls: null, roles: null }))]).toEqual([
			"rolls: is not a known key; did you mean roles? Keys: version, omitted, keep_bot_access, repost, id, settings, everyone, roles, emojis, channels, categories, automod, events, webhooks, welcome_screen, onboarding, bot, messages, members, bans",
		]);
	});

	test("too many channels", () => {
		const channels = Array.from({ length: 50 }, () => ({ name: "same" }));
		const categories = Array.from({ length: 20 }, () => ({ name: "x", channels }));
		expect([...issuesOf(() => readDocument({ categories }))]).toEqual([
			"it has 1020 channels and categories; expected at most 1000",
		]);
	});

	test("an error lists at most 50 mistakes, and the number of others", () => {
		const roles = Array.from({ length: 200 }, () => ({ name: 1 }));
		const issues = issuesOf(() => readDocument({ version: 1, roles }));
		expect(issues.length).toBe(51);
		expect(issues.at(-1)).toBe("150 more mistakes");
	});
});

test.each([
	nested(100_000, "[", "]"),
	`{"version":1,"roles":${nested(200_000, "[", "]")}}`,
	nested(100_000, "- ", ""),
	nested(100_000, "{a: ", "}"),
	`a0: &a0 [x, x, x, x]\n${Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`).join("\n")}`,
	`version: 1\nroles: &r [{ name: a }]\nmembers: [${"*r, ".repeat(5000)}]`,
	"version: 1\n__proto__: { roles: 5 }\nconstructor: x",
	'{"version":1,"__proto__":{},"constructor":[],"toString":1}',
	"%YAML 9\n---\n...\n---\n",
	"\0",
	"version: 1\nroles: !!set {a, b}",
	"? [a]\n: b",
])("a hostile text is refused (%#)", (text) => {
	expect(issuesOf(() => readDocument(text))).not.toEqual([]);
});

test("a text with lines that look like sections is read", () => {
	const topic = "a\nroles: x\nroles: y\nchannels:";
	const document = readDocument({ channels: [{ name: "a", topic }], roles: [] });
	expect(readDocument(toYaml(document))).toEqual(document);
	expect(readDocument(JSON.stringify(document, null, 1))).toEqual(document);
});

test("a byte order mark and other spellings are read", () => {
	expect(
		readDocument(
			'\uFEFF{"version":1,"everyone":["View Channels","BIT_0"],"roles":[{"name":"a","color":"#ff00aa TO #000000"}],"channels":[{"name":"b","slowmode":"90 minutes","thread_slowmode":"off"}]}'.replace(
				" TO ",
				" to ",
			),
		),
	).toEqual({
		version: 1,
		everyone: ["VIEW_CHANNEL", "CREATE_INSTANT_INVITE"],
		roles: [{ name: "a", color: "#FF00AA to #000000" }],
		channels: [{ name: "b", slowmode: "90m", thread_slowmode: "0s" }],
	});
});

test("the color #000000 is read as no color, as Discord stores it", () => {
	const of = (color: string) => readDocument(JSON.stringify({ version: 1, roles: [{ name: "a", color }] })).roles?.[0];
	expect(of("#000000")).toEqual({ name: "a", color: "" });
	expect(of("#000000 to #8E44AD")?.color).toBe("#000000 to #8E44AD");
});

const state = () =>
	guildState({
		guild: { features: ["COMMUNITY"] },
		roles: [
			{ id: 1, name: "Role1" },
			{ id: 2, name: "⸻" },
			{ id: 3, name: "⸻" },
			{ id: 4, name: "Bot", managed: true },
		],
		channels: [
			{ id: 5, name: "Category", type: 4 },
			{ id: 6, name: "general", parent: 5 },
			{ id: 7, name: "general" },
			{ id: 8, name: "Chat", type: 2 },
		],
		emojis: [{ id: idOf(9), name: "emoji_1", roles: [] }],
		automod: [],
		events: [],
		webhooks: [],
		members: [{ id: idOf(20), roles: [idOf(1)] }],
		bans: [],
		welcomeScreen: { description: null, welcome_channels: [] },
		onboarding: { enabled: false, mode: 0, prompts: [], default_channel_ids: [] },
	});

const odd = (random: Random): unknown =>
	random.pick([
		...[null, undefined, true, 0, -1, 1.5, Number.NaN, 2 ** 60, "", "a"],
		...[[], {}, [[]], [null], [{}], { name: "x" }, "x".repeat(5000), "\0"],
		...["\ud800", "@everyone", "+role/x", ":a:", "::", "123456789012345678"],
		...[idOf(1), idOf(6), 1n, Symbol("x"), () => 1, new Date(0), "general"],
		...[["VIEW_CHANNEL"], [{ role: "@everyone" }], [{ name: "Role1" }], "⸻"],
	]);

/** Replaces, removes and adds some values at random places. */
function mutated(value: unknown, random: Random, rate: number): unknown {
	if (random.chance(rate)) return odd(random);
	if (Array.isArray(value)) {
		const items = value.map((one) => mutated(one, random, rate));
		if (random.chance(rate * 4)) items.push(items[0]);
		return random.chance(rate * 4) ? items.toReversed() : items;
	}
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value)
		.filter(() => !random.chance(rate))
		.map(([field, one]) => [
			random.chance(rate / 4) ? random.pick(["id", "key", "name"]) : field,
			mutated(one, random, rate),
		]);
	return Object.fromEntries(entries);
}

/** Reads a document and does everything with it. Any other error than InvalidDocument fails the test. */
function tryAll(value: unknown, random: Random): boolean {
	let read: GuildDocument | undefined;
	issuesOf(() => {
		read = readDocument(value);
	});
	const document = read;
	if (!document) return false;
	expect(readDocument(toYaml(document))).toEqual(document);
	const merged = mergeDocuments(document, document);
	for (const one of [document, merged])
		issuesOf(() => {
			const { steps } = difference(one, state(), { prune: true });
			const ids = new Map(
				steps.flatMap(({ placeholder }, index) => (placeholder ? [[placeholder, idOf(1000 + index)] as const] : [])),
			);
			for (const step of steps) {
				JSON.stringify(step.request(ids));
				JSON.stringify(step.request(new Map()));
			}
			expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length);
			if (random.chance(0.5)) difference(one, state(), { prune: false, ids });
		});
	return true;
}

test.each([1, 2, 3, 4])("random documents never throw (seed %d)", (seed) => {
	const random = seeded(seed);
	let valid = 0;
	for (let round = 0; round < 150; round++) {
		const document = {
			...randomGuild(random, {
				roles: random.below(6),
				channels: random.below(12),
				memberIds: [idOf(20)],
				community: random.chance(0.5),
				pictures: ["0".repeat(32), "1".repeat(32)],
			}),
			...(random.chance(0.5) && { omitted: random.pick(["keep", "default"]) }),
			welcome_screen: { channels: [{ channel: "sys", description: "x" }] },
			onboarding: {
				default_channels: ["sys", "rules"],
				prompts: [{ title: "Q", options: [{ title: "A", channels: ["sys"] }] }],
			},
			members: [{ id: idOf(20), roles: ["@everyone"] }],
			bans: [{ id: idOf(30), reason: "x" }],
		};
		const rate = random.pick([0, 0.001, 0.003, 0.01, 0.1]);
		if (tryAll(mutated(document, random, rate), random)) valid += 1;
	}
	expect(valid).toBeGreaterThan(20);
});

test.each([1, 2])("random texts never throw (seed %d)", (seed) => {
	const random = seeded(seed);
	const yaml = toYaml(exportDocument(state()));
	const json = JSON.stringify(exportDocument(state()));
	const pieces = ["&a ", "*a", "- ", ": ", "\n", "  ", "{", "}", "[", "]"].concat([
		"'",
		'"',
		"|\n",
		">",
		"!!x ",
		"? ",
		"#",
		"%",
		"@",
		"`",
		"\0",
		"\t",
		"~",
	]);
	for (let round = 0; round < 400; round++) {
		let text = random.pick([yaml, json]);
		for (let count = random.below(6); count >= 0; count--) {
			const at = random.below(text.length);
			text = text.slice(0, at) + random.pick(pieces) + text.slice(at + random.below(4));
		}
		issuesOf(() => readDocument(text));
	}
});

describe("a YAML text that repeats a part very often is refused at once", () => {
	const times = (count: number, text: string) => text.repeat(count);
	const rows: [string, string][] = [
		["a list that has itself", `roles: &a [${times(15_000, "*a, ")}*a]`],
		[
			"an object with many unknown fields",
			`roles:\n- &a {${Array.from({ length: 1500 }, (_, index) => `x${index}: 1`).join(", ")}}\n${times(1200, "- *a\n")}`,
		],
	];
	test.each(rows)("%s", (_, text) => {
		expect(issuesOf(() => readDocument(text))).toEqual(["it has more than 100000 values"]);
	});

	test("as an object, too", () => {
		const list: unknown[] = [];
		for (let count = 0; count < 15_000; count += 1) list.push(list);
		expect(issuesOf(() => readDocument({ roles: list }))).toEqual(["it has more than 2000000 values"]);
	});
});

test("an unknown field cannot end the line of its mistake, and is shown in part", () => {
	const hidden = "\u001b[2J\u2028\u202e";
	const issues = issuesOf(() =>
		readDocument({ roles: [{ name: "a", [`x\nplan_hash=0 ${hidden}`]: 1 }, `b\n${hidden}`], ["y".repeat(10_000)]: 1 }),
	);
	expect(issues).toEqual([
		String.raw`roles[1]: expected an object with fields, received "b  [2J \u{202e}"`,
		"roles[0].x plan_hash=0  [2J \\u{202e}: is not a known key. Keys: name, id, key, managed, color, hoist, mentionable, icon, permissions",
		`${"y".repeat(100)}: is not a known key. Keys: version, omitted, keep_bot_access, repost, id, settings, everyone, roles, emojis, channels, categories, automod, events, webhooks, welcome_screen, onboarding, bot, messages, members, bans`,
	]);
});
