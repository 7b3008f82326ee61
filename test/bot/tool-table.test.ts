// Every tool against what can happen to a call of it. What is particular to a tool is in its row; what the runner does for
// all of them alike is tried with each in tool-failures.long.test.ts.

import { afterAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { tools } from "../../src/bot/tools/index.ts";
import { officialName } from "../../src/discord/permissions.ts";
import { isThread } from "../../src/simulator/world/state/entities.ts";
import { toolsOfPlans } from "./tool-rows/guild-documents.ts";
import type { Args, Row, Scene } from "./tool-rows/scene.ts";
import {
	arrivals,
	asking,
	enter,
	executions,
	hasNonce,
	leave,
	prepare,
	prepareAct,
	prepareAsk,
	reading,
	rows,
	settle,
	writing,
} from "./tool-scene.ts";
import { table } from "./tool-table.ts";

afterAll(leave);

const unknownId = "123456789012345678";

/** Each permission that a row says it needs. */
function needsOf(row: Row) {
	if ("answer" in row || row.needs === "no permission") return [];
	const { permissions, in: place } = row.needs;
	return permissions.map((one) => {
		const { permission, with: args = {} } = typeof one === "string" ? { permission: one } : one;
		return { permission, name: officialName(permission), in: place, args };
	});
}

const schemaOf = (name: string) => {
	const schema = tools.find((tool) => tool.name === name)?.listing.inputSchema;
	return (schema?.properties ?? {}) as Record<
		string,
		{ pattern?: string; items?: { pattern?: string }; type?: string }
	>;
};
// An id in place of a date names no thing, but the time when something was made.
const idPattern = /\{17,20\}(?!\$\|\\d\{4\}-)/;
const takesIds = (name: string) =>
	Object.entries(schemaOf(name))
		.filter(([key, { pattern, items }]) => key.endsWith("_code") || idPattern.test(pattern ?? items?.pattern ?? ""))
		.map(([key]) => key)
		.filter((key) => key !== "guild_id");
const isList = (name: string, key: string) => schemaOf(name)[key]?.type === "array";

test("every tool has a row, and every row a tool", () => {
	expect(Object.keys({ ...table, ...toolsOfPlans }).sort()).toEqual(tools.map(({ name }) => name).sort());
});

test.each(rows)(
	"the row of %s says what its schema says of its effect, its ids, its permissions, its reason and its dry run",
	(name, row) => {
		const { listing, needs, effect, effectVaries } = tools.find((tool) => tool.name === name) ?? {};
		const always = (needs?.permissions ?? []).flatMap((one) =>
			typeof one === "string" ? [one] : "inGuild" in one ? [one.permission] : [],
		);
		expect(needsOf(row).map(({ permission }) => permission)).toEqual(expect.arrayContaining(always));
		expect(effect === "read").toBe(!("act" in row));
		expect(row.effects !== undefined).toBe(effectVaries === true);
		expect(listing?.annotations).toHaveProperty(effect === "read" ? "readOnlyHint" : "destructiveHint");
		expect(Object.keys(row.ids)).toEqual(takesIds(name));
		const properties = Object.keys(schemaOf(name));
		if (!("act" in row)) return expect(properties).not.toContain("reason");
		expect(properties.includes("reason")).toBe(row.reason !== undefined);
		const hasDryRun = properties.includes("dry_run");
		expect(hasDryRun).toBe(needs?.isPlanned === true);
		if (effect === "destructive") expect(hasDryRun).toBe(true);
		expect(row.dryRun !== undefined).toBe(hasDryRun);
	},
);

describe.each(reading)("%s", (name, row) => {
	test("answers from the cache, without a request to Discord", async () => {
		const scene = await enter(name);
		const { simulator, call } = scene.world;
		const args = row.args(scene);
		await settle(scene);
		simulator.faults.stall("* *");
		const { text, isError } = await call(name, args);
		expect(isError).toBe(false);
		for (const part of row.answer(scene)) expect(text).toContain(part);
		// The bot itself reads the invites, to learn by which one somebody joined.
		const requests = simulator.requests.list().filter(({ route }) => route !== "GET /guilds/:guild_id/invites");
		expect(requests).toEqual([]);
	});

	if (schemaOf(name).guild_id)
		test("answers for the guild of guild_id, if the bot is in it", async () => {
			const scene = await enter(name);
			const { call } = scene.world;
			const args = row.args(scene);
			const there = { ...row.args({ ...scene, guild: scene.other, other: scene.guild }), guild_id: scene.other.id };
			await settle(scene);
			const stranger = await call(name, { ...args, guild_id: unknownId });
			expect(stranger.isError).toBe(true);
			expect(stranger.text).toContain(`not in a guild ${unknownId}`);
			const answer = await call(name, there);
			expect(answer.isError).toBe(false);
			expect(answer.text).not.toContain(scene.world.simulator.user("ada").id);
		});

	refusesIds(name, row, async (scene) => {
		const args = row.args(scene);
		await settle(scene);
		return args;
	});
});

describe.each(rows.flatMap(([name, row]) => (row.refuses ? [[name, row, row.refuses] as const] : [])))(
	"%s",
	(name, row, refuses) => {
		test("refuses what its arguments cannot be, on one line and before Discord is asked", async () => {
			const scene = await enter(name);
			const { simulator, call } = scene.world;
			const made = "answer" in row ? { args: row.args(scene) } : await prepare(scene, row);
			await settle(scene);
			for (const [args, ...said] of refuses) {
				const { text, code } = await call(name, { ...made.args, ...args });
				expect({ args, text, code }).toMatchObject({ code: -32602, text: expect.not.stringContaining("\n") });
				for (const part of said) expect(text).toContain(part);
			}
			if ("done" in made) expect(made.done()).toBe(false);
			expect(simulator.requests.list().filter(changes)).toEqual([]);
		});
	},
);

/** What becomes of ids that name nothing, or something in another guild. */
function refusesIds(name: string, row: Row, argsFor: (scene: Scene) => Promise<Args>): void {
	for (const [key, { unknown, foreign }] of Object.entries(row.ids)) {
		const withId = (args: Args, id: string): Args => ({ ...args, [key]: isList(name, key) ? [id] : id });

		const refused = typeof unknown === "string";
		// What a writer does with any id is for its own tests.
		if (refused || !("act" in row))
			test(`an unknown ${key} is ${refused ? "refused" : "taken"}`, async () => {
				const scene = await enter(name);
				const { simulator, call } = scene.world;
				const args = await argsFor(scene);
				const { text, isError } = await call(name, withId(args, unknownId));
				expect(isError).toBe(refused);
				if (refused) expect(text).toContain(unknown);
				expect(simulator.journal.entries()).toEqual([]);
			});

		if ("id" in foreign)
			test(`another guild's ${key} is refused by ${foreign.refusedBy}`, async () => {
				const scene = await enter(name);
				const { simulator, call } = scene.world;
				const args = await argsFor(scene);
				const id = foreign.id(scene);
				await settle(scene);
				const { text, isError } = await call(name, withId(args, id));
				expect(isError).toBe(true);
				expect(text).toContain(foreign.refusal);
				expect(simulator.journal.entries()).toEqual([]);
				const sent = simulator.requests.list();
				if (foreign.refusedBy === "the bot, which asks") expect(sent.filter(changes)).toEqual([]);
				if (foreign.refusedBy === "the bot")
					expect(sent.filter((one) => changes(one) || one.path.includes(id))).toEqual([]);
			});
	}
}

/** Whether a request may change something: asking for a direct channel does not. */
function changes({ method, path }: { method: string; path: string }): boolean {
	return method !== "GET" && path !== "/users/@me/channels";
}

/** Takes what a row says it needs from the bot, until it is disposed of, and tells the name of where. */
function forbid(
	{ world, guild }: Scene,
	args: Args,
	needs: ReturnType<typeof needsOf>[number],
	channelId = String(args.channel_id ?? args.channel_ids),
) {
	const platform = world.simulator.world;
	const bot = world.simulator.bot("alpha").id;
	const role = [...guild.roles.values()].find(({ tags }) => tags?.bot_id === bot);
	if (!role) throw new Error("the bot has a role of its own");
	const bit = PermissionFlagsBits[needs.permission];
	if (needs.in === "the guild") {
		const { permissions } = role;
		platform.roles.edit(guild, role, { permissions: String(BigInt(permissions) & ~bit) });
		return { role, thing: guild.id, [Symbol.dispose]: () => platform.roles.edit(guild, role, { permissions }) };
	}
	const named = platform.channels.get(channelId);
	// A thread has the permissions of its channel.
	const channel = named && isThread(named) ? guild.channels.get(named.parent_id) : named;
	if (!named || !channel || !("position" in channel)) throw new Error(`${channelId} is a channel with permissions`);
	const bits = { allow: "0", deny: String(bit) };
	const overwrite = { id: bot, type: 1, ...bits } as const;
	platform.channels.setOverwrite(channel, overwrite);
	return { role, thing: named.id, [Symbol.dispose]: () => platform.channels.removeOverwrite(channel, overwrite) };
}

describe.each(asking)("%s", (name, row) => {
	test("answers, and changes nothing", async () => {
		const scene = await enter(name);
		const { args, answer } = await prepareAsk(scene, row);
		const { text, isError } = await scene.world.call(name, args);
		expect({ text, isError }).toMatchObject({ isError: false });
		for (const part of answer) expect(text).toContain(part);
		expect(scene.world.simulator.journal.entries()).toEqual([]);
	});
});

describe.each(writing)("%s", (name, row) => {
	test("does it, once", async () => {
		const scene = await enter(name);
		const act = await prepareAct(scene, row);
		const { text, isError } = await scene.world.call(name, act.args);
		expect({ text, isError }).toMatchObject({ isError: false });
		expect(act.done()).toBe(true);
		expect(executions(scene, act)).toBe(1);
		expect(scene.world.simulator.journal.entries()).toHaveLength(1);
	});

	test.each(["before", "after"] as const)(
		"a connection that drops %s it is executed leaves the outcome unknown unless a nonce tells it",
		async (when) => {
			const scene = await enter(name);
			const act = await prepareAct(scene, row);
			scene.world.simulator.faults.drop(act.request, { when, times: 1 });
			const { text, isError } = await scene.world.call(name, act.args);
			expect(isError).toBe(!hasNonce(act));
			if (isError) {
				expect(text).toStartWith("Discord API error: ");
				expect(text).toContain("whether it took effect is unknown");
			}
			expect(arrivals(scene, act)).toBe(isError ? 1 : 2);
			expect(act.done()).toBe(!isError || when === "after");
		},
	);

	const { dryRun, reason } = row;
	if (dryRun)
		test("a dry run says what would happen, and does nothing", async () => {
			const scene = await enter(name);
			const act = await prepareAct(scene, row);
			const text = await scene.world.expectResult(name, { ...act.args, dry_run: true });
			expect(text).toStartWith("Dry run: nothing was done.\n");
			expect(text).toMatch(dryRun);
			expect(act.done()).toBe(false);
			expect(scene.world.simulator.requests.list().filter(changes)).toEqual([]);
			expect(scene.world.simulator.journal.entries()).toEqual([]);
		});

	if (reason !== undefined)
		test("the reason is in the audit log: the given one, or via MCP", async () => {
			const scene = await enter(name);
			const { simulator, call } = scene.world;
			const cases: [string | undefined, string][] = [
				[undefined, "via MCP"],
				["spring cleaning ÄÖ %41", "spring cleaning ÄÖ %41"],
			];
			for (const [given, expected] of cases) {
				const act = await prepareAct(scene, row);
				await call(name, { ...act.args, ...(given && { reason: given }) });
				expect(act.done()).toBe(true);
				expect(scene.guild.auditLog.at(-1)).toMatchObject({
					action_type: reason,
					reason: expected,
					user_id: simulator.bot("alpha").id,
				});
			}
		});
});

describe.each([...asking, ...writing])("%s", (name, row) => {
	test("works in the guild of guild_id, if the bot is in it", async () => {
		const scene = await enter(name);
		const { guild, other, world } = scene;
		const made = await prepare({ ...scene, guild: other, other: guild }, row);
		const call = (guild_id: string) => world.call(name, { ...made.args, guild_id });
		const stranger = await call(unknownId);
		expect(stranger.isError).toBe(true);
		expect(stranger.text).toContain(`not in a guild ${unknownId}`);
		if ("done" in made) expect(made.done()).toBe(false);
		const { text, isError } = await call(other.id);
		expect(isError).toBe(false);
		if ("done" in made) expect(made.done()).toBe(true);
		else for (const part of made.answer) expect(text).toContain(part);
	});

	test("says Discord's refusal with its code, and has done nothing", async () => {
		const scene = await enter(name);
		const made = await prepare(scene, row);
		scene.world.simulator.faults.refuse(made.request, 50013);
		const text = await scene.world.expectError(name, made.args);
		expect(text).toContain("Discord API error: Missing Permissions (code 50013). ");
		if ("done" in made) expect(made.done()).toBe(false);
		expect(arrivals(scene, made)).toBe(1);
	});

	refusesIds(name, row, async (scene) => (await prepare(scene, row)).args);

	for (const needs of needsOf(row))
		test(`without ${needs.name} in ${needs.in} it is refused before Discord is asked`, async () => {
			const scene = await enter(name);
			const { simulator, call } = scene.world;
			const made = "ask" in row ? row.ask(scene) : row.act(scene);
			using forbidden = forbid(scene, made.args, needs, made.channel);
			const { role, thing } = forbidden;
			await settle(scene);
			const { text, isError } = await call(name, { ...made.args, ...needs.args });
			expect(isError).toBe(true);
			expect(text).toContain(`lacks ${needs.name} in `);
			expect(text).toContain(String(thing));
			expect(text).toContain(`anyone with MANAGE_ROLES who ranks above @alpha (ID: ${role.id})`);
			expect(arrivals(scene, made)).toBe(0);
			if ("done" in made) expect(made.done()).toBe(false);
			expect(simulator.requests.list().filter(changes)).toEqual([]);
		});
});
