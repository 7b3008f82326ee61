// Every action through every door, and the bot as a process that is killed between two steps of all of them: after the case
// is stored and before Discord acts, or after Discord has acted and before the bot knows. Nothing is done twice, and each
// case says what Discord shows.

import { expect, test } from "bun:test";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { startBotProcess } from "../../support/bot-process.ts";
import { connectTo, type McpCaller } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { botEnvOf, onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { userNamed } from "../../support/world.ts";
import { freshName, newRole } from "../tool-rows/scene.ts";
import { actionRows, type Made } from "./action-rows.ts";
import { type ActionScene, bitsOf, moderatorPermissions, offered, registered } from "./action-world.ts";
import { doors } from "./doors.ts";

type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** The age from which the bot decides a case whose process has ended: more than its 40 s, and less than a minute. */
const agedMs = 45_000;

/** A guild of its own with the bot, since requests of the same kind to one guild are sent one after another. */
function newGuild(simulator: Simulator, mcp: McpCaller): ActionScene {
	const platform = simulator.world;
	const account = platform.users.addPerson({ username: freshName() });
	const guild: Guild = platform.guilds.add({
		name: freshName(),
		owner: userNamed({ simulator }, "ada"),
	});
	const heard = () =>
		until("the bot knows the guild", async () => (await mcp.call("list_guilds")).text.includes(guild.name)).then(
			() => {},
		);
	const world = { simulator, guild, mcp, heard } as ActionScene["world"];
	const bits = bitsOf(moderatorPermissions);
	platform.channels.add(guild, { name: "general" });
	platform.members.add(guild, userNamed({ simulator }, "alpha"), {
		botPermissions: bits,
	});
	const scene = { world, guild, other: guild };
	const mods = newRole(scene, guild);
	platform.roles.edit(guild, mods, { permissions: String(bits) });
	const [botRole = mods] = [...guild.roles.values()].filter(({ tags }) => tags?.bot_id);
	platform.roles.move(guild, new Map([[botRole, guild.roles.size]]));
	return {
		...scene,
		...{ mods, botRole, lacking: mods, higher: mods },
		newPerson() {
			const member = platform.members.add(guild, account.user);
			platform.members.edit(guild, member, { roles: [mods.id] });
			return account;
		},
		newCases: () => [],
		hasCase: () => false,
		settle: async () => {},
	};
}

/** All orders, each in its guild and held at its request. */
function prepareOrders(simulator: Simulator, mcp: McpCaller, after: boolean) {
	const rows = Object.entries(actionRows).flatMap(([name, row]) => doors.map((door) => ({ name, row, door })));
	return Promise.all(
		rows.map(async ({ name, row, door }) => {
			const scene = newGuild(simulator, mcp);
			const made = await row.make(scene, 1);
			const action = offered.actions.find((one) => one.name === row.action);
			if (!made.request || !action) return [];
			const earlier = executions(simulator, made);
			const held = simulator.faults.stall(made.request, { after, times: 1 });
			const inChat = door.name === "chat command" && row.typedInChat;
			const typed = { ...row.typed, ...inChat };
			const silent = row.isSilent && { isElsewhere: true as const };
			const order = {
				...{ action, tool: row.tool, args: made.args, typed, ...silent },
			};
			const person = scene.newPerson();
			return [
				{
					...{ made, held, row, earlier, guild: scene.guild },
					name: `${name}, ${door.name}`,
					give: () => door.begin(scene, person, order),
				},
			];
		}),
	);
}

/** How often the request of an order was executed. */
function executions({ journal }: Simulator, { request }: Made) {
	const [method, path] = request?.split(" ") ?? [];
	return journal.entries().filter((one) => one.path === path && (method === "*" || one.method === method)).length;
}

onBoth((databases) => {
	// At the same time, since each waits most of the time.
	test.concurrent.each([
		["before Discord acts", false],
		["after Discord has acted", true],
	])(
		"killed %s, every action is done at most once and has one case",
		async (_, after) => {
			const place = await databases.place();
			await using simulator = await startSimulator();
			await using bot = await startBotProcess(
				{
					DISCORD_TOKEN: simulator.bot("alpha").token,
					DISCORD_API_URL: simulator.api,
					MCP_AUTH_TOKEN: "a-token-of-many-characters-0123456789",
					...botEnvOf(place),
				},
				'bot_name = "Alpha"\n[mcp]\ntoolsets = "all"\n[features]\nmoderation = true\n[moderation]\n',
			);
			const mcp = await connectTo(bot.url, "a-token-of-many-characters-0123456789");
			await until("commands are registered", () => registered(simulator).length > 0);
			const orders = (await prepareOrders(simulator, mcp, after)).flat();
			await until("the bot knows all guilds", async () => {
				const { text } = await mcp.call("list_guilds");
				return orders.every(({ guild }) => text.includes(guild.name));
			});
			for (const { give } of orders) await give();
			await until("all are held", () => orders.every(({ held }) => held.hits === 1));
			process.kill(bot.pid, "SIGKILL");
			type Row = { guild_id: string; action: string; state: string };
			const cases = () => place.look<Row>("SELECT guild_id, action, state FROM cases");
			const asked = (await cases()).filter(({ state }) => state === "asked");
			expect(asked).toHaveLength(orders.length);
			await place.look(`UPDATE cases SET created_at = created_at - ${agedMs}`);
			await bot.restart("SIGKILL");
			await until("all cases are decided", async () => (await cases()).every(({ state }) => state !== "asked"));

			const decided = await cases();
			for (const order of orders) {
				const { name, made, row, guild, earlier } = order;
				const own = decided.filter(({ guild_id, action }) => guild_id === guild.id && action === row.recordedAs);
				const done = made.done();
				const count = executions(simulator, made) - earlier;
				const [one] = own;
				const isTrue = one?.state === "unknown" || (one?.state === "done") === done;
				expect({ name, own, done, count, isTrue }).toMatchObject({
					...{ own: [{ action: row.recordedAs }], isTrue: true },
				});
				// What the bot itself goes on with is then done; nothing else is done again.
				const isFinished = after || row.finishes === true;
				expect({ name, count }).toEqual({ name, count: isFinished ? 1 : 0 });
			}
		},
		180_000,
	);
});
