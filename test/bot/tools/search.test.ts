// search_messages: filters, counts, limits and cursors, by reading channels and with Discord's index.

import { expect, spyOn, test } from "bun:test";
import { ChannelType, MessageType, PermissionFlagsBits } from "discord.js";
import { generousLimits } from "../../../src/simulator/rest/rate-limits.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { Message, Thread } from "../../../src/simulator/world/state/entities.ts";
import { pagesOf } from "../../support/pages.ts";
import { shareWorld } from "../../support/shared-world.ts";
import { until } from "../../support/until.ts";
import { denyBot, startWorld, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

const shared = shareWorld();

// A fixed day, not today: a border given as a date is midnight in UTC, so what it excludes would depend on the hour.
const at = (days: number) => Date.UTC(2020, 2, 2, 12) - days * 86_400_000;
const route = "GET /channels/:channel_id/messages";

type Written = [content: string, author: string, days: number, more?: Partial<Message>];

const poll: Message["poll"] = {
	allow_multiselect: false,
	layout_type: 1,
	question: { text: "soup?" },
	answers: [],
	votes: new Map(),
	expiry: "2020-03-09T12:00:00Z",
	ended: true,
};

/** Messages m0, m1, … of ada, one a day. */
const numbered = (count: number) => Array.from({ length: count }, (_, n): Written => [`m${n}`, "ada", count - n]);

/** A channel with messages of these people, each this many days before the fixed day, oldest first. */
function write({ simulator, guild }: TestWorld, messages: Written[], name = "notes") {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name });
	const ids = messages.map(([content, name, days, more = {}]) => {
		const author = userNamed({ simulator }, name);
		const id = world.state.newId(at(days));
		return world.messages.add(channel, author, { content, id, ...more }).id;
	});
	return { channel, channel_id: channel.id, ids };
}

const withoutThreads =
	"Threads of the named channels were not searched: channel_ids also takes categories and threads.";
const rowsNote = "Bots and webhooks, which are marked, count, too; threads and forum posts have rows of their own.";
const wholeRange = "The whole range was searched.";

const order = "newest first, times in UTC; date, channel, author where they change";

const found = (text: string) => Array.from(text.matchAll(/\| text: (\S+)/g), ([, said]) => said);

test.each([
	[{ text: "CRÊPE" }, ["crepes!", "Crêpe"]],
	[{ after: "2020-02-29" }, ["crepes!", "b"]],
	[{ before: "2020-02-29" }, ["Crêpe", "a"]],
	[{ after: "2020-02-28", before: "2020-03-01" }, ["b", "Crêpe"]],
	[{ text: "nothing like it" }, []],
])("search_messages with %j finds %j", async (args, expected) => {
	const world = await shared();
	const { channel_id } = write(world, [
		["a", "ada", 4],
		["Crêpe", "jose.garcia", 3],
		["b", "jose.garcia", 2],
		["crepes!", "zoe", 1],
	]);
	await world.heard();
	const { text } = await world.call("search_messages", { channel_ids: [channel_id], ...args });
	expect(found(text)).toEqual(expected);
	expect(text).toEndWith(`\n${withoutThreads}\n${wholeRange}`);
	expect(text).toStartWith(
		expected.length > 0 ? `${expected.length} match${expected.length > 1 ? "es" : ""} among ` : "No match among ",
	);
});

worldTest("before and after accept ids, and exclude them", async (world) => {
	const { channel_id, ids } = write(world, [
		["a", "ada", 3],
		["b", "ada", 2],
		["c", "ada", 1],
	]);
	await world.heard();
	const { text } = await world.call("search_messages", { channel_ids: [channel_id], after: ids[0], before: ids[2] });
	expect(found(text)).toEqual(["b"]);
	const none = await world.call("search_messages", { channel_ids: [channel_id], before: ids[0] });
	expect(none.text).toBe(`There are no messages in this range of #notes (ID: ${channel_id}).\n${withoutThreads}`);
});

worldTest("it stops at limit, and continues without a gap", async (world) => {
	const { channel_id } = write(world, numbered(250));
	await world.heard();
	const pages = await pagesOf(world.call, "search_messages", { channel_ids: [channel_id], text: "m", limit: 70 });
	for (const page of pages.slice(0, -1))
		expect(page).toMatch(
			/^count_by counts all.*\n(?:.*\n)*Older messages were not searched, because 70 matches were found\.$/m,
		);
	expect(pages.flatMap(found)).toEqual(Array.from({ length: 250 }, (_, n) => `m${249 - n}`));
});

