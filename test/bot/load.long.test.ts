// Many calls at once, and many members.

import { expect, test } from "bun:test";
import { realisticLimits } from "../../src/simulator/rest/rate-limits.ts";
import { demoSeed } from "../../src/simulator/seed.ts";
import type { Guild, Member } from "../../src/simulator/world/state/entities.ts";
import type { Outcome } from "../support/mcp.ts";
import { seeded } from "../support/random.ts";
import { present } from "../support/until.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

type Args = Record<string, unknown>;

/** A call, and how to recognize what it writes: no other call writes such a thing. */
interface Call {
	tool: string;
	args: Args;
	/** Part of the path or the body of its write; undefined for one that writes nothing. */
	mark: string | undefined;
}

/** A hundred calls, ten of each tool, on a few channels: most wait for one another. */
function hundredCalls({ simulator, guild }: TestWorld): Call[] {
	const { world } = simulator;
	const author = present(world.users.get(simulator.user("ada").id));
	const halls = [1, 2, 3].map((number) => world.channels.add(guild, { name: `hall-${number}` }));
	return Array.from({ length: 10 }, (_, index): Call[] => {
		const mark = `call-${index}-end`;
		const shared = halls[index % halls.length]?.id;
		const channel = world.channels.add(guild, { name: `room-${index}` });
		const role = world.roles.add(guild, { name: `role-${index}` });
		const user = world.users.add({ username: `victim-${index}` });
		world.members.add(guild, user);
		const message = world.messages.add(channel, author, { content: "x" });
		return [
			{ tool: "list_guilds", args: {}, mark: undefined },
			{ tool: "list_members", args: {}, mark: undefined },
			{ tool: "lookup_user_by_name", args: { query: "a" }, mark: undefined },
			{ tool: "send_message", args: { channel_id: shared, content: `send ${mark}` }, mark: `send ${mark}` },
			{
				tool: "delete_messages",
				args: { channel_id: channel.id, message_ids: [message.id] },
				mark: `/messages/${message.id}`,
			},
			{ tool: "create_channel", args: { name: `create-${mark}` }, mark: `create-${mark}` },
			{ tool: "edit_channel", args: { channel_id: channel.id, topic: `edit ${mark}` }, mark: `edit ${mark}` },
			{
				tool: "set_channel_permissions",
				args: { channel_ids: [shared], target_ids: [role.id], deny: ["SEND_MESSAGES"] },
				mark: `/permissions/${role.id}`,
			},
			{ tool: "edit_role", args: { role_id: role.id, name: `role ${mark}` }, mark: `role ${mark}` },
			{ tool: "ban", args: { user_ids: [user.id] }, mark: `/bans/${user.id}` },
		];
	}).flat();
}

test.concurrent("of a hundred calls at once each is answered, none runs twice, and what an answer says is so", async () => {
	await using world = await startWorld({
		rateLimits: {
			...realisticLimits,
			// Discord's global limit; the others empty sooner than Discord's, and fill up sooner.
			each: { requests: 4, perMs: 700 },
			routes: { "POST /channels/:channel_id/messages": { requests: 2, perMs: 300 } },
		},
	});
	const { simulator } = world;
	const calls = hundredCalls(world);
	await world.heard();
	const { faults } = simulator;
	const wait = { retryAfterMs: 100 };
	const injected = [
		faults.rateLimit("POST /channels/*/messages", { ...wait, times: 2 }),
		faults.rateLimit("GET *", { ...wait, times: 3, scope: "shared" }),
		faults.rateLimit("PUT *", { ...wait, times: 1, global: true }),
	];
	simulator.faults.drop("PATCH /guilds/*/roles/*", { when: "after", times: 1 });
	simulator.faults.fail("PUT /channels/*/permissions/*", 503, { times: 1 });

	const outcomes = await Promise.all(calls.map(({ tool, args }) => world.call(tool, args)));

	const written = simulator.journal.entries().map(({ path, body }) => `${path} ${JSON.stringify(body)}`);
	for (const [index, { tool, mark }] of calls.entries()) {
		const { text, isError } = outcomes[index] as Outcome;
		const times = mark && written.filter((one) => one.includes(mark)).length;
		// Reads succeed. A failed write says whether it took effect.
		const right = !mark
			? !isError
			: !isError
				? times === 1
				: text.includes("is unknown")
					? Number(times) <= 1
					: times === 0;
		expect({ tool, text, times, right }).toMatchObject({ right: true });
	}
	const failed = outcomes.filter(({ isError }) => isError);
	expect(failed.filter(({ text }) => text.includes("is unknown"))).toHaveLength(2);
	expect(failed).toHaveLength(2);
	expect(new Set(written).size).toBe(written.length);

	expect(injected.map(({ hits }) => hits)).toEqual([2, 3, 1]);
	// discord.js has one request on its way for each route and channel, learns from its answer what is left, and after a
	// 429 waits there for a second at least: less than one for each call, where a client that tries again at once has
	// thousands. Discord bans an address at 10,000 in ten minutes.
	const { invalid } = simulator.requests;
	expect(invalid).toBeGreaterThanOrEqual(3);
	expect(invalid).toBeLessThan(calls.length);
});

const first = "José,Zoë,Anna,ANNA,Ürsula,Bob,bob,李伟,Ångström,Nils".split(",");
const last = "García,Ng,Ivanović,the Baker,O'Neil,🍞,Straße,Muñoz".split(",");

