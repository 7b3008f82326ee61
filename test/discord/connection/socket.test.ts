// How the bot's socket follows Discord's Gateway protocol when a session is lost or refused.

import { expect, test } from "bun:test";
import { type Client, Events } from "discord.js";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { openConnection, startConnection, stubDiscord } from "../../support/connection.ts";
import { until } from "../../support/until.ts";

test.concurrent("a running bot that cannot reconnect because its token was reset fails with that reason", async () => {
	await using alpha = await startConnection();
	await alpha.opened;
	Object.assign(alpha.account, { token: "another" });
	alpha.simulator.sockets.disconnect({ resumable: true });
	expect((await alpha.connection.failed).message).toContain("DISCORD_TOKEN");
}, 120_000);

test.concurrent("a running bot whose intent is switched off reconnects without it", async () => {
	await using alpha = await startConnection(() => {}, { privileged: ["GuildMembers", "MessageContent"] });
	await alpha.opened;
	const { connection, simulator, account } = alpha;
	Object.assign(account, { privilegedIntents: ["GuildMembers"] });
	simulator.sockets.disconnect({ resumable: false });
	await until("it is back", () => alpha.returns().length === 1);
	expect(connection.refusedIntents).toEqual(["MessageContent"]);
	Object.assign(account, { privilegedIntents: [] });
	simulator.sockets.disconnect({ resumable: false });
	await until("it is back again", () => alpha.returns().length === 2);
	expect(connection.refusedIntents).toEqual(["MessageContent", "GuildMembers"]);
	expect(connection.guilds.some((one) => connection.hasAllMembers(one))).toBe(false);
	expect(connection.hasLoadedMembers).toBe(true);
}, 120_000);

test.concurrent.each([
	[1000, "new", 2],
	[1001, "resumed", 1],
	[1006, "resumed", 1],
	[4000, "resumed", 1],
	[4001, "resumed", 1],
	[4002, "resumed", 1],
	[4003, "new", 2],
	[4005, "resumed", 1],
	[4007, "new", 2],
	[4008, "resumed", 1],
	[4009, "new", 2],
	[4999, "resumed", 1],
])(
	"after close code %d the session is %s",
	async (code, session, logins) => {
		await using alpha = await startConnection();
		await alpha.opened;
		alpha.simulator.sockets.disconnect({ code });
		await until("it is back", () => alpha.returns().length === 1);
		expect(alpha.returns()).toMatchObject([{ session }]);
		expect(alpha.logins()).toBe(logins);
	},
	120_000,
);

test.concurrent("a heartbeat that Discord requests does not count as unacknowledged", async () => {
	const third = Promise.withResolvers<void>();
	await using discord = stubDiscord({
		heartbeatMs: 50,
		answer() {
			const { heartbeats } = discord.seen;
			if (heartbeats === 3) third.resolve();
			// The requested one is not acknowledged before the next is due.
			return heartbeats === 1 ? [{ op: 11 }, { op: 1, d: null }] : [];
		},
	});
	await using _ = openConnection(discord.api);
	await third.promise;
}, 120_000);

test.concurrent.each([
	["of a connection that is silently dead", false, 1],
	["of a connection that Discord closes after it was quiet", true, undefined],
])(
	"the age of what is replayed %s counts from the last data",
	async (_, closes, late) => {
		await using discord = stubDiscord({
			heartbeatMs: closes ? 60_000 : 200,
			answer({ op }, socket) {
				// Later than a command may be.
				if (closes) setTimeout(() => socket.close(4000), 300);
				if (op === 2) return [discord.ready];
				if (op !== 6) return [];
				return [
					{ op: 0, t: "MESSAGE_CREATE", s: 2, d: {} },
					{ op: 0, t: "RESUMED", s: 3, d: {} },
				];
			},
		});
		await using bot = openConnection(discord.api, { timing: { maxCommandAgeMs: 100 } });
		await bot.opened;
		// Each connection is lost, and its session resumed.
		await until("it is back, and has logged what it ignored", () =>
			bot.returns().some(({ commands_not_carried_out: count }) => count === late),
		);
	},
	100_000,
);

/** Replaces the events of the guilds that the bot is in. */
function withholdGuilds({ sockets }: Simulator): void {
	const d = { id: "140000000000000999", unavailable: true };
	sockets.alterEvents((type, data) => (type === "GUILD_CREATE" ? d : data));
}

