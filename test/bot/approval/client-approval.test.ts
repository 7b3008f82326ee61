// Approval by the person at the MCP client: the question, the answer, and the state that connects the two.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { questionAbout } from "../../../src/bot/approval/question.ts";
import { isObject, type JsonObject } from "../../../src/lib/json.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { giveRole, memberNamed } from "../../support/world.ts";
import {
	type ApprovalWorld,
	type ApprovalWorldOptions,
	ban,
	key,
	pendingId,
	readAnswer,
	rename,
	startApprovalWorld,
	titleOf,
} from "./approval-world.ts";

const clientTest = testWith(startWorld);

const elicits = { elicits: true };
const caller: Principal = { ...key("k"), ...elicits };

function startWorld(options: ApprovalWorldOptions = {}) {
	return startApprovalWorld({
		...options,
		mcp: (simulator) => ({ approval_by: "client", ...options.mcp?.(simulator) }),
	});
}

/** How many bans the bot has sent to Discord. */
const bans = ({ simulator }: ApprovalWorld) =>
	simulator.requests.list().filter(({ method, path }) => method === "PUT" && /\/bans\/\d+$/.test(path)).length;

interface Question {
	message: string;
	schema: JsonObject;
	requestState: string;
}

/** Reads the question from a response. */
function questionIn({ result }: JsonObject): Question {
	if (!isObject(result) || result.resultType !== "input_required")
		throw new Error(`no question: ${JSON.stringify(result)}`);
	const { inputRequests, requestState } = result as {
		inputRequests: Record<string, { method: string; params: Record<string, unknown> }>;
		requestState: string;
	};
	expect(Object.keys(inputRequests)).toEqual(["approval"]);
	expect(inputRequests.approval?.method).toBe("elicitation/create");
	const { message, requestedSchema } = inputRequests.approval?.params ?? {};
	return { message: String(message), schema: requestedSchema as JsonObject, requestState };
}

const decline = { inputResponses: { approval: { action: "decline" } } };
const accept = (content: unknown = { decision: "Approve" }) => ({ approval: { action: "accept", content } });

interface Call {
	principal?: Principal;
	tool?: string;
	args?: JsonObject;
	requestState?: unknown;
	inputResponses?: unknown;
}

function send(
	world: ApprovalWorld,
	{ principal = caller, tool = "ban", args = ban(world), ...more }: Call = {},
): Promise<JsonObject> {
	return world.ask(principal, "tools/call", { name: tool, arguments: args, ...more });
}

const ask = async (world: ApprovalWorld, call?: Call) => questionIn(await send(world, call));

/** Repeats a call with an answer, by default Approve. */
async function reply(world: ApprovalWorld, { requestState }: Pick<Question, "requestState">, call: Call = {}) {
	const inputResponses = accept();
	return readAnswer(await send(world, { requestState, inputResponses, ...call }));
}

/** Resolves when the bot has received all events so far, which arrive in order. */
async function heard(world: ApprovalWorld): Promise<void> {
	const { simulator, guild } = world;
	const me = memberNamed({ guild }, "alpha");
	marks += 1;
	const nick = `mark-${marks}-`;
	simulator.world.members.edit(guild, me, { nick });
	await until("the bot has heard", async () => {
		const query = { query: nick };
		const found = await world.call(undefined, "lookup_user_by_name", query);
		return found.text.startsWith("1 match");
	});
}
let marks = 0;

const used = expect.stringContaining("was used already, and works once");

clientTest("the question shows the call in full, and Approve runs it", async (world) => {
	const person = world.person("ada");
	const principal = { ...key("k", person), ...elicits };
	const question = await ask(world, { principal });
	expect(bans(world)).toBe(0);
	expect(world.posts()).toEqual([]);
	for (const part of [
		"Approve ban by the bot Alpha?",
		`For: ada (${person.id}), with the key k`,
		"Client: Claude",
		`Server: The Cooks (ID: ${world.guild.id})`,
		world.simulator.user("zoe").id,
		"Would ban",
	])
		expect(question.message).toContain(part);
	expect(question.schema).toEqual({
		type: "object",
		properties: {
			decision: {
				type: "string",
				title: "Decision",
				description: "Whether ban may run as shown",
				enum: ["Approve", "Deny"],
			},
		},
		required: ["decision"],
	});
	const done = await reply(world, question, { principal });
	expect(done).toMatchObject({ isError: false });
	expect(done.text).toStartWith("Banned");
	expect(bans(world)).toBe(1);
	const list = await world.call(principal, "list_approvals");
	expect(list.text).toMatch(/approval_id: [0-9a-f]{12} \| ban \| done \|/);
	// Neither the question nor the answer counts as a call.
	await until("the audit log has it", async () => {
		const { text } = await world.call(undefined, "list_recent_tool_calls");
		return text.split("\n").filter((line) => / \| ban \| /.test(line)).length === 1;
	});
});

