// The bot during an outage of Discord's Gateway, and afterwards.

import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { Events } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import { checkBot } from "../../../src/bot/setup/check.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { gatewayInfo, openConnection, startConnection } from "../../support/connection.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, quickTiming } from "../../support/world.ts";

interface Status {
	discord: { connected: boolean; reason?: string; sockets: number };
}

const firstWaitMs = 32;
const lost = "lost the connection to Discord's Gateway, reconnecting";
const back = "reconnected to Discord's Gateway";

/** The bot "alpha" with the commands for moderators, started while Discord's Gateway answers `status`, if at all. */
async function startAlpha(status?: number) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	simulator.sockets.refuseConnections(status);
	const recorded = recordLog("info");
	const guild = simulator.guild("The Cooks");
	const bot = startBot(
		connectedConfig(simulator, { guildId: guild.id, toml: { features: { moderation: true } } }),
		recorded.log,
		{ timing: { ...quickTiming, backOffMs: [firstWaitMs, 60_000] } },
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
		loads: () => recorded.entries("loaded all members of a guild").length,
		say: (text: string) => simulator.user("jose.garcia").say("The Cooks/general", text),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test.concurrent.each([502, 503])(
	"while Discord's Gateway responds %d there is one client, which backs off and then logs in once",
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
		expect((await alpha.status()).discord).toMatchObject({ connected: true, sockets: 1 });
		await alpha.say("!m help");
		await until("it answers", () => alpha.answers().length > 0);
		await alpha.say("!m help");
		await until("it answers again", () => alpha.answers().length > 1);
		expect(alpha.answers()).toHaveLength(2);
	},
	120_000,
);

test.concurrent("changes made while there was no session are known in the next one, and commands of that time are ignored", async () => {
	await using alpha = await startAlpha();
	const { simulator, guild, call } = alpha;
	const { world, sockets } = simulator;
	await until("its members are loaded", () => alpha.loads() === 1);
	const zoe = present(guild.members.get(simulator.user("zoe").id));
	const ada = present(guild.members.get(simulator.user("ada").id));
	const staff = channelNamed({ guild }, "staff");
	const role = world.roles.add(guild, { name: "Before" });

	sockets.refuseConnections(503);
	sockets.disconnect({ resumable: false });
	await until("the bot has noticed", () => alpha.recorded.entries(lost).length > 0);
	expect((await alpha.get("/readyz")).status).toBe(503);
	world.members.remove(guild, zoe);
	world.members.edit(guild, ada, { nick: "Countess" });
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
	const lookUp = async (query: string) => (await call("lookup_user_by_name", { query })).text;
	expect(await lookUp("newcomer")).toStartWith("1 match");
	expect(await lookUp("countess")).toStartWith("1 match");
	expect(await lookUp("zoe")).toStartWith("No member");
	expect((await call("list_channels")).text).not.toContain("staff");
	expect(sockets.connected).toHaveLength(1);
	await alpha.say("!m help");
	await until("it answers what is asked now", () => alpha.answers().length > 0);
	expect(alpha.answers()).toEqual([expect.stringContaining("`!m help`")]);
	expect(alpha.recorded.entries(back)).toMatchObject([{ session: "new", gap_seconds: expect.any(Number) }]);
}, 120_000);

test.concurrent("a guild that the bot left while there was no session is removed from the cache", async () => {
	await using alpha = await startAlpha();
	const { simulator, guild, call } = alpha;
	const { world, sockets } = simulator;
	await until("its members are loaded", () => alpha.loads() === 1);
	const me = present(guild.members.get(simulator.bot("alpha").id));
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	world.members.remove(guild, me);
	sockets.refuseConnections(undefined);
	await until("it is back", () => alpha.recorded.entries(back).length === 1);
	expect((await call("list_guilds")).text).toStartWith("0 guild(s)");
}, 120_000);

test.concurrent("a session resumed after refused connections misses nothing, with one client", async () => {
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
	expect((await call("lookup_user_by_name", { query: "newcomer" })).text).toStartWith("1 match");
	expect(alpha.recorded.entries(back)).toMatchObject([{ session: "resumed" }]);
	expect(sockets.connected).toHaveLength(1);
	expect(alpha.loads()).toBe(1);
}, 120_000);

