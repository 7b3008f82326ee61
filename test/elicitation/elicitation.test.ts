// The official SDK's client calls tools that need approval, at the real bot and through the real gateway, and its user
// answers. What other clients do is in test/bot/approval/client-approval.test.ts.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { JsonObject } from "../../src/lib/json.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { bunIn } from "../support/run-bun.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

interface Outcome {
	questions: { message: string; requestedSchema: JsonObject }[];
	result: { isError?: boolean; content: { text: string }[] };
	error?: { code: number; message: string; data: unknown };
}

let world: TestWorld;
let gateway: TestGateway;
let urls: Record<"bot" | "gateway", string>;

const run = bunIn(import.meta.dir);

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
	world = await startWorld(
		{},
		{
			mcpToken: gatewayToken,
			toml: { mcp: { approval: "destructive", approval_by: "client", approval_for_root: true } },
		},
	);
	const { origin } = new URL(world.bot.url);
	gateway = await startTestGateway({ alpha: { url: origin } });
	urls = { bot: world.bot.url, gateway: `${gateway.url}/mcp` };
});

afterAll(async () => {
	await gateway?.close();
	await world?.[Symbol.asyncDispose]();
});

beforeEach(() => {
	const { guild, simulator } = world;
	const ban = guild.bans.get(simulator.user("zoe").id);
	if (ban) simulator.world.bans.remove(guild, ban);
});

const isBanned = () => world.guild.bans.has(world.simulator.user("zoe").id);

const ban = () => ({ guild_id: world.guild.id, user_ids: [world.simulator.user("zoe").id] });

async function callWith(
	target: "bot" | "gateway",
	answers: readonly object[],
	{
		call = { name: "ban", arguments: ban() } as object,
		capabilities = { elicitation: {} } as object,
		version = "2026-07-28",
	} = {},
): Promise<Outcome> {
	const options = { url: urls[target], token: gatewayToken, call, answers };
	const given = JSON.stringify({ ...options, capabilities, version });
	const { out } = await run("client.js", given);
	return JSON.parse(out);
}

const textOf = ({ result }: Outcome) => result.content[0]?.text ?? "";
const accept = (content: object) => ({ action: "accept", content });
const approve = accept({ decision: "Approve" });

const targets = ["bot", "gateway"] as const;

test.each(targets)("its user approves a call of the %s", async (target) => {
	const outcome = await callWith(target, [approve]);
	expect(textOf(outcome)).toStartWith("Banned");
	expect(isBanned()).toBe(true);
	const [question, ...more] = outcome.questions;
	expect(more).toEqual([]);
	expect(question?.message).toContain("Approve ban by the bot Alpha?");
	expect(question?.message).toContain("Would ban");
});

test.each(targets)("its user approves a call of use_tool of the %s", async (target) => {
	const { guild_id, ...inner } = ban();
	const args = { guild_id, name: "ban", arguments: inner };
	const call = { name: "use_tool", arguments: args };
	const outcome = await callWith(target, [approve], { call });
	expect(outcome.questions[0]?.message).toContain("Approve ban by");
	expect(isBanned()).toBe(true);
});

test.each(targets)("its user does not approve a call of the %s", async (target) => {
	for (const answer of [accept({ decision: "Deny" }), { action: "decline" }, { action: "cancel" }]) {
		const outcome = await callWith(target, [answer]);
		expect(outcome.result.isError).toBe(true);
		expect(textOf(outcome)).toContain("ban was not run.");
		expect(outcome.questions).toHaveLength(1);
		expect(isBanned()).toBe(false);
	}
});

const others: [string, { capabilities: object; version?: string }][] = [
	["a client without elicitation", { capabilities: {} }],
	["a client that can only open pages", { capabilities: { elicitation: { url: {} } } }],
	["a client of the revision with sessions", { capabilities: { elicitation: {} }, version: "2025-11-25" }],
];
test.each(others)("%s is refused", async (_, options) => {
	for (const target of targets) {
		const outcome = await callWith(target, [approve], options);
		expect(outcome.questions).toEqual([]);
		expect(outcome.error).toEqual({
			code: -32021,
			message: expect.stringContaining("the client cannot ask"),
			data: { requiredCapabilities: { elicitation: {} } },
		});
		expect(isBanned()).toBe(false);
	}
});

/** Calls ban at the gateway, as a client of the stateless revision with these capabilities. */
function callGateway(capabilities: object, more: object = {}) {
	const body = {
		jsonrpc: "2.0",
		id: 1,
		method: "tools/call",
		params: {
			name: "ban",
			arguments: ban(),
			_meta: {
				"io.modelcontextprotocol/protocolVersion": "2026-07-28",
				"io.modelcontextprotocol/clientCapabilities": capabilities,
			},
			...more,
		},
	};
	return gateway.post(JSON.stringify(body), {
		"MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call",
		"Mcp-Name": "ban",
	});
}

test("the lack of elicitation is HTTP status 400", async () => {
	const { status, body } = await callGateway({});
	expect(status).toBe(400);
	expect(JSON.parse(body).error.code).toBe(-32021);
});

test("one approval that is sent twice through the gateway runs once", async () => {
	const send = async (more: object) => (await callGateway({ elicitation: {} }, more)).message().result;
	const question = await send({});
	const retry = { requestState: question?.requestState, inputResponses: { approval: approve } };
	const results = await Promise.all([send(retry), send(retry)]);
	expect(results.filter((result) => result?.isError)).toHaveLength(1);
	expect(isBanned()).toBe(true);
	expect((await send(retry))?.content[0]?.text).toContain("used already");
});