/** The names of a member without case and accents, computed otherwise than the bot does. */
function plainNames({ nick, user }: Member): string[] {
	return [nick, user.global_name, user.username].filter((name) => name !== null).map(plain);
}
function plain(name: string): string {
	return name
		.toLowerCase()
		.replaceAll("ß", "ss")
		.normalize("NFD")
		.replace(/[\u0300-\u036f]/g, "");
}

/** What a look-up in this guild must find: the ids by rank. */
function expected(guild: Guild, query: string): Map<string, number> {
	const wanted = plain(query);
	const found = new Map<string, number>();
	for (const [id, member] of guild.members) {
		const ranks = plainNames(member)
			.filter((name) => name.includes(wanted))
			.map((name) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2));
		if (ranks.length > 0) found.set(id, Math.min(...ranks));
	}
	return found;
}

async function checkLookUp(world: TestWorld, query: string): Promise<void> {
	const right = expected(world.guild, query);
	const { text } = await world.call("lookup_user_by_name", { query, limit: 50 });
	const [count = "", ...lines] = text.split("\n");
	const ids = lines.map((line) => / \| ID: (\d+)$/.exec(line)?.[1] ?? line);
	const shown = Math.min(50, right.size);
	expect({ query, count }).toEqual({
		query,
		count:
			right.size === 0
				? `No member's name contains "${query}".`
				: shown < right.size
					? `${right.size} match(es), the first ${shown}:`
					: `${right.size} match(es):`,
	});
	expect(new Set(ids).size).toBe(shown);
	const ranks = ids.map((id) => right.get(id));
	const best = [...right.values()].sort().slice(0, shown);
	expect({ query, ranks }).toEqual({ query, ranks: best });
}

test.concurrent("in a guild of ten thousand look-ups are right from the start and through joins, renames and leaves", async () => {
	const random = seeded(1);
	const seed = demoSeed();
	const [cooks, ...others] = seed.guilds;
	if (!cooks) throw new Error("there are the cooks");
	await using world = await startWorld({ seed: { ...seed, guilds: [{ ...cooks, crowd: 10_000 }, ...others] } });
	const { simulator, guild } = world;
	const platform = simulator.world;
	expect(guild.members.size).toBe(10_006);
	const { text } = await world.call("list_members", { limit: 1 });
	expect(text).toStartWith("1 of 10,006 members:");
	const queries = "member9999,member10000,MEMBER77,chef jose,r1".split(",");
	for (const query of queries) await checkLookUp(world, query);

	const withToken = new Set([...platform.accounts.values()].map(({ user }) => user.id));
	for (let round = 0; round < 5; round += 1) {
		const ids = [...guild.members.keys()];
		for (let step = 0; step < 400; step += 1) {
			const member = guild.members.get(random.pick(ids));
			const name = `${random.pick(first)} ${random.pick(last)}`;
			const what = random.below(4);
			if (what === 0) {
				const username = `new_${round}_${step}`;
				const user = platform.users.add({ username, global_name: name });
				platform.members.add(guild, user);
				continue;
			}
			// Those with a token stay as they are: one of them is looked for below.
			if (!member || withToken.has(member.user.id)) continue;
			if (what === 1) platform.members.edit(guild, member, { nick: name });
			if (what === 2) {
				member.user.global_name = name;
				platform.members.edit(guild, member, { nick: null });
			}
			if (what === 3) platform.members.remove(guild, member);
		}
		// A member that does not change is found in the meantime.
		const { text } = await world.call("lookup_user_by_name", { query: "Chef José" });
		expect(text.split("\n")[1]).toContain("(@jose.garcia) | ID: ");
		await world.heard();
		for (const query of [
			random.pick(first),
			random.pick(last),
			`${random.pick(first)} ${random.pick(last)}`,
			`new_${round}_1`,
			`member${random.below(10_000)}`,
			"ZOE",
			"nobody at all",
		])
			await checkLookUp(world, query);
	}
	const all = await world.call("list_members", { limit: 1 });
	expect(all.text).toStartWith(`1 of ${guild.members.size.toLocaleString("en-US")} members:`);
	expect(simulator.requests.list().filter(({ path }) => path.includes("/members"))).toEqual([]);
});

test.concurrent("in a guild of thirty thousand a look-up that all match shows the best matches", async () => {
	const seed = demoSeed();
	const [cooks, ...others] = seed.guilds;
	if (!cooks) throw new Error("there are the cooks");
	await using world = await startWorld({ seed: { ...seed, guilds: [{ ...cooks, crowd: 30_000 }, ...others] } });
	const { simulator, guild } = world;
	const users = simulator.world.users;
	const bot = users.add({ username: "zz_member" });
	bot.bot = true;
	simulator.world.members.add(guild, bot);
	const exact = users.add({ username: "member", global_name: "zz" });
	simulator.world.members.add(guild, exact);
	await world.heard();
	const { text } = await world.call("lookup_user_by_name", { query: "member", limit: 2 });
	const [count, best, second] = text.split("\n");
	expect(count).toBe("30002 match(es), the first 2:");
	expect(best).toBe(`zz (@member) | ID: ${exact.id}`);
	expect(second).toStartWith("@member");

	const bots = async () => (await world.call("list_members", { where: "bot" })).text;
	expect(await bots()).toContain(`ID: ${bot.id}`);
	const member = present(guild.members.get(bot.id));
	simulator.world.members.remove(guild, member);
	await world.heard();
	expect(await bots()).not.toContain(`ID: ${bot.id}`);
});