test.concurrent("a session that is lost before its guilds arrived does not count as connected", async () => {
	let begun = 0;
	await using alpha = await startConnection(undefined, {
		timing: { guildsMs: 300 },
		attach: (client) => client.on(Events.ShardReady, () => (begun += 1)),
	});
	await alpha.opened;
	const { sockets } = alpha.simulator;
	withholdGuilds(alpha.simulator);
	sockets.disconnect({ resumable: false });
	await until("it has a session", () => alpha.logins() === 2);
	sockets.refuseConnections(502);
	sockets.disconnect({ resumable: false });
	await until("it has lost both", () => alpha.losses().length > 1);
	await until("discord.js waits no longer", () => begun === 2);
	expect(alpha.connection.state.connected).toBe(false);
}, 120_000);

test.concurrent("events from before a new session are not carried out after it", async () => {
	const heard: string[] = [];
	await using alpha = await startConnection(withholdGuilds, {
		attach: (client) => client.on(Events.MessageCreate, ({ id }) => heard.push(id)),
	});
	const { sockets } = alpha.simulator;
	const say = (text: string) => alpha.simulator.user("zoe").say("The Cooks/general", text);
	await until("it has a session", () => alpha.logins() === 1);
	await say("!m nuke 2");
	sockets.alterEvents(undefined);
	sockets.disconnect({ resumable: false });
	await alpha.opened;
	const after = await say("hello");
	await until("the next is heard", () => heard.includes(after.id));
	expect(heard).toEqual([after.id]);
}, 120_000);

test.concurrent("members requested before a guild was unavailable do not count as its members afterwards", async () => {
	const answers: object[] = [];
	let guildCreate: object = {};
	await using alpha = await startConnection(({ sockets }) =>
		sockets.alterEvents((type, data) => {
			if (type === "GUILD_CREATE") guildCreate = Object(data);
			if (type !== "GUILD_MEMBERS_CHUNK") return data;
			answers.push(Object(data));
			// An answer to something else.
			return { ...Object(data), members: [], nonce: "0" };
		}),
	);
	const { connection, simulator } = alpha;
	const send = (type: string, data: object) => simulator.sockets.dispatch(simulator.bot("alpha").id, type, data);
	const { id } = simulator.guild("The Cooks");
	const guild = await until("it asks for the members", () =>
		answers.length === 1 ? connection.guilds.find((one) => one.id === id) : undefined,
	);
	send("GUILD_DELETE", { id, unavailable: true });
	send("GUILD_CREATE", guildCreate);
	await until("it asks again", () => answers.length === 2);
	simulator.sockets.alterEvents(undefined);

	const [first = {}, second = {}] = answers;
	send("GUILD_MEMBERS_CHUNK", first);
	send("GUILD_UPDATE", { ...guildCreate, name: "Heard" });
	await until("it has heard the first answer", () => guild.name === "Heard");
	// What the first answer leads to follows at once.
	await new Promise(setImmediate);
	expect(connection.hasAllMembers(guild)).toBe(false);
	send("GUILD_MEMBERS_CHUNK", second);
	await until("it knows them", () => connection.hasAllMembers(guild));
	expect(alpha.recorded.entries("loaded all members of a guild")).toHaveLength(1);
}, 120_000);

test.concurrent("a login in progress when the bot stops opens no socket", async () => {
	let login: Promise<string> | undefined;
	let held: ReturnType<Simulator["faults"]["stall"]> | undefined;
	let simulator: Simulator | undefined;
	await using alpha = await startConnection(
		(given) => {
			simulator = given;
		},
		{
			attach(client: Client) {
				const begin = client.login.bind(client);
				client.login = (token) => {
					held = simulator?.faults.stall("GET /gateway/bot", { after: true });
					login = begin(token);
					return login;
				};
			},
		},
	);
	await until("discord.js asks where to connect", () => held?.hits === 1);
	await alpha.connection.close();
	await alpha.opened;
	held?.release();
	await expect(login).rejects.toThrow("abort");
	expect(alpha.connection.sockets).toBe(0);
	expect(alpha.simulator.sockets.upgrades).toBe(0);
}, 120_000);

