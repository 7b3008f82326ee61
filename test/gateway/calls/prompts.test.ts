// The prompts of several bots behind one gateway.

import { describe, expect, test } from "bun:test";
import { startTestGateway } from "../../support/gateway.ts";
import { result, rpcError, startStubBackend } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";

const worldTest = testWith(() => start());

const report = {
	name: "report",
	title: "Report",
	description: "Write a report.",
	arguments: [
		{ name: "since", description: "From when.", required: true },
		{ name: "guild_id", description: "The guild." },
	],
};
const tidy = { name: "tidy", title: "Tidy", description: "Tidy up." };
const routing = [
	{ name: "instance", description: "Bot to use; if omitted, by guild_id." },
	{ name: "guild_id", description: "The guild. Default: the bot's own." },
];
const cooks = "123456789012345678";
const bakers = "223456789012345678";

/** Two bots with prompts and one without, behind a gateway. */
async function start() {
	await using stack = new AsyncDisposableStack();
	const answers = (name: string) => ({
		"prompts/get": ({ id }: { id: string }) =>
			result(
				id,
				JSON.stringify({ description: name, messages: [{ role: "user", content: { type: "text", text: name } }] }),
			),
		"completion/complete": ({ id }: { id: string }) => result(id, JSON.stringify({ completion: { values: [name] } })),
	});
	const alpha = stack.use(
		startStubBackend({ prompts: [report, tidy], guilds: { [cooks]: "The Cooks" }, on: answers("alpha") }),
	);
	const beta = stack.use(
		startStubBackend({
			prompts: [
				{ ...report, title: "Another" },
				{ name: "not a name", description: "x" },
				{ name: "only_beta", description: "B.", icons: [] },
				"no object",
			],
			guilds: { [bakers]: "The Bakers" },
			on: answers("beta"),
		}),
	);
	const plain = stack.use(startStubBackend());
	const gateway = stack.use(await startTestGateway({ plain, alpha, beta }));
	let id = 0;
	const ask = async (method: string, params: object) => {
		const body = { jsonrpc: "2.0", id: ++id, method, params };
		return (await gateway.post(JSON.stringify(body))).message();
	};
	const running = stack.move();
	return { alpha, beta, plain, gateway, ask, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

worldTest("prompts/list has the prompts of all bots, with instance and guild_id", async ({ ask, plain }) => {
	expect((await ask("prompts/list", {})).result).toEqual({
		prompts: [
			{ ...report, arguments: [...report.arguments.slice(0, 1), ...routing] },
			{ ...tidy, arguments: routing },
			{ name: "only_beta", description: "B.", arguments: routing },
		],
	} as never);
	expect(plain.received("prompts/list")).toEqual([]);
});

test.each([
	["of 3 MB", () => JSON.stringify({ prompts: ["a".repeat(3_000_000)] })],
	["that is not JSON", () => "}"],
	["of another type", () => '{"prompts":{"length":1}}'],
	["with null", () => "null"],
])("a bot with a list of prompts %s can be called", async (_, list) => {
	await using bad = startStubBackend({
		prompts: [],
		guilds: { [cooks]: "The Cooks" },
		on: { "prompts/list": ({ id }) => result(id, list()) },
	});
	await using good = startStubBackend({ prompts: [tidy] });
	await using gateway = await startTestGateway({ bad, good });
	const ask = async (method: string, params: object) => {
		const body = { jsonrpc: "2.0", id: 1, method, params };
		return (await gateway.post(JSON.stringify(body))).message();
	};
	expect((await ask("prompts/list", {})).result).toEqual({ prompts: [{ ...tidy, arguments: routing }] } as never);
	await ask("tools/call", { name: "echo", arguments: { guild_id: cooks } });
	expect(bad.received("echo")).toHaveLength(1);
});

describe("prompts/get", () => {
	test.each([
		["instance", { instance: "beta", since: "7d" }, "beta", { since: "7d" }],
		["guild_id", { guild_id: bakers, since: "7d" }, "beta", { guild_id: bakers, since: "7d" }],
		["neither, to the first bot that has it", { since: "7d" }, "alpha", { since: "7d" }],
	])("is routed by %s", async (_, args, bot, forwarded) => {
		await using world = await start();
		const { result } = await world.ask("prompts/get", { name: "report", arguments: args });
		expect(result).toMatchObject({ description: bot });
		const [request] = world[bot as "alpha" | "beta"].received("prompts/get");
		expect(JSON.parse(request?.body ?? "").params).toEqual({ name: "report", arguments: forwarded });
	});

	worldTest("leaves out guild_id where the bot's prompt does not take it", async (world) => {
		await world.ask("prompts/get", { name: "tidy", arguments: { guild_id: cooks } });
		const [request] = world.alpha.received("prompts/get");
		expect(JSON.parse(request?.body ?? "").params).toEqual({ name: "tidy", arguments: {} });
	});

	test.each([
		[{ name: "raport" }, "Unknown prompt: raport; did you mean report?"],
		[
			{ name: "report", arguments: { instance: "gamma" } },
			'Gateway error: InstanceNotFound: no instance is called "gamma". Available instances: plain, alpha, beta.',
		],
		[
			{ name: "report", arguments: { guild_id: "999999999999999999" } },
			'Gateway error: GuildNotFound: no instance is known to serve the guild "999999999999999999". list_instances shows the guilds of each instance. Available instances: plain, alpha, beta.',
		],
	])("with %j is refused", async (params, message) => {
		await using world = await start();
		expect((await world.ask("prompts/get", params)).error).toEqual({ code: -32602, message });
	});

	worldTest("passes on the bot's error, and says when it cannot be reached", async ({ alpha, ask }) => {
		alpha.on["prompts/get"] = ({ id }) => rpcError(id, -32602, "no such day");
		const params = { name: "tidy" };
		expect((await ask("prompts/get", params)).error).toEqual({ code: -32602, message: "no such day" });
		await alpha.stop();
		expect((await ask("prompts/get", params)).error).toEqual({
			code: -32603,
			message: "The bot cannot be reached at the moment. Nothing was changed; try again.",
		});
	});
});

describe("completion/complete", () => {
	const complete = async (argument: { name: string; value: string }, args: Record<string, string> = {}) => {
		await using world = await start();
		const { result, error } = await world.ask("completion/complete", {
			ref: { type: "ref/prompt", name: "report" },
			argument,
			context: { arguments: args },
		});
		if (error) return error.message;
		return (result as unknown as { completion: { values: string[] } }).completion.values;
	};

	test("of instance and guild_id comes from what the gateway knows", async () => {
		expect(await complete({ name: "instance", value: "" })).toEqual([...["plain", "alpha", "beta"]]);
		expect(await complete({ name: "instance", value: "be" })).toEqual(["beta"]);
		expect(await complete({ name: "guild_id", value: "cook" })).toEqual([cooks]);
		expect(await complete({ name: "guild_id", value: "2234" })).toEqual([bakers]);
		expect(await complete({ name: "guild_id", value: "" }, { instance: "alpha" })).toEqual([cooks]);
	});

	test("of other arguments is routed to the bot", async () => {
		expect(await complete({ name: "since", value: "7" }, { guild_id: bakers })).toEqual(["beta"]);
		expect(await complete({ name: "since", value: "7" })).toEqual(["alpha"]);
	});
});
