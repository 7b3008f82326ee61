// The bot while Discord's Gateway is away, and what it knows and does when it is back.

import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { Events } from "discord.js";
import * as v from "valibot";
import { startBot } from "../../../../src/bot/bot.ts";
import { toml } from "../../../../src/bot/config/settings.ts";
import { Connection } from "../../../../src/bot/discord/connection/connection.ts";
import { checkBot } from "../../../../src/bot/setup/check.ts";
import { startSimulator } from "../../../../src/simulator/simulator.ts";
import { botConfig } from "../../../support/bot-config.ts";
import { recordLog } from "../../../support/log.ts";
import { connectTo } from "../../../support/mcp.ts";
import { until } from "../../../support/until.ts";
import { channelNamed } from "../../../support/world.ts";

interface Status {
	discord: { connected: boolean; reason?: string; sockets: number };
}

const firstWaitMs = 32;
const lost = "lost Discord's Gateway, reconnecting";
const back = "back on Discord's Gateway";

/** The bot "alpha" with the commands for moderators, started while Discord's Gateway answers `status`, if at all. */
async function startAlpha(status?: number) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	simulator.sockets.refuseConnections(status);
	const recorded = recordLog("info");
	const guild = simulator.guild("The Cooks");
	const bot = startBot(
		botConfig({
			discordToken: simulator.bot("alpha").token,
			discordApiUrl: simulator.api,
			guildId: guild.id,
			toml: v.parse(toml, {
				bot_name: "Alpha",
				features: { moderation: true },
				moderation: {},
			}),
		}),
		recorded.log,
		{ timing: { identifyMs: 0, backOffMs: [firstWaitMs, 60_000] } },
	);
	stack.defer(() => bot.close());
	const get = (path: string) => fetch(new URL(path, bot.url));
	const mcp = await connectTo(bot.url);
	const owned = stack.move();
	const answers = () =>
		[...simulator.world.messages.in(simulator.channel("The Cooks/general").id)]
			.filter(({ author }) => author.username === "alpha")
			.map(({ content }) => content);
	return {
		simulator,
		recorded,
		guild,
		bot,
		answers,
		get,
		call: mcp.call,
		status: async () => (await (await get("/status")).json()) as Status,
		loads: () => recorded.entries("members loaded").length,
		say: (text: string) =>
			simulator.user("jose.garcia").say("The Cooks/general", text),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test.concurrent.each([502, 503])(
	"while Discord's Gateway answers %d there is one client, which backs off and then logs in once",
	async (code) => {
		await using alpha = await startAlpha(code);
		const { sockets } = alpha.simulator;
		await until("it has tried a few times", () => sockets.upgrades >= 4);
		const ready = await alpha.get("/readyz");
		expect(ready.status).toBe(503);
		expect(await ready.text()).toBe("Discord is not connected\n");
		expect((await alpha.status()).discord).toMatchObject({
			connected: false,
			reason: `Discord's Gateway answered HTTP ${code}`,
		});
		const waits = alpha.recorded
			.entries("could not connect to Discord's Gateway, trying again")
			.map(({ retry_in_ms }) => Number(retry_in_ms));
		for (const [failures, ms] of waits.entries()) {
			expect(ms).toBeGreaterThanOrEqual((firstWaitMs / 2) * 2 ** failures);
			expect(ms).toBeLessThanOrEqual(firstWaitMs * 2 ** failures);
		}
		sockets.refuseConnections(undefined);
		await until("it is ready", () => alpha.bot.ready);
		expect(sockets.connected).toEqual([alpha.simulator.bot("alpha").id]);
		expect(sockets.open).toBe(1);
		expect((await alpha.status()).discord).toMatchObject({
			connected: true,
			sockets: 1,
		});
		await alpha.say("!m help");
		await until("it answers", () => alpha.answers().length > 0);
		await alpha.say("!m help");
		await until("it answers again", () => alpha.answers().length > 1);
		expect(alpha.answers()).toHaveLength(2);
	},
	60_000,
);

test.concurrent("what happened while there was no session is known with the next one, and what was asked for meanwhile is not carried out", async () => {
	await using alpha = await startAlpha();
	const { simulator, guild, call } = alpha;
	const { world, sockets } = simulator;
	await until("its members are loaded", () => alpha.loads() === 1);
	const zoe = guild.members.get(simulator.user("zoe").id);
	if (!zoe) throw new Error("zoe is a member");
	const staff = channelNamed({ guild }, "staff");
	const role = world.roles.add(guild, { name: "Before" });

	sockets.refuseConnections(503);
	sockets.disconnect({ resumable: false });
	await until(
		"the bot has noticed",
		() => alpha.recorded.entries(lost).length > 0,
	);
	expect((await alpha.get("/readyz")).status).toBe(503);
	world.members.remove(guild, zoe);
	world.members.add(guild, world.users.add({ username: "newcomer" }), {});
	world.roles.add(guild, { name: "After" });
	world.roles.remove(guild, role);
	world.channels.remove(staff);
	await alpha.say("!m nuke 2");
	sockets.refuseConnections(undefined);
	await until("its members are loaded again", () => alpha.loads() === 2);

	const roles = (await call("list_roles")).text;
	expect(roles).toContain("After");
	expect(roles).not.toContain("Before");
	expect(
		(await call("lookup_user_by_name", { query: "newcomer" })).text,
	).toStartWith("1 match");
	expect(
		(await call("lookup_user_by_name", { query: "zoe" })).text,
	).toStartWith("No member");
	expect((await call("list_channels")).text).not.toContain("staff");
	expect(sockets.connected).toHaveLength(1);
	await alpha.say("!m help");
	await until("it answers what is asked now", () => alpha.answers().length > 0);
	expect(alpha.answers()).toEqual([expect.stringContaining("`!m help`")]);
	expect(alpha.recorded.entries(back)).toMatchObject([
		{ session: "new", gap_seconds: expect.any(Number) },
	]);
}, 60_000);

test.concurrent("a guild that the bot has left while there was no session is forgotten", async () => {
	await using alpha = await startAlpha();
	const { simulator, guild, call } = alpha;
	const { world, sockets } = simulator;
	await until("its members are loaded", () => alpha.loads() === 1);
	const me = guild.members.get(simulator.bot("alpha").id);
	if (!me) throw new Error("alpha is a member");
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	world.members.remove(guild, me);
	sockets.refuseConnections(undefined);
	await until("it is back", () => alpha.recorded.entries(back).length === 1);
	expect((await call("list_guilds")).text).toStartWith("0 guild(s)");
}, 60_000);

test.concurrent("a session that Discord lets resume after refusing connections misses nothing, with one client", async () => {
	await using alpha = await startAlpha();
	const { simulator, guild, call } = alpha;
	const { world, sockets } = simulator;
	await until("its members are loaded", () => alpha.loads() === 1);
	sockets.refuseConnections(502);
	sockets.disconnect();
	const upgrades = sockets.upgrades;
	await until("it has tried twice", () => sockets.upgrades >= upgrades + 2);
	world.members.add(guild, world.users.add({ username: "newcomer" }), {});
	sockets.refuseConnections(undefined);
	await until("it is back", () => alpha.recorded.entries(back).length === 1);
	expect(
		(await call("lookup_user_by_name", { query: "newcomer" })).text,
	).toStartWith("1 match");
	expect(alpha.recorded.entries(back)).toMatchObject([{ session: "resumed" }]);
	expect(sockets.connected).toHaveLength(1);
	expect(alpha.loads()).toBe(1);
}, 60_000);

test.concurrent("--check shows what Discord's Gateway answers", async () => {
	await using simulator = await startSimulator();
	simulator.sockets.refuseConnections(502);
	const written: string[] = [];
	const { log } = recordLog();
	const config = botConfig({
		discordToken: simulator.bot("alpha").token,
		discordApiUrl: simulator.api,
	});
	const passed = await checkBot(config, log, {
		write: (line) => written.push(line),
		loginTimeoutMs: 3_000,
	});
	expect(passed).toBe(false);
	expect(written.join("\n")).toContain(
		"within 3 seconds: Discord's Gateway answered HTTP 502",
	);
}, 60_000);

test.concurrent.each([
	["is carried out after a short gap", undefined, 1],
	["is not carried out after a long one", -1, 0],
])(
	"what a resumed session replays %s",
	async (_, maxCommandAgeMs, heard) => {
		await using stack = new AsyncDisposableStack();
		const simulator = stack.use(await startSimulator());
		const { sockets, world } = simulator;
		const recorded = recordLog("info");
		const messages: string[] = [];
		const connection = new Connection({
			token: simulator.bot("alpha").token,
			api: simulator.api,
			log: recorded.log,
			onResponse() {},
			timing: {
				backOffMs: [1, 4],
				...(maxCommandAgeMs !== undefined && { maxCommandAgeMs }),
			},
			attach: (client) =>
				client.on(Events.MessageCreate, ({ id }) => messages.push(id)),
		});
		stack.defer(() => connection.close());
		await connection.open();
		sockets.refuseConnections(502);
		sockets.disconnect();
		await until("it has noticed", () => recorded.entries(lost).length === 1);
		await simulator.user("zoe").say("The Cooks/general", "!m nuke 2");
		const guild = simulator.guild("The Cooks");
		const role = world.roles.add(guild, { name: "Meanwhile" });
		sockets.refuseConnections(undefined);
		await until("it is back", () => recorded.entries(back).length === 1);
		expect(connection.guilds[0]?.roles.cache.has(role.id)).toBe(true);
		expect(messages).toHaveLength(heard);
		expect(recorded.entries(back)[0]?.commands_not_carried_out).toBe(
			heard ? undefined : 1,
		);
		const after = await simulator.user("zoe").say("The Cooks/general", "hello");
		await until("the next is heard", () => messages.at(-1) === after.id);
	},
	30_000,
);

test.concurrent("a peer that answers neither heartbeats nor a close is left, and its socket closed", async () => {
	const hello = JSON.stringify({ op: 10, d: { heartbeat_interval: 20 } });
	const accepted: net.Socket[] = [];
	const server = net.createServer((peer) => {
		accepted.push(peer);
		peer.on("error", () => {});
		peer.once("data", (request) => {
			const [, key = ""] =
				/sec-websocket-key: (.+)\r/i.exec(`${request}`) ?? [];
			const accept = createHash("sha1")
				.update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
				.digest("base64");
			peer.write(
				`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
			);
			// A text of fewer than 126 bytes.
			peer.write(Buffer.from([0x81, hello.length]));
			peer.write(hello);
		});
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as net.AddressInfo;
	const api = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: () =>
			Response.json({
				...{ url: `ws://127.0.0.1:${port}`, shards: 1 },
				session_start_limit: {
					total: 1000,
					remaining: 1000,
					reset_after: 0,
					max_concurrency: 1,
				},
			}),
	});
	const recorded = recordLog("info");
	const open: number[] = [];
	const connection = new Connection({
		...{ token: "token", api: `http://127.0.0.1:${api.port}/api` },
		log: recorded.log,
		onResponse() {},
		timing: { backOffMs: [1, 4], closeMs: 10, identifyMs: 0 },
	});
	const opened = connection.open();
	const tries = () =>
		recorded.entries("could not connect to Discord's Gateway, trying again");
	await until("it has tried three times", () => {
		open.push(connection.sockets);
		return tries().length >= 3;
	});
	expect(tries()[0]?.reason).toBe("Discord answers no heartbeat");
	expect(Math.max(...open)).toBe(1);
	await until("the first is closed", () => accepted[0]?.destroyed);
	await connection.close();
	await opened;
	await api.stop(true);
	for (const peer of accepted) peer.destroy();
	server.close();
}, 30_000);
