// How the bot logs in, fails for good, and recovers.

import { expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { freePort } from "../../../src/demo/ports.ts";
import type { ConnectionOptions } from "../../../src/discord/connection/connection.ts";
import { createLog } from "../../../src/lib/log.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import { botConfig } from "../../support/bot-config.ts";
import { openConnection, startConnection, stubDiscord } from "../../support/connection.ts";
import { fetchSample } from "../../support/prometheus.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { quickTiming, startWorld } from "../../support/world.ts";

function startBotAt(api: string, discordToken: string) {
	const logged: string[] = [];
	const bot = startBot(
		botConfig({ discordToken, discordApiUrl: api }),
		createLog({ format: "text", level: "info" }, (line) => logged.push(line)),
		{ timing: quickTiming },
	);
	return { bot, logged, [Symbol.asyncDispose]: () => bot.close() };
}

test.concurrent("a bot started before Discord is reachable logs in once it is", async () => {
	const port = await freePort();
	const seed = demoSeed();
	const token = "a-token-that-outlives-the-platform";
	await using alpha = startBotAt(`http://127.0.0.1:${port}/api`, token);
	const sent = "guildhall_bot_platform_requests_total";
	const failed = { outcome: "failed" };
	await until("it has tried", async () => (await fetchSample(alpha.bot.url, sent, failed)) > 0);
	expect(alpha.bot.ready).toBe(false);
	await using _ = await startSimulator({
		port,
		seed: { ...seed, bots: [{ username: "alpha", token }, { username: "beta" }] },
	});
	await until("it is ready", () => alpha.bot.ready);
});

test.concurrent("an unknown token ends the bot, and is not in the reason", async () => {
	await using simulator = await startSimulator();
	await using alpha = startBotAt(simulator.api, "wrong-token");
	const error = await alpha.bot.failed;
	expect(error.message).toContain("DISCORD_TOKEN");
	expect(alpha.bot.ready).toBe(false);
	expect([error.message, ...alpha.logged].join()).not.toContain("wrong-token");
});

type Privileged = "GuildMembers" | "MessageContent";

test.concurrent.each<[string, Privileged[], Privileged[]]>([
	["members", ["MessageContent"], ["GuildMembers"]],
	["texts", ["GuildMembers"], ["MessageContent"]],
	["both", [], ["GuildMembers", "MessageContent"]],
	["none", ["GuildMembers", "MessageContent"], []],
])(
	"a bot to which Discord refuses the privileged intent for %s logs in without it, and says so",
	async (_, granted, refused) => {
		await using simulator = await startSimulator(seedWith(granted));
		await using alpha = openWithTexts(simulator);
		await alpha.opened;
		const { connection, recorded } = alpha;
		expect(connection.ready).toBe(true);
		expect(connection.refusedIntents).toEqual(refused);
		const used = connection.discord.options.intents;
		for (const intent of ["GuildMembers", "MessageContent"] as const)
			expect(used.has(intent)).toBe(granted.includes(intent));
		const warned = recorded.entries("running without a privileged intent");
		expect(warned.map(({ intent }) => intent)).toEqual(refused);
		expect(connection.sessionStarts).toBe(refused.length > 0 ? 2 : 1);
		await until("the members are loaded as far as possible", () => connection.hasLoadedMembers);
	},
);

test.concurrent("if the enabled intents are unknown, no privileged one is requested again", async () => {
	await using simulator = await startSimulator(seedWith(["GuildMembers"]));
	simulator.faults.fail("GET /applications/@me", 500);
	await using alpha = openWithTexts(simulator);
	await alpha.opened;
	expect(alpha.connection.refusedIntents).toEqual(["GuildMembers", "MessageContent"]);
});

test.concurrent("each shard of a bot does without a refused intent", async () => {
	await using simulator = await startSimulator(seedWith(["GuildMembers"]));
	await using alpha = openWithTexts(simulator, { shards: 3 });
	await alpha.opened;
	const { connection, recorded } = alpha;
	expect(connection.shards.map(({ connected }) => connected)).toEqual([...[true, true, true]]);
	expect(recorded.entries("running without a privileged intent")).toHaveLength(1);
});

function seedWith(privilegedIntents: Privileged[]) {
	const seed = demoSeed();
	const bots = [{ username: "alpha", privilegedIntents }, { username: "beta" }];
	return { seed: { ...seed, bots } };
}

function openWithTexts(
	simulator: Awaited<ReturnType<typeof startSimulator>>,
	options: Partial<ConnectionOptions> = {},
) {
	const { token } = simulator.bot("alpha");
	return openConnection(simulator.api, { token, privileged: ["GuildMembers", "MessageContent"], ...options });
}

test.concurrent("a bot recovers from a single 401", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const send = () =>
		world.call("send_message", { channel_id: simulator.channel("The Cooks/general").id, content: "hello" });
	simulator.faults.refuse("POST /channels/*/messages", 0, { status: 401, times: 1 });
	const check = simulator.faults.stall("GET /users/@me");
	const refused = await send();
	expect(refused.text).toStartWith("Discord API error: 401 Unauthorized");
	expect(world.bot.ready).toBe(false);
	check.release();
	await until("the token is known again", () => world.bot.ready);
	expect((await send()).isError).toBe(false);
	expect(world.logged.join("\n")).toContain("Discord answered 401");
});

