// Calls without a target of a tool that all bots answer.

import { describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { type StubBackend, startStubBackend, textResult } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";

const marked = { name: "look", inputSchema: { type: "object" }, _meta: { "guildhall/everywhere": true } };
const look = JSON.stringify({ ...marked, annotations: { readOnlyHint: true } });
const bots = ["alpha", "beta", "gamma"] as const;

interface World extends AsyncDisposable, Record<(typeof bots)[number], StubBackend> {
	gateway: TestGateway;
}

async function startWorld({ env = {}, tool = look } = {}): Promise<World> {
	const stubs = bots.map((name, at) =>
		startStubBackend({ guilds: { [`${at + 1}00000000000000001`]: name }, tools: [tool] }),
	);
	const [alpha, beta, gamma] = stubs;
	if (!alpha || !beta || !gamma) throw new Error("there are three");
	const gateway = await startTestGateway({ alpha, beta, gamma }, { env });
	return {
		alpha,
		beta,
		gamma,
		gateway,
		async [Symbol.asyncDispose]() {
			await gateway.close();
			for (const stub of stubs) await stub.stop();
		},
	};
}

const worldTest = testWith(() => startWorld());

const asked = (world: World) => bots.map((name) => world[name].received("look").length);
const answer = (stub: StubBackend, text: string) => {
	stub.on.look = ({ id }) => textResult(id, text);
};
const fail = (stub: StubBackend, text: string) => {
	stub.on.look = ({ id }) =>
		new Response(
			`event: message\ndata: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}],"isError":true}}\n\n`,
			{ headers: { "content-type": "text/event-stream" } },
		);
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
		expect(text).toStartWith("alpha, gamma:\nran look\n\nbeta:\nGateway error: ");
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
