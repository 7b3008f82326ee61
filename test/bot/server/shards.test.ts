// A bot with four shards as its operators and callers see it.

import { expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { checkBot } from "../../../src/bot/setup/check.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { type ConfigChanges, connectedConfig } from "../../support/bot-config.ts";
import { startBotProcess } from "../../support/bot-process.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { parseMetrics, sampleOf } from "../../support/prometheus.ts";
import { shardedSeed } from "../../support/shards.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { quickTiming } from "../../support/world.ts";

const guildNames = Array.from({ length: 8 }, (_, number) => `Guild ${number}`);

const startWithGuilds = () => startSimulator({ seed: shardedSeed(8), sharding: { shards: 4, maxConcurrency: 16 } });

/** A bot in eight guilds, with four shards, connected and with its members loaded. */
async function startSharded(changes: ConfigChanges = {}) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startWithGuilds());
	const config = connectedConfig(simulator, { shards: 4, ...changes });
	const bot = startBot(config, recordLog().log, { timing: quickTiming, requestsPerSecond: 1_000_000 });
	stack.defer(() => bot.close());
	await until("the bot has loaded", () => bot.loaded);
	const { call } = await connectTo(bot.url);
	const get = (path: string) => fetch(new URL(path, bot.url));
	const owned = stack.move();
	return {
		simulator,
		config,
		bot,
		call,
		get,
		ready: async () => {
			const response = await get("/readyz");
			return [response.status, (await response.text()).trim()];
		},
		status: async () => {
			const { discord } = (await (await get("/status")).json()) as { discord: Record<string, unknown> };
			return discord;
		},
		gauge: async (name: string) =>
			sampleOf(parseMetrics(await (await get("/metrics")).text()), `guildhall_bot_discord_${name}`),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

type Call = Awaited<ReturnType<typeof startSharded>>["call"];

/** Reads, writes and looks up a member in each guild. */
async function useAllGuilds(simulator: Simulator, call: Call) {
	const run = async (tool: string, args: object) => {
		const { text, isError } = await call(tool, { ...args });
		if (isError) throw new Error(`${tool}: ${text}`);
		return text;
	};
	for (const name of guildNames) {
		const { id: guild_id } = simulator.guild(name);
		const { id: channel_id } = simulator.channel(`${name}/general`);
		const own = { guild_id };
		expect(await run("get_guild_info", own)).toContain(name);
		expect(await run("lookup_user_by_name", { ...own, query: "zoe" })).toStartWith("1 match");
		const content = `hello, ${name}`;
		await run("send_message", { ...own, channel_id, content });
		expect(simulator.channel(`${name}/general`).transcript()).toContain(content);
	}
	const { text } = await call("list_guilds");
	expect(text).toStartWith("8 guild(s):");
}

test.concurrent("tools work in all guilds, and in direct messages", async () => {
	await using alpha = await startSharded();
	await useAllGuilds(alpha.simulator, alpha.call);
	for (const name of ["Guild 0", "Guild 3"]) {
		const sent = await alpha.call("send_private_message", {
			guild_id: alpha.simulator.guild(name).id,
			user_ids: alpha.simulator.user("zoe").id,
			content: `from ${name}`,
		});
		expect(sent).toMatchObject({ isError: false });
	}
}, 120_000);

test.concurrent("/status, the metrics and get_bot_info have all shards", async () => {
	await using alpha = await startSharded();
	const { gauge } = alpha;
	const discord = await alpha.status();
	expect(discord).toMatchObject({ connected: true, sockets: 4, logins_in_24_hours: 4 });
	expect(discord.guilds).toEqual(
		expect.arrayContaining(guildNames.map((name, number) => expect.objectContaining({ name, shard: number % 4 }))),
	);
	expect(discord.shards).toEqual(
		[0, 1, 2, 3].map((id) => ({ id, connected: true, guilds: 2, since: expect.stringMatching(/^\d{4}-/) })),
	);
	expect(await gauge("shards")).toBe(4);
	expect(await gauge("shards_connected")).toBe(4);
	expect(await gauge("guilds_unavailable")).toBe(0);
	const { text } = await alpha.call("get_bot_info");
	expect(text).toContain("\nshards: 4 of 4 connected\n");
}, 120_000);

test.concurrent("a lost shard is visible, and the guilds of the others work as before", async () => {
	await using alpha = await startSharded();
	const { simulator, call, gauge } = alpha;
	expect(await alpha.ready()).toEqual([200, "ok"]);
	simulator.sockets.holdConnections(true);
	simulator.sockets.disconnect({ shard: 1 });
	await until("it is lost", async () => (await gauge("shards_connected")) !== 4);
	expect(await alpha.ready()).toEqual([200, "degraded"]);
	expect(await gauge("connected")).toBe(0);
	expect(await gauge("shards_connected")).toBe(3);
	expect(await gauge("guilds_unavailable")).toBe(2);
	const { shards } = await alpha.status();
	expect(shards).toMatchObject([
		{ connected: true },
		{ id: 1, connected: false, guilds: 2, reason: expect.any(String) },
		{ connected: true },
		{ connected: true },
	]);
	expect((await call("get_bot_info")).text).toMatch(
		/\nshards: 3 of 4 connected; shard 1 not connected since \S+Z, 2 guild\(s\)\n/,
	);
	const setup = async (name: string) => (await call("run_setup_check", { guild_id: simulator.guild(name).id })).text;
	expect(await setup("Guild 1")).toContain("the bot is not connected (Discord closed the connection (4000))");
	expect(await setup("Guild 2")).toContain("connected, shard 2 of 4");

	const { id: role_id } = simulator.world.roles.add(simulator.guild("Guild 1"), { name: "Unheard" });
	const members = async (name: string) => await call("list_members", { guild_id: simulator.guild(name).id });
	const missing = "so some are missing";
	expect((await members("Guild 2")).text).not.toContain(missing);
	expect((await members("Guild 5")).text).toContain(missing);
	// Requests over HTTP do not need the shard.
	const { id: channel_id } = simulator.channel("Guild 1/general");
	const { id: guild_id } = simulator.guild("Guild 1");
	const sent = await call("send_message", { guild_id, channel_id, content: "still here" });
	expect(sent.isError).toBe(false);

	simulator.sockets.holdConnections(false);
	await until("it is back", async () => (await gauge("connected")) === 1);
	expect(await alpha.ready()).toEqual([200, "ok"]);
	expect((await call("list_roles", { guild_id })).text).toContain(role_id);
	await useAllGuilds(simulator, call);
}, 120_000);

test.concurrent("after a new session of a shard, only the audit logs of its guilds are read again", async () => {
	await using alpha = await startSharded({ toml: { features: { moderation: true } } });
	const { simulator } = alpha;
	const reads = () => {
		const paths = simulator.requests.list().map(({ path }) => path);
		return guildNames.map((name) => {
			const { id } = simulator.guild(name);
			const own = paths.filter((one) => one.includes(`${id}/audit-logs`));
			return own.length > 0;
		});
	};
	await until("all have been read", () => reads().every((one) => one));
	const before = simulator.requests.list().length;
	simulator.sockets.disconnect({ shard: 1, resumable: false });
	const later = () =>
		simulator.requests
			.list()
			.slice(before)
			.map(({ path }) => path)
			.filter((path) => path.includes("/audit-logs"));
	const { id: one } = simulator.guild("Guild 1");
	const { id: five } = simulator.guild("Guild 5");
	await until("both are read again", () => [one, five].every((id) => later().some((path) => path.includes(id))));
	expect(later().filter((path) => !path.includes(one) && !path.includes(five))).toEqual([]);
}, 120_000);

test.concurrent("when all shards are lost, the bot is not ready", async () => {
	await using alpha = await startSharded();
	alpha.simulator.sockets.holdConnections(true);
	alpha.simulator.sockets.disconnect();
	await until("it is lost", async () => (await alpha.ready())[0] === 503);
	expect(await alpha.ready()).toEqual([503, "Discord is not connected"]);
	alpha.simulator.sockets.holdConnections(false);
	await until("it is back", async () => (await alpha.ready())[1] === "ok");
}, 120_000);

test.concurrent.each([4, "auto"] as const)(
	"--check with SHARDS=%s logs in with all shards beside the running bot, which stays connected",
	async (shards) => {
		await using alpha = await startSharded({ shards });
		const written: string[] = [];
		const passed = await checkBot(alpha.config, recordLog().log, {
			write: (line) => written.push(line),
			timing: quickTiming,
		});
		expect(written.join("\n")).toContain("Guild 7");
		expect(passed).toBe(true);
		expect(await alpha.ready()).toEqual([200, "ok"]);
		expect(await alpha.status()).toMatchObject({ sockets: 4 });
	},
	120_000,
);

test("a bot with SHARDS=auto that is killed and started again works in all guilds", async () => {
	await using simulator = await startWithGuilds();
	const { id, token } = simulator.bot("alpha");
	await using bot = await startBotProcess({ DISCORD_TOKEN: token, DISCORD_API_URL: simulator.api, SHARDS: "auto" });
	const connected = () => simulator.sockets.connected.filter((one) => one === id).length;
	expect(connected()).toBe(4);
	await bot.restart("SIGKILL");
	expect(connected()).toBe(4);
	expect(simulator.world.users.sessionStarts.used.get(id)).toBe(8);
	const { call } = await connectTo(bot.url);
	await until("the members are loaded", async () => {
		const guild_id = simulator.guild("Guild 7").id;
		const { text } = await call("list_members", { guild_id });
		return text.startsWith("8 of 8") && !text.includes("still being loaded");
	});
	await until("the bot may send", async () => {
		const { text } = await call("get_bot_info");
		return text.includes("shards: 4 of 4 connected");
	});
}, 120_000);
