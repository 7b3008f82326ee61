// A call that needs approval: it never runs twice, and its state is true afterwards. People press the button again as long
// as there is one, or answer at the client again.

import { expect } from "bun:test";
import { createApproval } from "../../../src/bot/approval/approval.ts";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import type { ApprovalRow } from "../../../src/bot/store/tables/approvals.ts";
import type { BotContext } from "../../../src/bot/tool/context.ts";
import { ban } from "../../../src/bot/tools/bans.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { RpcResponse } from "../../../src/mcp/json-rpc.ts";
import { toolSource } from "../../../src/mcp/server.ts";
import type { Trouble } from "../../support/kills.ts";
import { toolSet } from "../../support/tool-set.ts";
import { until } from "../../support/until.ts";
import { buttonsOf, key, staffChannel } from "../approval/approval-world.ts";
import { featureOf, type Life, type Scenario, type World } from "./life.ts";

type State = ApprovalRow["state"];
/** Calls `ban`. With `answer`, as a client that can ask its user: `answer` is what it adds to the params. */
type Call = (answer?: JsonObject) => Promise<RpcResponse>;

const settings = ({ simulator }: World) => ({
	mcp: { approval: "destructive", approval_by: "client" },
	approval: { channel: simulator.channel(staffChannel).id },
});

/** The approvals of one life, and `ban` behind them. */
function guarded({ simulator, guild }: World, { config, connection, store, settings, mutex, log }: FeatureOptions) {
	const none = {} as never;
	const self = { name: "Alpha", toml: config.toml, tools: [], listed: [], beyond: [], store };
	const unused = { audit: { recent: async () => [] }, locks: none, settings, guildDocuments: none, people: none };
	const context: BotContext = { ...unused, connection, guildId: guild.id, mutex, self, log, principal: undefined };
	const set = toolSet([ban]);
	const select = (principal: BotContext["principal"]) => ({ set, context: { ...context, principal } });
	const given = { rules: config.toml.mcp, settings, connection, store, log, select };
	const approval = createApproval({ ...given, record() {}, backOffMs: [5, 20] });
	const source = approval.guard(toolSource(select));
	const args = { name: "ban", arguments: { user_ids: [simulator.user("zoe").id] } };
	const request = { kind: "request", text: "", paramsAt: undefined, id: "1", method: "tools/call" } as const;
	const caller = { modern: false, session: undefined, signal: undefined, notify: undefined, requestId: "1" } as const;
	const call: Call = async (answer) =>
		source.call(
			{ ...request, params: { ...args, ...answer } },
			{ ...caller, principal: key("k"), elicits: answer !== undefined },
		);
	return { call, feature: featureOf(approval) };
}

const bansIn = ({ executed }: World) => executed("PUT /guilds/:guild_id/bans/:user_id");
const rowsOf = ({ sql }: Life) => sql<ApprovalRow>`SELECT * FROM approvals`;

/** Checks the state in which the only request has ended. `failed` is allowed after this trouble. */
async function expectTrue(world: World, life: Life, at: Trouble | undefined, state: State, mayFail: boolean) {
	const [row, ...others] = await rowsOf(life);
	expect(others).toEqual([]);
	const allowed: Record<string, number[]> = {
		done: [1],
		denied: [0],
		...(at?.kind === "kill" && { unknown: [0, 1] }),
		...(mayFail && { failed: [0] }),
	};
	const bans = bansIn(world);
	// Without a row, nothing has run.
	expect([at, row?.state, allowed[row?.state ?? ""] ?? [0]]).toEqual([at, row?.state, expect.arrayContaining([bans])]);
	if (at === undefined) expect(row?.state).toBe(state);
	if (state === "denied") expect(bans).toBe(0);
	return row;
}

interface Asked {
	/** The state in which a request ends that is not killed. */
	state: State;
	/** Whether the guild changes when the request has been posted. */
	changes?: boolean;
}