test("a rate limit ends the search with the matches so far and a cursor", async () => {
	await using world = await startWorld({
		rateLimits: { ...generousLimits, routes: { [route]: { requests: 2, perMs: 600_000 } } },
	});
	const { channel_id, ids } = write(world, numbered(300));
	await world.heard();
	const text = await world.expectResult("search_messages", { channel_ids: [channel_id], text: "m150" });
	expect(found(text)).toEqual(["m150"]);
	expect(text).toContain("1 match among 200 messages");
	expect(text).toContain("because Discord API error: Discord's rate limit allows this request again in ");
	expect(text).toEndWith(`next_before=${ids[100]}`);
	expect(world.simulator.requests.list(route)).toHaveLength(2);
});

worldTest("a slow search ends within the call's time, with a cursor", async (world) => {
	const { channel_id } = write(world, numbered(500));
	await world.heard();
	const stall = world.simulator.faults.stall(route, { times: 1 });
	const search = world.call("search_messages", { channel_ids: [channel_id], text: "none" });
	await until("it reads the first page", () => stall.hits > 0);
	const now = performance.now.bind(performance);
	using _ = spyOn(performance, "now").mockImplementation(() => now() + 24_000);
	stall.release();
	const slow = await search;
	expect(slow.isError).toBe(false);
	expect(slow.text).toContain("because the time for one call is up.");
	expect(slow.text).toMatch(/^next_before=\d+$/m);
});

test.each([
	[{ user_ids: ["zoe"] }, ["poll", "file"]],
	[{ not_user_ids: ["zoe", "alpha"] }, ["hi@zoe", "link"]],
	[{ mentions: ["zoe"] }, ["hi@zoe"]],
	[{ pinned: true }, ["link"]],
	[{ pinned: false }, ["bot", "poll", "hi@zoe", "file"]],
	[{ has: ["link", "poll"] }, ["poll", "link"]],
	[{ has: ["-link"] }, ["bot", "poll", "hi@zoe", "file"]],
	[{ has: ["file", "-image"] }, []],
	[{ has: ["image"] }, ["file"]],
	[{ has: ["embed"] }, []],
])("with %j, reading a channel finds %j", async (filter, expected) => {
	const world = await shared();
	const { simulator } = world;
	const id = (name: string) => simulator.user(name).id;
	const file = {
		id: "1",
		filename: "a.png",
		content_type: "image/png",
		size: 1,
		url: "https://cdn.test/a.png",
		proxy_url: "https://cdn.test/a.png",
	};
	const { channel_id } = write(world, [
		["link discord.gg/soup", "ada", 5, { pinned_at: "2020-01-01T00:00:00Z" }],
		["file", "zoe", 4, { attachments: [file] }],
		["hi@zoe", "ada", 3, { mentions: [userNamed(world, "zoe")] }],
		["poll", "zoe", 2, { poll }],
		["bot", "alpha", 1],
	]);
	await world.heard();
	const named = Object.entries(filter).map(([key, values]) => [
		key,
		Array.isArray(values) && key !== "has" ? values.map(id) : values,
	]);
	const { text } = await world.call("search_messages", { channel_ids: [channel_id], ...Object.fromEntries(named) });
	expect(found(text)).toEqual(expected);
});

test("a date before Discord's first day is the beginning", async () => {
	const world = await shared();
	const { channel_id } = write(world, [["first soup", "ada", 9]]);
	await world.heard();
	const { text } = await world.call("search_messages", { channel_ids: [channel_id], after: "2015-01-01" });
	expect(text).toContain("first soup");
	expect((await world.call("get_audit_log", { after: "2010-01-01" })).isError).toBe(false);
});

/** Two channels, in which ada and zoe write in turn, a message a day each: s0 … in #stove, o0 … in #oven. */
function writeInTwo(world: TestWorld, count: number) {
	const inOne = (letter: string, author: string, name: string, shift: number) =>
		write(
			world,
			Array.from({ length: count }, (_, n): Written => {
				return [`${letter}${n} leek`, author, count - n + shift];
			}),
			name,
		);
	const stove = inOne("s", "ada", "stove", 0.5);
	const oven = inOne("o", "zoe", "oven", 0);
	return { stove, oven, channel_ids: [stove.channel_id, oven.channel_id] };
}

worldTest("several channels are read as one, newest first, and pages continue without a gap", async (world) => {
	const { channel_ids, stove, oven } = writeInTwo(world, 130);
	await world.heard();
	const id = (name: string) => world.simulator.user(name).id;
	const args = { channel_ids, text: "LEEK", after: "2016-01-01", limit: 100 };
	const pages = await pagesOf(world.call, "search_messages", args);
	const all = Array.from({ length: 130 }, (_, n) => [`o${129 - n}`, `s${129 - n}`]);
	expect(pages.flatMap(found)).toEqual(all.flat());
	expect(pages).toHaveLength(3);
	expect(pages[0]).toContain(
		[
			`${order}:`,
			`#oven (ID: ${oven.channel_id}) | 2020-03-01T12:00:00Z | Zoë 🍞 (@zoe, ID: ${id("zoe")}) | ID: ${oven.ids.at(-1)} | text: o129 leek`,
			`#stove (ID: ${stove.channel_id}) | 00:00:00 | Ada (@ada, ID: ${id("ada")}) | ID: ${stove.ids.at(-1)} | text: s129 leek`,
			`#oven | 2020-02-29T12:00:00Z | @zoe | ID: ${oven.ids.at(-2)} | text: o128 leek\n`,
		].join("\n"),
	);
	expect(pages[2]).toEndWith("The whole range was searched.");
});

