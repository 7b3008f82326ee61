// Finding members by name against a plain search, and behind the real discord.js.

import { expect, test } from "bun:test";
import type { Guild } from "discord.js";
import { findByName, nameMatcher } from "../../../src/discord/members/name-search.ts";
import { fold } from "../../../src/discord/text.ts";
import { compareIds } from "../../../src/guild-document/names/ids.ts";
import { seeded } from "../../support/random.ts";
import { present, until } from "../../support/until.ts";
import { addToBakers, startWorld, type TestWorld } from "../../support/world.ts";

interface Names {
	nickname: string | null;
	globalName: string | null;
	username: string;
}

function guildOf(all: readonly Names[]): Guild {
	const members = all.map(({ nickname, globalName, username }, at) => ({
		id: `${10n ** 17n + ((BigInt(at) * 7_919n) % 100_003n)}`,
		nickname,
		displayName: nickname ?? globalName ?? username,
		user: { globalName, username },
	}));
	return { members: { cache: new Map(members.map((member) => [member.id, member])) } } as unknown as Guild;
}

/** The ids of all members with such a name, best first. */
function plainSearch({ members: { cache } }: Guild, query: string): string[] {
	const rankOf = (name: string | null) => {
		const folded = fold(name ?? "");
		if (folded === query) return 1;
		return folded.startsWith(query) ? 2 : folded.includes(query) ? 3 : 4;
	};
	const matches = [...cache.values()]
		.map(({ id, nickname, displayName, user: { globalName, username } }) => {
			const rank = fold(username) === query ? 0 : Math.min(...[nickname, globalName, username].map(rankOf));
			return { id, displayName, rank };
		})
		.filter(({ rank }) => rank < 4)
		.sort((a, b) => a.rank - b.rank || a.displayName.localeCompare(b.displayName) || compareIds(a.id, b.id));
	return matches.map(({ id }) => id);
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

test.each([1, 2])("a look-up finds what a plain search finds (%d)", (seed) => {
	const { random, text, names } = createNames(seed);
	const guild = guildOf(Array.from({ length: 300 }, names));
	const members = [...guild.members.cache.values()];
	const queries = Array.from({ length: 100 }, () => {
		const { nickname, user } = members[random(300)] ?? {};
		return fold(random(2) === 0 ? text(2) : nickname || user?.username || "");
	});
	for (const query of queries.filter((one) => one !== "")) {
		const all = plainSearch(guild, query);
		for (const limit of [1, 10, 1_000]) {
			const { total, members } = findByName(guild, query, limit);
			const found = { query, total, ids: members.map(({ id }) => id) };
			expect(found).toEqual({ query, total: all.length, ids: all.slice(0, limit) });
		}
		const matches = nameMatcher(query);
		const named = members.filter(({ nickname, user }) => matches(user.username, user.globalName, nickname));
		expect(named.map(({ id }) => id).sort()).toEqual(all.toSorted());
	}
});

test.each([
	["A*", true],
	["*C", true],
	["*B*", true],
	["B", true],
	["B*", false],
	["*B", false],
	["*", false],
	["A*C", false],
])("%s matches ABC or no name: %p", (query, expected) => {
	expect(nameMatcher(query)(null, "abc")).toBe(expected);
});

test("an empty query, half a character, and text across two names match nobody", () => {
	const called = { nickname: "ab", globalName: "cd", username: "🍞" };
	const guild = guildOf([called, { ...called, username: "\ud83c" }]);
	for (const query of ["", "\ud83c", "BC", "B\ufffdC", "🍞A", "D🍞"])
		expect(findByName(guild, query, 10)).toEqual({ total: 0, members: [] });
	expect(findByName(guild, "🍞", 10).total).toBe(1);
});

const names = async (world: TestWorld, query: string) => {
	const { text } = await world.call("lookup_user_by_name", { query });
	return Array.from(text.matchAll(/^(.+) \(@.*\) \| ID: /gm), ([, name]) => name);
};

test.concurrent("a new name that a message brought before its event is found", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const ada = simulator.user("ada");
	const account = present(simulator.world.users.get(ada.id));
	const member = present(guild.members.get(ada.id));
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
	const bakers = addToBakers(world);
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
