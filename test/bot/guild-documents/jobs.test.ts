// Jobs that carry out plans: each step once, through lost responses, restarts, refusals and other people's edits.

import { describe, expect, test } from "bun:test";
import { Routes } from "discord.js";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { generousLimits, realisticLimits } from "../../../src/simulator/rest/rate-limits.ts";
import type { Message, Thread } from "../../../src/simulator/world/state/entities.ts";
import { onBoth } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { withSql } from "../features/running-feature.ts";
import { hashIn, jobIn, startService } from "./running-service.ts";

const runningTest = testWith(() => startService());

const roleRoute = "POST /guilds/:guild_id/roles";
const channelRoute = "POST /guilds/:guild_id/channels";
const document = {
	roles: [{ name: "Mods", color: "#FF0000" }, { name: "Guests" }],
	channels: [
		{ name: "mod-chat", topic: "For mods", overwrites: [{ role: "Mods", allow: ["VIEW_CHANNEL"] }] },
		{ name: "general", topic: "Everything" },
	],
};

type Running = Awaited<ReturnType<typeof startService>>;

const ended = ({ service }: Running, id: string) =>
	until("the job ends", async () => {
		const text = await service().job(id);
		return text.includes("ended 2") && text;
	});

const isTopic = (running: Running, id: string, topic: string) => {
	const channel = running.guild().channels.cache.get(id);
	return channel && "topic" in channel && channel.topic === topic;
};

const rolesCalled = ({ bot }: Running, name: string) =>
	[...bot.guild.roles.values()].filter((role) => role.name === name);
const channelsCalled = ({ bot }: Running, name: string) =>
	[...bot.guild.channels.values()].filter((channel) => channel.name === name);
const executed = ({ bot }: Running, route: string) => bot.simulator.journal.entries(route).length;

