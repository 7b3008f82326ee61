// What callers with limits see of the bots, and that they cannot tell what is hidden from what does not exist.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createKey, type KeyScope } from "../../src/gateway/keys/keys.ts";
import { principalCapability } from "../../src/lib/principal.ts";
import { databaseDirectory } from "../support/database-directory.ts";
import { createGatewayClient, startTestGateway } from "../support/gateway.ts";
import { openGatewayStore } from "../support/gateway-store.ts";
import { bareTool, type RecordedRequest, result, rpcError, stall, startStubBackend } from "../support/stub-backend.ts";
import { testWith } from "../support/test-with.ts";

const worldTest = testWith(() => start());

const guild = {
	alphas: "100000000000000001",
	shared: "200000000000000002",
	betas: "300000000000000003",
	gammas: "400000000000000004",
	/** Pinned to beta. Alpha lists it, too. */
	pinned: "500000000000000005",
	unknown: "600000000000000006",
};
const person = "700000000000000007";

const reading = (name: string) =>
	JSON.stringify({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } });
const echo = JSON.stringify({ name: "echo", description: "Echo", inputSchema: { type: "object" } });
const prompt = { name: "report", arguments: [{ name: "guild_id" }] };
const other = { name: "secret_report" };

/** The principal in the header of a request. */
function principalOf({ headers }: RecordedRequest) {
	const sent = headers.get("x-guildhall-caller");
	return sent === null ? undefined : JSON.parse(Buffer.from(sent, "base64url").toString());
}

