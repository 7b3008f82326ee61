// Searching the messages of a guild, and reading its audit log.

import { test as bunTest, describe, expect } from "bun:test";
import { AuditLogEvent, PermissionFlagsBits, type RESTGetAPIGuildMessagesSearchResult, Routes } from "discord.js";
import { demoSeed } from "../../../../src/simulator/seed.ts";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { as, connect, cooksOf, startSimulator, testWith } from "../../support.ts";

const test = testWith(({ world, guild, alpha, ada }) => {
	const path = `/guilds/${guild.id}/messages/search`;
	return {
		path,
		newChannel: (more = {}) => world.channels.add(guild, { name: "new", ...more }),
		write: (channel: GuildChannel, content: string, more = {}) =>
			world.messages.add(channel, ada, { content, ...more }),
		/** The texts that are found, and how many there are in all. */
		search: async (query: string, who = alpha) => {
			const answer = await who("GET", `${path}?${query}`);
			const { messages, total_results } = answer.json<{ messages: { content: string }[][]; total_results: number }>();
			return [messages.map(([message]) => message?.content).join(" / "), total_results];
		},
	};
});

test("words are found in all channels, latest message first", async ({ guild, newChannel, write, user, simulator }) => {
	await using bot = await connect(simulator);
	const [first, second] = [newChannel(), newChannel()];
	write(first, "a red Truffle");
	write(first, "trufflesome");
	const reacted = write(second, "truffle, red or not");
	simulator.world.reactions.add(second, reacted, user("ada"), { id: null, name: "🍄" });
	const { total_results, messages } = (await bot.client.rest.get(Routes.guildMessagesSearch(guild.id), {
		query: new URLSearchParams({ content: "TRUFFLE red" }),
	})) as Extract<RESTGetAPIGuildMessagesSearchResult, { messages: unknown }>;
	expect(total_results).toBe(2);
	expect(messages).toMatchObject([
		[{ content: "truffle, red or not", channel_id: second.id }],
		[{ content: "a red Truffle", channel_id: first.id }],
	]);
	expect(messages[0]?.[0]).not.toHaveProperty("reactions");
});

test("results are filtered by channel, author, mention, time, pin and type", async (given) => {
	const { newChannel, write, search, user, simulator } = given;
	const [here, there, elsewhere] = [newChannel(), newChannel(), newChannel()];
	const a = write(here, "one fig");
	const b = write(there, "two fig https://figs.example", { mentions: [user("zoe")] });
	write(elsewhere, "three fig");
	const bot = simulator.world.messages.add(here, user("alpha"), { content: "four fig" });
	bot.pinned_at = new Date().toISOString();
	const only = async (query: string) => (await search(`content=fig&${query}`))[0];
	const inTwo = `channel_id=${here.id}&channel_id=${there.id}`;
	expect(await only(inTwo)).toBe("four fig / two fig https://figs.example / one fig");
	expect(await only(`channel_id=${elsewhere.id}`)).toBe("three fig");
	expect(await only(`author_id=${user("alpha").id}`)).toBe("four fig");
	expect(await only("author_type=bot")).toBe("four fig");
	expect(await only("author_type=-bot&sort_order=asc")).toBe("one fig / two fig https://figs.example / three fig");
	expect(await only(`mentions=${user("zoe").id}`)).toStartWith("two fig");
	expect(await only("has=link")).toStartWith("two fig");
	expect(await only("has=-link&pinned=false")).toBe("three fig / one fig");
	expect(await only(`max_id=${b.id}`)).toBe("one fig");
	expect(await only(`min_id=${a.id}&max_id=${bot.id}&has=-link`)).toBe("three fig");
	expect(await search("content=fig&limit=1&offset=1")).toEqual(["three fig", 4]);
	write(here, "fig fig");
	write(here, "last fig");
	expect(await only("sort_by=relevance&limit=1")).toBe("fig fig");
});

test("unreadable messages are not found", async (given) => {
	const { guild, path, alpha, newChannel, write, search, simulator, deny } = given;
	const hidden = newChannel();
	deny(hidden, PermissionFlagsBits.ReadMessageHistory, guild.id);
	write(hidden, "a secret quince");
	write(newChannel({ nsfw: true }), "a grown-up quince");
	write(newChannel(), "a quince");
	const zoe = as(simulator, simulator.user("zoe"));
	expect(await search("content=quince", zoe)).toEqual(["a quince", 1]);
	expect(await search("content=quince&include_nsfw=true", zoe)).toEqual(["a quince / a grown-up quince", 2]);
	const named = await zoe("GET", `${path}?channel_id=${hidden.id}`);
	expect(named.code).toBe(50001);
	const stranger = simulator.channel("The Bakers/general").id;
	const elsewhere = await alpha("GET", `${path}?channel_id=${stranger}`);
	expect(elsewhere.code).toBe(50001);
});

