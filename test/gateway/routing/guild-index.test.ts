import { describe, expect, test } from "bun:test";
import { GuildIndex, indexBackends } from "../../../src/gateway/routing/guild-index.ts";
import { findGuild, type Routed, route } from "../../../src/gateway/routing/routing.ts";

const bot = (name: string, guilds: readonly string[], pinned: readonly string[] = []): Routed => ({
	name,
	guilds: new Map(guilds.map((id) => [id, `guild ${id}`])),
	pins: { pinned: new Set(pinned), barred: new Set() },
});

const bots = [
	bot("alpha", ["1", "3", "5"]),
	bot("beta", ["2", "3", "4"], ["5", "6"]),
	bot("gamma", ["4", "6", "7"], ["6", "8"]),
];

describe("an index of bots", () => {
	const index = indexBackends(bots);

	test("finds the same bot for each guild as a search", () => {
		for (const id of ["1", "2", "3", "4", "5", "6", "7", "8", "9", ""])
			expect([id, index.serving(id)]).toEqual([id, findGuild(bots, id)]);
	});

	test("finds a bot by its name alone", () => {
		expect(index.named("beta")).toBe(bots[1] as Routed);
		for (const name of ["delta", "", "constructor", "__proto__"]) expect(index.named(name)).toBeUndefined();
	});

	test("selects the same bot for a call as without it", () => {
		for (const [args, byDefault] of [
			[{ instance: "gamma" }, undefined],
			[{ instance: "gamma", guild_id: "1" }, "alpha"],
			[{ guild_id: "3" }, "gamma"],
			[{ guild_id: "5" }, undefined],
			[{}, "beta"],
		] as const)
			expect(route(args, bots, byDefault, index)).toBe(route(args, bots, byDefault));
	});
});

test("the index follows changes of guilds once it is told, and is kept if there are none", () => {
	const changing = bots.map((one) => ({ ...one }));
	const index = new GuildIndex(changing);
	const before = index.now;
	index.noteChange();
	expect(index.now).toBe(before);
	const [first] = changing;
	if (first) first.guilds = new Map([["9", "nine"]]);
	expect(index.now).toBe(before);
	index.noteChange();
	expect(index.now.serving("9")?.name).toBe("alpha");
	expect(index.now.serving("3")?.name).toBe("beta");
	expect(index.now.serving("1")).toBeUndefined();
});
