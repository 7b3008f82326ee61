// Where slash commands are registered: globally, in each guild or nowhere, also after failures, and beside the commands of
// another program of the same application.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Client, GatewayIntentBits as Intent } from "discord.js";
import type { Action } from "../../../src/bot/commands/action.ts";
import { createFrontEnds } from "../../../src/bot/commands/front-ends.ts";
import type { CommandScope } from "../../../src/bot/commands/registration.ts";
import type { GuildSettings } from "../../../src/bot/settings/guild-settings.ts";
import { settingsOf } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { noTools } from "../features/running-feature.ts";

const action: Action = {
	name: "ban",
	tool: "ban",
	options: [],
	may: "ban",
	menus: [{ type: "user", name: "Ban", args: () => ({}), asks: [] }],
};

let simulator: Awaited<ReturnType<typeof startSimulator>>;
let clients: Client[];
beforeEach(async () => {
	simulator = await startSimulator();
	clients = [];
});
afterEach(async () => {
	for (const client of clients) await client.destroy();
	await simulator.close();
});

interface LoginOptions {
	retryMs?: readonly number[];
	settings?: GuildSettings;
	actions?: readonly Action[];
}

/** Logs in a client that by default offers one action; returns what it logs. */
async function login(scope: CommandScope, { retryMs = [], settings, actions = [action] }: LoginOptions = {}) {
	const client = new Client({ intents: [Intent.Guilds], rest: { api: simulator.api, retries: 0 } });
	clients.push(client);
	const logged = recordLog("debug");
	createFrontEnds({
		prefix: "!m",
		commands: [],
		actions,
		scope,
		retryMs,
		known: ["old"],
		deleteSecrets: false,
		callAs: noTools,
		settings: settings ?? (await settingsOf()),
		log: logged.log,
	}).attach(client);
	await client.login(simulator.bot("alpha").token);
	await until("it is ready", () => client.isReady());
	return { client, logged };
}

const application = () => simulator.bot("alpha").id;

/** Names of the commands at a place: a guild, or all guilds. */
function namesIn(guild?: string): string[] {
	const scope = { application_id: application(), ...(guild !== undefined && { guild_id: simulator.guild(guild).id }) };
	return simulator.world.commands
		.in(scope)
		.map(({ name }) => name)
		.sort();
}

const wanted = ["Ban", "ban", "help"];

const writes = () =>
	simulator.journal.entries().filter(({ route }) => /^(PUT|POST|PATCH|DELETE) .*\/commands/.test(route));

/** The guilds of the bot. */
const guildsOf = (client: Client) => [...client.guilds.cache.values()].map(({ name }) => name);

describe("scope", () => {
	test("guild: in each guild and nowhere else, once", async () => {
		const { client } = await login("guild");
		const guilds = guildsOf(client);
		expect(guilds.length).toBeGreaterThan(0);
		await until("they are registered", () => guilds.every((name) => namesIn(name).length === wanted.length));
		for (const name of guilds) expect(namesIn(name)).toEqual(wanted);
		expect(namesIn()).toEqual([]);
		const before = writes().length;
		expect(before).toBe(guilds.length);
		await client.destroy();
		const reads = () =>
			simulator.requests.list().filter(({ method, path }) => method === "GET" && /commands/.test(path)).length;
		const read = reads();
		await login("guild");
		await until("they are compared", () => reads() > read + guilds.length);
		expect(writes()).toHaveLength(before);
	});

	test("guild: an action that the guild grants is shown to everyone there", async () => {
		const settings = await settingsOf();
		const { client } = await login("guild", { settings });
		const [first = "", ...others] = guildsOf(client);
		const needed = (guild: string) =>
			simulator.world.commands
				.in({ application_id: application(), guild_id: simulator.guild(guild).id })
				.filter(({ name }) => name !== "help")
				.map(({ default_member_permissions }) => default_member_permissions ?? null);
		const all = [first, ...others];
		await until("they are registered", () => all.every((name) => needed(name).length === 2));
		expect(needed(first)).toEqual(["4", "4"]);
		const grant = (roles: string[]) =>
			settings.change(simulator.guild(first).id, { "may.ban": roles }, { userId: null, door: "test" });
		await grant([application()]);
		await until("everyone sees them", () => needed(first).every((bits) => bits === null));
		expect(others.flatMap(needed)).toEqual(others.flatMap(() => ["4", "4"]));
		await grant([]);
		await until("they are hidden again", () => needed(first).every((bits) => bits === "4"));
	});

	test("a change of the scope moves the commands, and off deletes them", async () => {
		const first = await login("global");
		const guilds = guildsOf(first.client);
		await until("they are global", () => namesIn().length === 3);
		expect(guilds.flatMap((name) => namesIn(name))).toEqual([]);
		await first.client.destroy();
		const second = await login("guild");
		await until("they are the guilds'", () => guilds.every((name) => namesIn(name).length === 3));
		expect(namesIn()).toEqual([]);
		await second.client.destroy();
		const third = await login("global");
		await until("they are global again", () => guilds.every((name) => namesIn(name).length === 0));
		expect(namesIn()).toEqual(wanted);
		await third.client.destroy();
		await login("off");
		await until("they are deleted", () => namesIn().length === 0);
	});

	test("guild: a guild that the bot joins later has them", async () => {
		const guild = simulator.guild("The Bakers");
		const bot = guild.members.get(application());
		if (bot) simulator.world.members.remove(guild, bot);
		const { client } = await login("guild");
		expect(guildsOf(client)).not.toContain("The Bakers");
		const user = present(simulator.world.users.get(application()));
		simulator.world.members.add(guild, user);
		await until("they are registered", () => namesIn("The Bakers").length === 3);
	});
});

