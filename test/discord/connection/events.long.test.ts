// Events of Discord's Gateway that differ from its documentation: the bot goes on.

import { expect, test } from "bun:test";
import { Events } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { startConnection } from "../../support/connection.ts";
import { storeSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { parseMetrics, sampleOf } from "../../support/prometheus.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, quickTiming } from "../../support/world.ts";
import { simulatedEvents } from "./simulated-events.ts";

/** Events sent before waiting for the bot to handle them. */
const batchSize = 200;

/** The bot "alpha" with all features that listen to events, except AI chat. */
async function startAlpha() {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	const guild = simulator.guild("The Cooks");
	const general = simulator.channel("The Cooks/general").id;
	const staff = simulator.channel("The Cooks/staff").id;
	const role = (name: string) => [...guild.roles.values()].find((one) => one.name === name)?.id;
	const recorded = recordLog("info");
	const config = connectedConfig(simulator, {
		guildId: guild.id,
		gameVerifyUrl: "http://127.0.0.1:1",
		gameVerifySecret: "secret-of-a-test",
		toml: { features: { moderation: true, game: true }, game: { slash_commands: true } },
	});
	await storeSettings(config, {
		[guild.id]: {
			"join_role.role": role("Newcomer"),
			"auto_role.to_role": role("Regular"),
			"auto_role.min_messages": 1_000,
			"welcome.channel": general,
			"game.chargeback": true,
			"game.restricted_role": role("Newcomer"),
			"game.staff_channel": staff,
			"game.staff_roles": [role("Staff")],
		},
	});
	const bot = startBot(config, recorded.log, { timing: quickTiming });
	stack.defer(() => bot.close());
	await until("its members are loaded", () => recorded.messages().includes("loaded all members of a guild"));
	const mcp = await connectTo(bot.url);
	const own = () => simulator.world.messages.in(general).filter(({ author }) => author.username === "alpha");
	/** Number of events of a type that could not be read. */
	const dropped = async (type: string) => {
		const metrics = await fetch(new URL("/metrics", bot.url));
		const families = parseMetrics(await metrics.text());
		const name = "guildhall_bot_discord_events_dropped_total";
		return sampleOf(families, name, { type }) ?? 0;
	};
	let marks = 0;
	/** Resolves when the bot has handled all events so far: they arrive in order. */
	const heard = async () => {
		marks += 1;
		const me = present(guild.members.get(simulator.bot("alpha").id));
		const nick = `mark-${marks}-`;
		simulator.world.members.edit(guild, me, { nick });
		await until("the bot has heard", async () => {
			const { text } = await mcp.call("lookup_user_by_name", { query: nick });
			return text.startsWith("1 match");
		});
	};
	const owned = stack.move();
	return {
		simulator,
		guild,
		general,
		recorded,
		bot,
		call: mcp.call,
		/** Sends an event unchanged. */
		send: (type: string, data: unknown) => simulator.sockets.dispatch(simulator.bot("alpha").id, type, data),
		heard,
		dropped,
		/** Expects it to be ready, and its tools to work. */
		async works() {
			expect(bot.ready).toBe(true);
			for (const tool of ["list_channels", "list_roles", "list_members"])
				expect(await mcp.call(tool)).toMatchObject({ isError: false });
		},
		async answers() {
			const before = own().length;
			await simulator.user("jose.garcia").say("The Cooks/general", "!m help");
			await until("it answers", () =>
				own()
					.slice(before)
					.some(({ content }) => content.includes("`!m help`")),
			);
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** The event with one field null, absent or of another type: each field at any depth; of a list, only its first item. */
function* broken(data: unknown): Generator<unknown> {
	if (typeof data !== "object" || data === null) return;
	for (const [key, value] of Array.isArray(data) ? [...data.entries()].slice(0, 1) : Object.entries(data)) {
		const put = (given: unknown) => (Array.isArray(data) ? data.with(Number(key), given) : { ...data, [key]: given });
		yield put(null);
		yield put(undefined);
		yield put(ofAnotherType(value));
		for (const inner of broken(value)) yield put(inner);
	}
}

function ofAnotherType(value: unknown): unknown {
	if (typeof value === "string") return 7;
	if (typeof value === "number") return "x";
	if (typeof value === "boolean") return "x";
	if (Array.isArray(value)) return { "0": "x" };
	return value === null ? { x: [1] } : ["x"];
}

test("no event with a field that is null, absent or of another type ends the bot", async () => {
	const uncaught: unknown[] = [];
	const note = (error: unknown) => uncaught.push(error);
	process.on("uncaughtException", note);
	process.on("unhandledRejection", note);
	try {
		await using alpha = await startAlpha();
		const samples = await simulatedEvents(alpha.simulator);
		for (const [type, data] of samples) {
			const before = await alpha.dropped(type);
			alpha.send(type, data);
			await alpha.heard();
			expect([type, await alpha.dropped(type)]).toEqual([type, before]);
			let cases = 0;
			for (const wrong of [null, "x", [], ...broken(data)]) {
				// discord.js reads those alone that it does not have.
				if (type === "GUILD_CREATE") alpha.send("GUILD_DELETE", data);
				alpha.send(type, wrong);
				cases += 1;
				if (cases % batchSize === 0) await alpha.heard();
			}
			if (type === "GUILD_CREATE") alpha.send("GUILD_DELETE", data);
			alpha.send(type, data);
			await alpha.heard();
			expect(await alpha.dropped(type)).toBeGreaterThan(before);
			await alpha.works();
		}
		await alpha.answers();
		expect(new Set(samples.map(([type]) => type)).size).toBe(44);
	} finally {
		process.off("uncaughtException", note);
		process.off("unhandledRejection", note);
	}
	expect(uncaught).toEqual([]);
}, 120_000);

test("an unreadable READY starts no session, and the next one does", async () => {
	await using alpha = await startConnection();
	await alpha.opened;
	const { connection } = alpha;
	const { sockets } = alpha.simulator;
	let good: unknown;
	sockets.alterEvents((type, data) => {
		if (type === "READY") good = data;
		return data;
	});
	sockets.disconnect({ resumable: false });
	await until("it is back", () => good && connection.state.connected);
	const cases = [null, "x", [], ...broken(good)];
	for (const wrong of cases) {
		let sent = false;
		sockets.alterEvents((type, data) => {
			if (type !== "READY" || sent) return data;
			sent = true;
			return wrong;
		});
		sockets.disconnect({ resumable: false });
		await until("it is back", () => sent && connection.state.connected);
	}
	expect(alpha.dropped("READY")).toBeGreaterThan(20);
	expect(sockets.open).toBe(1);
	expect(connection.sockets).toBe(1);
	expect(connection.guilds.map(({ available }) => available)).toEqual([true]);
}, 120_000);

test.concurrent("an unreadable guild is unavailable until it can be read, and other guilds are served", async () => {
	await using alpha = await startAlpha();
	const { simulator, call } = alpha;
	const { world, sockets } = simulator;
	const bakers = simulator.guild("The Bakers");
	const { user } = world.accounts.get(simulator.bot("alpha").token) ?? {};
	if (!user) throw new Error("alpha has an account");
	sockets.alterEvents((type, data) =>
		type === "GUILD_CREATE" && (data as { id: string }).id === bakers.id
			? { ...(data as object), stickers: [null] }
			: data,
	);
	world.members.add(bakers, user, {});
	await alpha.heard();
	expect(await alpha.dropped("GUILD_CREATE")).toBe(1);
	const inBakers = () => call("list_roles", { guild_id: bakers.id });
	expect((await inBakers()).isError).toBe(true);
	expect((await call("list_guilds")).text).toContain(`(unavailable) | ID: ${bakers.id}`);
	await alpha.works();

	sockets.disconnect({ resumable: false });
	await until("it has dropped it again", async () => (await alpha.dropped("GUILD_CREATE")) === 2);
	await until("it is ready", () => alpha.bot.ready);
	await alpha.heard();
	await alpha.works();
	expect((await inBakers()).isError).toBe(true);
	// One session more, and no loop.
	expect(world.users.sessionStarts.used.get(user.id)).toBe(2);

	sockets.alterEvents(undefined);
	sockets.disconnect({ resumable: false });
	await until("it can be read", async () => !(await inBakers()).isError);
}, 120_000);

test.concurrent("a guild without the field unavailable is available", async () => {
	await using alpha = await startConnection(({ sockets }) =>
		sockets.alterEvents((type, data) => {
			if (type !== "GUILD_CREATE") return data;
			const { unavailable: _, ...rest } = data as Record<string, unknown>;
			return rest;
		}),
	);
	await alpha.opened;
	expect(alpha.connection.guilds.map(({ available }) => available)).toEqual([true]);
	expect(alpha.dropped("GUILD_CREATE")).toBe(0);
});

test.concurrent.each([
	[
		"components: null in a forwarded message",
		"MESSAGE_CREATE",
		(data: Record<string, unknown>) => ({
			...data,
			message_snapshots: [{ message: { content: "", components: null } }],
		}),
	],
	[
		"a component of a new kind",
		"MESSAGE_CREATE",
		(data: Record<string, unknown>) => ({
			...data,
			components: [{ type: 99, components: [{ type: 98 }], accessory: null }],
		}),
	],
	[
		"application.install_params: null",
		"INVITE_CREATE",
		(data: Record<string, unknown>) => ({ ...data, target_application: { id: "1", name: "x", install_params: null } }),
	],
	["an unknown type", "SOMETHING_NEW", () => null],
])("%s does not end the bot", async (_, type, change) => {
	const heard: string[] = [];
	await using alpha = await startConnection(undefined, {
		attach: (client) => client.on(Events.MessageCreate, ({ id }) => heard.push(id)),
	});
	await alpha.opened;
	const { simulator } = alpha;
	const { sockets } = simulator;
	const [, data = {}] = (await simulatedEvents(simulator)).find(([one]) => one === type) ?? [];
	const { upgrades } = sockets;
	sockets.dispatch(simulator.bot("alpha").id, type, change({ ...data }));
	const after = await simulator.user("zoe").say("The Cooks/general", "after it");
	await until("the next one is heard", () => heard.includes(after.id));
	expect(sockets.connected).toHaveLength(1);
	expect(sockets.upgrades).toBe(upgrades);
});

test.concurrent("an error in a listener of ours drops only its event, and does not flood the log", async () => {
	let heard = 0;
	await using alpha = await startConnection(undefined, {
		attach(client) {
			client.on(Events.MessageCreate, () => {
				heard += 1;
				throw new Error("what somebody wrote");
			});
			client.on(Events.MessageDelete, async () => {
				throw new Error("what somebody wrote");
			});
		},
	});
	await alpha.opened;
	const { simulator, recorded } = alpha;
	const { channel } = simulator.channel("The Cooks/general");
	for (let count = 0; count < 50; count++) await simulator.user("zoe").say("The Cooks/general", "hello");
	await until("all are heard", () => heard === 50);
	const last = present(simulator.world.messages.in(channel.id).slice(-1)[0]);
	simulator.world.messages.remove(channel, last);
	await until("the rejection is counted", () => alpha.dropped("other") === 1);
	expect(alpha.dropped("MESSAGE_CREATE")).toBe(50);
	expect(
		recorded
			.entries("dropped events from Discord's Gateway: could not parse them")
			.map(({ type, events }) => [type, events]),
	).toEqual([
		["MESSAGE_CREATE", 1],
		["other", 1],
	]);
	expect(recorded.lines.join()).not.toContain("what somebody wrote");
	expect(alpha.connection.state.connected).toBe(true);
});

test.concurrent("a channel deleted while there was no session is removed from the cache", async () => {
	await using alpha = await startConnection();
	await alpha.opened;
	const { simulator, connection } = alpha;
	const guild = simulator.guild("The Cooks");
	const staff = channelNamed({ guild }, "staff");
	const { cache } = connection.discord.channels;
	expect(cache.has(staff.id)).toBe(true);
	simulator.sockets.refuseConnections(502);
	simulator.sockets.disconnect({ resumable: false });
	simulator.world.channels.remove(staff);
	simulator.sockets.refuseConnections(undefined);
	await until("it is forgotten", () => !cache.has(staff.id));
	expect(simulator.sockets.connected).toHaveLength(1);
});