describe("a job", () => {
	runningTest("does what the plan shows, with its mark in the audit log", async (running) => {
		const plan = await running.plan(document);
		expect(plan).toContain("create 3, change 1\n");
		expect(plan).toContain("+ role Mods: color #FF0000\n");
		expect(plan).toContain('+ channel #mod-chat: topic "For mods"\n');
		expect(executed(running, roleRoute)).toBe(0);
		const text = await running.service().apply(hashIn(plan), "because");
		const id = jobIn(text);
		expect(await ended(running, id)).toStartWith(
			`Job ${id} in The Cooks (ID: ${running.guild().id}): done, 4 of 4 steps done\n`,
		);
		const [role] = rolesCalled(running, "Mods");
		const [channel] = channelsCalled(running, "mod-chat");
		expect(role?.color).toBe(0xff0000);
		expect(channel?.permission_overwrites).toMatchObject([{ id: role?.id }]);
		const reasons = running.bot.guild.auditLog.flatMap(({ reason }) => reason ?? []);
		expect(reasons).toContain(`guild document ${id} 1.1: because`);
		expect(await running.plan(document)).toContain("no changes");
	});

	runningTest("with unchanged documents again does nothing", async (running) => {
		await ended(running, await running.apply(document));
		const plan = await running.plan(document);
		expect(plan).toContain("There is nothing to do.");
		expect(await running.service().apply(hashIn(plan))).toContain("There is nothing to do.");
		expect(executed(running, roleRoute)).toBe(2);
	});

	runningTest("deletes only with prune", async (running) => {
		const count = running.bot.guild.channels.size;
		await ended(running, await running.apply(document));
		expect(running.bot.guild.channels.size).toBe(count + 1);
		await ended(running, await running.apply(document, { prune: true }));
		expect([...running.bot.guild.channels.values()].map(({ name }) => name).sort()).toEqual(["general", "mod-chat"]);
	});

	runningTest("of a guild that has changed is refused with the new plan", async (running) => {
		const hash = hashIn(await running.plan(document));
		running.bot.simulator.world.roles.add(running.bot.guild, { name: "Mods" });
		const error = await running
			.service()
			.apply(hash)
			.catch((error) => error);
		expect(error).toBeInstanceOf(ToolError);
		expect(error.message).toContain("Nothing was done. The plan is now:");
		expect(error.message).toContain("~ role Mods");
		expect(hashIn(error.message.slice(error.message.indexOf("now:")))).not.toBe(hash);
		expect(executed(running, roleRoute)).toBe(0);
	});

	runningTest("runs alone in its guild", async (running) => {
		const held = running.bot.simulator.faults.stall(roleRoute, { times: 1 });
		const first = hashIn(await running.plan(document));
		const id = jobIn(await running.service().apply(first));
		await until("the job asks", () => held.hits > 0);
		expect(await running.service().apply(first)).toContain(`Job ${id} in`);
		const second = hashIn(await running.plan({ roles: [{ name: "Other" }] }));
		await expect(running.service().apply(second)).rejects.toThrow(`The job ${id} is already running`);
		held.release();
		await ended(running, id);
	});

	runningTest("that is cancelled stops after the running step and lists what was done", async (running) => {
		const held = running.bot.simulator.faults.stall(roleRoute, { times: 1 });
		const id = await running.apply(document);
		await until("the job asks", () => held.hits > 0);
		expect(await running.service().cancel(id)).toContain("being cancelled");
		held.release();
		const text = await ended(running, id);
		expect(text).toContain(": cancelled, 1 of 4 steps done");
		expect(text).toContain("done: + role Mods");
		expect(executed(running, roleRoute)).toBe(1);
		expect(executed(running, channelRoute)).toBe(0);
	});

	runningTest("goes on after a refusal, without what needs the refused thing", async (running) => {
		running.bot.simulator.faults.refuse(roleRoute, 50013, { status: 403, message: "Missing Permissions", times: 1 });
		const text = await ended(running, await running.apply(document));
		expect(text).toContain("not everything was done, 2 of 4 steps done, 2 failed");
		expect(text).toContain("failed: create role Mods: Discord refuses: Missing Permissions");
		expect(text).toContain("failed: create channel #mod-chat: it needs role Mods, which was not done");
		expect(rolesCalled(running, "Guests")).toHaveLength(1);
		expect(channelsCalled(running, "mod-chat")).toHaveLength(0);
	});
});

