import { expect, test } from "bun:test";
import { type Routed, RouteIndex } from "../../../src/gateway/routing/routing.ts";

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

test.each([
	["1", "alpha"],
	["2", "beta"],
	["3", "alpha"],
	["4", "beta"],
	["5", "beta"],
	["6", "beta"],
	["7", "gamma"],
	["8", "gamma"],
	["9", undefined],
	["", undefined],
])("the guild %j is served by %s: the first to which it is pinned, else the first in it", (id, name) => {
	expect(new RouteIndex(bots).serving(id)?.name).toBe(name as string);
});

test("a bot is found by its name alone, the first of two with one name", () => {
	const index = new RouteIndex([...bots, bot("beta", [])]);
	expect(index.named("beta")).toBe(bots[1] as Routed);
	for (const name of ["delta", "", "constructor", "__proto__"]) expect(index.named(name)).toBeUndefined();
});

test("the index follows changes of guilds once it is told", () => {
	const changing = bots.map((one) => ({ ...one }));
	const index = new RouteIndex(changing);
	expect(index.serving("1")?.name).toBe("alpha");
	const [first] = changing;
	if (first) first.guilds = new Map([["9", "nine"]]);
	expect(index.serving("9")).toBeUndefined();
	index.noteChange();
	expect(index.serving("9")?.name).toBe("alpha");
	expect(index.serving("3")?.name).toBe("beta");
	expect(index.serving("1")).toBeUndefined();
});
