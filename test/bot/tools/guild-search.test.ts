// search_guild_messages: filters, pages, and results while Discord is still indexing.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import {
	denyBot,
	startWorld,
	type TestWorld,
	userNamed,
} from "../../support/world.ts";

const route = "GET /guilds/:guild_id/messages/search";

function channels({ simulator, guild }: TestWorld, ...names: string[]) {
	return names.map((name) => simulator.world.channels.add(guild, { name }));
}

function write(
	{ simulator }: TestWorld,
	channel: GuildChannel | undefined,
	content: string,
	{ by = "ada", daysAgo = 0, mention = "" } = {},
) {
	const { world } = simulator;
	const author = userNamed({ simulator }, by);
	const mentioned = mention ? userNamed({ simulator }, mention) : undefined;
	if (!channel) throw new Error("no such channel");
	return world.messages.add(channel, author, {
		content,
		...(daysAgo > 0 && {
			id: world.state.newId(Date.now() - daysAgo * 86_400_000),
		}),
		mentions: mentioned ? [mentioned] : [],
	});
}

const found = (text: string) =>
	Array.from(text.matchAll(/\| text: (\S+)/g), ([, said]) => said).join(" ");

test("each filter narrows what is found, and all of them together", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const [stove, oven] = channels(world, "stove", "oven");
	write(world, stove, "a-leek", { daysAgo: 3 });
	write(world, oven, "b-leek", { by: "zoe", daysAgo: 2 });
	write(world, stove, "c-leek http://x", { by: "alpha", daysAgo: 1 });
	write(world, oven, "d-leek", { mention: "zoe" }).pinned_at =
		new Date().toISOString();
	await world.heard();
	const search = async (args: Record<string, unknown>) =>
		found((await world.call("search_guild_messages", args)).text);
	const day = (days: number) =>
		new Date(Date.now() - days * 86_400_000).toISOString();
	const zoe = simulator.user("zoe").id;
	expect(await search({ query: "LEEK" })).toBe("d-leek c-leek b-leek a-leek");
	expect(await search({ query: "leek", order: "asc", limit: 2 })).toBe(
		"a-leek b-leek",
	);
	expect(await search({ channel_ids: [stove?.id] })).toBe("c-leek a-leek");
	const two = [stove?.id, oven?.id];
	expect(await search({ channel_ids: two, has: ["link"] })).toBe("c-leek");
	expect(await search({ author_ids: [zoe] })).toBe("b-leek");
	expect(await search({ author_type: ["-user"] })).toBe("c-leek");
	expect(await search({ mentions: [zoe] })).toBe("d-leek");
	expect(await search({ query: "leek", pinned: true })).toBe("d-leek");
	expect(await search({ query: "leek", pinned: false, limit: 1 })).toBe(
		"c-leek",
	);
	expect(await search({ before: day(1.5), after: day(2.5) })).toBe("b-leek");
	expect(await search({ query: "leek", author_ids: [zoe], pinned: true })).toBe(
		"",
	);
});

test("every line names the channel, and pages go on by offset up to the last", async () => {
	await using world = await startWorld();
	const [stove, oven] = channels(world, "stove", "oven | x");
	write(world, stove, "one leek");
	write(world, oven, "two leek");
	write(world, stove, "three leek");
	await world.heard();
	const args = { query: "leek", limit: 2 };
	const first = (await world.call("search_guild_messages", args)).text;
	const [count, third, second, next] = first.split("\n");
	expect(count).toBe(
		"3 match(es) in total, 2 shown, newest first, times in UTC:",
	);
	expect(third).toStartWith(`in: #stove (ID: ${stove?.id}) | 20`);
	expect(second).toStartWith(`in: #oven \\| x (ID: ${oven?.id}) | 20`);
	expect(next).toBe("next_offset=2");
	const last = await world.call("search_guild_messages", {
		...args,
		offset: 2,
	});
	expect(last.text).toStartWith(
		"3 match(es) in total, 1 shown after the first 2,",
	);
	expect(found(last.text)).toBe("one");
	expect(last.text).not.toContain("next_offset");
	const none = await world.call("search_guild_messages", { query: "turnip" });
	expect(none).toMatchObject({
		isError: false,
		text: "No indexed message matches.",
	});
});

