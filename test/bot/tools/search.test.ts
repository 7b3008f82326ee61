// search_messages: filters, limits and cursors.

import { expect, test } from "bun:test";
import { pagesOf } from "../../support/pages.ts";
import { shareWorld } from "../../support/shared-world.ts";
import { startWorld, type TestWorld, userNamed } from "../../support/world.ts";

const shared = shareWorld();

// A fixed day, not today: a border given as a date is midnight in UTC, so what it excludes would depend on the hour.
const at = (days: number) => Date.UTC(2020, 2, 2, 12) - days * 86_400_000;
const route = "GET /channels/:channel_id/messages";

type Written = [content: string, author: string, days: number];

/** Messages m0, m1, … of ada, one a day. */
const numbered = (count: number) =>
	Array.from({ length: count }, (_, n): Written => [`m${n}`, "ada", count - n]);

/** A channel with messages of these people, each this many days before the fixed day, oldest first. */
function write({ simulator, guild }: TestWorld, messages: Written[]) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: "notes" });
	const ids = messages.map(([content, name, days]) => {
		const author = userNamed({ simulator }, name);
		const id = world.state.newId(at(days));
		return world.messages.add(channel, author, { content, id }).id;
	});
	return { channel, channel_id: channel.id, ids };
}

const found = (text: string) =>
	Array.from(text.matchAll(/\| text: (\S+)/g), ([, said]) => said);

test.each([
	[{ content: "CRÊPE" }, ["crepes!", "Crêpe"]],
	[{ author_name: "garcia" }, ["b", "Crêpe"]],
	[{ author_name: "chef jo" }, ["b", "Crêpe"]],
	[{ author_name: "GARCÍA", content: "crepe" }, ["Crêpe"]],
	[{ after: "2020-02-29" }, ["crepes!", "b"]],
	[{ before: "2020-02-29" }, ["Crêpe", "a"]],
	[{ after: "2020-02-28", before: "2020-03-01" }, ["b", "Crêpe"]],
	[{ content: "nothing like it" }, []],
])("search_messages with %j finds %j", async (args, expected) => {
	const world = await shared();
	const { channel_id } = write(world, [
		["a", "ada", 4],
		["Crêpe", "jose.garcia", 3],
		["b", "jose.garcia", 2],
		["crepes!", "zoe", 1],
	]);
	await world.heard();
	const { text } = await world.call("search_messages", { channel_id, ...args });
	expect(found(text)).toEqual(expected);
	expect(text).toEndWith("The whole range was searched.");
	expect(text).toStartWith(
		expected.length > 0
			? `${expected.length} match(es) among `
			: "No match among ",
	);
});

test("before and after accept ids, and exclude them", async () => {
	await using world = await startWorld();
	const { channel_id, ids } = write(world, [
		["a", "ada", 3],
		["b", "ada", 2],
		["c", "ada", 1],
	]);
	await world.heard();
	const { text } = await world.call("search_messages", {
		channel_id,
		after: ids[0],
		before: ids[2],
	});
	expect(found(text)).toEqual(["b"]);
	const none = await world.call("search_messages", {
		channel_id,
		before: ids[0],
	});
	expect(none.text).toBe(
		`There are no messages in this range of #notes (ID: ${channel_id}).`,
	);
});

test("it stops at limit and max_pages, and continues without a gap", async () => {
	await using world = await startWorld();
	const { channel_id } = write(world, numbered(250));
	await world.heard();
	for (const bound of [{ limit: 70 }, { max_pages: 1 }, { max_pages: 0 }]) {
		const args = { channel_id, content: "m", ...bound };
		const pages = await pagesOf(world.call, "search_messages", args);
		for (const page of pages.slice(0, -1))
			expect(page).toMatch(
				/^Older messages were not searched, because (70 matches were found|1 page\(s\) were read)\.$/m,
			);
		const contents = Array.from({ length: 250 }, (_, n) => `m${249 - n}`);
		expect(pages.flatMap(found)).toEqual(contents);
	}
});

test("a rate limit ends the search with the matches so far and a cursor", async () => {
	await using world = await startWorld({
		rateLimits: {
			global: { requests: 10_000, perMs: 1000 },
			each: { requests: 10_000, perMs: 1000 },
			routes: { [route]: { requests: 2, perMs: 600_000 } },
		},
	});
	const { channel_id, ids } = write(world, numbered(300));
	await world.heard();
	const args = { channel_id, content: "m150" };
	const { text, isError } = await world.call("search_messages", args);
	expect(isError).toBe(false);
	expect(found(text)).toEqual(["m150"]);
	expect(text).toContain("1 match(es) among 200 message(s)");
	expect(text).toContain(
		"because Discord API error: Discord's rate limit allows this request again in ",
	);
	expect(text).toEndWith(`next_before=${ids[100]}`);
	expect(world.simulator.requests.list(route)).toHaveLength(2);
});

test("a slow search ends within the call's time, with a cursor", async () => {
	await using world = await startWorld({
		rateLimits: {
			global: { requests: 10_000, perMs: 1000 },
			each: { requests: 10_000, perMs: 1000 },
			routes: { [route]: { requests: 1, perMs: 8000 } },
		},
	});
	const { channel_id } = write(world, numbered(500));
	await world.heard();
	const args = { channel_id, content: "none" };
	const slow = await world.call("search_messages", args);
	expect(slow.isError).toBe(false);
	expect(slow.text).toContain("because the time for one call is up.");
	expect(slow.text).toMatch(/^next_before=\d+$/m);
});

test.each([
	[{ after: "2026-02-30" }, "after: expected a duration such as 6h"],
	[{ before: "2014-12-31" }, "before: expected a duration such as 6h"],
	[{ before: "yesterday" }, "before: expected a duration such as 6h"],
	[{ after: "2026-01-31T25:00:00Z" }, "after: expected a duration such as 6h"],
])("search_messages refuses %j", async (args, fault) => {
	const world = await shared();
	const { channel_id } = write(world, []);
	const { text, code } = await world.call("search_messages", {
		channel_id,
		...args,
	});
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
});