describe("a request to create something", () => {
	test.each(["before", "after"] as const)(
		"whose connection breaks %s it takes effect is carried out once",
		async (when) => {
			await using running = await startService();
			running.bot.simulator.faults.drop(roleRoute, { when, times: 1 });
			running.bot.simulator.faults.drop(channelRoute, { when, times: 1 });
			const text = await ended(running, await running.apply(document));
			expect(text).toContain(": done, 4 of 4 steps done");
			expect(rolesCalled(running, "Mods")).toHaveLength(1);
			expect(channelsCalled(running, "mod-chat")).toHaveLength(1);
			expect([executed(running, roleRoute), executed(running, channelRoute)]).toEqual([2, 1]);
		},
	);

	/** Starts a job whose first request is lost, and holds it until `meanwhile` has run. */
	async function withLostRequest(meanwhile: (running: Running) => unknown) {
		const { promise: gate, resolve: open } = Promise.withResolvers<void>();
		let isLost = () => false;
		const running: Running = await startService({
			rules: {
				async read(guild, parts) {
					if (isLost()) await gate;
					return readGuildState(guild, parts, running.bot);
				},
			},
		});
		const { faults } = running.bot.simulator;
		const lost = faults.drop(roleRoute, { when: "before", times: 1 });
		isLost = () => lost.hits > 0;
		const id = await running.apply({ roles: [{ name: "Mods" }] });
		await until("the request is lost", isLost);
		meanwhile(running);
		open();
		return { running, text: await ended(running, id) };
	}

	test("that may have made something the audit log does not show is not repeated", async () => {
		let other = "";
		const { running, text } = await withLostRequest(({ bot }) => {
			// By nobody: the audit log has no entry.
			other = bot.simulator.world.roles.add(bot.guild, { name: "Mods" }).id;
		});
		await using _ = running;
		expect(text).toContain(
			`failed: create role Mods: the outcome is unknown: Discord did not respond. Mods (ID: ${other}) may be what was created`,
		);
		expect(rolesCalled(running, "Mods")).toHaveLength(1);
	});

	test("of an emoji records the picture that was sent", async () => {
		const hash = "0123456789abcdef0123456789abcdef";
		const remembered: unknown[] = [];
		await using running = await startService({
			hasRealRules: true,
			options: {
				pictures: {
					dataUri: async () =>
						"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
					remember: async (reference, hash) => {
						remembered.push([reference, hash]);
					},
				},
			},
		});
		const { bot } = running;
		bot.simulator.faults.drop("POST /guilds/:guild_id/emojis", { when: "after", times: 1 });
		const before = new Set(bot.guild.emojis.keys());
		await ended(running, await running.apply({ emojis: [{ name: "party", picture: hash }] }));
		const made = [...bot.guild.emojis.keys()].filter((id) => !before.has(id));
		expect(made).toHaveLength(1);
		expect(remembered).toEqual([[made[0], hash]]);
	});

	const embeds = [{ title: "Dates", description: "On Sunday" }];
	type Place = { messages: Message[]; threads: Thread[]; write(text: string): unknown };
	test.each<[string, object, (place: Place) => unknown, string]>([
		[
			"behind 150 newer ones",
			{ messages: [{ key: "a", embeds }] },
			({ write }) => {
				for (let count = 0; count < 150; count += 1) write(String(count));
			},
			": done, ",
		],
		[
			"beside one that may be it",
			{ messages: [{ key: "a", embeds }] },
			({ messages: [one] }) => Object.assign(one?.embeds[0] ?? {}, { description: "On Monday" }),
			": the outcome is unknown: Discord did not respond. Look whether",
		],
		[
			"whose post is archived",
			{ kind: "forum", posts: [{ name: "How to play", content: "Read." }] },
			({ threads }) => {
				for (const thread of threads) thread.archived = true;
			},
			": done, ",
		],
	])("of a message %s is not repeated", async (_, fields, meanwhile, expected) => {
		await using running = await startService({ hasRealRules: true });
		const { bot } = running;
		const { messages } = bot.simulator.world;
		const route = `POST /channels/:channel_id/${"posts" in fields ? "threads" : "messages"}` as const;
		const lost = bot.simulator.faults.drop(route, { when: "after" });
		const id = await running.apply({ channels: [{ name: "news", ...fields }] });
		await until("the request is lost", () => lost.hits > 0);
		await bot.kill();
		lost.release();
		// Discord has forgotten the nonce.
		messages.nonces.clear();
		const channel = present(channelsCalled(running, "news")[0]);
		const [other] = bot.guild.members.values();
		const own = () => messages.in(channel.id).filter(({ author }) => author.bot);
		const threads = () => [...bot.guild.threads.values()].filter(({ parent_id }) => parent_id === channel.id);
		const before = own().length + threads().length;
		const write = (content: string) => other && messages.add(channel, other.user, { content });
		meanwhile({ messages: own(), threads: threads(), write });
		await bot.start();
		expect(await ended(running, id)).toContain(expected);
		expect([before, own().length + threads().length]).toEqual([1, 1]);
	});

	test("is not repeated when someone else has made a thing of that name", async () => {
		const { running, text } = await withLostRequest(({ bot }) => {
			const [actor = ""] = bot.guild.members.keys();
			bot.simulator.world.roles.add(bot.guild, { name: "Mods" }, { actor });
		});
		await using _ = running;
		expect(text).toContain(": done, 0 of 1 step done");
		expect(rolesCalled(running, "Mods")).toHaveLength(1);
	});
});

