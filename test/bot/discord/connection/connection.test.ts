// The bot and Discord when all is not well between them.

import { expect, test } from "bun:test";
import { startBot } from "../../../../src/bot/bot.ts";
import { Connection } from "../../../../src/bot/discord/connection/connection.ts";
import { createLog } from "../../../../src/lib/log.ts";
import { demoSeed } from "../../../../src/simulator/seed.ts";
import { startSimulator } from "../../../../src/simulator/simulator.ts";
import { botConfig } from "../../../support/bot-config.ts";
import { freePort } from "../../../support/free-port.ts";
import { recordLog } from "../../../support/log.ts";
import { fetchSample } from "../../../support/prometheus.ts";
import { until } from "../../../support/until.ts";
import { quickTiming, startWorld } from "../../../support/world.ts";

function startBotAt(api: string, discordToken: string) {
	const logged: string[] = [];
	const bot = startBot(
		botConfig({ discordToken, discordApiUrl: api }),
		createLog({ format: "text", level: "info" }, (line) => logged.push(line)),
		{ timing: quickTiming },
	);
	return { bot, logged, [Symbol.asyncDispose]: () => bot.close() };
}

test.concurrent("a bot that is started before its platform logs in once that is there", async () => {
	const port = await freePort();
	const seed = demoSeed();
	const token = "a-token-that-outlives-the-platform";
	await using alpha = startBotAt(`http://127.0.0.1:${port}/api`, token);
	const sent = "guildhall_bot_platform_requests_total";
	const failed = { outcome: "failed" };
	await until(
		"it has tried",
		async () => (await fetchSample(alpha.bot.url, sent, failed)) > 0,
	);
	expect(alpha.bot.ready).toBe(false);
	await using _ = await startSimulator({
		port,
		seed: {
			...seed,
			bots: [{ username: "alpha", token }, { username: "beta" }],
		},
	});
	await until("it is ready", () => alpha.bot.ready);
});

test.concurrent("a token that Discord does not know ends the bot, and the reason does not show it", async () => {
	await using simulator = await startSimulator();
	await using alpha = startBotAt(simulator.api, "wrong-token");
	const error = await alpha.bot.failed;
	expect(error.message).toContain("DISCORD_TOKEN");
	expect(alpha.bot.ready).toBe(false);
	expect([error.message, ...alpha.logged].join()).not.toContain("wrong-token");
});

test.concurrent.each<
	[
		what: string,
		granted: ("GuildMembers" | "MessageContent")[],
		asks: boolean,
		refused: string,
	]
>([
	[
		"members",
		["MessageContent"],
		true,
		'switch on "Server Members Intent", at',
	],
	["texts", ["GuildMembers"], true, 'switch on "Message Content Intent", at'],
	[
		"both",
		[],
		true,
		'switch on "Server Members Intent" and "Message Content Intent", at',
	],
	[
		"what it did not ask for",
		[],
		false,
		'switch on "Server Members Intent", at',
	],
])(
	"a bot that is not granted %s says which intent to switch on",
	async (_, privilegedIntents, needsMessageContent, refused) => {
		await using simulator = await startSimulator(seedWith(privilegedIntents));
		const error = await refusal(simulator, needsMessageContent);
		expect(error.message).toContain(refused);
	},
);

test.concurrent("where Discord does not say which intents are off, those that were asked for are named", async () => {
	await using simulator = await startSimulator(seedWith(["GuildMembers"]));
	simulator.faults.refuse("GET /applications/@me", 0, { status: 500 });
	const error = await refusal(simulator, true);
	expect(error.message).toContain(
		'switch on "Server Members Intent" and "Message Content Intent", unless they are on, at',
	);
});

function seedWith(privilegedIntents: ("GuildMembers" | "MessageContent")[]) {
	const seed = demoSeed();
	const bots = [{ username: "alpha", privilegedIntents }, { username: "beta" }];
	return { seed: { ...seed, bots } };
}

/** Why a bot could not log in. */
async function refusal(
	simulator: Awaited<ReturnType<typeof startSimulator>>,
	needsMessageContent: boolean,
): Promise<Error> {
	const connection = new Connection({
		token: simulator.bot("alpha").token,
		api: simulator.api,
		log: recordLog().log,
		onResponse: () => {},
		needsMessageContent,
	});
	await connection.open();
	const error = await connection.failed;
	await connection.close();
	return error;
}