test("an uncached thread is named in results", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const [stove] = channels(world, "stove");
	const ada = simulator.world.users.get(simulator.user("ada").id);
	if (!stove || !ada) throw new Error("both are there");
	const told = simulator.world.threads.add(stove, ada, { name: "new soup" });
	const id = simulator.world.state.newId();
	const thread = { ...told, id, name: "old soup", archived: true };
	world.guild.threads.set(id, thread);
	simulator.world.state.channels.set(id, thread);
	simulator.world.messages.add(thread, ada, { content: "leek" });
	await world.heard();
	const { text } = await world.call("search_guild_messages", { query: "leek" });
	expect(text).toContain(`\nin: #old soup (ID: ${thread.id}) | `);
});

test("missing and unknown filters are refused", async () => {
	await using world = await startWorld();
	const refused = async (args: Record<string, unknown>) => {
		const { code, text } = await world.call("search_guild_messages", args);
		expect(code).toBe(-32602);
		return text;
	};
	expect(await refused({ sort: "relevance", limit: 3 })).toContain(
		"query, channel_ids, author_ids, mentions, has, author_type, pinned, before, after: expected at least one of these",
	);
	expect(await refused({ has: ["soup"] })).toContain("has.0: ");
	expect(await refused({ author_type: ["ghost"] })).toContain(
		"author_type.0: ",
	);
	expect(await refused({ query: "a", offset: 9976 })).toContain("9975");
	expect(await refused({ query: "a", sort: "size" })).toContain("sort");
	expect(
		world.simulator.requests.list().map(({ route }) => route),
	).not.toContain(route);
});

test("a channel that the bot may not read is refused if given, and otherwise left out", async () => {
	await using world = await startWorld();
	const [open, closed] = channels(world, "open", "closed");
	write(world, open, "a-leek");
	write(world, closed, "b-leek");
	if (closed) denyBot(world, closed, PermissionFlagsBits.ReadMessageHistory);
	await world.heard();
	const named = await world.call("search_guild_messages", {
		channel_ids: [open?.id, closed?.id],
	});
	expect(named.isError).toBe(true);
	expect(named.text).toContain(
		`lacks READ_MESSAGE_HISTORY in #closed (ID: ${closed?.id})`,
	);
	const all = await world.call("search_guild_messages", { query: "leek" });
	expect(found(all.text)).toBe("a-leek");
});

test("the search is repeated while Discord is indexing", async () => {
	await using world = await startWorld();
	write(world, channels(world, "stove")[0], "a-leek");
	const { faults, requests } = world.simulator;
	faults.indexing(route, { retryAfterSeconds: 1, times: 1 });
	faults.indexing(route, { retryAfterSeconds: 0, times: 1 });
	const { text } = await world.call("search_guild_messages", { query: "leek" });
	expect(found(text)).toBe("a-leek");
	const searches = requests.list().filter((one) => one.route === route);
	expect(searches).toHaveLength(3);
});

test("a result says when to call again if indexing takes too long", async () => {
	await using world = await startWorld();
	const { faults } = world.simulator;
	const fault = faults.indexing(route, { retryAfterSeconds: 30 });
	const answer = await world.call("search_guild_messages", { query: "leek" });
	expect(answer.isError).toBe(true);
	expect(answer.text).toContain("Discord is still indexing");
	expect(answer.text).toContain("Call again in 30 seconds");
	expect(fault.hits).toBe(1);
});

test("without the Message Content Intent the search is refused before Discord is asked", async () => {
	const seed = demoSeed();
	const bots = [
		{ username: "alpha", privilegedIntents: ["GuildMembers"] as const },
		{ username: "beta" },
	];
	await using world = await startWorld({ seed: { ...seed, bots } });
	const answer = await world.call("search_guild_messages", { query: "leek" });
	expect(answer.isError).toBe(true);
	expect(answer.text).toContain('enable "Message Content Intent"');
	expect(world.simulator.requests.list().map((one) => one.route)).not.toContain(
		route,
	);
});