clientTest("through use_tool the inner tool is asked about", async (world) => {
	const call = { tool: "use_tool", args: { name: "ban", arguments: ban(world) } };
	const question = await ask(world, call);
	expect(question.message).toContain("Approve ban by");
	expect((await reply(world, question, call)).text).toContain("Banned");
	expect(bans(world)).toBe(1);
});

clientTest("a denied call does not run because it has become harmless since the question", async (world) => {
	const { simulator, guild } = world;
	const everyone = present(guild.roles.get(guild.id));
	const tool = "create_role";
	const args = { name: "Pingers", permissions: ["MENTION_EVERYONE"] };
	const { message, requestState } = await ask(world, { tool, args });
	expect(message).toContain("it gives a role MENTION_EVERYONE");
	simulator.world.roles.edit(guild, everyone, {
		permissions: String(BigInt(everyone.permissions) | PermissionFlagsBits.MentionEveryone),
	});
	await heard(world);
	const { text } = await reply(world, { requestState }, { tool, args, ...decline });
	expect(text).toContain("denied");
	const names = [...guild.roles.values()].map(({ name }) => name);
	expect(names).not.toContain("Pingers");
});

describe("without approval nothing is done", () => {
	const cases: [string, object, string][] = [
		["declined", { action: "decline" }, "denied this call. ban was not run."],
		["cancelled", { action: "cancel" }, "closed the question"],
		["denied", { action: "accept", content: { decision: "Deny" } }, "denied this call. ban was not run."],
	];
	test.each(cases)("when it is %s", async (_, approval, expected) => {
		await using world = await startWorld();
		const question = await ask(world);
		const inputResponses = { approval };
		const answer = await reply(world, question, { inputResponses });
		expect(answer.isError).toBe(true);
		expect(answer.text).toContain(expected);
		const { text } = await world.call(caller, "list_approvals");
		const id = /approval_id: (\w+) \| ban \| denied/.exec(text)?.[1] ?? "";
		expect(await world.state(caller, id)).toContain("did not approve");
		// Nor by another answer to the same question.
		expect((await reply(world, question)).text).toEqual(used);
		expect(bans(world)).toBe(0);
	});
});

clientTest("a caller with ten denials is not asked about more, and only the newest ten are kept", async (world) => {
	const denials = async () => (await world.call(caller, "list_approvals")).text.match(/denied/g)?.length;
	for (let denied = 0; denied < 10; denied++) await reply(world, await ask(world), decline);
	const { isError, text } = readAnswer(await send(world));
	expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining("ban was not asked about") });
	expect(await ask(world, { principal: { ...caller, id: "key:other" } })).toBeDefined();
	world.clock.offsetMs += 600_000;
	await reply(world, await ask(world), decline);
	await ask(world);
	expect(await denials()).toBe(10);
});

/** A dry run shows the current time. */
const withoutTime = (message: string) => message.replace(/now is \S+/, "");

describe("is asked again", () => {
	const cases: [string, unknown][] = [
		["no answers", undefined],
		["answers that are a text", "approval"],
		["an answer to another question", { other: { action: "accept" } }],
		["an unknown action", { approval: { action: "yes" } }],
		["an empty form", accept({})],
		["a form that is a list", accept(["Approve"])],
		["no form", accept(null)],
		["another spelling", accept({ decision: "approve" })],
		["true instead of a choice", accept({ decision: true })],
	];
	clientTest("the person whose answer is missing or malformed", async (world) => {
		for (const [name, inputResponses] of cases) {
			const first = await ask(world);
			const again = await ask(world, { ...first, inputResponses });
			expect([name, bans(world)]).toEqual([name, 0]);
			expect(withoutTime(again.message)).toBe(withoutTime(first.message));
		}
	});

	clientTest("of all states for one call, one works", async (world) => {
		const first = await ask(world);
		const again = await ask(world, { requestState: first.requestState });
		expect((await reply(world, again)).isError).toBe(false);
		expect((await reply(world, first)).text).toEqual(used);
		expect((await reply(world, again)).text).toEqual(used);
		// Not asked again either.
		const last = await send(world, { requestState: first.requestState });
		expect(readAnswer(last).text).toEqual(used);
		expect(bans(world)).toBe(1);
	});

	clientTest("an answer without the state", async (world) => {
		await ask(world);
		await ask(world, { inputResponses: accept() });
		expect(bans(world)).toBe(0);
	});
});

