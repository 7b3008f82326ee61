// The member index against a linear search, and behind the real discord.js.

import { expect, spyOn, test } from "bun:test";
import { compareIds } from "../../../../src/bot/discord/ids.ts";
import { MemberIndex, maxCounted, type Names } from "../../../../src/bot/discord/members/member-index.ts";
import { NameTable } from "../../../../src/bot/discord/members/name-table.ts";
import { fold } from "../../../../src/bot/discord/text.ts";
import { seeded } from "../../../support/random.ts";
import { until } from "../../../support/until.ts";
import { startWorld, type TestWorld } from "../../../support/world.ts";

/** Caches folded names: few differ. */
const folded = new Map<string, string>();
function foldOnce(name: string): string {
	const known = folded.get(name) ?? fold(name);
	folded.set(name, known);
	return known;
}

/** Linear search over all names. */
class PlainSearch {
	readonly members = new Map<string, Names>();

	/** The ids of all matches, best first. */
	find(query: string): string[] {
		const matches = [...this.members]
			.map(([id, names]) => ({ id, ...this.#seen(names, query) }))
			.filter(({ rank }) => rank < 3)
			.sort((a, b) => a.rank - b.rank || a.shown.localeCompare(b.shown) || compareIds(a.id, b.id));
		return matches.map(({ id }) => id);
	}

	#seen({ nickname, globalName, username }: Names, query: string) {
		const ranks = [nickname, globalName, username]
			.map((name) => foldOnce(name ?? ""))
			.map((name) => {
				if (name === query) return 0;
				return name.startsWith(query) ? 1 : name.includes(query) ? 2 : 3;
			});
		const shown = nickname ?? globalName ?? username;
		return { shown, rank: Math.min(...ranks) };
	}
}

const words = "a A an na Anna z Zoë ß ss ﬁ ø Σ ς か が 李 伟 한 🍞 👩‍🍳 🏳️‍🌈 | @ ÿ";
/** Few enough that names are often equal, or start or end with one another. */
const pieces = [
	...words.split(" "),
	...["zoe\u0308", "שלום", "مرحبا", "\u202e", "\u0301", " "],
	...["", "\n", "\0", "\u{10ffff}"],
];

function createNames(seed: number) {
	const { below: random } = seeded(seed);
	const text = (maxLength: number) =>
		Array.from({ length: random(maxLength + 1) }, () => pieces[random(pieces.length)]).join("");
	return {
		random,
		text,
		names: (): Names => ({
			nickname: random(2) === 0 ? null : text(4),
			globalName: random(2) === 0 ? null : text(4),
			username: text(3),
		}),
	};
}

function check(index: MemberIndex, plain: PlainSearch, query: string) {
	const all = plain.find(query);
	for (const limit of [1, 10, 50]) {
		const found = index.find(query, limit);
		const ids = all.slice(0, limit);
		expect({ query, ...found }).toEqual({ query, total: all.length, ids });
	}
}

test.each([1, 2, 3, 4])("after random changes, look-ups find what a linear search finds (%d)", async (seed) => {
	const { random, text, names } = createNames(seed);
	const index = new MemberIndex();
	const plain = new PlainSearch();
	const ids = Array.from({ length: 900 }, (_, at) =>
		String((BigInt(at + 1) * 7_919n ** 4n) % 10n ** 19n).padEnd(17, "7"),
	);
	const anyId = () => ids[random(ids.length)] ?? "";
	const merging: Promise<void>[] = [];
	for (let round = 0; round < 60; round += 1) {
		for (let step = random(60); step >= 0; step -= 1) {
			const id = anyId();
			if (random(4) === 0) {
				index.delete(id);
				plain.members.delete(id);
			} else {
				// Now and then they are called what they were called before.
				const called = (random(5) === 0 && plain.members.get(id)) || names();
				index.set(id, called);
				plain.members.set(id, called);
			}
		}
		if (random(50) === 0) {
			index.clear();
			plain.members.clear();
		}
		// What changes while a table is made is right in the end, too.
		if (random(4) === 0) merging.push(index.rebuild());
		if (random(3) === 0) await Bun.sleep(0);
		expect(index.size).toBe(plain.members.size);
		for (let asked = 0; asked < 4; asked += 1) {
			const query = fold(text(2));
			if (query !== "") check(index, plain, query);
		}
		const { nickname, username } = plain.members.get(anyId()) ?? {};
		const whole = fold(nickname || username || "");
		if (whole !== "") check(index, plain, whole);
	}
	await Promise.all(merging);
});

test("changes in a guild of 20,000 are found before, during and after a rebuild", async () => {
	const { random, names } = createNames(5);
	const index = new MemberIndex();
	const plain = new PlainSearch();
	const rename = (at: number) => {
		const id = `${10 ** 17 + at}`;
		const called = { ...names(), username: `user${at}` };
		index.set(id, called);
		plain.members.set(id, called);
	};
	for (let at = 0; at < 20_000; at += 1) rename(at);
	check(index, plain, "USER1999");
	let done = false;
	const merged = index.rebuild().then(() => {
		done = true;
	});
	while (!done) {
		rename(random(20_500));
		const gone = `${10 ** 17 + random(20_000)}`;
		index.delete(gone);
		plain.members.delete(gone);
		await new Promise(setImmediate);
	}
	await merged;
	for (const query of ["USER1999", "ANNA", "🍞", "USER", "が", "Σ"]) check(index, plain, query);
	await index.rebuild();
	check(index, plain, "USER1");
});

test("a rebuild after all members were loaded begins without a pause, also one after a rebuild that runs", async () => {
	const index = new MemberIndex();
	const add = (from: number, until: number) => {
		for (let at = from; at < until; at += 1)
			index.set(`${10 ** 17 + at}`, {
				nickname: null,
				globalName: null,
				username: `user${at}`,
			});
	};
	using timers = spyOn(globalThis, "setTimeout");
	const pauses = () => timers.mock.calls.map(([, ms]) => ms);
	add(0, 2_000);
	expect(pauses()).toEqual([1_000]);
	index.rebuildSoon();
	expect(pauses()).toEqual([1_000, 0]);
	// It takes the place of the one that begins without a pause.
	const rebuilding = index.rebuild();
	add(2_000, 4_000);
	index.rebuildSoon();
	await rebuilding;
	expect(pauses()).toEqual([1_000, 0, 0]);
	index.clear();
	add(0, 2_000);
	expect(pauses()).toEqual([1_000, 0, 0, 1_000]);
	index.clear();
});

test("a look-up that most of 60,000 match stops counting, and still finds the best matches and the first ids", async () => {
	const { random } = createNames(8);
	const index = new MemberIndex();
	const plain = new PlainSearch();
	const add = (at: number, username: string, nickname: string | null) => {
		// Not in the order of their names.
		const id = `${(BigInt(at) * 7_919n ** 4n) % 10n ** 17n}`.padStart(18, "1");
		const called = { nickname, globalName: null, username };
		index.set(id, called);
		plain.members.set(id, called);
	};
	for (let at = 0; at < 60_000; at += 1) add(at, `Member ${at}`, null);
	// Their display names come last.
	for (let at = 60_000; at < 60_003; at += 1) add(at, "Ember", `zz${at}`);
	for (let at = 60_003; at < 60_100; at += 1) add(at, `Ember${at}`, `zz${at}`);
	await index.rebuild();
	// In the log.
	for (let at = 60_100; at < 60_105; at += 1) add(at, "Ember", `zy${at}`);
	add(60_105, "Ember", null);
	for (const query of ["EMBER", "E", "MEMBER", "MEMBER 7"]) {
		const all = plain.find(query);
		for (const limit of [1, 10, 50, 200]) {
			const { total, ids } = index.find(query, limit);
			expect({ query, ids }).toEqual({ query, ids: all.slice(0, limit) });
			const isCounted = all.length <= maxCounted;
			if (isCounted) expect(total).toBe(all.length);
			else expect(total).toBeGreaterThan(maxCounted);
		}
		expect(index.find(query, Infinity)).toEqual({
			total: all.length,
			ids: all,
		});
	}

	const ids = [...plain.members.keys()].sort(compareIds);
	for (let step = 0; step < 200; step += 1) {
		const [gone = ""] = ids.splice(random(ids.length), 1);
		index.delete(gone);
	}
	const [third = "", last = ""] = [ids[2], ids.at(-1)];
	expect(index.firstIds("0", 10)).toEqual(ids.slice(0, 10));
	expect(index.firstIds(third, 1_000)).toEqual(ids.slice(3, 1_003));
	// Too close to others for numbers that are rounded.
	const next = `${BigInt(third) + 1n}`;
	index.set(next, { nickname: null, globalName: null, username: "next" });
	expect(index.firstIds(third, 2)).toEqual([next, ids[3] ?? ""]);
	await index.rebuild();
	expect(index.firstIds("0", 5)).toEqual([...ids.slice(0, 3), next, ids[3] ?? ""]);
	expect(index.firstIds(next, 1)).toEqual(ids.slice(3, 4));
	expect(index.firstIds(last, 5)).toEqual([]);
});

test("a table is built in many small steps", () => {
	const count = 20_000;
	const { names } = createNames(6);
	const people = Array.from({ length: count }, (_, at) => {
		const { username } = names();
		return { id: `${10 ** 17 + at}`, display: username, names: [username] };
	});
	const stepsOf = (making: Generator<undefined, NameTable>) => {
		let steps = 0;
		for (;;) {
			const step = making.next();
			if (step.done) return { steps, table: step.value };
			steps += 1;
		}
	};
	// Each run is sorted, and merged again and again, and each one written.
	const first = stepsOf(new NameTable().with(people));
	expect(first.steps).toBeGreaterThan((3 * count) / 1_000);
	// Those who stand there already are taken over in steps as well.
	const second = stepsOf(first.table.with([]));
	expect(second.steps).toBeGreaterThan(count / 1_000);
	expect(second.table.size).toBe(count);
});

test("has is true for a member with the same names, and for no other", () => {
	const { names } = createNames(7);
	const people = Array.from({ length: 100 }, (_, at) => {
		const { username } = names();
		const both = [`${username}s`, username];
		return { id: `${10n ** 17n + BigInt(at)}`, display: username, names: both };
	});
	const making = new NameTable().with(people);
	let step = making.next();
	while (!step.done) step = making.next();
	const table = step.value;
	for (const person of people) {
		expect(table.has(person)).toBe(true);
		for (const change of [
			{ id: `${person.id}0` },
			{ display: `${person.display}s` },
			{ names: person.names.slice(1) },
			{ names: person.names.toReversed() },
		])
			expect(table.has({ ...person, ...change })).toBe(false);
	}
});

test("an empty query, half a character, and text across two names match nobody", () => {
	const index = new MemberIndex();
	const called = { nickname: "ab", globalName: "cd", username: "🍞" };
	index.set("100000000000000001", called);
	index.set("100000000000000002", { ...called, username: "\ud83c" });
	for (const query of ["", "\ud83c", "BC", "B\ufffdC", "🍞A", "D🍞"]) {
		expect(index.find(query, 10)).toEqual({ total: 0, ids: [] });
	}
	expect(index.find("🍞", 10).ids).toEqual(["100000000000000001"]);
});

const names = async (world: TestWorld, query: string) => {
	const { text } = await world.call("lookup_user_by_name", { query });
	return Array.from(text.matchAll(/^(.+) \(@.*\) \| ID: /gm), ([, name]) => name);
};

test.concurrent("a new name that a message brought before its event is found", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const ada = simulator.user("ada");
	const account = simulator.world.users.get(ada.id);
	const member = guild.members.get(ada.id);
	if (!account || !member) throw new Error("ada is a member");
	account.global_name = "Countess";
	// The message tells the bot of her name, so that the event after it is no news to discord.js.
	await ada.say("The Cooks/general", "guess who");
	simulator.world.members.edit(guild, member, { nick: null });
	await world.heard();
	expect(await names(world, "countess")).toEqual(["Countess"]);
	expect(await names(world, "ada")).toEqual(["Countess"]);
});

test.concurrent("a new global name is found in every guild of the user", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const { world: platform } = simulator;
	const alpha = platform.users.get(simulator.bot("alpha").id);
	const bakers = simulator.guild("The Bakers");
	if (!alpha) throw new Error("alpha has an account");
	platform.members.add(bakers, alpha);
	const user = platform.users.add({ username: "wanderer" });
	const here = platform.members.add(world.guild, user);
	platform.members.add(bakers, user);
	const lookUp = async (query: string) => {
		const guild_id = bakers.id;
		return (await world.call("lookup_user_by_name", { guild_id, query })).text;
	};
	await until("the bot knows the bakers", async () => {
		const text = await lookUp("wanderer");
		return text.startsWith("1 match") && !text.includes("being loaded");
	});
	user.global_name = "Zugvogel";
	platform.members.edit(world.guild, here, { nick: "Gast" });
	await world.heard();
	expect(await lookUp("zugvogel")).toBe(`1 match(es):\nZugvogel (@wanderer) | ID: ${user.id}`);
	expect(await names(world, "zugvogel")).toEqual(["Gast"]);
});