/** Somebody presses a button of the request in the channel. */
function inChannel(button: "Approve" | "Deny", { state, changes = false }: Asked): Scenario {
	return (world) => {
		const { simulator, guild, person } = world;
		const ada = simulator.user("ada");
		const channel = simulator.channel(staffChannel).id;
		const alpha = simulator.bot("alpha").id;
		const posts = () => simulator.world.messages.in(channel).filter(({ author }) => author.id === alpha);
		let current: Call;
		let isAsked = false;
		const ask = async () => {
			if (!isAsked) await current();
			isAsked = true;
		};
		/** Until the bot has replied. */
		const pressing = new Set<Life>();
		return {
			settings: settings(world),
			create(options) {
				const { call, feature } = guarded(world, options);
				current = call;
				return { ...feature, begin: ({ isSecond }) => (isSecond ? undefined : ask()) };
			},
			async isReady({ guild: { members } }) {
				if (!changes) return true;
				// Until then it is a call that is approved.
				await ask();
				const zoe = person("zoe");
				simulator.world.members.edit(guild, zoe, { nick: "Zed" });
				await until("the bot has heard", () => members.cache.get(zoe.user.id)?.nickname === "Zed");
				return true;
			},
			async isOver(life) {
				if (!isAsked && !life.isSecond) return false;
				for (const post of posts()) {
					if (pressing.has(life) || !buttonsOf(post).includes(button)) continue;
					pressing.add(life);
					const pressed = await ada.press(post, button);
					void pressed.reply().finally(() => pressing.delete(life));
				}
				const isShown = (row: ApprovalRow) => row.message_id === null || row.shown_state === row.state;
				return (await rowsOf(life)).every((row) => row.ended_at !== null && isShown(row));
			},
			async outcome(life, at) {
				await expectTrue(world, life, at, state, true);
				// A message whose id was not stored may keep its buttons. They do nothing.
				for (const post of posts())
					if (buttonsOf(post).includes(button)) {
						const before = bansIn(world);
						const pressed = await ada.press(post, button);
						expect((await pressed.reply()).content).toContain("othing");
						expect(bansIn(world)).toBe(before);
					}
			},
		};
	};
}

/** The person at the client answers, until that has had its effect, and then repeats the answer. */
function atClient(answer: JsonObject, state: State): Scenario {
	return (world) => {
		let current: Call;
		let requestState: unknown;
		let result: JsonObject | undefined;
		/** Calls until there is a result. A life that ends before never returns. */
		const play = async (): Promise<JsonObject> => {
			for (;;) {
				const more = requestState === undefined ? {} : { requestState, inputResponses: { approval: answer } };
				const response = await current(more as JsonObject);
				if (response.kind !== "text") throw new Error(`a response of kind ${response.kind}`);
				const { result } = JSON.parse(response.text);
				if (result.resultType !== "input_required") return result;
				requestState = result.requestState;
			}
		};
		return {
			settings: settings(world),
			create(options) {
				const { call, feature } = guarded(world, options);
				return {
					...feature,
					async begin() {
						current = call;
						result = undefined;
						result = await play();
					},
				};
			},
			isOver: () => result !== undefined,
			async outcome(life, at) {
				if (at?.kind === "outage") {
					if (bansIn(world) === 0 && state === "done") expect(JSON.stringify(result)).toContain("ban was not run");
					// If nothing was done, it may be done now.
					await play();
				}
				const before = bansIn(world);
				expect((await play()).isError).toBe(true);
				expect(bansIn(world)).toBe(before);
				await until("no request is open", async () => (await rowsOf(life)).every(({ ended_at }) => ended_at !== null));
				const row = await expectTrue(world, life, at, state, at !== undefined);
				const ends = at?.kind === "kill" ? ["done", "failed", "unknown"] : ["done", "failed"];
				expect(state === "denied" ? ["denied"] : ends).toContain(row?.state ?? "none");
			},
		};
	};
}

export const approvals: Record<string, Scenario> = {
	"a call that is approved": inChannel("Approve", { state: "done" }),
	"a call that is denied": inChannel("Deny", { state: "denied" }),
	"a call whose plan changes": inChannel("Approve", { state: "done", changes: true }),
	"a call that the person at the client approves": atClient(
		{ action: "accept", content: { decision: "Approve" } },
		"done",
	),
	"a call that the person at the client denies": atClient({ action: "decline" }, "denied"),
};