describe("commands of another program", () => {
	const other = {
		name: "weather",
		description: "Of another program",
		description_localizations: { de: "Eines anderen Programms" },
		default_member_permissions: "8",
		options: [{ type: 3, name: "place", description: "Where", required: true }],
	};
	const old = { name: "old", description: "Of an older version" };

	test.each([
		["global", 1],
		["guild", 1],
		["off", 1],
		["global", 0],
	] as const)("stay with the scope %s and %i actions, and old ones are deleted", async (scope, count) => {
		const registrar = new Client({ intents: [Intent.Guilds], rest: { api: simulator.api } });
		clients.push(registrar);
		await registrar.login(simulator.bot("alpha").token);
		const { id } = simulator.guild("The Cooks");
		const body = [other, old] as never;
		await until("it is ready", () => registrar.isReady());
		await registrar.application?.commands.set(body);
		await registrar.application?.commands.set(body, id);
		await registrar.destroy();
		const copy = () =>
			[{}, { guild_id: id }].map((place) => {
				const found = simulator.world.commands
					.in({ application_id: application(), ...place })
					.find(({ name }) => name === "weather");
				return structuredClone(found);
			});
		const before = copy();
		await login(scope, { actions: [action].slice(0, count) });
		const own = (at: "global" | "guild") => (scope === at && count > 0 ? wanted : []);
		const expected = (at: "global" | "guild") => [...own(at), "weather"].sort();
		await until("the old ones are gone", () =>
			[namesIn(), namesIn("The Cooks")].every((names) => !names.includes("old")),
		);
		expect(namesIn()).toEqual(expected("global"));
		expect(namesIn("The Cooks")).toEqual(expected("guild"));
		expect(copy()).toEqual(before);
	});
});

describe("a registration that fails", () => {
	test.each<[string, (faults: typeof simulator.faults) => void]>([
		["refused", (faults) => faults.refuse("PUT /applications/*/commands", 50001)],
		["not answered", (faults) => faults.drop("PUT /applications/*/commands", { when: "before" })],
		["a failure of Discord", (faults) => faults.fail("* /applications/*", 503)],
	])("is tried again when it was %s", async (_, fail) => {
		fail(simulator.faults);
		const { logged } = await login("global", { retryMs: Array(10_000).fill(1) });
		const failures = () => logged.entries("could not register slash commands with Discord");
		await until("it failed twice", () => failures().length >= 2);
		simulator.faults.clear();
		await until("it is registered", () => namesIn().length === 3);
	});

	test("is given up after the last wait, until the next login", async () => {
		simulator.faults.refuse("PUT /applications/*/commands", 50001);
		const { client, logged } = await login("global", { retryMs: [1] });
		const failures = () => logged.entries("could not register slash commands with Discord");
		await until("it is given up", () => failures().length === 2);
		expect(failures().map((one) => one.retry_in_seconds)).toEqual([0.001, undefined]);
		await client.destroy();
		simulator.faults.clear();
		await login("global");
		await until("it is registered", () => namesIn().length === 3);
	});
});