worldTest(
	"with after, all channels are read without Discord's index, and says which it may not read",
	async (world) => {
		const { stove } = writeInTwo(world, 3);
		await denyBot(world, stove.channel, PermissionFlagsBits.ReadMessageHistory);
		const { text } = await world.call("search_messages", { text: "eek", after: "2020-01-01" });
		expect(found(text)).toEqual(["o2", "o1", "o0"]);
		expect(text).toContain("now 20");
		expect(text).toContain(`Not searched: 1 channel for lack of permissions: #stove (ID: ${stove.channel_id}).`);
		expect(world.simulator.requests.list(indexRoute)).toEqual([]);
	},
);

worldTest("a category stands for its channels, and a forum for its posts", async (world) => {
	const { simulator, guild } = world;
	const { channels, threads, messages } = simulator.world;
	const ada = userNamed(world, "ada");
	const category = channels.add(guild, { name: "kitchen", type: ChannelType.GuildCategory });
	const parent = { parent_id: category.id };
	const notes = channels.add(guild, { name: "notes", ...parent });
	const type = ChannelType.GuildForum;
	const forum = channels.add(guild, { name: "tips", type, ...parent });
	const post = threads.add(forum, ada, { name: "soups" });
	messages.add(notes, ada, { content: "one" });
	messages.add(post, ada, { content: "two" });
	messages.add(channels.add(guild, { name: "out" }), ada, { content: "no" });
	await world.heard();
	const search = async (id: string) => {
		return found((await world.call("search_messages", { channel_ids: [id], after: "2016-01-01" })).text);
	};
	expect(await search(category.id)).toEqual(["two", "one"]);
	expect(await search(forum.id)).toEqual(["two"]);
	const empty = channels.add(guild, { name: "empty", type });
	await world.heard();
	const text = await world.expectError("search_messages", { channel_ids: [empty.id] });
	expect(text).toBe(
		"There is nothing to search: the channels are categories in which the bot sees no channel with messages, or forums without posts in the searched period.",
	);
});

worldTest("a channel that Discord refuses to show is named, and the others are searched", async (world) => {
	const { channel_ids, stove } = writeInTwo(world, 3);
	await world.heard();
	world.simulator.faults.refuse(`GET /channels/${stove.channel_id}/messages`, 50001);
	const { text } = await world.call("search_messages", { channel_ids, after });
	expect(found(text)).toEqual(["o2", "o1", "o0"]);
	expect(text).toContain(`#stove (ID: ${stove.channel_id}) was not read further: Discord API error: Missing Access`);
});

test("a channel that is rate limited for long does not stop the others, and before continues", async () => {
	await using world = await startWorld({
		rateLimits: { ...generousLimits, routes: { [route]: { requests: 1, perMs: 600_000 } } },
	});
	const { channel_ids, oven } = writeInTwo(world, 130);
	const { channel_id } = write(world, [["leek", "ada", 500]]);
	await world.heard();
	const { text } = await world.call("search_messages", {
		channel_ids: [...channel_ids, channel_id],
		after: "2016-01-01",
		limit: 1000,
	});
	// Each of the channels was read once, and only what none of them can hide is shown.
	expect(found(text)).toHaveLength(199);
	const reached = new Date(at(100)).toISOString().replace(".000", "");
	expect(text).toContain(`among 199 messages of #stove, #oven, #notes, back to ${reached}`);
	expect(text).toEndWith(`next_before=${oven.ids[30]}`);
});

worldTest.each([
	["more matches than the limit", 3, "3 matches among 3 messages of", 2],
	["as many matches as the limit", 5, "5 matches among 5 messages of", 4],
])("with %s, the range named ends at the last match, not in a quiet channel", async (world, _, limit, start, last) => {
	const busy = write(world, numbered(5));
	// More than are read at a time.
	const quiet = Array.from({ length: 12 }, (_, n) => write(world, [["old", "zoe", 90 + n]], `quiet${n}`));
	await world.heard();
	const channel_ids = [busy, ...quiet].map(({ channel_id }) => channel_id);
	const args = { channel_ids, after: "2020-02-20", limit };
	const { text } = await world.call("search_messages", args);
	expect(text).toStartWith(
		`${start} 13 channels, back to ${new Date(at(last + 1)).toISOString().replace(".000", "")}, now `,
	);
	expect(text).toEndWith(`next_before=${busy.ids.at(-1 - last)}`);
	const pages = await pagesOf(world.call, "search_messages", args);
	expect(pages.flatMap(found)).toEqual(["m4", "m3", "m2", "m1", "m0"]);
	expect(pages.at(-1)).not.toContain("Older messages");
});

