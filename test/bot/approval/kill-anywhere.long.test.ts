// An approved call, with the bot killed before and after each of its requests and statements, or with the database lost
// there: the call never runs twice, and its state is true afterwards. After a kill, another life of the bot begins with the
// same data. People press the button again as long as there is one.
//
// What a kill is: test/support/kills.ts.

import { afterAll, describe, expect, test } from "bun:test";
import * as v from "valibot";
import { type Approval, createApproval } from "../../../src/bot/approval/approval.ts";
import { toml } from "../../../src/bot/config/settings.ts";
import { type Store, startStore } from "../../../src/bot/store/store.ts";
import type { ApprovalRow } from "../../../src/bot/store/tables/approvals.ts";
import type { BotContext } from "../../../src/bot/tool/context.ts";
import { ban } from "../../../src/bot/tools/bans.ts";
import { Connection } from "../../../src/discord/connection/connection.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import type { RpcResponse } from "../../../src/mcp/json-rpc.ts";
import { toolSet, toolSource } from "../../../src/mcp/server.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Message } from "../../../src/simulator/world/state/entities.ts";
import { Kill, proxy, type Trouble } from "../../support/kills.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { buttonsOf, key, staffChannel } from "./approval-world.ts";

interface Life {
	sql: Sql;
	connection: Connection;
	kill: Kill;
	/** Calls ban. With `answer`, as a client that can ask its user: `answer` is what it adds to the params. */
	call(answer?: JsonObject): Promise<RpcResponse>;
	/** The button that was pressed last, until the bot has replied. */
	pressing: Promise<unknown> | undefined;
	end(): Promise<void>;
}

const leftovers: (() => unknown)[] = [];
afterAll(async () => {
	await Promise.all(leftovers.map((end) => end()));
}, 120_000);