describe("a state is refused", () => {
	/** Replaces a character by another one of the same alphabet. */
	const flip = (text: string, at: number) => {
		const index = at < 0 ? text.length + at : at;
		const other = text[index] === "A" ? "B" : "A";
		return text.slice(0, index) + other + text.slice(index + 1);
	};
	/** A state with changed content and the old code. */
	const changed = (state: string, more: object) => {
		const [payload = "", code] = state.split(".");
		const json = JSON.parse(Buffer.from(payload, "base64url").toString());
		const text = JSON.stringify({ ...json, ...more });
		return `${Buffer.from(text).toString("base64url")}.${code}`;
	};
	const far = 8_640_000_000_000_000;
	const notOurs = "requestState: it was not made by this bot";
	const otherCall = "requestState: it belongs to another caller";
	const cases: [string, string, (world: ApprovalWorld, state: string) => Partial<Call>][] = [
		["with a changed code", notOurs, (_, state) => ({ requestState: flip(state, -5) })],
		["with changed content", notOurs, (_, state) => ({ requestState: flip(state, 5) })],
		["with another expiry", notOurs, (_, state) => ({ requestState: changed(state, { expiresAt: far }) })],
		["with another id", notOurs, (_, state) => ({ requestState: changed(state, { id: "0123456789ab" }) })],
		["without its code", notOurs, (_, state) => ({ requestState: state.split(".")[0] })],
		["with an empty code", notOurs, (_, state) => ({ requestState: `${state.split(".")[0]}.` })],
		["with something after it", notOurs, (_, state) => ({ requestState: `${state}=` })],
		["that is empty", notOurs, () => ({ requestState: "" })],
		["that is a number", notOurs, () => ({ requestState: 7 })],
		["that is null", notOurs, () => ({ requestState: null })],
		["that is very long", notOurs, (_, state) => ({ requestState: state + "A".repeat(100_000) })],
		["of other arguments", otherCall, (world) => ({ args: ban(world, "liwei") })],
		["of one argument more", otherCall, (world) => ({ args: ban(world, "zoe", { reason: "spam" }) })],
		["of another tool", otherCall, () => ({ tool: "kick" })],
		["of another caller", otherCall, () => ({ principal: { ...key("other"), ...elicits } })],
		["of the same key without its person", otherCall, () => ({ principal: { ...key("p"), ...elicits } })],
		[
			"of the same key with another person",
			otherCall,
			(world) => ({ principal: { ...key("p", world.person("jose.garcia")), ...elicits } }),
		],
	];
	clientTest("unless it is from this bot and for this call", async (world) => {
		const own = { ...key("p", world.person("ada")), ...elicits };
		const question = await ask(world, { principal: own });
		for (const [name, expected, change] of cases) {
			const call = change(world, question.requestState);
			const answer = await reply(world, question, { principal: own, ...call });
			expect([name, answer.code, answer.text]).toEqual([name, -32602, expect.stringContaining(expected)]);
		}
		expect(bans(world)).toBe(0);
		expect((await reply(world, question, { principal: own })).isError).toBe(false);
	});

	clientTest("from another bot", async (world) => {
		await using other = await startWorld();
		const { requestState } = await ask(other);
		const answer = await reply(world, { requestState });
		expect(answer.code).toBe(-32602);
		expect(bans(world) + bans(other)).toBe(0);
	});

	clientTest("after 10 minutes", async (world) => {
		const early = await ask(world);
		world.clock.offsetMs = 590_000;
		expect((await reply(world, early)).isError).toBe(false);
		const late = await ask(world, { args: ban(world, "liwei") });
		world.clock.offsetMs += 600_001;
		const answer = await reply(world, late, { args: ban(world, "liwei") });
		expect(answer.isError).toBe(true);
		expect(answer.text).toContain("has expired");
		expect(bans(world)).toBe(1);
	});
});

clientTest("the order of arguments does not matter", async (world) => {
	const { user_ids } = ban(world);
	const question = await ask(world, { args: { user_ids, reason: "spam" } });
	const args = { reason: "spam", user_ids };
	expect((await reply(world, question, { args })).isError).toBe(false);
});

describe("an approval works once", () => {
	clientTest("also when it is sent twice at the same time", async (world) => {
		const question = await ask(world);
		const answers = await Promise.all([reply(world, question), reply(world, question), reply(world, question)]);
		expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
		for (const { isError, text } of answers) if (isError) expect(text).toEqual(used);
		expect(bans(world)).toBe(1);
	});

	clientTest("also when approval and denial are sent at the same time", async (world) => {
		const question = await ask(world);
		const [denied, approved] = await Promise.all([reply(world, question, decline), reply(world, question)]);
		expect(bans(world)).toBe(approved.isError ? 0 : 1);
		expect(denied.text).toEqual(approved.isError ? expect.stringContaining("denied this call") : (used as never));
	});

	clientTest("before and after restarts", async (world) => {
		const question = await ask(world);
		await world.restart();
		expect((await reply(world, question)).isError).toBe(false);
		await world.restart();
		expect((await reply(world, question)).text).toEqual(used);
		expect(bans(world)).toBe(1);
	});
});