const directory = mkdtempSync(join(databaseDirectory, "guildhall-scope-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let databases = 0;

async function start(env: Record<string, string> = {}, refreshed = true) {
	/** The guilds in which the person is, by bot. */
	const rights: Record<string, readonly { id: string; signIn: boolean }[]> = {
		alpha: [{ id: guild.alphas, signIn: true }],
		beta: [],
	};
	const bot = (
		name: string,
		guilds: Record<string, string>,
		tools: readonly string[],
		prompts: readonly { name: string }[],
		declares = true,
	) => {
		const stub = startStubBackend({
			guilds,
			tools,
			prompts,
			experimental: declares ? [principalCapability] : [],
			on: {
				"tools/list"(request) {
					const { access, toolsets } = principalOf(request) ?? {};
					const kept = tools.filter(
						(tool) =>
							(access !== "read" || tool.includes("readOnlyHint")) &&
							(!toolsets || toolsets.some((one: string) => tool.includes(one))),
					);
					return result(request.id, `{"tools":[${kept.join(",")}]}`);
				},
				"prompts/list"(request) {
					const { access } = principalOf(request) ?? {};
					const kept = access === "read" ? prompts.slice(0, 1) : prompts;
					return result(request.id, JSON.stringify({ prompts: kept }));
				},
				"prompts/get": ({ id }) => result(id, `{"messages":[]}`),
				"guildhall/rights": (request) =>
					principalOf(request)?.person.id === person
						? result(
								request.id,
								JSON.stringify({ guilds: rights[name]?.map((one) => ({ name: stub.guilds[one.id] ?? "?", ...one })) }),
							)
						: rpcError(request.id, -32602, "unexpected person"),
			},
		});
		return stub;
	};
	const alpha = bot(
		"alpha",
		{ [guild.alphas]: "The Alphas", [guild.shared]: "Shared", [guild.pinned]: "Pinned" },
		[echo, reading("look")],
		[prompt],
	);
	const beta = bot(
		"beta",
		{ [guild.betas]: "The Betas", [guild.shared]: "Shared" },
		[echo, reading("look"), bareTool("betas_only"), "{}"],
		[prompt, other],
	);
	const gamma = bot(
		"gamma",
		{ [guild.gammas]: "The Gammas" },
		[echo, bareTool("gammas_only")],
		[{ name: "gammas_report" }],
		false,
	);
	const opened = openGatewayStore({
		settings: {
			databaseUrl: undefined,
			schema: undefined,
			directory: mkdtempSync(join(directory, String(databases++))),
		},
	});
	const { store } = opened;
	const gateway = await startTestGateway(
		{ alpha, beta, gamma },
		{ env: { GUILDS_BETA: guild.pinned, ...env }, refreshed, options: { store } },
	);
	return {
		alpha,
		beta,
		gamma,
		gateway,
		rights,
		/** A client with a key of this scope. */
		async key(scope: Partial<KeyScope>, path = "/mcp") {
			const name = `key-${Math.random().toString(36).slice(2)}`;
			const secret = await createKey(store, name, { access: "all", ...scope });
			return createGatewayClient(`${gateway.url}${path}`, secret);
		},
		async [Symbol.asyncDispose]() {
			await gateway.close();
			await Promise.all([alpha, beta, gamma].map((stub) => stub.stop()));
			await opened[Symbol.asyncDispose]();
		},
	};
}

type World = Awaited<ReturnType<typeof start>>;
type Client = Awaited<ReturnType<World["key"]>>;

const started = start();
afterAll(async () => (await started)[Symbol.asyncDispose]());

/** Sends a request and returns all of the response that a caller can compare. */
async function ask(client: Client, method: string, params: object) {
	const body = { jsonrpc: "2.0", id: 1, method, params };
	const { status, headers, body: answer } = await client.post(JSON.stringify(body));
	const fields = [...headers].filter(([name]) => name !== "date");
	return { status, fields, answer };
}

/** A name of the same length that nothing has. */
const unlike = (name: string) => "z".repeat(name.length);

/** Limits, and what they hide. */
const limits: [name: string, scope: Partial<KeyScope>, hidden: (keyof typeof guild)[]][] = [
	["one instance", { instances: ["alpha"] }, ["betas", "gammas", "pinned"]],
	["one guild", { guilds: [guild.alphas] }, ["betas", "gammas", "pinned", "shared"]],
	["a person", { person }, ["betas", "gammas", "pinned", "shared"]],
	["a person and guilds", { person, guilds: [guild.alphas, guild.betas] }, ["betas", "gammas", "pinned", "shared"]],
	[
		"an instance, guilds and reading",
		{ instances: ["alpha", "gamma"], guilds: [guild.alphas], access: "read" },
		["betas", "gammas", "pinned", "shared"],
	],
];

/** Requests about a guild. */
const aboutGuild: [string, (id: string) => [method: string, params: object]][] = [
	["guild_id", (id) => call({ guild_id: id })],
	["guild_id and instance", (id) => call({ guild_id: id, instance: "alpha" })],
	["use_tool", (id) => call({ guild_id: id, name: "echo" }, "use_tool")],
	["an unknown tool", (id) => call({ guild_id: id }, "no_such_tool")],
	["a prompt", (id) => get({ guild_id: id })],
	["a prompt and instance", (id) => get({ guild_id: id, instance: "alpha" })],
	["completion of the id", (id) => complete("guild_id", id)],
	["completion of another argument", (id) => complete("topic", "", { guild_id: id })],
	["completion at an instance", (id) => complete("guild_id", id, { instance: "alpha" })],
];

/** Requests about an instance. */
const aboutInstance: [string, (name: string) => [method: string, params: object]][] = [
	["instance", (instance) => call({ instance })],
	["instance and guild_id", (instance) => call({ instance, guild_id: guild.alphas })],
	["instance and an unknown guild", (instance) => call({ instance, guild_id: guild.unknown })],
	["a prompt", (instance) => get({ instance })],
	["completion of the name", (instance) => complete("instance", instance)],
	["completion of its guilds", (instance) => complete("guild_id", "", { instance })],
	["completion by it", (instance) => complete("topic", "", { instance })],
];

function call(args: object, name = "echo"): [string, object] {
	return ["tools/call", { name, arguments: args }];
}

function get(args: object): [string, object] {
	return ["prompts/get", { name: "report", arguments: args }];
}

function complete(name: string, value: string, args: object = {}): [string, object] {
	return [
		"completion/complete",
		{ ref: { type: "ref/prompt", name: "report" }, argument: { name, value }, context: { arguments: args } },
	];
}

describe.each(limits)("limited to %s", (_, scope, hidden) => {
	const client = started.then((world) => world.key(scope));

	test.each(aboutGuild)("a hidden guild is like one that does not exist: %s", async (_, request) => {
		const answer = async (id: string) => {
			const text = JSON.stringify(await ask(await client, ...request(id)));
			return text.replaceAll(id, "ID");
		};
		const expected = await answer(guild.unknown);
		for (const name of hidden) expect(await answer(guild[name])).toBe(expected);
	});

	test.each(aboutInstance)("a hidden instance is like one that does not exist: %s", async (_, request) => {
		const answer = async (name: string) => {
			const text = JSON.stringify(await ask(await client, ...request(name)));
			return text.replaceAll(name, "NAME");
		};
		for (const name of ["beta", "gamma"]) expect(await answer(name)).toBe(await answer(unlike(name)));
	});

	test("prompts of hidden bots are like ones that do not exist", async () => {
		const answer = async (name: string) => {
			const params = { name, arguments: {} };
			const text = JSON.stringify(await ask(await client, "prompts/get", params));
			return text.replaceAll(name, "NAME");
		};
		for (const name of ["secret_report", "gammas_report"]) expect(await answer(name)).toBe(await answer(unlike(name)));
	});

	test("nothing names what is hidden", async () => {
		const requests: [string, object][] = [
			["initialize", { protocolVersion: "2025-11-25" }],
			["tools/list", {}],
			["prompts/list", {}],
			call({}, "list_instances"),
			call({}),
			call({ instance: "nobody" }),
			call({ guild_id: guild.unknown }),
			complete("instance", ""),
			complete("guild_id", ""),
			["prompts/get", { name: "secret_repor" }],
		];
		const answers = await Promise.all(requests.map(async (request) => ask(await client, ...request)));
		const text = JSON.stringify(answers);
		expect(text).toContain("alpha");
		for (const name of hidden) expect(text).not.toContain(guild[name]);
		for (const word of ["beta", "gamma", "The B", "secret_report", "Pinned"]) expect(text).not.toContain(word);
	});

	test("its own guild is served", async () => {
		const text = (await client).text("echo", { guild_id: guild.alphas });
		expect(await text).toBe("ran echo");
		const named = { guild_id: guild.alphas, instance: "alpha" };
		expect(await (await client).text("echo", named)).toBe("ran echo");
	});
});

test("a search for a hidden guild asks the same as one for a guild that does not exist", async () => {
	const asked = async (scope: Partial<KeyScope>, id: string) => {
		await using world = await start();
		const client = await world.key(scope);
		await client.text("echo", { guild_id: guild.alphas });
		const bots = [world.alpha, world.beta, world.gamma];
		for (const { requests } of bots) requests.length = 0;
		const text = await client.text("echo", { guild_id: id });
		expect(text).toContain("GuildNotFound");
		return bots.map(({ requests }) => requests.map(({ rpc }) => rpc).sort());
	};
	for (const [, scope] of limits) {
		const expected = await asked(scope, guild.unknown);
		expect(await asked(scope, guild.betas)).toEqual(expected);
		expect(await asked(scope, guild.gammas)).toEqual(expected);
	}
});

worldTest("a guild that a visible bot has joined is found", async (world) => {
	const client = await world.key({ instances: ["alpha"] });
	const joined = "800000000000000008";
	world.alpha.guilds[joined] = "Joined";
	expect(await client.text("echo", { guild_id: joined })).toBe("ran echo");
});

test("a pinned guild is named by its bot where both are visible", async () => {
	const { key } = await started;
	const client = await key({ instances: ["alpha", "beta"] });
	const args = { guild_id: guild.pinned, instance: "alpha" };
	expect(await client.text("echo", args)).toBe(
		`ERROR Gateway error: GuildPinned: the guild "${guild.pinned}" is pinned to beta, so alpha may not act in it. Nothing was done. Leave the argument instance out. Available instances: alpha, beta.`,
	);
	const { beta } = await started;
	const before = beta.received("echo").length;
	await client.text("echo", { guild_id: guild.pinned });
	expect(beta.received("echo")).toHaveLength(before + 1);
});

test("list_instances and errors show the visible bots and guilds", async () => {
	const { key } = await started;
	const one = await key({ guilds: [guild.shared, guild.unknown] });
	const lines = (await one.text("list_instances")).split("\n");
	expect(lines).toHaveLength(3);
	expect(lines[0]).toBe("2 instance(s):");
	expect(lines[1]).toStartWith(`alpha | online | 1 guild(s): Shared (${guild.shared}) | since `);
	expect(lines[2]).toStartWith(
		`beta | online | 1 guild(s): Shared (${guild.shared}, by guild_id served by alpha) | since `,
	);
	// It sees exactly one guild.
	expect(await one.text("echo")).toBe("ran echo");
	const { alpha } = await started;
	expect(alpha.received("echo")).not.toHaveLength(0);
	const two = await key({ guilds: [guild.shared, guild.pinned] });
	expect(await two.text("echo")).toStartWith("ERROR Gateway error: NoTarget: ");
	const none = await key({ guilds: [guild.unknown] });
	expect(await none.text("list_instances")).toBe("0 instance(s):");
	expect(await none.toolNames()).toEqual(["list_instances"]);
});

test("the default instance serves only those who see it", async () => {
	await using world = await start({ DEFAULT_INSTANCE: "beta" });
	const sees = await world.key({ access: "write" });
	expect(await sees.text("echo")).toBe("ran echo");
	const hidden = await world.key({ instances: ["alpha"] });
	expect(await hidden.text("echo")).toContain("NoTarget");
	const { answer } = await ask(hidden, "initialize", { protocolVersion: "2025-11-25" });
	expect(answer).not.toContain("beta");
	const root = await ask(world.gateway, "initialize", { protocolVersion: "2025-11-25" });
	expect(root.answer).toContain("Calls without both go to beta.");
});

describe("lists of tools", () => {
	test("name in their notes only bots that are visible", async () => {
		const { key, gateway } = await started;
		const note = async (client: Pick<Client, "tools">) => {
			const tools = await client.tools();
			return tools.find(({ name }) => name === "betas_only") as { description?: string } | undefined;
		};
		expect((await note(gateway))?.description).toBe("(Not available on: alpha, gamma.)");
		const both = await key({ instances: ["alpha", "beta"] });
		expect((await note(both))?.description).toBe("(Not available on: alpha.)");
		const alone = await key({ instances: ["beta"] });
		expect(await note(alone)).toBeDefined();
		expect((await note(alone))?.description).toBeUndefined();
		expect(await note(await key({ instances: ["alpha"] }))).toBeUndefined();
	});

	test("have what the bots list for the access and the toolsets", async () => {
		const { key, gateway } = await started;
		const reader = await key({ access: "read" });
		expect(await reader.toolNames()).toEqual(["look", "list_instances"]);
		const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
		const names = async (headers: Record<string, string>, client = gateway) => {
			const { result } = (await client.post(list, headers)).message();
			const tools = result?.tools as { name: string }[];
			return tools.map(({ name }) => name);
		};
		expect(await names({ "X-MCP-Readonly": "true" })).toEqual(["look", "list_instances"]);
		expect(await names({ "X-MCP-Toolsets": "betas" })).toEqual(["betas_only", "list_instances"]);
		expect(await names({ "X-MCP-Toolsets": "no_such" })).toEqual(["list_instances"]);
		const { url } = gateway;
		const readOnly = createGatewayClient(`${url}/mcp/readonly`);
		expect(await readOnly.toolNames()).toEqual(["look", "list_instances"]);
		// Limits of the key stay, whatever the client sends.
		const writer = await key({ access: "write" });
		for (const [headers, sent] of [
			[{}, { access: "write" }],
			[{ "X-MCP-Readonly": "false", "X-MCP-Toolsets": "all" }, { access: "write" }],
			[{ "X-MCP-Readonly": "1" }, { access: "read" }],
		] as const) {
			const { alpha } = await started;
			await writer.post(
				JSON.stringify({
					jsonrpc: "2.0",
					id: 1,
					method: "tools/call",
					params: { name: "look", arguments: { guild_id: guild.alphas } },
				}),
				headers,
			);
			const last = alpha.received("look").at(-1);
			expect(last && principalOf(last)).toMatchObject(sent);
		}
	});

	worldTest("are cached until the bots are refreshed", async (world) => {
		const { alpha } = world;
		const [a, b] = await Promise.all([
			world.key({ access: "read" }),
			world.key({ access: "read", guilds: [guild.shared] }),
		]);
		const asked = () => alpha.received("tools/list").filter((request) => principalOf(request) !== undefined).length;
		await Promise.all([a.tools(), a.tools(), b.tools()]);
		await a.tools();
		expect(asked()).toBe(1);
		await world.gateway.refresh();
		await a.tools();
		expect(asked()).toBe(2);
	});

	worldTest("are cached for 100 combinations", async (world) => {
		const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
		const asked = async (toolset: string) => {
			const before = world.alpha.received("tools/list").length;
			await world.gateway.post(list, { "X-MCP-Toolsets": toolset });
			return world.alpha.received("tools/list").length - before;
		};
		for (let n = 0; n <= 100; n++) expect(await asked(`t${n}`)).toBe(1);
		expect(await asked("t100")).toBe(0);
		expect(await asked("t0")).toBe(1);
	});

	worldTest("keep the tools of a bot that is offline", async (world) => {
		const client = await world.key({ access: "read" });
		const before = await client.toolNames();
		await world.alpha.stop();
		await world.gateway.refresh();
		expect(await client.toolNames()).toEqual(before);
	});
});

test("a bot that does not enforce limits gets no request of a caller with limits", async () => {
	const { gamma, gateway, key } = await started;
	const args = { guild_id: guild.gammas };
	expect(await gateway.text("echo", args)).toBe("ran echo");
	const all = await key({});
	expect(await all.text("echo", args)).toContain("GuildNotFound");
	expect(await all.toolNames()).not.toContain("gammas_only");
	expect(gamma.requests.some((one) => principalOf(one) !== undefined)).toBe(false);
});

test("calls wait until it is known which bots accept limits", async () => {
	await using world = await start({}, false);
	const gate = Promise.withResolvers<void>();
	for (const bot of [world.alpha, world.beta, world.gamma])
		bot.on.initialize = async () => {
			await gate.promise;
			return undefined;
		};
	const clients = [await world.key({}), await world.key({ guilds: [guild.alphas] }), await world.key({ person })];
	const refreshed = world.gateway.refresh();
	const texts = clients.flatMap((client) => [
		client.text("echo", { instance: "alpha" }),
		client.text("echo", { guild_id: guild.alphas }),
	]);
	// A later request is answered, so these have arrived.
	await world.gateway.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
	gate.resolve();
	expect(await Promise.all(texts)).toEqual(texts.map(() => "ran echo"));
	await refreshed;
});

worldTest("a bot that no longer enforces limits gets no request of a caller with limits", async (world) => {
	const client = await world.key({ access: "write" });
	const args = { guild_id: guild.alphas };
	expect(await client.text("echo", args)).toBe("ran echo");
	const { port, guilds } = world.alpha;
	await world.alpha.stop();
	await using older = startStubBackend({ port, guilds, tools: [echo] });
	expect(await client.text("echo", args)).toContain("does not enforce the limits of keys and sign-ins");
	expect(await world.gateway.text("echo", args)).toBe("ran echo");
	// Before, it refused one request in the session of the bot that it has replaced.
	const at = older.requests.findIndex(({ rpc }) => rpc === "initialize");
	const later = older.requests.slice(at);
	expect(later.map(principalOf)).toEqual(later.map(() => undefined));
});

worldTest("errors of a bot that is offline name no hidden bots", async (world) => {
	const client = await world.key({ instances: ["alpha"] });
	await world.alpha.stop();
	const text = await client.text("echo", { guild_id: guild.alphas });
	expect(text).toContain("BackendOffline");
	expect(text).toEndWith("Available instances: alpha.");
});

describe("a person", () => {
	worldTest("sees only guilds in which they are, and only those of their sign-in", async (world) => {
		const client = await world.key({ person });
		const listed = await client.text("list_instances");
		expect(listed).toContain(guild.alphas);
		expect(listed).toStartWith("1 instance(s):\nalpha |");
		const [asked] = world.alpha.received("guildhall/rights");
		expect(asked && principalOf(asked)).toEqual({
			id: "rights",
			name: "rights",
			access: "read",
			person: { id: person, name: "", signedIn: false },
		});
		expect(world.gamma.received("guildhall/rights")).toHaveLength(0);
	});

	test("is named to the AI model of the client, which a key without a person is not", async () => {
		const world = await started;
		const instructions = async (scope: Partial<KeyScope>) => {
			const client = await world.key(scope);
			const params = { protocolVersion: "2025-11-25" };
			return (await ask(client, "initialize", params)).answer;
		};
		const named = `Every call acts in the name of the Discord user ${person}:`;
		expect(await instructions({ person })).toContain(named);
		expect(await instructions({})).not.toContain("in the name of");
	});

	worldTest("is asked about once in a while, not at each request", async (world) => {
		const client = await world.key({ person });
		const args = { guild_id: guild.alphas };
		await Promise.all(Array.from({ length: 5 }, () => client.text("echo", args)));
		await client.text("echo", args);
		expect(world.alpha.received("guildhall/rights")).toHaveLength(1);
		expect(world.beta.received("guildhall/rights")).toHaveLength(1);
	});

	worldTest(
		"cannot tell by the time that a guild is hidden: other bots are asked at the same time as its bot",
		async (world) => {
			const { alpha, beta } = world;
			world.rights.beta = [{ id: guild.shared, signIn: true }];
			const answer = beta.on["guildhall/rights"];
			beta.on["guildhall/rights"] = async (request) => {
				await alpha.arrived("guildhall/rights");
				return answer?.(request);
			};
			const client = await world.key({ person });
			// Otherwise beta answers too late to be named.
			expect(await client.text("echo", { guild_id: guild.betas })).toEndWith("Available instances: alpha, beta.");
		},
	);

	worldTest("waits for no other bot than that of the call", async (world) => {
		world.beta.on["guildhall/rights"] = stall;
		const client = await world.key({ person });
		const args = { guild_id: guild.alphas };
		expect(await client.text("echo", args)).toBe("ran echo");
	});

	worldTest("sees nothing of a bot that does not answer", async (world) => {
		world.alpha.on["guildhall/rights"] = ({ id }) => rpcError(id, -32603, "Internal error");
		const client = await world.key({ person });
		expect(await client.text("list_instances")).toBe("0 instance(s):");
		const args = { guild_id: guild.alphas };
		expect(await client.text("echo", args)).toContain("GuildNotFound");
	});

	worldTest("sees of their guilds only those of the key", async (world) => {
		world.rights.alpha = [guild.alphas, guild.shared].map((id) => ({ id, signIn: true }));
		const client = await world.key({ person, guilds: [guild.alphas] });
		expect(await client.text("list_instances")).not.toContain(guild.shared);
		const args = { guild_id: guild.shared };
		expect(await client.text("echo", args)).toContain("GuildNotFound");
	});

	worldTest("does not reach by a pin what is pinned elsewhere", async (world) => {
		world.rights.alpha = [
			{ id: guild.alphas, signIn: true },
			{ id: guild.pinned, signIn: true },
		];
		const client = await world.key({ person });
		for (const args of [{ guild_id: guild.pinned }, { guild_id: guild.pinned, instance: "alpha" }])
			expect(await client.text("echo", args)).toContain("GuildNotFound");
	});
});