test.concurrent("a token that is refused repeatedly ends the bot", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	simulator.faults.refuse("* *", 0, { status: 401 });
	await world.call("send_message", { channel_id: simulator.channel("The Cooks/general").id, content: "hello" });
	expect((await world.bot.failed).message).toContain("DISCORD_TOKEN");
});

test.concurrent("members who join, change and leave are known without requests, also after a lost session", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const lookUp = async (query: string) => (await world.call("lookup_user_by_name", { query })).text;
	const newcomer = simulator.world.users.add({ username: "newcomer" });
	const member = simulator.world.members.add(guild, newcomer, {});
	await until("the newcomer is found", async () => (await lookUp("newcomer")).startsWith("1 match"));
	simulator.world.members.edit(guild, member, { nick: "Old Hand" });
	await until("the nickname is found", async () => (await lookUp("old hand")).startsWith("1 match"));

	simulator.sockets.disconnect({ resumable: false });
	// No event reports this.
	simulator.world.members.remove(guild, member);
	await until("who left is known to have left", async () =>
		(await lookUp("old hand")).startsWith("No member's name contains"),
	);
	expect(simulator.requests.list().filter(({ path }) => path.includes("/members"))).toEqual([]);
});

test.concurrent("a bot whose connection is cut while it waits to identify reconnects", async () => {
	let looks = 0;
	let identifyClock = () => {
		looks += 1;
		return 0;
	};
	await using alpha = await startConnection(undefined, {
		timing: { identifyMs: 1, identifyClock: () => identifyClock() },
	});
	await alpha.opened;
	const { connection, simulator } = alpha;
	const { sockets } = simulator;
	const looksOfLogin = looks;
	sockets.disconnect({ resumable: false });
	await until("it waits to log in again", () => looks > looksOfLogin);

	const { upgrades } = sockets;
	sockets.holdConnections(true);
	sockets.disconnect();
	await until("it connects again", () => sockets.upgrades > upgrades);
	expect(connection.state.connected).toBe(false);
	sockets.holdConnections(false);
	identifyClock = () => performance.now();
	await until("it is back", () => connection.state.connected);
	expect(sockets.connected).toEqual([simulator.bot("alpha").id]);
});

test.concurrent.each([
	["does not say Hello", undefined],
	["says Hello and then nothing", 40_000],
])("a bot can close while Discord's Gateway %s", async (_, heartbeatMs) => {
	await using discord = stubDiscord({ heartbeatMs });
	const { bot } = startBotAt(discord.api, "token");
	await until("it is connected", () => discord.seen.connections > 0);
	await bot.close();
	expect(bot.ready).toBe(false);
});

test.concurrent("a second load of all members waits as long as Discord asks for, not for the back-off", async () => {
	const timing = { allMembersMs: 2_000 };
	await using simulator = await startSimulator({ timing });
	await using alpha = openConnection(simulator.api, {
		token: simulator.bot("alpha").token,
		timing: { backOffMs: [3_600_000, 3_600_000] },
	});
	const { id, members } = simulator.guild("The Cooks");
	const isLoaded = () => alpha.connection.guilds.some((guild) => alpha.connection.hasAllMembers(guild));
	await until("the members are loaded", isLoaded);
	expect(alpha.recorded.entries("could not load the members of a guild, trying again")).toEqual([]);
	const self = present(members.get(simulator.bot("alpha").id));
	simulator.sockets.dispatch(self.user.id, "GUILD_DELETE", { id, unavailable: true });
	simulator.world.guilds.dispatchCreate(simulator.guild("The Cooks"), self.user);
	await until("they are loaded again", () => {
		const { length } = alpha.recorded.entries("loaded all members of a guild");
		return length === 2 && isLoaded();
	});
});