test.concurrent.each<[what: string, act: (simulator: Simulator) => void, session: string]>([
	["gets op 7 (Reconnect)", ({ sockets }) => sockets.requestReconnect(), "resumed"],
	["gets op 9 (Invalid Session, resumable)", ({ sockets }) => sockets.invalidate({ resumable: true }), "resumed"],
	["gets op 9 (Invalid Session)", ({ sockets }) => sockets.invalidate(), "new"],
])(
	"a bot that %s reconnects at once",
	async (_, act, session) => {
		await using alpha = await startConnection();
		// Requests in an invalid session are refused.
		await until(
			"it has loaded its members",
			() => alpha.recorded.entries("loaded all members of a guild").length === 1,
		);
		act(alpha.simulator);
		await until("it is back", () => alpha.returns().length === 1);
		expect(alpha.returns()).toMatchObject([{ session }]);
		// The one connection before, and the one that came instead.
		expect(alpha.simulator.sockets.upgrades).toBe(2);
		expect(alpha.logins()).toBe(session === "new" ? 2 : 1);
	},
	120_000,
);

test.concurrent("a session whose resume URL is unusable is resumed at the first URL", async () => {
	await using alpha = await startConnection(({ sockets }) =>
		sockets.alterEvents((type, data) =>
			type === "READY" ? { ...(data as object), resume_gateway_url: "no address" } : data,
		),
	);
	await alpha.opened;
	alpha.simulator.sockets.disconnect();
	await until("it is back", () => alpha.returns().length === 1);
	expect(alpha.returns()).toMatchObject([{ session: "resumed" }]);
}, 120_000);

test.concurrent("a session that lasted resets the back-off", async () => {
	await using alpha = await startConnection(({ sockets }) => sockets.refuseConnections(502), {
		timing: { backOffMs: [4, 60_000], stableMs: 0 },
	});
	const { sockets } = alpha.simulator;
	await until("it backs off", () => alpha.failures().length >= 5);
	sockets.refuseConnections(undefined);
	await alpha.opened;
	const before = alpha.failures().length;
	sockets.refuseConnections(502);
	sockets.disconnect();
	const next = await until("it is refused", () => alpha.failures()[before]);
	expect(Number(next.retry_in_ms)).toBeLessThanOrEqual(8);
}, 120_000);

test.concurrent("a bot sends no more payloads a minute than Discord allows", async () => {
	const sent = Promise.withResolvers<number>();
	let payloads = 0;
	await using discord = stubDiscord({
		heartbeatMs: 60_000,
		answer({ op }) {
			if (op === 2) return [discord.ready];
			if (op === 3) payloads += 1;
			// Everything sent before its heartbeat has arrived.
			if (op === 3 && payloads === 110) return [{ op: 1, d: null }];
			if (op === 1 && payloads >= 110) sent.resolve(payloads);
			return [];
		},
	});
	await using bot = openConnection(discord.api);
	await bot.opened;
	for (let count = 0; count < 300; count++) bot.connection.discord.user.setPresence({ status: "idle" });
	expect(await sent.promise).toBe(110);
}, 120_000);

test.concurrent("events from before a session is resumed are not handled again", async () => {
	const heard: string[] = [];
	await using alpha = await startConnection(undefined, {
		attach: (client) =>
			// discord.js shows no message of a known id again.
			client.on(Events.Raw, ({ t: type, d }) => {
				if (type === "MESSAGE_CREATE") heard.push(d.id);
			}),
	});
	await alpha.opened;
	const say = async (text: string) => {
		const { id } = await alpha.simulator.user("zoe").say("The Cooks/general", text);
		await until("it is heard", () => heard.includes(id));
		return id;
	};
	const before = await say("!m nuke 2");
	alpha.simulator.sockets.disconnect();
	await until("it is back", () => alpha.returns().length === 1);
	expect([before, await say("hello")]).toEqual(heard);
	expect(alpha.logins()).toBe(1);
}, 120_000);

test.concurrent("a login that Discord does not answer times out and is tried again", async () => {
	await using discord = stubDiscord({ heartbeatMs: 60_000 });
	await using bot = openConnection(discord.api, { timing: { readyMs: 20 } });
	await until("it has tried twice", () => {
		const [first, second] = bot.failures();
		return second && first?.reason === "Discord's Gateway did not confirm the session in time";
	});
}, 120_000);
