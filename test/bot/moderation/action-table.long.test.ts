// Every action through every front end: the MCP tool in a person's name, the slash command, and the chat command. Whatever
// happens, Discord's state, the cases and the answer are the same.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { type ModeratorAction, moderatorActions } from "../../../src/bot/settings/grants.ts";
import type { CaseRow } from "../../../src/bot/store/tables/cases.ts";
import { isDryRun } from "../../../src/bot/tool/audit.ts";
import type { Account } from "../../../src/simulator/world/state/entities.ts";
import { until } from "../../support/until.ts";
import { type Args, freshName } from "../tool-rows/scene.ts";
import { type ActionRow, actionRows, type Made, withoutRow } from "./action-rows.ts";
import { type ActionScene, bitsOf, moderatorPermissions, offered, startActionScene } from "./action-world.ts";
import { type FrontEnd, type FrontEndAnswer, frontEnds, type Order } from "./front-ends.ts";

let scene: ActionScene & AsyncDisposable;
beforeAll(async () => {
	scene = await startActionScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const unknownId = "123456789012345678";

/** An order of a row by a new person. */
async function prepare(
	row: ActionRow,
	frontEnd: FrontEnd,
	{
		change = (made: Made) => made,
		limit,
		granted,
		count = 1,
	}: {
		change?: (made: Made) => Made;
		/** Which role lacks the permission until the result is disposed of. Default: none. */
		limit?: "botRole" | "lacking";
		/** Which actions the guild lets this role use. */
		granted?: (may: ModeratorAction) => boolean;
		count?: number;
	} = {},
) {
	scene.world.simulator.faults.clear();
	const made = change(await row.make(scene, count));
	const person = scene.newPerson(scene[limit === "lacking" ? limit : "mods"]);
	const limited = limit && without(row, limit);
	if (granted) {
		const roles = (may: ModeratorAction) => (granted(may) ? [scene.lacking.id] : []);
		const settings = Object.fromEntries(allActions.map((may) => [`may.${may}`, roles(may)]));
		await scene.world.call("set_settings", { settings });
	}
	await scene.settle();
	const action = actionOf(row);
	const order: Order = {
		action,
		tool: row.tool,
		args: made.args,
		...(row.isSilent && { isElsewhere: true }),
		typed: { ...row.typed, ...(frontEnd.name === "chat command" && row.typedInChat) },
	};
	return {
		made,
		person,
		order,
		give: (dryRun?: boolean) => frontEnd.give(scene, person, order, dryRun),
		[Symbol.dispose]: () => limited?.[Symbol.dispose](),
	};
}

const allActions = Object.keys(moderatorActions) as ModeratorAction[];

function actionOf(row: ActionRow) {
	const action = offered.actions.find(({ name }) => name === row.action);
	if (!action) throw new Error(`there is no action ${row.action}`);
	return action;
}

/** How often the request of an order was executed. */
function executions({ request }: Made): number {
	const [method, path] = request?.split(" ") ?? [];
	return scene.world.simulator.journal
		.entries()
		.filter((one) => one.path === path && (method === "*" || one.method === method)).length;
}

/** The answers through the front ends so far, to be compared. */
const answers = new Map<string, { frontEnd: string; text: string }>();

/**
 * Checks that an answer on Discord is that of the other front end there, apart from the names of what the tests made. MCP
 * clients get advice on tools and Discord's names of permissions, too.
 */
function expectSame(situation: string, row: ActionRow, frontEnd: FrontEnd, answer: FrontEndAnswer | undefined): void {
	if (frontEnd.name === "MCP tool") return;
	if (!answer || row.ownText?.frontEnd === frontEnd.name) return;
	const text = answer.text
		.replaceAll(/thing(\\?)-\d+/g, "thing")
		.replaceAll(/\d{17,20}/g, "ID")
		.replaceAll(/<t:\d+:\w>/g, "TIME")
		.replaceAll(/#\d+/g, "#1")
		.replaceAll(/\b[Cc]ase \d+/g, "case 1")
		// Each front end has a new moderator, who has joined then, too.
		.replaceAll(/(their messages stay): .*/g, "$1")
		.trim();
	const first = answers.get(situation);
	if (first) expect([frontEnd.name, text]).toEqual([frontEnd.name, first.text]);
	else answers.set(situation, { frontEnd: frontEnd.name, text });
}

/** The reason of the case of an order. */
function reasonIn({ reason, note }: Args): string | null {
	const text = reason ?? note;
	return typeof text === "string" ? text : null;
}

function expectCases(row: ActionRow, frontEnd: FrontEnd, person: Account, made: Made, state: CaseRow["state"]): void {
	const { users } = made;
	const cases = scene
		.newCases()
		.map((one) => ({
			user: one.user_id,
			moderator: one.moderator_id,
			action: one.action,
			state: one.state,
			client: one.client,
			reason: one.reason,
		}));
	const concerned = users.length > 0 ? users : [null];
	expect(cases).toEqual(
		concerned.map((user) => ({
			user,
			moderator: person.user.id,
			action: row.recordedAs,
			state,
			client: frontEnd.client,
			reason: reasonIn(made.args),
		})),
	);
}

function hasDryRun({ tool: name }: ActionRow): boolean {
	const tool = offered.tools.find((one) => one.name === name);
	return tool !== undefined && isDryRun(tool, { dry_run: true });
}

/** Checks that nothing was done, and nothing recorded. */
function expectNothing(made: Made): void {
	expect(made.done()).toBe(false);
	const { bot, requests } = scene.world.simulator;
	const alpha = bot("alpha").id;
	const changes = requests
		.list()
		.filter(({ actor, method }) => actor === alpha && method !== "GET")
		.map(({ method, path }) => `${method} ${path}`)
		.filter((one) => !/\/messages$|\/interactions|\/webhooks\//.test(one));
	expect(changes).toEqual([]);
	expect(scene.newCases()).toEqual([]);
}

/** The state of a case if the outcome of its request is not known. The bot decides it when it has finished what it began. */
const undecided = ({ finishes }: ActionRow) => (finishes ? "asked" : "unknown");

/** Takes a permission from a role until it is disposed of. */
function without({ needs }: ActionRow, role: "botRole" | "lacking") {
	const { roles } = scene.world.simulator.world;
	const all = bitsOf(moderatorPermissions);
	const one = scene[role];
	const bits = all & ~PermissionFlagsBits[needs];
	roles.edit(scene.guild, one, { permissions: String(bits) });
	return { [Symbol.dispose]: () => roles.edit(scene.guild, one, { permissions: String(all) }) };
}

/** Lets what an order is about rank above the person. */
function outrank({ below }: ActionRow, made: Made): Made {
	const { guild, higher, world } = scene;
	if (below === "the role") return { ...made, args: { ...made.args, role_id: higher.id } };
	for (const id of made.users) {
		const member = guild.members.get(id);
		if (member) world.simulator.world.members.edit(guild, member, { roles: [...member.roles, higher.id] });
	}
	return made;
}

function withUnknown({ argument, isStranger }: NonNullable<ActionRow["unknown"]>, made: Made): Made {
	const { users } = scene.world.simulator.world;
	const id = isStranger ? users.add({ username: freshName() }).id : unknownId;
	const isList = Array.isArray(made.args[argument]);
	return { ...made, args: { ...made.args, [argument]: isList ? [id] : id } };
}

test("what a person must confirm has a dry run", () => {
	const people = { user_ids: [1, 2, 3, 4, 5].map(String) };
	for (const { name, confirm, tool } of offered.actions) {
		if (!confirm?.(people)) continue;
		const names = [{}, { duration: "1d" }].map((values) => (typeof tool === "string" ? tool : tool(values)));
		const tools = offered.tools.filter((one) => names.includes(one.name));
		const dry = tools.map((one) => isDryRun(one, { dry_run: true }));
		expect([name, dry]).toEqual([name, names.map(() => true).slice(0, dry.length)]);
	}
});

test("every action has a row, or a reason to have none", () => {
	const names = new Set(offered.actions.map(({ name }) => name));
	const rows = Object.values(actionRows).map(({ action }) => action);
	const listed = new Set([...rows, ...Object.keys(withoutRow)]);
	// Both are in action-rows.ts.
	expect({ missing: [...names.difference(listed)], unknown: [...listed.difference(names)] }).toEqual({
		missing: [],
		unknown: [],
	});
	expect(rows.filter((name) => name in withoutRow)).toEqual([]);
});

describe.each(Object.entries(actionRows))("%s", (name, row) => {
	if (row.isGuildWide)
		beforeAll(async () => {
			await scene[Symbol.asyncDispose]();
			scene = await startActionScene();
		});

	const each = (situation: string, run: (frontEnd: FrontEnd, key: string) => Promise<void>) =>
		describe(situation, () => {
			for (const frontEnd of frontEnds) test(frontEnd.name, () => run(frontEnd, `${name}: ${situation}`));
		});

	each("allowed", async (frontEnd, key) => {
		const { made, person, give } = await prepare(row, frontEnd);
		expect(made.done()).toBe(false);
		const answer = await give();
		await until("it is done", made.done);
		if (made.request) expect(executions(made)).toBe(1);
		expectCases(row, frontEnd, person, made, "done");
		expectSame(key, row, frontEnd, answer);
	});

	const { may } = actionOf(row);
	if (may)
		each("the person lacks the permission, and is granted the action", async (frontEnd) => {
			const granted = (one: ModeratorAction) => one === may;
			using prepared = await prepare(row, frontEnd, { limit: "lacking", granted });
			await prepared.give();
			await until("it is done", prepared.made.done);
			expectCases(row, frontEnd, prepared.person, prepared.made, "done");
		});

	each("the person lacks the permission, and is granted all other actions", async (frontEnd, key) => {
		const granted = (one: ModeratorAction) => one !== may;
		using prepared = await prepare(row, frontEnd, { limit: "lacking", granted });
		const { made, give } = prepared;
		const answer = await give();
		expectNothing(made);
		expect(answer?.text).toMatch(/lack|need/);
		expectSame(key, row, frontEnd, answer);
	});

	if (row.botNeeds !== false)
		each("the bot lacks the permission", async (frontEnd, key) => {
			using prepared = await prepare(row, frontEnd, { limit: "botRole" });
			const { made, give } = prepared;
			const answer = await give();
			expectNothing(made);
			expect(answer?.text).toContain("bot");
			expectSame(key, row, frontEnd, answer);
		});

	if (row.below)
		each("it ranks above the person", async (frontEnd, key) => {
			const change = (made: Made) => outrank(row, made);
			// A grant does not lift anybody above others.
			using prepared = await prepare(row, frontEnd, { change, ...(may && { limit: "lacking", granted: () => true }) });
			const { made, give } = prepared;
			const answer = await give();
			expectNothing(made);
			expectSame(key, row, frontEnd, answer);
		});

	const { unknown } = row;
	if (unknown)
		each("there is no such thing", async (frontEnd, key) => {
			// Discord offers only what there is.
			if (frontEnd.name === "slash command" && !unknown.isStranger) return;
			const change = (made: Made) => withUnknown(unknown, made);
			const { made, give } = await prepare(row, frontEnd, { change });
			const answer = await give();
			expectNothing(made);
			const { answer: forModels, people = forModels } = unknown;
			expect(answer?.text).toContain(frontEnd.name === "MCP tool" ? forModels : people);
			expectSame(key, row, frontEnd, answer);
		});

	each("a preview", async (frontEnd) => {
		const { made, give, order } = await prepare(row, frontEnd, { count: 4 });
		if (frontEnd.name === "MCP tool" && !hasDryRun(row)) return;
		const answer = await give(true);
		if (!answer) return;
		expectNothing(made);
		if (frontEnd.name === "MCP tool") return;
		expect(order.action.confirm?.(order.args as never)).toBe(true);
		expect(answer.buttons).toEqual(["Do it", "Cancel"]);
		expect(await answer.press("Cancel")).toContain("Nothing was done");
		expectNothing(made);
	});

	each("Discord does not answer", async (frontEnd, key) => {
		const { made, person, give } = await prepare(row, frontEnd);
		if (!made.request) return;
		const { faults } = scene.world.simulator;
		const stall = faults.stall(made.request, { after: true, times: 1 });
		const pending = give();
		await until("the request is held", () => stall.hits === 1);
		scene.world.expireRequests();
		const answer = await pending;
		expect(answer?.text).toMatch(/unknown|is not known|did not confirm/);
		expect(executions(made)).toBe(1);
		expect(made.done()).toBe(true);
		expectCases(row, frontEnd, person, made, undecided(row));
		expectSame(key, row, frontEnd, answer);
		stall.release();
	});

	for (const when of ["before", "after"] as const)
		each(`the connection drops ${when} it is executed`, async (frontEnd, key) => {
			const { made, person, give } = await prepare(row, frontEnd);
			if (!made.request) return;
			const { faults } = scene.world.simulator;
			faults.drop(made.request, { when, times: 1 });
			const answer = await give();
			expect(answer?.text).toMatch(/unknown|is not known|did not confirm/);
			expectCases(row, frontEnd, person, made, undecided(row));
			expectSame(key, row, frontEnd, answer);
			if (row.finishes) await until("the bot has finished it", made.done);
			const isDone = when === "after" || row.finishes === true;
			expect(made.done()).toBe(isDone);
			expect(executions(made)).toBe(isDone ? 1 : 0);
		});
});
