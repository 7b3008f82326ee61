// Calls that the gateway makes several of: without a target, of a tool that all bots answer, and in several guilds.

import { describe, expect, test } from "bun:test";
import { postTo } from "../../support/both-servers.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { type Behaviour, type StubBackend, stall, startStubBackend, textResult } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";

const marked = { name: "look", inputSchema: { type: "object" }, _meta: { "guildhall/everywhere": true } };
const look = JSON.stringify({ ...marked, annotations: { readOnlyHint: true } });
const bots = ["alpha", "beta", "gamma"] as const;
const guilds = ["100000000000000001", "200000000000000001", "300000000000000001"];
const act = JSON.stringify({
	name: "look",
	inputSchema: { type: "object", properties: { guild_id: { type: "string" } } },
	_meta: { "guildhall/guild_ids": true, other: 1 },
});

interface World extends AsyncDisposable, Record<(typeof bots)[number], StubBackend> {
	gateway: TestGateway;
}

async function startWorld({ env = {}, tool = look } = {}): Promise<World> {
	const stubs = bots.map((name, at) =>
		startStubBackend({ guilds: { [`${at + 1}00000000000000001`]: name }, tools: [tool] }),
	);
	const [alpha, beta, gamma] = stubs;
	if (!alpha || !beta || !gamma) throw new Error("there are three");
	const options = { progress: { afterMs: 0, everyMs: 0 } };
	const gateway = await startTestGateway({ alpha, beta, gamma }, { env, options });
	return { alpha, beta, gamma, gateway, [Symbol.asyncDispose]: gateway[Symbol.asyncDispose] };
}

const worldTest = testWith(() => startWorld());