test.concurrent("after an outage that ended its session a bot needs one login, and the invalid session is no failure", async () => {
	await using alpha = await startConnection(undefined, {
		timing: { backOffMs: [4, 60_000], invalidSessionMs: [2, 2] },
	});
	await alpha.opened;
	const { sockets } = alpha.simulator;
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	await until("it backs off", () => alpha.failures().length >= 5);
	sockets.refuseConnections(undefined);
	await until("it is back", () => alpha.returns().length === 1);
	expect(alpha.returns()).toMatchObject([{ session: "new" }]);
	expect(alpha.failures().at(-1)).toMatchObject({
		reason: "Discord's Gateway reported the session as invalid",
		retry_in_ms: 2,
	});
	expect(alpha.logins()).toBe(2);
}, 120_000);

test.concurrent("--check shows how Discord's Gateway responds", async () => {
	await using simulator = await startSimulator();
	simulator.sockets.refuseConnections(502);
	const written: string[] = [];
	const { log } = recordLog();
	const config = connectedConfig(simulator);
	const passed = await checkBot(config, log, {
		write: (line) => written.push(line),
		// Long enough for a first attempt on a loaded machine.
		loginTimeoutMs: 5_000,
	});
	expect(passed).toBe(false);
	expect(written.join("\n")).toContain("within 5 seconds: Discord's Gateway answered HTTP 502");
}, 120_000);

test.concurrent.each([
	["is carried out after a short gap", undefined, 1],
	["is not carried out after a long one", -1, 0],
])(
	"what a resumed session replays %s",
	async (_, maxCommandAgeMs, heard) => {
		const messages: string[] = [];
		await using alpha = await startConnection(undefined, {
			timing: maxCommandAgeMs === undefined ? {} : { maxCommandAgeMs },
			attach: (client) => client.on(Events.MessageCreate, ({ id }) => messages.push(id)),
		});
		await alpha.opened;
		const { connection, simulator } = alpha;
		const { sockets, world } = simulator;
		sockets.refuseConnections(502);
		sockets.disconnect();
		await until("it has noticed", () => alpha.losses().length === 1);
		await simulator.user("zoe").say("The Cooks/general", "!m nuke 2");
		const guild = simulator.guild("The Cooks");
		const role = world.roles.add(guild, { name: "Meanwhile" });
		sockets.refuseConnections(undefined);
		await until("it is back", () => alpha.returns().length === 1);
		expect(connection.guilds[0]?.roles.cache.has(role.id)).toBe(true);
		expect(messages).toHaveLength(heard);
		expect(alpha.returns()[0]?.commands_not_carried_out).toBe(heard ? undefined : 1);
		const after = await simulator.user("zoe").say("The Cooks/general", "hello");
		await until("the next is heard", () => messages.at(-1) === after.id);
	},
	120_000,
);

test.concurrent("a connection whose peer answers neither heartbeats nor a close is terminated", async () => {
	const hello = JSON.stringify({ op: 10, d: { heartbeat_interval: 20 } });
	const accepted: net.Socket[] = [];
	const server = net.createServer((peer) => {
		accepted.push(peer);
		peer.on("error", () => {});
		peer.once("data", (request) => {
			const [, key = ""] = /sec-websocket-key: (.+)\r/i.exec(`${request}`) ?? [];
			const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
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
	const api = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => gatewayInfo(port) });
	const open: number[] = [];
	const bot = openConnection(`http://127.0.0.1:${api.port}/api`, { timing: { closeMs: 10 } });
	await until("it has tried three times", () => {
		open.push(bot.connection.sockets);
		return bot.failures().length >= 3;
	});
	expect(bot.failures()[0]?.reason).toBe("Discord answers no heartbeat");
	expect(Math.max(...open)).toBe(1);
	await until("the first is closed", () => accepted[0]?.destroyed);
	await bot[Symbol.asyncDispose]();
	await api.stop(true);
	for (const peer of accepted) peer.destroy();
	server.close();
}, 120_000);
