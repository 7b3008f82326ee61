// The first calls after a gateway's start: a bot that stands before another in INSTANCES has not said yet which guilds it
// serves.

import { describe, expect, test } from "bun:test";
import { principalCapability } from "../../../src/lib/principal.ts";
import { gatewayToken, startTestGateway } from "../../support/gateway.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const guild = "100000000000000001";
/** Longer than any test takes. */
const forever = 2 ** 30;

/**
 * Starts a gateway in front of three bots. alpha, which stands first, and beta serve the guild, but only beta has said
 * so. gamma stands last and has not answered either. `release` lets one of the two answer.
 */
async function startWorld(firstAnswersMs: number, env = {}) {
	const stack = new AsyncDisposableStack();
	const held = { alpha: Promise.withResolvers<undefined>(), gamma: Promise.withResolvers<undefined>() };
	const bot = (list_guilds?: () => Promise<undefined>) =>
		stack.use(
			startStubBackend({
				guilds: { [guild]: "A" },
				experimental: [principalCapability],
				on: list_guilds ? { list_guilds } : {},
			}),
		);
	const alpha = bot(() => held.alpha.promise);
	const beta = bot();
	const gamma = bot(() => held.gamma.promise);
	const gateway = stack.use(
		await startTestGateway({ alpha, beta, gamma }, { env, refreshed: false, options: { firstAnswersMs } }),
	);
	void gateway.refresh();
	await until("the guild of beta is known", async () => {
		const response = await fetch(`${gateway.url}/status`, { headers: { Authorization: `Bearer ${gatewayToken}` } });
		return (await response.text()).includes(`"id":"${guild}"`);
	});
	const call = async (headers: Record<string, string> = {}) => {
		const params = { name: "echo", arguments: { guild_id: guild } };
		const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
		return (await gateway.post(JSON.stringify(body), headers)).message().result;
	};
	return {
		alpha,
		beta,
		gateway,
		call,
		release: (name: keyof typeof held) => held[name].resolve(undefined),
		[Symbol.asyncDispose]: () => stack.disposeAsync(),
	};
}

describe("the first call with guild_id, while a bot that stands before the one that claims the guild has not answered", () => {
	test("waits until the bots have answered", async () => {
		await using world = await startWorld(forever);
		const called = world.call();
		// A call that selects a bot by its name does not wait; by then an unheld call has been sent, too.
		await world.gateway.text("echo", { instance: "beta" });
		await world.gateway.text("echo", { instance: "beta", guild_id: guild });
		expect(world.beta.received("echo")).toHaveLength(2);
		world.release("alpha");
		world.release("gamma");
		await called;
		expect(world.alpha.received("echo")).toHaveLength(1);
		expect(world.beta.received("echo")).toHaveLength(2);
	});

	test("goes to the bot that claims it if the other does not answer in time", async () => {
		await using world = await startWorld(1);
		await world.call();
		expect(world.beta.received("echo")).toHaveLength(1);
	});

	test("goes to the bot that claims it once the other has failed", async () => {
		await using world = await startWorld(forever);
		const called = world.call();
		await world.alpha.stop();
		world.release("gamma");
		await called;
		expect(world.beta.received("echo")).toHaveLength(1);
	});

	test("does not wait for a guild that is pinned", async () => {
		await using world = await startWorld(forever, { GUILDS_BETA: guild });
		await world.call();
		expect(world.beta.received("echo")).toHaveLength(1);
	});

	test("waits in the same way if the caller has limits", async () => {
		await using world = await startWorld(forever);
		const called = world.call({ "X-MCP-Readonly": "true" });
		world.release("gamma");
		world.release("alpha");
		await called;
		expect(world.alpha.received("echo")).toHaveLength(1);
		expect(world.beta.received("echo")).toHaveLength(0);
	});
});
