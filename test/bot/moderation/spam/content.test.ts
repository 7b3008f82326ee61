import { expect, test } from "bun:test";
import {
	createHash,
	hasListedLink,
	linksIn,
	normalized,
	partsOf,
} from "../../../../src/bot/moderation/spam/content.ts";
import { RecentPosts } from "../../../../src/bot/moderation/spam/detector.ts";

const texts: Record<string, string> = {
	"Hello,  World! 1": "helloworld1",
	ＨＥＬＬＯ: "hello",
	"he\u200bllo\u00ad": "hello",
	"**a** <@!123456789012345678> <a:wave:123456789012345678> <t:1:R> b": "ab",
	"see https://example.com/x and discord.gg/abc": "seeand",
	"Привет 你好": "привет你好",
};

for (const [text, wanted] of Object.entries(texts))
	test(`letters and digits of ${JSON.stringify(text)}`, () => {
		expect(normalized(text)).toBe(wanted);
	});

const links: Record<string, readonly string[]> = {
	"https://a.example/x": ["a.example"],
	"<https://a.example>": ["a.example"],
	"[b.example](https://a.example/x)": ["a.example"],
	"discord.gg/abc": ["discord.gg"],
	"HTTPS://A.EXAMPLE/": ["a.example"],
	"https://b.example@a.example/": ["a.example"],
	"me@a.example/x": [],
	"1.5/2": [],
	"and/or": [],
	"http://": [],
};

for (const [text, hosts] of Object.entries(links))
	test(`links in ${text}`, () => {
		expect(linksIn(text).map(({ hostname }) => hostname)).toEqual([...hosts]);
	});

test("hostile texts of any kind are read", () => {
	const hash = createHash();
	const units = ["<@", "a.", "a-", "https://", "\ufdfa", "<:a:", "</a", "[](", "é.", "\ud800", "a.b/"];
	for (const unit of units) {
		const text = unit.repeat(4_000);
		expect(partsOf({ text, files: [] }, hash).length).toBeLessThan(8);
		hasListedLink(text, ["evil.example"]);
	}
});

test("hashes of two processes differ, and do not show their text", () => {
	const [one, other] = [createHash(), createHash()];
	expect(one("text", "a")).toBe(one("text", "a"));
	expect(one("text", "a")).not.toBe(one("link", "a"));
	expect(one("text", "a")).not.toBe(other("text", "a"));
});

test("the memory for messages is limited, and empty after the window", () => {
	let now = 0;
	const limits = { channels: 3, times: 5, windowMs: 1_000 };
	const recent = new RecentPosts();
	const part = (n: number) => ({ kind: "text", hash: String(n) }) as const;
	const add = (person: string, n: number, parts = [part(n)]) =>
		recent.add(person, { messageId: String(n), channelId: "1", parts }, now, limits);
	for (let n = 0; n < 200; n += 1) add("one", n);
	expect(recent.size).toBe(60);
	for (let n = 0; n < 60_000; n += 1) add(`person ${n}`, n);
	expect(recent.size).toBe(50_000);
	const parts = Array.from({ length: 16 }, (_, n) => part(n));
	for (let n = 0; n < 10_000; n += 1) add(`writer ${n}`, n, parts);
	expect(recent.size).toBeLessThanOrEqual(50_000);
	for (let n = 0; n < 10_000; n += 1) add(`chatter ${n}`, n, []);
	expect(recent.size).toBeGreaterThan(49_000);
	now = 2_000;
	add("last", 1);
	expect(recent.size).toBe(1);
});

const listed: readonly (readonly [text: string, entry: string, is: boolean])[] = [
	["https://discord.gg/free", "discord.gg/free", true],
	["https://discord.gg/free/", "discord.gg/free", true],
	["https://discord.gg/free?event=1", "discord.gg/free/", true],
	["https://discord.gg/freedom", "discord.gg/free", false],
	["https://a.example/gift/1", "a.example/gift", true],
	["https://a.example", "a.example", true],
	["https://münchen.example/x", "münchen.example", true],
	["https://xn--mnchen-3ya.example/x", "münchen.example", true],
	["https://munchen.example/x", "münchen.example", false],
];

for (const [text, entry, is] of listed)
	test(`${text} is ${is ? "" : "not "}on the list with ${entry}`, () => {
		expect(hasListedLink(text, [entry])).toBe(is);
	});

const short: Record<string, boolean> = {
	"Happy New Year everyone, have a great 2027!": true,
	[`${"ha".repeat(60)}!`]: true,
	[`G${"O".repeat(100)}AL!`]: true,
	["lets go ".repeat(30)]: true,
	"Free gift for all members, claim it on my profile now!": false,
};

for (const [text, isShort] of Object.entries(short))
	test(`${isShort ? "too short" : "long enough"}: ${text}`, () => {
		const [part] = partsOf({ text, files: [] }, createHash());
		expect(part?.isShort).toBe(isShort);
	});

test("only links to the sites of GIFs are taken for GIFs", () => {
	const hash = createHash();
	const kinds = (text: string) => partsOf({ text, files: [] }, hash).map(({ kind }) => kind);
	expect(kinds("https://tenor.com/view/a")).toEqual([]);
	expect(kinds("https://tenor.com.evil.example/view/a")).toEqual(["link"]);
	expect(kinds("https://nottenor.com/view/a")).toEqual(["link"]);
	expect(kinds("https://tenor.com@evil.example/view/a")).toEqual(["link"]);
});