const asked = (world: World) => bots.map((name) => world[name].received("look").length);
const answer = (stub: StubBackend, text: string) => {
	stub.on.look = ({ id }) => textResult(id, text);
};
const fail = (stub: StubBackend, text: string) => {
	stub.on.look = ({ id }) => streamed({ id: Number(id), result: { content: [{ type: "text", text }], isError: true } });
};
const streamed = (...messages: object[]) => {
	const events = messages.map((one) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...one })}\n\n`);
	return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
};
const post = ({ gateway }: World, args: object, _meta: object, signal?: AbortSignal) => {
	const params = { name: "look", arguments: args, _meta };
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
	return postTo(`${gateway.url}/mcp`, body, { Authorization: `Bearer ${gatewayToken}` }, signal);
};

describe("a call without a target", () => {
	worldTest("is answered by each bot once; equal answers are shown once", async (world) => {
		expect(await world.gateway.text("look", { query: "x" })).toBe("ran look");
		expect(asked(world)).toEqual([1, 1, 1]);
		const [call] = world.beta.received("look");
		expect(JSON.parse(call?.body ?? "").params).toEqual({ name: "look", arguments: { query: "x" } });
		answer(world.beta, "something else");
		expect(await world.gateway.text("look")).toBe("alpha, gamma:\nran look\n\nbeta:\nsomething else");
	});

	worldTest("is an error only if no bot has an answer", async (world) => {
		fail(world.alpha, "Nothing.");
		fail(world.beta, "Nothing.");
		expect(await world.gateway.text("look")).toBe("ran look");
		fail(world.gamma, "Nothing.");
		expect(await world.gateway.text("look")).toBe("ERROR Nothing.");
	});

	worldTest("names a bot whose answer was lost", async (world) => {
		world.beta.on.look = () => new Response("broken", { status: 500 });
		const text = await world.gateway.text("look");
		expect(text).toStartWith("alpha, gamma:\nran look\n\nbeta, failed:\nGateway error: ");
	});

	worldTest("leaves out bots that are offline, and goes nowhere if all are", async (world) => {
		await world.alpha.stop();
		await world.gateway.refresh();
		expect(await world.gateway.text("look")).toBe("ran look");
		await world.beta.stop();
		await world.gamma.stop();
		await world.gateway.refresh();
		expect(await world.gateway.text("look")).toStartWith("ERROR Gateway error: NoTarget: ");
	});

	test("reaches all also where DEFAULT_INSTANCE is set", async () => {
		await using world = await startWorld({ env: { DEFAULT_INSTANCE: "beta" } });
		await world.gateway.text("look");
		expect(asked(world)).toEqual([1, 1, 1]);
	});

	test("of a tool that does not only read goes nowhere", async () => {
		await using world = await startWorld({ tool: JSON.stringify(marked) });
		expect(await world.gateway.text("look")).toStartWith("ERROR Gateway error: NoTarget: ");
		expect(asked(world)).toEqual([0, 0, 0]);
	});
});

worldTest("a call with a target goes to that bot alone", async (world) => {
	await world.gateway.text("look", { instance: "beta" });
	await world.gateway.text("look", { guild_id: "300000000000000001" });
	expect(asked(world)).toEqual([0, 1, 1]);
});

describe("a call with guild_ids", () => {
	const [first = "", second = "", third = ""] = guilds;
	const actTest = testWith(() => startWorld({ tool: act }));

	actTest("becomes one call in each guild, and lists each outcome", async (world) => {
		fail(world.beta, "Not here.");
		const text = await world.gateway.text("look", { guild_ids: [first, second, third, first], reason: "x" });
		expect(text).toBe(
			`alpha (ID: ${first}), gamma (ID: ${third}):\nran look\n\nbeta (ID: ${second}), failed:\nNot here.`,
		);
		expect(asked(world)).toEqual([1, 1, 1]);
		const [call] = world.gamma.received("look");
		expect(JSON.parse(call?.body ?? "").params).toEqual({ name: "look", arguments: { reason: "x", guild_id: third } });
		const ids = bots.map((name) => world[name].received("look")[0]?.headers.get("x-request-id"));
		expect(new Set(ids).size).toBe(3);
	});

	actTest("is an error only if all failed", async (world) => {
		for (const name of bots) fail(world[name], "No.");
		const names = bots.map((name, at) => `${name} (ID: ${guilds[at]})`).join(", ");
		expect(await world.gateway.text("look", { guild_ids: guilds })).toBe(`ERROR ${names}:\nNo.`);
	});

	actTest("goes on where a guild is unknown, and repeats nothing whose outcome is unknown", async (world) => {
		world.beta.on.look = () => new Response("broken", { status: 200, headers: { "content-type": "application/json" } });
		const text = await world.gateway.text("look", { guild_ids: [first, second, "400000000000000001"] });
		expect(text).toContain(`alpha (ID: ${first}):\nran look\n\n`);
		expect(text).toContain(`beta (ID: ${second}), failed:\nGateway error: OutcomeUnknown: `);
		expect(text).toContain("Guild 400000000000000001, failed:\nGateway error: GuildNotFound: ");
		expect(asked(world)).toEqual([1, 1, 0]);
		expect(world.gateway.recorded.entries("MCP tool call finished")).toMatchObject([{ outcome: "outcome_unknown" }]);
	});

	actTest("is refused without a list of ids, or with guild_id", async (world) => {
		for (const args of [
			{ guild_ids: [""] },
			{ guild_ids: [1] },
			{ guild_ids: "x" },
			{ guild_ids: [first], guild_id: first },
		]) {
			const { error } = await world.gateway.call("look", args);
			expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("guild_ids: ") });
		}
		expect(asked(world)).toEqual([0, 0, 0]);
	});

	actTest("of one guild passes on what is reported there", async (world) => {
		const report = { method: "notifications/progress", params: { progressToken: "t", progress: 7 } };
		world.alpha.on.look = ({ id }) => streamed(report, { id: Number(id), result: { content: [] } });
		const answer = await post(world, { guild_ids: guilds.slice(0, 1) }, { progressToken: "t" });
		expect(await answer.text()).toContain('"progress":7');
		expect(world.alpha.received("look")[0]?.body).toContain('"_meta":{"progressToken":"t"}');
	});

	actTest("counts as one without it if the list is empty or null", async (world) => {
		await world.gateway.text("look", { guild_id: second, guild_ids: [] });
		await world.gateway.text("look", { instance: "beta", guild_ids: null, reason: "x" });
		const sent = world.beta.received("look").map(({ body }) => JSON.parse(body).params.arguments);
		expect(sent).toEqual([{ guild_id: second }, { reason: "x" }]);
		expect(asked(world)).toEqual([0, 2, 0]);
	});

	actTest("is listed, and clients do not see the mark", async (world) => {
		const [tool] = (await world.gateway.tools()) as { inputSchema: { properties: object }; _meta?: object }[];
		expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(["guild_id", "guild_ids", "instance"]);
		expect(tool?._meta).toEqual({ other: 1 });
	});
});

describe.each([
	["without a target", look, {}],
	["with guild_ids", act, { guild_ids: guilds }],
])("a call %s", (_, tool, args) => {
	const fanTest = testWith(() => startWorld({ tool }));

	fanTest("says how many have answered, if it has a progress token", async (world) => {
		const last = Promise.withResolvers<void>();
		world.gamma.on.look = ({ id }) => last.promise.then(() => textResult(id, "ran look"));
		const { body } = await post(world, args, { progressToken: "t" });
		let text = "";
		for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
			text += part;
			if (text.includes('"progressToken":"t","progress":2,"total":3,"message":"2 of 3 answered"')) last.resolve();
		}
		expect([...text.matchAll(/"progress":(\d)/g)].map(([, progress]) => progress)).toEqual(["0", "1", "2", "3"]);
		expect(text).toContain("ran look");
	});

	fanTest("is cancelled at each bot when the client leaves", async (world) => {
		for (const name of bots) world[name].on.look = stall;
		const client = new AbortController();
		post(world, args, {}, client.signal).catch(() => {});
		for (const name of bots) await world[name].arrived("look");
		client.abort();
		for (const name of bots) await world[name].arrived("notifications/cancelled");
	});
});

worldTest("a tool that does not take guild_ids gets them as they are", async (world) => {
	await world.gateway.text("look", { instance: "beta", guild_ids: ["1"] });
	const [call] = world.beta.received("look");
	expect(JSON.parse(call?.body ?? "").params.arguments).toEqual({ guild_ids: ["1"] });
});

describe("a call that reads a guild of another bot", () => {
	const compare = JSON.stringify({
		name: "look",
		inputSchema: { type: "object" },
		_meta: { "guildhall/source": { argument: "with", tool: "read_it", also: ["parts"] } },
	});
	const own = "100000000000000001";
	const other = "200000000000000001";
	const compareTest = testWith(() => startWorld({ tool: compare }));
	const sent = (stub: StubBackend, tool: string) =>
		stub.received(tool).map(({ body }) => JSON.parse(body).params.arguments as unknown);

	compareTest("gets what that bot says of it", async (world) => {
		world.beta.on.read_it = ({ id }) => textResult(id, "a document");
		await world.gateway.text("look", { guild_id: own, with: other, all: true, parts: ["bans"] });
		expect(sent(world.beta, "read_it")).toEqual([{ guild_id: other, parts: ["bans"] }]);
		expect(sent(world.alpha, "look")).toEqual([
			{ guild_id: own, all: true, parts: ["bans"], with: { guild_id: other, document: "a document" } },
		]);
		await world.gateway.text("look", { instance: "alpha", with: { guild_id: other, parts: ["roles"] } });
		expect(sent(world.beta, "read_it")[1]).toEqual({ guild_id: other, parts: ["roles"] });
		expect(sent(world.alpha, "look")[1]).toEqual({
			with: { guild_id: other, parts: ["roles"], document: "a document" },
		});
	});

	compareTest("is sent as it is for a guild of the same bot", async (world) => {
		await world.gateway.text("look", { guild_id: own, with: own });
		expect(sent(world.alpha, "look")).toEqual([{ guild_id: own, with: own }]);
	});

	test("cannot name a guild that is pinned to another bot, wherever it stands", async () => {
		await using world = await startWorld({ tool: compare, env: { GUILDS_BETA: other } });
		world.alpha.guilds = { [own]: "alpha", [other]: "also beta's" };
		world.beta.on.read_it = ({ id }) => textResult(id, "a document");
		await world.gateway.refresh();
		await world.gateway.text("look", { guild_id: own, with: other });
		expect(sent(world.alpha, "look")).toEqual([{ guild_id: own, with: { guild_id: other, document: "a document" } }]);
		for (const tool of ["look", "another_tool"]) {
			const text = await world.gateway.text(tool, { guild_id: own, arguments: { deep: [{ with: other }] } });
			expect(text).toContain(`Gateway error: GuildPinned: the guild ${other} is pinned to another instance`);
		}
		expect(sent(world.alpha, "another_tool")).toEqual([]);
	});

	compareTest("is not sent without it", async (world) => {
		world.beta.on.read_it = ({ id }) => textResult(id, "no");
		fail(world.beta, "unused");
		world.beta.on.read_it = world.beta.on.look as Behaviour;
		expect(await world.gateway.text("look", { guild_id: own, with: other })).toBe("ERROR with: beta: unused");
		expect(await world.gateway.text("look", { guild_id: own, with: "400000000000000001" })).toContain("GuildNotFound");
		expect(sent(world.alpha, "look")).toEqual([]);
	});
});