test.concurrent("one odd 401 is said, and recovered from", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const send = () =>
		world.call("send_message", {
			channel_id: simulator.channel("The Cooks/general").id,
			content: "hello",
		});
	simulator.faults.refuse("POST /channels/*/messages", 0, {
		status: 401,
		times: 1,
	});
	const check = simulator.faults.stall("GET /users/@me");
	const refused = await send();
	expect(refused.text).toStartWith("Discord API error: 401 Unauthorized");
	expect(world.bot.ready).toBe(false);
	check.release();
	await until("the token is known again", () => world.bot.ready);
	expect((await send()).isError).toBe(false);
	expect(world.logged.join("\n")).toContain("Discord answered 401");
});

test.concurrent("a token that is refused for good ends the bot", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	simulator.faults.refuse("* *", 0, { status: 401 });
	await world.call("send_message", {
		channel_id: simulator.channel("The Cooks/general").id,
		content: "hello",
	});
	expect((await world.bot.failed).message).toContain("DISCORD_TOKEN");
});

test.concurrent("members who join, change and leave are known without asking, also after a lost Gateway session", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const lookUp = async (query: string) =>
		(await world.call("lookup_user_by_name", { query })).text;
	const newcomer = simulator.world.users.add({ username: "newcomer" });
	const member = simulator.world.members.add(guild, newcomer, {});
	await until("the newcomer is found", async () =>
		(await lookUp("newcomer")).startsWith("1 match"),
	);
	simulator.world.members.edit(guild, member, { nick: "Old Hand" });
	await until("the nickname is found", async () =>
		(await lookUp("old hand")).startsWith("1 match"),
	);

	simulator.disconnectSockets({ resumable: false });
	// Nobody is told of this.
	simulator.world.members.remove(guild, member);
	await until("who left is known to have left", async () =>
		(await lookUp("old hand")).startsWith("No member's name contains"),
	);
	expect(
		simulator.requests.list().filter(({ path }) => path.includes("/members")),
	).toEqual([]);
});

test.concurrent("a connection that Discord lets resume misses nothing", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	simulator.disconnectSockets({ resumable: true });
	simulator.world.members.add(
		guild,
		simulator.world.users.add({ username: "newcomer" }),
		{},
	);
	await until("the newcomer is found", async () =>
		(
			await world.call("lookup_user_by_name", { query: "newcomer" })
		).text.startsWith("1 match"),
	);
});

test.concurrent("a bot whose connection is cut while it waits to log in again comes back", async () => {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	const { sockets } = simulator;
	let looks = 0;
	let identifyClock = () => {
		looks += 1;
		return 0;
	};
	const connection = new Connection({
		token: simulator.bot("alpha").token,
		api: simulator.api,
		log: recordLog().log,
		onResponse() {},
		timing: {
			backOffMs: [1, 4],
			identifyMs: 1,
			identifyClock: () => identifyClock(),
		},
	});
	stack.defer(() => connection.close());
	await connection.open();
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
	["says nothing", undefined],
	[
		"says hello, and then nothing",
		{ op: 10, d: { heartbeat_interval: 40_000 } },
	],
])("a bot ends while Discord's Gateway %s", async (_, hello) => {
	const opened = Promise.withResolvers<void>();
	const platform = Bun.serve({
		port: 0,
		fetch(request, server) {
			if (server.upgrade(request)) return undefined;
			return Response.json({
				url: `ws://127.0.0.1:${server.port}`,
				shards: 1,
				session_start_limit: {
					total: 1000,
					remaining: 1000,
					reset_after: 0,
					max_concurrency: 1,
				},
			});
		},
		websocket: {
			open(socket) {
				if (hello) socket.send(JSON.stringify(hello));
				opened.resolve();
			},
			message() {},
		},
	});
	const { bot } = startBotAt(`http://127.0.0.1:${platform.port}/api`, "token");
	await opened.promise;
	await bot.close();
	expect(bot.ready).toBe(false);
	await platform.stop(true);
});