describe("the plan is made anew", () => {
	clientTest("a changed plan is asked about again, and the old approval does nothing", async (world) => {
		const first = await ask(world);
		await rename(world, "Someone else");
		const inputResponses = accept();
		const again = await ask(world, { ...first, inputResponses });
		expect(again.message).toStartWith("What this call would do has changed since it was shown. Nothing was done.");
		expect(again.message).toContain("Someone else");
		expect(bans(world)).toBe(0);
		await ask(world, { ...first, inputResponses });
		expect(bans(world)).toBe(0);
		expect((await reply(world, again)).isError).toBe(false);
		expect((await reply(world, first)).text).toEqual(used);
		expect(bans(world)).toBe(1);
	});

	clientTest("and refused if the call is not possible any more", async (world) => {
		const principal = { ...key("p", world.person("jose.garcia")), ...elicits };
		const { simulator, guild } = world;
		const jose = memberNamed({ guild }, "jose.garcia");
		const { roles } = jose;
		giveRole(world, "jose.garcia", { permissions: PermissionFlagsBits.BanMembers });
		await heard(world);
		const question = await ask(world, { principal });
		simulator.world.members.edit(guild, jose, { roles });
		await heard(world);
		const answer = await reply(world, question, { principal });
		expect(answer.text).toContain("You");
		expect(answer.isError).toBe(true);
		expect(bans(world)).toBe(0);
	});

	clientTest("texts of people stay in the block of data", async (world) => {
		await rename(world, "```\n# Approve: harmless \u202E");
		const { message } = await ask(world, { args: ban(world, "zoe", { reason: "````\nServer: none" }) });
		const fence = /^`{3,}$/m.exec(message)?.[0] ?? "";
		expect(fence).toBe("`````");
		const lines = message.split("\n");
		expect(lines.filter((line) => line === fence)).toHaveLength(2);
		expect(lines.at(-1)).toBe(fence);
		expect(lines.filter((line) => line.startsWith("Server:"))).toHaveLength(1);
		expect(lines.some((line) => line.startsWith("#"))).toBe(false);
		expect(message).not.toContain("\u202E");
	});
});

describe("a client that cannot ask", () => {
	clientTest("gets approval in Discord, where a channel is set", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		expect(titleOf(world.posts()[0])).toBe("Approve: Ban users?");
		expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
		expect(await world.state(key("k"), id)).toContain(" | done | ");
		expect(bans(world)).toBe(1);
	});

	test("is refused otherwise, also with the state of one that can", async () => {
		await using world = await startWorld({ approval: () => ({ channel: undefined }) });
		const question = await ask(world);
		const principal = key("k");
		const answers = [readAnswer(await send(world, { principal })), await reply(world, question, { principal })];
		for (const { code, text } of answers) {
			expect(code).toBe(-32021);
			expect(text).toContain("the client cannot ask");
			expect(text).toEndWith("ban was not run.");
		}
		expect(bans(world)).toBe(0);
	});
});

describe("nobody is asked", () => {
	clientTest("about dry runs, tools that read, and calls that are refused anyway", async (world) => {
		const done = await world.call(caller, "ban", ban(world, "zoe", dryRun));
		expect(done.text).toContain("Would ban");
		const { id } = world.simulator.user("ada");
		const owner = await world.call(caller, "ban", { user_ids: [id] });
		expect(owner).toMatchObject({ isError: true });
		const wrong = await world.call(caller, "ban", { user_ids: "no" });
		expect(wrong.code).toBe(-32602);
	});
	const dryRun = { dry_run: true };

	test("with the root key, unless approval_for_root is set", async () => {
		const principal: Principal = { id: "root", name: "root", access: "all", ...elicits };
		await using free = await startWorld();
		const done = readAnswer(await send(free, { principal }));
		expect(done.text).toStartWith("Banned");
		await using bound = await startWorld({ mcp: () => ({ approval_for_root: true }) });
		const question = await ask(bound, { principal });
		expect(question.message).toContain("For: the holder of MCP_AUTH_TOKEN");
		expect((await reply(bound, question, { principal })).isError).toBe(false);
	});

	clientTest("where approval is given in Discord", { mcp: () => ({ approval_by: "discord" }) }, async (world) => {
		pendingId(await world.call(caller, "ban", ban(world)));
		expect(world.posts()).toHaveLength(1);
	});
});

test("a question that is too long to be shown in full is not asked", () => {
	const row = (length: number) => ({
		tool: "ban",
		client: "",
		principal: null,
		guild_id: null,
		arguments: JSON.stringify({ reason: "x".repeat(length) }),
		plan: "null",
	});
	const facts = { botName: "Alpha", guildName: undefined, hasChanged: false };
	expect(questionAbout(row(890_000), facts)).toBeDefined();
	expect(questionAbout(row(900_000), facts)).toBeUndefined();
});
