// An order of every action of moderators that sends a request, each held there when the bot is killed. Every front end calls
// the same function, so one stands for all.

import { expect } from "bun:test";
import { createFeatures } from "../../../src/bot/features/index.ts";
import type { Store } from "../../../src/bot/store/store.ts";
import { type CallAs, PersonCalls } from "../../../src/bot/tool/call-as.ts";
import { createLocks } from "../../../src/bot/tool/channel-locks.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { Kill } from "../../support/kills.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { userNamed } from "../../support/world.ts";
import { type ActionRow, actionRows, type Made } from "../moderation/action-rows.ts";
import { type ActionScene, bitsOf, moderatorPermissions } from "../moderation/action-world.ts";
import { type Args, freshName, newRole } from "../tool-rows/scene.ts";
import { type Life, startLife, type Work } from "./life.ts";

/** The age from which the bot decides a case whose process has ended: more than its 40 s. */
const agedMs = 45_000;

/** A bot with the feature `moderation`, and the function with which people call its tools. */
function moderating() {
	let callAs: CallAs | undefined;
	const work: Pick<Work, "settings" | "create"> = {
		settings: { features: { moderation: true } },
		create(options) {
			const { connection, store, mutex, log, config } = options;
			const none = {} as never;
			const features = createFeatures({ ...options, askedCalls: none });
			const locks = createLocks(store, log);
			const { cases, tempBans } = features;
			const given = { connection, mutex, log, cases, tempBans, locks };
			const self = { toml: config.toml } as never;
			const calls = new PersonCalls({ record() {}, log });
			calls.begin([...tools, ...features.tools], {
				...given,
				audit: none,
				self,
				settings: options.settings,
				guildDocuments: none,
				people: none,
				guildId: undefined,
				principal: undefined,
			});
			callAs = calls.callAs;
			return {
				...features,
				attach(client) {
					locks.attach(client);
					features.attach(client);
				},
			};
		},
	};
	const call: CallAs = (given) => {
		if (callAs) return callAs(given);
		throw new Error("the bot does not run");
	};
	return { work, call };
}

/** A guild of its own, since requests of the same kind to one guild are sent one after another. */
function newGuild(simulator: Simulator, { connection }: Life, call: CallAs): ActionScene {
	const platform = simulator.world;
	const owner = userNamed({ simulator }, "ada");
	const guild = platform.guilds.add({ name: freshName(), owner });
	const bits = bitsOf(moderatorPermissions);
	platform.channels.add(guild, { name: "general" });
	const me = platform.members.add(guild, userNamed({ simulator }, "alpha"), { botPermissions: bits });
	const heard = async () => {
		const nick = freshName();
		platform.members.edit(guild, me, { nick });
		const known = () => connection.guilds.find(({ id }) => id === guild.id)?.members.me?.nickname;
		await until("the bot has heard of the guild", () => known() === nick);
	};
	const byOwner = (tool: string, args: Args) =>
		call({ guildId: guild.id, person: { id: owner.id, name: "ada" }, tool, args: args as never, command: "/try" });
	const world = { simulator, guild, heard, mcp: { call: byOwner } } as unknown as ActionScene["world"];
	const scene = { world, guild, other: guild };
	const mods = newRole(scene, guild);
	platform.roles.edit(guild, mods, { permissions: String(bits) });
	const [botRole = mods] = [...guild.roles.values()].filter(({ tags }) => tags?.bot_id);
	platform.roles.move(guild, new Map([[botRole, guild.roles.size]]));
	return {
		...scene,
		mods,
		botRole,
		lacking: mods,
		higher: mods,
		newPerson() {
			const account = platform.users.addPerson({ username: freshName() });
			const member = platform.members.add(guild, account.user);
			platform.members.edit(guild, member, { roles: [mods.id] });
			return account;
		},
		newCases: () => [],
		hasCase: () => false,
		settle: async () => {},
	};
}

/** How often the request of an order was executed. */
function executions({ journal }: Simulator, { request }: Made) {
	const [method, path] = request?.split(" ") ?? [];
	return journal.entries().filter((one) => one.path === path && (method === "*" || one.method === method)).length;
}

/** An order, held at its request before or after it is executed. */
async function prepare(simulator: Simulator, life: Life, call: CallAs, row: ActionRow, after: boolean) {
	const scene = newGuild(simulator, life, call);
	const made = await row.make(scene, 1);
	if (!made.request) return [];
	const person = scene.newPerson().user;
	await scene.world.heard();
	const earlier = executions(simulator, made);
	const held = simulator.faults.stall(made.request, { after, times: 1 });
	const { id: guildId } = scene.guild;
	const order = {
		guildId,
		person: { id: person.id, name: "" },
		tool: row.tool,
		args: made.args as never,
		command: "/try",
	};
	return [{ made, row, held, earlier, guildId, order }];
}

/** Gives all orders, kills the bot when all are held, and checks what the next life makes of each. */
export async function holdOrders(store: Store, after: boolean): Promise<void> {
	await using simulator = await startSimulator();
	await using game = await startGameServer({ secret: "secret" });
	const { work, call } = moderating();
	const first = await startLife({ simulator, game }, work, store, new Kill());
	const orders = (
		await Promise.all(Object.values(actionRows).map((row) => prepare(simulator, first, call, row, after)))
	).flat();
	// A life that was killed hears of it when its servers end.
	for (const { order } of orders) call(order).catch(() => {});
	await until("all are held", () => orders.every(({ held }) => held.hits === 1));
	await first.end();
	type Row = { guild_id: string; action: string; state: string };
	const cases = () => store.sql<Row>`SELECT guild_id, action, state FROM cases`;
	expect((await cases()).filter(({ state }) => state === "asked")).toHaveLength(orders.length);
	await store.sql`UPDATE cases SET created_at = created_at - ${agedMs}`;

	const second = await startLife({ simulator, game }, work, store, new Kill(), true);
	await until("all cases are decided", async () => (await cases()).every(({ state }) => state !== "asked"));
	const decided = await cases();
	for (const { made, row, guildId, earlier } of orders) {
		const own = decided.filter(({ guild_id, action }) => guild_id === guildId && action === row.recordedAs);
		const done = made.done();
		const count = executions(simulator, made) - earlier;
		const isTrue = own[0]?.state === "unknown" || (own[0]?.state === "done") === done;
		// What the bot itself goes on with is then done; nothing else is done again.
		const isFinished = after || row.finishes === true;
		const { recordedAs: action } = row;
		expect({ action, own, done, count, isTrue }).toMatchObject({
			own: [{ action }],
			isTrue: true,
			count: isFinished ? 1 : 0,
		});
	}
	await second.end();
}