async function startLife(simulator: Simulator, place: Pick<Place, "settings">, kill: Kill): Promise<Life> {
	const { log } = recordLog("debug");
	const guild = simulator.guild("The Cooks");
	const discord = proxy(kill, () => new URL(simulator.api).origin);
	const real = startStore({
		...place.settings,
		instance: "Alpha",
		log,
		backOffMs: [10, 20],
	});
	await real.opened;
	const store = {
		sql: (...statement: Parameters<Sql>) => kill.statement(() => real.sql(...statement)),
		transaction: (work: Parameters<Store["transaction"]>[0]) => kill.statement(() => real.transaction(work)),
	} as unknown as Store;
	const connection: Connection = new Connection({
		token: simulator.bot("alpha").token,
		api: `${discord.url.origin}/api`,
		cdn: discord.url.origin,
		log,
		onResponse() {},
		attach: (client) => approval.attach(client),
		timing: { backOffMs: [1, 4], invalidSessionMs: [1, 4], identifyMs: 0 },
	});
	const settings = v.parse(toml, {
		bot_name: "Alpha",
		mcp: {
			approval: "destructive",
			approval_by: "client",
			approval_channel: simulator.channel(staffChannel).id,
		},
	});
	const context: BotContext = {
		connection,
		guildId: guild.id,
		mutex: new KeyedMutex(),
		audit: { recent: async () => [] },
		self: { name: "Alpha", toml: settings, tools: [], listed: [], store },
		locks: {} as BotContext["locks"],
		guildDocuments: {} as BotContext["guildDocuments"],
		log,
		principal: undefined,
	};
	const set = toolSet([ban]);
	const select = (principal: BotContext["principal"]) => ({
		set,
		context: { ...context, principal },
	});
	const approval: Approval = createApproval({
		settings: settings.mcp,
		record() {},
		backOffMs: [5, 20],
		...{ connection, store, log, select },
	});
	const opened = connection.open();
	await until("the bot is ready", () => connection.ready);
	await until("its members are known", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
	approval.start();
	leftovers.push(async () => {
		void approval.close();
		await discord.stop(true);
	});
	const guarded = approval.guard(toolSource(select));
	return {
		sql: real.sql,
		connection,
		kill,
		pressing: undefined,
		call: async (answer) =>
			guarded.call(
				{
					kind: "request",
					text: "",
					paramsAt: undefined,
					id: "1",
					method: "tools/call",
					params: {
						name: "ban",
						arguments: { user_ids: [simulator.user("zoe").id] },
						...answer,
					},
				},
				{
					modern: false,
					session: undefined,
					signal: undefined,
					notify: undefined,
					principal: key("k"),
					elicits: answer !== undefined,
					requestId: "1",
				},
			),
		async end() {
			void kill.die();
			await connection.close();
			await opened;
			await real.close();
		},
	};
}

interface Scenario {
	/** Changes the guild when the request has been posted. */
	change?(simulator: Simulator): void;
	button: "Approve" | "Deny";
	/** The state in which a request ends that is not killed. */
	state: ApprovalRow["state"];
}

const scenarios: Record<string, Scenario> = {
	"a call that is approved": { button: "Approve", state: "done" },
	"a call that is denied": { button: "Deny", state: "denied" },
	"a call whose plan changes": {
		button: "Approve",
		state: "done",
		change(simulator) {
			const guild = simulator.guild("The Cooks");
			const zoe = guild.members.get(simulator.user("zoe").id);
			if (zoe) simulator.world.members.edit(guild, zoe, { nick: "Zed" });
		},
	},
};

/** Runs a scenario to its end, with trouble at `at`. Returns the counts of the first life. */
async function run({ change, button, state }: Scenario, place: Pick<Place, "settings">, at?: Trouble): Promise<Kill> {
	await using simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	const zoe = simulator.user("zoe").id;
	const posts = () =>
		simulator.world.messages
			.in(simulator.channel(staffChannel).id)
			.filter(({ author }) => author.id === simulator.bot("alpha").id);
	const bans = () =>
		simulator.journal.entries().filter(({ route }) => route === "PUT /guilds/:guild_id/bans/:user_id").length;
	const press = async (life: Life, post: Message) => {
		const pressed = await simulator.user("ada").press(post, button);
		life.pressing = pressed.reply().finally(() => {
			life.pressing = undefined;
		});
	};
	const rows = (life: Life) => life.sql<ApprovalRow>`SELECT * FROM approvals`;

	let hasChanged = false;
	const isOver = async (life: Life): Promise<boolean> => {
		for (const post of posts()) {
			if (life.pressing || !buttonsOf(post).includes(button)) continue;
			if (change && !hasChanged) {
				hasChanged = true;
				change(simulator);
				await until("the bot has heard", () => {
					if (life.kill.isDead) return true;
					const member = life.connection.guilds.find(({ id }) => id === guild.id)?.members.cache.get(zoe);
					return member?.nickname === "Zed";
				});
			}
			await press(life, post);
		}
		const all = await rows(life);
		return all.every((row) => row.ended_at !== null && (row.message_id === null || row.shown_state === row.state));
	};

	const kill = new Kill(at);
	const first = await startLife(simulator, place, kill);
	kill.isArmed = true;
	let isAnswered = false;
	void first.call().then(() => {
		isAnswered = true;
	});
	await until("the first life is over", async () => {
		if (kill.isDead) return true;
		return isAnswered && (await isOver(first));
	});
	let last = first;
	if (at?.kind !== "outage") {
		await first.end();
		last = await startLife(simulator, place, new Kill());
		await until("the second life is over", () => isOver(last));
	}

	const [row, ...others] = await rows(last);
	expect(others).toEqual([]);
	expect(bans()).toBeLessThanOrEqual(1);
	const allowed = {
		done: [1],
		...(at?.kind === "kill" && { unknown: [0, 1] }),
		failed: [0],
		denied: [0],
	}[String(row?.state)] ?? [0];
	expect(allowed).toContain(bans());
	if (at === undefined) expect(row?.state).toBe(state);
	if (state === "denied") expect(bans()).toBe(0);
	// A message whose id was not stored may keep its buttons. They do nothing.
	for (const post of posts())
		if (buttonsOf(post).length > 0) {
			const before = bans();
			const pressed = await simulator.user("ada").press(post, button);
			expect((await pressed.reply()).content).toContain("othing");
			expect(bans()).toBe(before);
		}
	await last.end();
	return kill;
}

const approve = {
	approval: { action: "accept", content: { decision: "Approve" } },
};
const decline = { approval: { action: "decline" } };

interface AtClient {
	answer: JsonObject;
	/** The state in which the request ends if there is no trouble. */
	state: ApprovalRow["state"];
}

/**
 * Asks the person at the client, with trouble at `at`, until the answer has had its effect. Then repeats the answer.
 * Returns the counts of the first life.
 */
async function runAtClient(
	{ answer: inputResponses, state }: AtClient,
	place: Pick<Place, "settings">,
	at?: Trouble,
): Promise<Kill> {
	await using simulator = await startSimulator();
	const bans = () =>
		simulator.journal.entries().filter(({ route }) => route === "PUT /guilds/:guild_id/bans/:user_id").length;
	const rows = (life: Life) => life.sql<ApprovalRow>`SELECT * FROM approvals`;
	let requestState: unknown;
	/** Calls until there is a result. Returns undefined if the life ends before. */
	const play = async (life: Life): Promise<JsonObject | undefined> => {
		for (;;) {
			let response: RpcResponse | undefined;
			let failure: unknown;
			const answer = requestState === undefined ? {} : { requestState, inputResponses };
			life.call(answer).then(
				(given) => {
					response = given;
				},
				(error) => {
					failure = error;
				},
			);
			await until("there is a response", () => Boolean(life.kill.isDead || response || failure));
			if (failure) throw failure;
			if (response?.kind !== "text") return undefined;
			const { result } = JSON.parse(response.text);
			if (result.resultType !== "input_required") return result;
			requestState = result.requestState;
		}
	};
	const kill = new Kill(at);
	const first = await startLife(simulator, place, kill);
	kill.isArmed = true;
	const given = await play(first);
	if (at?.kind === "outage" && bans() === 0) expect(JSON.stringify(given)).toContain("ban was not run");
	let last = first;
	if (at?.kind !== "outage") {
		await first.end();
		last = await startLife(simulator, place, new Kill());
	}
	// If nothing was done in the first life, it may be done now.
	await play(last);
	const before = bans();
	const repeated = await play(last);
	expect(repeated?.isError).toBe(true);
	expect(bans()).toBe(before);
	await until("no request is open", async () => (await rows(last)).every(({ ended_at }) => ended_at !== null));

	const [row, ...others] = await rows(last);
	expect(others).toEqual([]);
	const allowed =
		{
			done: [1],
			...(at?.kind === "kill" && { unknown: [0, 1] }),
			...(at && { failed: [0] }),
			denied: [0],
		}[String(row?.state)] ?? [];
	expect(allowed).toContain(bans());
	if (at === undefined) expect(row?.state).toBe(state);
	if (state === "denied") expect(row?.state).toBe("denied");
	await last.end();
	return kill;
}

const answers: Record<string, AtClient> = {
	approves: { answer: approve, state: "done" },
	denies: { answer: decline, state: "denied" },
};

onBoth(({ place }, kind) => {
	describe.each(Object.entries(answers))(`a call that the person at the client %s, on ${kind}`, (_, scenario) => {
		test("runs at most once, wherever the bot is killed or its database is lost", async () => {
			const data = await place();
			const { count, statements } = await runAtClient(scenario, data);
			// Two for the key, one for the state, one for the answer.
			expect(statements).toBeGreaterThan(3);
			const all = { kill: count, outage: statements };
			for (const kind of ["kill", "outage"] as const)
				for (let operation = 1; operation <= all[kind]; operation += 1)
					for (const after of [false, true]) {
						await data.clear();
						const at = { kind, operation, after };
						await runAtClient(scenario, data, at);
					}
		}, 300_000);
	});

	// PostgreSQL is slower, so only an approval is tried with it.
	const tried = Object.entries(scenarios).filter(([name]) => kind === "SQLite" || name === "a call that is approved");
	describe.each(tried)(`%s, on ${kind}`, (_, scenario) => {
		test("runs at most once, wherever the bot is killed or its database is lost", async () => {
			const data = await place();
			const { count, statements } = await run(scenario, data);
			expect(statements).toBeGreaterThan(5);
			expect(count).toBeGreaterThan(statements + 3);
			const all = { kill: count, outage: statements };
			for (const kind of ["kill", "outage"] as const)
				for (let operation = 1; operation <= all[kind]; operation += 1)
					for (const after of [false, true]) {
						await data.clear();
						await run(scenario, data, { kind, operation, after });
					}
		}, 300_000);
	});
});