worldTest.each([
	["author", [/^2 \| Ada \(@ada, ID/, /^1 \| Zoë/, /^0 \| .*@alpha/, /^0 \| not/]],
	["channel", [/^2 \| #notes/, /^1 \| #oven/, /^0 \| #empty/]],
	["day", [/^1 \| 2020-02-27$/, /^1 \| 2020-02-28$/, /^1 \| 2020-03-01$/]],
] as const)("messages are counted by %s", async (world, count_by, expected) => {
	const { simulator } = world;
	const notes = write(world, [
		["a", "ada", 4],
		["b", "ada", 3],
	]);
	const oven = write(world, [["c", "zoe", 1]], "oven");
	const empty = write(world, [], "empty");
	await world.heard();
	const names = ["ada", "zoe", "alpha"] as const;
	const ids = names.map((name) => simulator.user(name).id);
	const { text } = await world.call("search_messages", {
		count_by,
		after: "2020-01-01",
		channel_ids: [notes, oven, empty].map(({ channel_id }) => channel_id),
		user_ids: [...ids, "1".repeat(18)],
	});
	const [head, ...lines] = text.split("\n");
	expect(head).toMatch(
		/^3 messages in 2 channels by 2 authors; #notes, #oven, #empty searched, back to 2020-01-01T00:00:00Z, now 20.*Z:$/,
	);
	for (const line of expected) expect(lines.shift()).toMatch(line);
	expect(lines).toEqual([rowsNote, withoutThreads, wholeRange]);
});

test("days without messages count 0, and notices of Discord are not counted", async () => {
	const world = await shared();
	const { channel_id } = write(world, [
		["first", "ada", 4.5],
		["", "zoe", 3, { type: MessageType.UserJoin }],
		["last", "ada", 2],
	]);
	await world.heard();
	const args = { channel_ids: [channel_id], before: "2020-03-02" };
	const count = async (more: object) => {
		return (await world.call("search_messages", { ...args, count_by: "day", ...more })).text.split("\n");
	};
	const lines = [
		"1 | 2020-02-27",
		"0 | 2020-02-28",
		"1 | 2020-02-29",
		"0 | 2020-03-01",
		rowsNote,
		"1 notice by Discord, such as that someone joined, not counted.",
		withoutThreads,
		wholeRange,
	];
	expect((await count({})).slice(1)).toEqual(lines);
	const earlier = await count({ after: "2020-02-26" });
	expect(earlier.slice(1)).toEqual(["0 | 2020-02-26", ...lines]);
	const years = await count({ after: "2016-01-01" });
	expect(years.slice(1, 3)).toEqual(["1 | 2020-02-27", "1 | 2020-02-29"]);
});

// Discord's index

const after = "2016-01-01";
const indexRoute = "GET /guilds/:guild_id/messages/search";

worldTest("without after, Discord's index answers, and pages continue with before", async (world) => {
	const { oven, channel_ids } = writeInTwo(world, 30);
	await world.heard();
	const pages = await pagesOf(world.call, "search_messages", { text: "Leek", limit: 40 });
	const all = Array.from({ length: 30 }, (_, n) => [`o${29 - n}`, `s${29 - n}`]);
	expect(pages.flatMap(found)).toEqual(all.flat());
	expect(pages[0]).toStartWith(`60 matches in Discord's index, 40 shown, ${order}:\n#oven (ID: ${oven.channel_id}) | `);
	expect(pages[0]).toContain("finds whole words");
	const one = await world.call("search_messages", {
		channel_ids,
		user_ids: [world.simulator.user("zoe").id],
		limit: 1,
	});
	expect(one.text).toContain(`\n#oven (ID: ${oven.channel_id}) | 2020-03-01T12:00:00Z | Zoë`);
	expect(one.text).toContain(`| ID: ${oven.ids.at(-1)} |`);
	expect(world.simulator.requests.list(indexRoute)).toHaveLength(4);
	expect(world.simulator.requests.list(route)).toEqual([]);
	const none = await world.call("search_messages", { text: "turnip" });
	expect(none.text).toStartWith("No indexed message matches.");
});

worldTest("an uncached thread is named in results", async (world) => {
	const { simulator } = world;
	const { channel } = write(world, []);
	const ada = userNamed(world, "ada");
	const told = simulator.world.threads.add(channel, ada, { name: "new soup" });
	const id = simulator.world.state.newId();
	const thread = { ...told, id, name: "old soup", archived: true };
	world.guild.threads.set(id, thread);
	simulator.world.state.channels.set(id, thread);
	simulator.world.messages.add(thread, ada, { content: "leek" });
	await world.heard();
	const { text } = await world.call("search_messages", { text: "leek" });
	expect(text).toContain(`\n#old soup (ID: ${id}) | `);
	simulator.faults.rewrite("GET /guilds/*/messages/search", ({ body = "", ...answer }) => ({
		...answer,
		body: JSON.stringify({ ...JSON.parse(body), threads: null }),
	}));
	const unnamed = await world.call("search_messages", { text: "leek" });
	expect(unnamed.text).toContain(` (ID: ${id}) | `);
});

worldTest("the index counts by author and channel with one request for each", async (world) => {
	const { oven, stove, channel_ids } = writeInTwo(world, 30);
	await world.heard();
	const count = async (args: Record<string, unknown>) => (await world.call("search_messages", args)).text.split("\n");
	const user_ids = ["zoe", "alpha"].map((one) => world.simulator.user(one).id);
	const byAuthor = await count({ count_by: "author", user_ids });
	expect(byAuthor[0]).toBe("30 messages, counted by Discord's index:");
	expect(byAuthor[1]).toStartWith("30 | Zoë 🍞 (@zoe, ID: ");
	expect(byAuthor[2]).toStartWith("0 | ");
	expect(world.simulator.requests.list(indexRoute)).toHaveLength(2);
	const byChannel = await count({ count_by: "channel", channel_ids, before: stove.ids[1] });
	expect(byChannel.slice(1, 3)).toEqual([`1 | #stove (ID: ${stove.channel_id})`, `1 | #oven (ID: ${oven.channel_id})`]);
	const byDay = await count({ count_by: "day" });
	expect(byDay.at(-1)).toBe("The whole range was searched, with archived threads.");
});

test("a rate limit of Discord's search ends a search or a count with what was found so far", async () => {
	await using world = await startWorld({
		rateLimits: { ...generousLimits, routes: { [indexRoute]: { requests: 3, perMs: 600_000 } } },
	});
	writeInTwo(world, 30);
	await world.heard();
	const names = ["ada", "zoe"];
	const user_ids = names.map((name) => world.simulator.user(name).id);
	const count = { count_by: "author", user_ids };
	expect((await world.call("search_messages", count)).text).not.toContain("Not counted");
	const { text } = await world.call("search_messages", { text: "leek", limit: 50 });
	expect(found(text)).toHaveLength(25);
	expect(text).toContain("60 matches in Discord's index, 25 shown");
	expect(text).toMatch(/^next_before=\d+$/m);
	const none = await world.expectError("search_messages", count);
	expect(none).toContain("rate limit");
});

test("a rate limit of Discord's search ends a count, which names who was not counted", async () => {
	await using world = await startWorld({
		rateLimits: { ...generousLimits, routes: { [indexRoute]: { requests: 1, perMs: 600_000 } } },
	});
	const names = ["ada", "zoe"];
	const user_ids = names.map((name) => world.simulator.user(name).id);
	const { text } = await world.call("search_messages", { count_by: "author", user_ids });
	expect(text).toMatch(/^Not counted, .*: Zoë 🍞 \(@zoe, ID: \d+\)$/m);
});

worldTest("a channel that the bot may not read is refused if given, and otherwise left out", async (world) => {
	const { stove, channel_ids } = writeInTwo(world, 2);
	await denyBot(world, stove.channel, PermissionFlagsBits.ReadMessageHistory);
	const named = await world.expectError("search_messages", { channel_ids });
	expect(named).toContain(`lacks READ_MESSAGE_HISTORY in #stove (ID: ${stove.channel_id})`);
	const all = await world.call("search_messages", { text: "leek" });
	expect(found(all.text)).toEqual(["o1", "o0"]);
	expect(all.text).toContain("Not searched: 1 channel for lack of permissions");
});

worldTest(
	"the search is repeated while Discord is indexing, and if that takes too long, channels are read",
	async (world) => {
		writeInTwo(world, 1);
		await world.heard();
		const { faults, requests } = world.simulator;
		faults.indexing(indexRoute, { retryAfterSeconds: 1, times: 1 });
		faults.indexing(indexRoute, { retryAfterSeconds: 0, times: 1 });
		const { text } = await world.call("search_messages", { text: "leek" });
		expect(found(text)).toEqual(["o0", "s0"]);
		expect(requests.list(indexRoute)).toHaveLength(3);
		faults.indexing(indexRoute, { retryAfterSeconds: 30 });
		for (const args of [{ text: "eek" }, { count_by: "channel" }]) {
			const read = await world.call("search_messages", args);
			expect(read.isError).toBe(false);
			expect(read.text).toEndWith("Channels were read, because Discord's search cannot be used yet.");
		}
	},
);

test("without the Message Content Intent, Discord's index is not asked", async () => {
	const seed = demoSeed();
	const bots = [{ username: "alpha", privilegedIntents: ["GuildMembers"] as const }, { username: "beta" }];
	await using world = await startWorld({ seed: { ...seed, bots } });
	const { oven } = writeInTwo(world, 2);
	await world.heard();
	const answer = await world.expectError("search_messages", { text: "leek" });
	expect(answer).toContain('enable "Message Content Intent"');
	const user_ids = [world.simulator.user("zoe").id];
	const { text } = await world.call("search_messages", { user_ids });
	expect(text).toContain(`\n2020-02-29T12:00:00Z | ID: ${oven.ids[0]}\n`);
	expect(text).toContain("Discord hides the content");
	expect(world.simulator.requests.list(indexRoute)).toEqual([]);
});

// Archived threads

/** An archived thread that the bot has not heard of, with a message of ada this many days before the fixed day. */
function archive(
	world: TestWorld,
	parent: { id: string },
	[content, days]: [content: string, days: number],
	more: Partial<Thread> = {},
) {
	const { simulator, guild } = world;
	const { state, messages } = simulator.world;
	const ada = userNamed(world, "ada");
	const created = new Date(at(days + 1)).toISOString();
	const thread: Thread = {
		id: state.newId(at(days + 1)),
		guild_id: guild.id,
		name: content,
		parent_id: parent.id,
		type: ChannelType.PublicThread,
		owner_id: ada.id,
		create_timestamp: created,
		rate_limit_per_user: 0,
		last_message_id: null,
		message_count: 0,
		total_message_sent: 0,
		archived: false,
		archive_timestamp: created,
		auto_archive_duration: 60,
		locked: false,
		invitable: true,
		flags: 0,
		members: new Map([[ada.id, created]]),
		...more,
	};
	guild.threads.set(thread.id, thread);
	state.channels.set(thread.id, thread);
	messages.add(thread, ada, { content, id: state.newId(at(days)) });
	thread.archived = true;
	thread.archive_timestamp = new Date(at(days - 1)).toISOString();
	return thread;
}
const publicList = "GET /channels/:channel_id/threads/archived/public";

worldTest("archived threads with messages in the range are searched, public and private ones", async (world) => {
	const { stove, oven, channel_ids } = writeInTwo(world, 1);
	const type = ChannelType.PrivateThread;
	archive(world, stove.channel, ["old", 60]);
	archive(world, stove.channel, ["hidden", 3], { type });
	const soups = archive(world, oven.channel, ["soups", 2]);
	await world.heard();
	const { text } = await world.call("search_messages", { after: "2020-01-10" });
	expect(found(text)).toEqual(["o0", "s0", "soups", "hidden"]);
	expect(text).toContain(`\n#soups (ID: ${soups.id}) | `);
	expect(text).toMatch(/^4 matches among 4 messages of #stove, #oven, #\S+, #\S+, #\S+, 2 archived threads, /);
	expect(text).not.toContain("Not ");
	const counted = await world.call("search_messages", { after: "2020-01-10", count_by: "channel" });
	expect(counted.text).toContain(`\n1 | #soups (ID: ${soups.id})\n`);
	// Without after, no message of an archived thread is missing either.
	const days = await world.call("search_messages", { count_by: "day" });
	expect(days.text).toMatch(/^5 messages in 5 channels by 2 authors; /);
	expect(text).toEndWith("\nThe whole range was searched, with archived threads.");
	const named = await world.call("search_messages", { channel_ids, after });
	expect(found(named.text)).toEqual(["o0", "s0"]);
	const lists = world.simulator.requests.list(publicList);
	expect(new Set(lists.map(({ path }) => path)).size).toBe(lists.length / 3);
});

worldTest("without MANAGE_THREADS, only private archived threads that the bot is in are searched", async (world) => {
	const { stove } = writeInTwo(world, 1);
	await denyBot(world, stove.channel, PermissionFlagsBits.ManageThreads);
	const type = ChannelType.PrivateThread;
	const bot = world.simulator.user("alpha").id;
	const members = new Map([[bot, new Date(at(5)).toISOString()]]);
	archive(world, stove.channel, ["closed", 3], { type });
	archive(world, stove.channel, ["joined", 2], { type, members });
	await world.heard();
	const { text } = await world.call("search_messages", { after });
	expect(found(text)).toEqual(["o0", "s0", "joined"]);
});

worldTest("a forum whose posts are all archived is searched, by reading and in Discord's index", async (world) => {
	const { guild, simulator } = world;
	const forum = simulator.world.channels.add(guild, { name: "tips", type: ChannelType.GuildForum });
	archive(world, forum, ["leek one", 3]);
	archive(world, forum, ["leek two", 2]);
	await world.heard();
	for (const range of [{ after }, {}]) {
		const { text } = await world.call("search_messages", { channel_ids: [forum.id], text: "leek", ...range });
		if ("after" in range) expect(text).toStartWith("2 matches among 2 messages of 2 archived threads");
		expect(text.match(/text: leek \w+$/gm)).toEqual(["text: leek two", "text: leek one"]);
	}
	expect(simulator.requests.list(indexRoute)).toHaveLength(1);
});

worldTest("channels whose archived threads cannot be listed are named, with a way to search them", async (world) => {
	const { stove } = writeInTwo(world, 1);
	archive(world, stove.channel, ["old", 2]);
	await world.heard();
	world.simulator.faults.refuse(`GET /channels/${stove.channel_id}/threads/archived/public`, 50001);
	const { text } = await world.call("search_messages", { after });
	expect(found(text)).toEqual(["o0", "s0"]);
	expect(text).toContain(
		`\nNot all archived threads of #stove (ID: ${stove.channel_id}) were searched: Discord API error: Missing Access`,
	);
	expect(text).toContain("list_threads with include_archived as channel_ids.");
});

worldTest("a search in Discord's index says which channels and threads it covers", async (world) => {
	const { simulator, guild } = world;
	const { channel_ids, oven } = writeInTwo(world, 1);
	simulator.world.threads.add(oven.channel, userNamed(world, "ada"), { name: "rolls" });
	await world.heard();
	const search = async (more: object) => (await world.call("search_messages", { text: "leek", ...more })).text;
	expect(await search({})).toContain(
		"\nSearched: #stove, #oven, #general, #staff, #Lounge, 1 active thread, all archived threads.\n",
	);
	const named = await search({ channel_ids });
	expect(named).toContain(`\nSearched: #stove, #oven.\n`);
	expect(named).toEndWith(`\n${withoutThreads}`);
	simulator.world.channels.add(guild, { name: "sixth" });
	await world.heard();
	expect(await search({})).toContain("\nSearched: 6 channels, 1 active thread, all archived threads.\n");
});

// Counts

worldTest("one call counts by author, channel and day, in the order asked for", async (world) => {
	const { channel_ids } = writeInTwo(world, 2);
	await world.heard();
	const args = { channel_ids, after: "2020-02-28", before: "2020-03-02" };
	const count = async (count_by: unknown) => (await world.call("search_messages", { ...args, count_by })).text;
	const lines = (await count(["day", "channel", "author"])).split("\n");
	const name = expect.stringContaining;
	expect(lines.slice(1, -3)).toEqual([
		"By day:",
		"0 | 2020-02-28",
		"2 | 2020-02-29",
		"2 | 2020-03-01",
		"By channel:",
		name("2 | #stove (ID: "),
		name("2 | #oven (ID: "),
		"By author:",
		name("2 | Ada (@ada, ID: "),
		name("2 | Zoë 🍞 (@zoe, ID: "),
	]);
	expect(await count(["author"])).toBe(await count("author"));
});

worldTest(
	"each table has rows of its own, and channels of a named category without messages have one together",
	async (world) => {
		const { simulator, guild } = world;
		const { world: platform } = simulator;
		const category = platform.channels.add(guild, { name: "Food", type: ChannelType.GuildCategory });
		const names = ["soup", "bread", "cake", "tea"];
		const channels = names.map((name) => platform.channels.add(guild, { name, parent_id: category.id }));
		const [soup, bread, cake, tea] = channels.map(({ name, id }) => `#${name} (ID: ${id})`);
		const authors = ["a", "b", "c"].map((username) => platform.users.add({ username }));
		for (const channel of channels.slice(0, 2))
			for (const [index, author] of authors.entries())
				for (let said = 3 - index; said > 0; said -= 1) platform.messages.add(channel, author, { content: "leek" });
		await world.heard();
		const args = { channel_ids: [category.id], count_by: ["author", "channel"], limit: [1, 2], after: "2015-01-01" };
		const { text } = await world.call("search_messages", args);
		expect(text.split("\n").slice(1, -2)).toEqual([
			"By author:",
			expect.stringContaining("6 | @a (ID: "),
			"2 more authors with 4 or fewer: 6; `limit` sets the rows",
			"By channel:",
			`6 | ${soup} in Food`,
			`6 | ${bread} in Food`,
			`0 | ${cake}, ${tea}`,
		]);
	},
);

worldTest("a long tail of counts is one line, except for named people", async (world) => {
	const { simulator, guild } = world;
	const channel = simulator.world.channels.add(guild, { name: "notes" });
	const users = Array.from({ length: 30 }, (_, index) => {
		const user = simulator.world.users.add({ username: `cook${index}` });
		for (let said = index < 3 ? 5 : 2; said > 0; said -= 1)
			simulator.world.messages.add(channel, user, { content: "leek" });
		return user;
	});
	await world.heard();
	const count = async (more: object) => {
		const args = { channel_ids: [channel.id], count_by: "author", ...more };
		return (await world.call("search_messages", args)).text.split("\n");
	};
	const lines = await count({});
	expect(lines[0]).toMatch(/^69 messages in #notes \(ID: \d+\) by 30 authors, back to /);
	expect(lines.slice(1, 5).map((line) => line.split(" (")[0])).toEqual([
		"5 | @cook0",
		"5 | @cook1",
		"5 | @cook2",
		"2 | @cook3",
	]);
	expect(lines.slice(-4)).toEqual([
		"5 more authors with 2 or fewer: 10; `limit` sets the rows",
		rowsNote,
		withoutThreads,
		wholeRange,
	]);
	expect(await count({ limit: 50 })).toHaveLength(34);
	const user_ids = users.map(({ id }) => id);
	expect(await count({ user_ids })).toHaveLength(34);
});

worldTest("a count by channel in Discord's index says how many messages are in archived threads", async (world) => {
	const { stove } = writeInTwo(world, 2);
	archive(world, stove.channel, ["leek", 2]);
	await world.heard();
	const { text } = await world.call("search_messages", { count_by: "channel" });
	expect(text).toStartWith("5 messages, counted by Discord's index:\n2 | #");
	expect(text).toContain("\nElsewhere, such as in archived threads: 1.");
	const user_ids = [world.simulator.user("ada").id];
	const both = await world.call("search_messages", { count_by: ["author", "channel"], user_ids });
	expect(both.text).toStartWith("3 messages, counted by Discord's index:\n");
	expect(both.text).toContain("By author:\n3 | Ada (@ada, ID: ");
	expect(both.text).toContain("\nElsewhere, such as in archived threads: 1.");
});

worldTest("of many messages with similar texts, three are shown and the others counted", async (world) => {
	const spam = Array.from(
		{ length: 12 },
		(_, n): Written => [`FREE lamps https://lamps.example/${n} for ${n} coins`, n % 2 === 0 ? "ada" : "zoe", n + 1],
	);
	const { channel_id } = write(world, [...spam.toReversed(), ["a question about lamps", "ada", 0]]);
	await world.heard();
	const { text } = await world.call("search_messages", { channel_ids: [channel_id] });
	expect(text).toStartWith("13 matches among 13 messages");
	expect(text.split("\n").filter((line) => line.includes("text: "))).toEqual([
		expect.stringContaining("a question about lamps"),
		...[0, 1, 2].map((n) => expect.stringContaining(`lamps.example/${n} `)),
	]);
	expect(text).toContain(
		`\n… 9 more messages like this, 2020-02-19T12:00:00Z to 2020-02-27T12:00:00Z, by @zoe (5), @ada (4); search_messages with fold=false gives each ID\n`,
	);
	const all = await world.call("search_messages", { channel_ids: [channel_id], fold: false });
	expect(found(all.text)).toHaveLength(13);
	expect(all.text).not.toContain("…");
});

worldTest("a line for similar messages names every author, channel and the first of them", async (world) => {
	const { messages, users, channels, state } = world.simulator.world;
	const stove = channels.add(world.guild, { name: "stove" });
	const oven = channels.add(world.guild, { name: "oven" });
	const raiders = Array.from({ length: 15 }, (_, n) => users.add({ username: `raider${n}` }));
	const ids = raiders.map((author, n) => {
		const room = n % 2 === 0 ? stove : oven;
		return messages.add(room, author, { content: "FREE lamps for everyone", id: state.newId(at(1) + n * 1000) }).id;
	});
	await world.heard();
	const args = { channel_ids: [stove.id, oven.id], after };
	const line = (await world.call("search_messages", args)).text.split("\n").at(4);
	const rest = raiders.slice(0, 12).map(({ username, id }) => `@${username} (ID: ${id}) (1)`);
	const [, ...others] = (line ?? "").split(", by ");
	expect(line).toStartWith(
		`… 12 more messages like this, in #oven (6), #stove (6), 2020-03-01T12:00:00Z to 2020-03-01T12:00:11Z, by `,
	);
	expect(others.join("").split("; ")[0]?.split(", ").toSorted()).toEqual(rest.toSorted());
	// Unfolded, a text like the one above is not repeated, and each message has its id, channel and author.
	const { text } = await world.call("search_messages", { ...args, fold: false });
	const rows = text.split("\n").slice(1, 16);
	expect(rows[14]).toBe(`#stove | 12:00:00 | @raider0 (ID: ${raiders[0]?.id}) | ID: ${ids[0]} | same text`);
	expect(rows.map((row) => / ID: (\d+) \|/.exec(row.slice(row.lastIndexOf("| ID")))?.[1])).toEqual(ids.toReversed());
});
