import { expect, test } from "bun:test";
import { Collection } from "discord.js";
import { loadedMembers } from "../../src/discord/find.ts";

test.each([
	[6, 7, "6 of 7"],
	[7, 7, "7 so far"],
	[7, 6, "7 so far"],
])("%d members known, %d by Discord's count: %s", (known, count, text) => {
	const cache = new Collection(Array.from({ length: known }, (_, id) => [`${id}`, {}]));
	const guild = { members: { cache }, memberCount: count };
	expect(loadedMembers(guild as never)).toBe(text);
});