describe("a step", () => {
	runningTest("that someone undoes is done at most three times", async (running) => {
		const { simulator, guild } = running.bot;
		const channel = present(channelsCalled(running, "general")[0]);
		const { position } = channel;
		simulator.faults.rewrite("PATCH /channels/:channel_id", (response) => {
			simulator.world.channels.edit(channel, { topic: "Old" });
			return response;
		});
		const text = await ended(running, await running.apply({ channels: [{ name: "general", topic: "New" }] }));
		expect(guild.channels.get(channel.id)?.position).toBe(position);
		expect(text).toContain("failed: edit channel #general: it was done 3 times and is still different");
	});

	runningTest("is not done once someone has changed what the plan does not show", async (running) => {
		const { simulator } = running.bot;
		const held = simulator.faults.stall(roleRoute, { times: 1 });
		const id = await running.apply({ roles: [{ name: "Mods" }], channels: [{ name: "general", topic: "New" }] });
		await until("the job asks", () => held.hits > 0);
		for (const channel of channelsCalled(running, "general")) simulator.world.channels.remove(channel);
		held.release();
		const text = await ended(running, id);
		expect(text).toContain("1 difference(s) are not in the plan");
		expect(channelsCalled(running, "general")).toHaveLength(0);
	});

	test("is not done when only someone's later change asks for it", async () => {
		await using running = await startService({
			prepare: ({ world, guild }) => world.roles.add(guild("The Cooks"), { name: "Guests" }),
		});
		const { simulator, guild } = running.bot;
		const held = simulator.faults.stall(roleRoute, { times: 1 });
		const id = await running.apply({ roles: [{ name: "Mods" }, { name: "Guests" }] });
		await until("the job asks", () => held.hits > 0);
		for (const role of rolesCalled(running, "Guests")) simulator.world.roles.edit(guild, role, { color: 7 });
		held.release();
		expect(await ended(running, id)).toContain("1 difference(s) are not in the plan");
		expect(rolesCalled(running, "Guests")).toMatchObject([{ color: 7 }]);
	});

	test("is not done by a job that has ended, although the database was slow to store the end", async () => {
		let late: (() => Promise<unknown>) | undefined;
		let isStored = false;
		let wasScanned = false;
		await using running = await startService({
			store: (store) =>
				withSql(store, async (strings, ...values) => {
					const text = strings.join("");
					if (text.includes("UPDATE guild_jobs SET") && !late) {
						late = () => store.sql(strings, ...values);
						throw new StoreUnavailable("timeout", true);
					}
					// The job is still due, but ends before it is read.
					if (text.includes("SELECT * FROM guild_jobs")) {
						await late?.();
						isStored = late !== undefined;
					}
					wasScanned ||= isStored && text.includes("WHERE ended_at IS NULL");
					return store.sql(strings, ...values);
				}),
		});
		const held = running.bot.simulator.faults.stall("PATCH /channels/:channel_id", { times: 1 });
		await running.apply(document);
		held.release();
		await until("the end is not confirmed", () => late !== undefined);
		const { world } = running.bot.simulator;
		for (const channel of channelsCalled(running, "general")) world.channels.edit(channel, { topic: "Old" });
		await until("the job was due once more", () => wasScanned);
		expect(executed(running, "PATCH /channels/:channel_id")).toBe(1);
	});

	test("is not done once someone has done it while the job did others", async () => {
		await using running = await startService({ options: { maxStateAgeMs: () => 0 } });
		const { simulator, guild } = running.bot;
		const held = simulator.faults.stall(roleRoute, { times: 1 });
		const id = await running.apply(document);
		await until("the job asks", () => held.hits > 0);
		simulator.world.roles.add(guild, { name: "Guests" });
		held.release();
		expect(await ended(running, id)).toContain(": done, 3 of 4 steps done");
		expect(rolesCalled(running, "Guests")).toHaveLength(1);
	});

	test("is not done after a restart with a configuration that excludes the guild", async () => {
		let mayTouch = true;
		await using running = await startService({ options: { mayTouch: () => mayTouch } });
		const { bot } = running;
		const held = bot.simulator.faults.stall(roleRoute, { times: 1 });
		const id = await running.apply(document);
		await until("the job asks", () => held.hits > 0);
		await bot.kill();
		held.release();
		mayTouch = false;
		await bot.start();
		await until("the job has ended", async () => {
			const sql = bot.store.sql;
			const [row] = await sql<{ note: string | null }>`
				SELECT note FROM guild_jobs WHERE id = ${id}`;
			return row?.note?.includes("has not enabled tools for the guild");
		});
		expect(executed(running, channelRoute)).toBe(0);
	});

	test.each([
		["", "roles channels roles/:role_id channels roles/:role_id"],
		["Changed", "roles channels channels :channel_id channels roles/:role_id roles/:role_id"],
	])("that gives a role comes between new channels, but after an edit: %p", async (topic, order) => {
		await using running = await startService({ hasRealRules: true, options: { arrivedAfterMs: 60_000 } });
		const { guild, simulator } = running.bot;
		const people = [...guild.members.values()].filter(({ user }) => !user.bot).slice(0, 2);
		const { id } = simulator.channel(`${guild.name}/general`);
		const channels = [{ name: "one" }, { name: "two" }, ...(topic ? [{ id, name: "general", topic }] : [])];
		const members = people.map(({ user }) => ({ id: user.id, roles: ["Mods"] }));
		await ended(running, await running.apply({ roles: [{ name: "Mods" }], channels, members }));
		const routes = simulator.journal.entries().map(({ route }) => /[^/]+(\/:role_id)?$/.exec(route)?.[0]);
		expect(routes.join(" ")).toBe(order);
	});

	test("that gives a role is not repeated before Discord's event about it", async () => {
		let reads = 0;
		const route = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
		await using running = await startService({
			hasRealRules: true,
			options: { arrivedAfterMs: 60_000 },
			prepare(simulator) {
				simulator.world.roles.add(simulator.guild("The Cooks"), { name: "Guests" });
			},
			rules: {
				async read(guild, parts) {
					const read = await readGuildState(guild, parts, running.bot);
					reads += 1;
					// As if the event about the role was late: the plan and two reads of the job do not show it.
					const members = read.state.members?.map((member) => ({ ...member, roles: [] }));
					return reads > 3 ? read : { ...read, state: { ...read.state, members } };
				},
			},
		});
		const { owner_id: id } = running.bot.guild;
		const text = await ended(running, await running.apply({ members: [{ id, roles: ["Guests"] }] }));
		expect(text).toContain(": done, 1 of 1");
		expect(executed(running, route)).toBe(1);
	});

	test("is refused by the guards right before it", async () => {
		await using running = await startService({
			rules: { requireStep: async ({ name }) => (name === "Mods" ? "Mods is too high" : undefined) },
		});
		const text = await ended(running, await running.apply(document));
		expect(text).toContain("failed: create role Mods: Mods is too high");
		expect(rolesCalled(running, "Mods")).toHaveLength(0);
		expect(rolesCalled(running, "Guests")).toHaveLength(1);
	});

	runningTest("waits for Discord's rate limit", async (running) => {
		const limited = running.bot.simulator.faults.rateLimit(roleRoute, { retryAfterMs: 60_000, times: 1 });
		const id = await running.apply(document);
		await until("the job waits", async () => {
			const text = await running.service().job(id);
			return limited.hits > 0 && /Waiting \d+ s: Discord asks/.test(text);
		});
		const text = await running.service().cancel(id);
		expect(text).toContain("cancelled");
		expect(await ended(running, id)).toContain(": cancelled, 0 of 4 steps");
	});

	test("waits for the limit of a channel's topic, which no header announces", async () => {
		const clock = { ms: 0 };
		const { renames } = realisticLimits;
		await using running = await startService({
			simulator: { rateLimits: { ...generousLimits, ...(renames && { renames }) }, rateLimitNow: () => clock.ms },
			options: { monotonicNow: () => clock.ms },
		});
		const { bot, service } = running;
		const channel = present(channelsCalled(running, "general")[0]);
		const { rest } = bot.connection.discord;
		for (const topic of ["Soup", "Bread"]) await rest.patch(Routes.channel(channel.id), { body: { topic } });
		await until("the bot has heard", () => isTopic(running, channel.id, "Bread"));
		const id = await running.apply({ channels: [{ name: "general", topic: "Stew" }] });
		const text = await until("the job waits", async () => {
			const text = await service().job(id);
			return text.includes("Waiting") && text;
		});
		expect(text).toMatch(/Waiting 60[01] s: Discord asks the bot to wait/);
		expect(channel.topic).toBe("Bread");
		clock.ms += 601_000;
		// The time for which discord.js holds requests back after a 429 is over, too.
		rest.handlers.clear();
		service().start();
		expect(await ended(running, id)).toContain(": done, 1 of 1");
		expect(channel.topic).toBe("Stew");
	});

	test("leaves the last request of a rate limit to others", async () => {
		const route = { requests: 3, perMs: 60_000 };
		await using running = await startService({
			simulator: { rateLimits: { ...generousLimits, routes: { [roleRoute]: route } } },
		});
		const id = await running.apply({ roles: ["a", "b", "c"].map((name) => ({ name })) });
		await until("the job waits", async () => /Waiting \d+ s: Discord asks/.test(await running.service().job(id)));
		expect(executed(running, roleRoute)).toBe(2);
		await running.service().cancel(id);
		expect(await ended(running, id)).toContain(": cancelled, 2 of 3 steps");
	});

	runningTest("waits while Discord does not respond, and is done then", async (running) => {
		const route = "PATCH /channels/:channel_id";
		const { faults } = running.bot.simulator;
		faults.fail(route, 500, { times: 2 });
		faults.fail("GET /guilds/:guild_id/channels", 502, { times: 3 });
		const id = await until("the plan can be made", () => running.apply(document).catch(() => undefined));
		expect(await ended(running, id)).toContain(": done, 4 of 4");
	});

	runningTest("that is never confirmed fails in the end", async (running) => {
		running.bot.simulator.faults.fail(roleRoute, 500, {});
		const text = await ended(running, await running.apply({ roles: [{ name: "Mods" }] }));
		expect(text).toContain("Discord did not respond, several times");
	});
});