test("threads are searched, private ones for their members, and returned with their messages", async (given) => {
	const { path, alpha, newChannel, user, simulator, deny } = given;
	const { world } = simulator;
	const channel = newChannel();
	const [open, closed] = ([11, 12] as const).map((type) =>
		world.threads.add(channel, user("ada"), { name: `thread ${type}`, type }),
	);
	if (!open || !closed) throw new Error("expected two threads");
	for (const thread of [open, closed]) world.messages.add(thread, user("ada"), { content: "quince" });
	const found = async (who = alpha) => {
		const answer = await who("GET", `${path}?content=quince`);
		const { threads, members } = answer.json<{
			threads: { id: string }[];
			members: { id: string; user_id: string }[];
		}>();
		return [threads.map(({ id }) => id), members.map(({ id }) => id)];
	};
	deny(channel, PermissionFlagsBits.ManageThreads);
	expect(await found()).toEqual([[open.id], []]);
	const both = [open.id, closed.id];
	expect(await found(as(simulator, simulator.user("ada")))).toEqual([both, both]);
});

bunTest("a bot that may not read content searches nothing", async () => {
	const seed = demoSeed();
	const bots = seed.bots.map((bot) => ({ ...bot, privilegedIntents: [] }));
	await using simulator = await startSimulator({ seed: { ...seed, bots } });
	const { guild, alpha } = cooksOf(simulator);
	const path = `/guilds/${guild.id}/messages/search?content=a`;
	expect((await alpha("GET", path)).code).toBe(50001);
});

test("invalid and unsimulated filters of a search are refused", async ({ path, alpha }) => {
	const wrong = `limit=26&offset=9976&content=${"x".repeat(1025)}&has=soup&has=link&author_type=cat&sort_by=size&max_id=x`;
	expect(Object.keys((await alpha("GET", `${path}?${wrong}`)).faults)).toEqual([
		...["limit", "offset", "max_id", "content", "author_type.0", "has.0"],
		"sort_by",
	]);
	expect((await alpha("GET", `${path}?slop=1`)).status).toBe(501);
});

describe("the audit log", () => {
	test("is read by discord.js, filtered by user and type, in pages", async ({ guild, user, simulator }) => {
		await using bot = await connect(simulator);
		const { world } = simulator;
		const by = (name: string) => ({ actor: user(name).id });
		world.roles.add(guild, { name: "a" }, by("ada"));
		world.roles.add(guild, { name: "b" }, by("alpha"));
		world.channels.add(guild, { name: "c" }, by("ada"));
		const cached = bot.client.guilds.cache.get(guild.id);
		const names = async (options = {}) => {
			const logs = await cached?.fetchAuditLogs(options);
			return logs?.entries.map(({ changes }) => String(changes.find(({ key }) => key === "name")?.new));
		};
		expect(await names()).toEqual(["c", "b", "a"]);
		expect(await names({ user: user("ada").id })).toEqual(["c", "a"]);
		const type = AuditLogEvent.RoleCreate;
		expect(await names({ type })).toEqual(["b", "a"]);
		const [first, second, third] = guild.auditLog;
		expect(await names({ limit: 1 })).toEqual(["c"]);
		expect(await names({ before: third?.id })).toEqual(["b", "a"]);
		expect(await names({ after: "0", limit: 2 })).toEqual(["a", "b"]);
		expect(await names({ after: first?.id, before: third?.id })).toEqual(["b"]);
		expect(second?.user_id).toBe(user("alpha").id);
	});

	test("includes the webhooks, threads, events and rules of its entries", async (given) => {
		const { guild, alpha, newChannel, user, simulator } = given;
		const { world } = simulator;
		const doing = { actor: user("ada").id };
		const channel = newChannel();
		const webhook = world.webhooks.add(channel, { name: "hook" }, doing);
		const name = "thread";
		const thread = world.threads.add(channel, user("ada"), { name }, doing);
		newChannel();
		const log = (await alpha("GET", `/guilds/${guild.id}/audit-logs`)).json();
		expect(log).toMatchObject({
			users: [{ username: "ada" }],
			webhooks: [{ id: webhook.id, name: "hook" }],
			threads: [{ id: thread.id, name: "thread" }],
			guild_scheduled_events: [],
			auto_moderation_rules: [],
		});
		const kicks = await alpha("GET", `/guilds/${guild.id}/audit-logs?action_type=20`);
		expect(kicks.json()).toMatchObject({ webhooks: [], threads: [] });
	});

	test("has entries for 45 days", async ({ guild, alpha, simulator }) => {
		const entry = (days: number) => ({
			id: simulator.world.state.newId(Date.now() - days * 86_400_000),
			action_type: 1,
			user_id: "1",
			target_id: guild.id,
		});
		guild.auditLog.push(entry(46), entry(44));
		const log = await alpha("GET", `/guilds/${guild.id}/audit-logs`);
		expect(log.json<{ audit_log_entries: unknown[] }>().audit_log_entries).toEqual([guild.auditLog.at(-1)]);
	});
});