onBoth((databases) => {
	test.each([
		["before Discord has", false],
		["after Discord has", true],
	])("a bot that is killed %s created a role creates it once", async (_, after) => {
		await using running = await startService({ place: await databases.place() });
		const { bot } = running;
		const held = bot.simulator.faults.stall(roleRoute, { after, times: 1 });
		const id = await running.apply(document);
		await until("the job asks", () => held.hits > 0);
		await bot.kill();
		held.release();
		await bot.start();
		expect(await ended(running, id)).toContain(": done, 4 of 4 steps done");
		expect(rolesCalled(running, "Mods")).toHaveLength(1);
	});

	test("plans and jobs need the database", async () => {
		await using running = await startService({ place: await databases.place() });
		const hash = hashIn(await running.plan(document));
		await running.bot.store.close();
		for (const call of [
			() => running.plan(document),
			() => running.service().apply(hash),
			() => running.service().job("1"),
			() => running.service().cancel("1"),
		])
			await expect(call()).rejects.toThrow("The bot's database is unavailable at the moment.");
	});
});

runningTest("unknown plans and jobs are refused", async (running) => {
	await expect(running.service().apply("0".repeat(32))).rejects.toThrow("There is no plan");
	await expect(running.service().job("x")).rejects.toThrow("There is no job");
	await expect(running.service().cancel("x")).rejects.toThrow("There is no job");
	await expect(running.service().plan(running.guild(), { document: { version: 2 } })).rejects.toThrow(
		"is invalid, for these reasons",
	);
	await expect(running.service().plan(running.guild(), { backup: "none" })).rejects.toThrow("There is no backup");
	expect(await running.service().jobs(running.guild())).toContain("No job");
});
