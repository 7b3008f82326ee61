import { describe, expect, test } from "bun:test";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import {
	type Behaviour,
	bareTool,
	echoTool,
	eventStream,
	json,
	type RecordedRequest,
	result,
	rpcError,
	type StubBackend,
	type StubOptions,
	stall,
	startStubBackend,
	textResult,
} from "../support/stub-backend.ts";
import { testWith } from "../support/test-with.ts";

const worldTest = testWith(() => startWorld());

const guildA = "100000000000000001";
const guildB = "200000000000000002";

interface World extends AsyncDisposable, TestGateway {
	alpha: StubBackend;
	beta: StubBackend;
}

/** Two bots with a guild each, and the gateway in front of them. */
async function startWorld(alphaOptions: StubOptions = {}, env: Record<string, string> = {}): Promise<World> {
	const alpha = startStubBackend({ guilds: { [guildA]: "A" }, ...alphaOptions });
	const beta = startStubBackend({ guilds: { [guildB]: "B" } });
	const gateway = await startTestGateway({ alpha, beta }, { env });
	return { ...gateway, alpha, beta };
}

const available = "Available instances: alpha, beta.";
const callText = (params: string, id = "1") => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
const echo = (args = "{}", id = "1") => callText(`{"name":"echo","arguments":${args}}`, id);
const toAlpha = echo('{"instance":"alpha"}');

function expectMcpHeaders(headers: Headers) {
	expect(headers.get("content-type")).toBe("text/event-stream");
	expect(headers.get("mcp-session-id")).toBe("gateway-session");
}

describe("routing", () => {
	test.each<[args: Record<string, unknown>, reached: "alpha" | "beta"]>([
		[{ instance: "alpha" }, "alpha"],
		[{ guild_id: guildB }, "beta"],
		[{ instance: "alpha", guild_id: guildB }, "alpha"],
		[{ instance: "", guild_id: guildB }, "beta"],
	])("a call with %j reaches %s alone", async (args, reached) => {
		await using world = await startWorld();
		expect(await world.text("echo", args)).toBe("ran echo");
		const { instance: _, ...forwarded } = args;
		const [call] = world[reached].received("echo");
		expect(JSON.parse(call?.body ?? "").params.arguments).toEqual(forwarded);
		const other = reached === "alpha" ? world.beta : world.alpha;
		expect(other.received("echo")).toEqual([]);
	});

	test.each<[args: unknown, text: string]>([
		[
			undefined,
			`Gateway error: NoTarget: the call names neither instance nor guild_id. Give guild_id: A (${guildA}) of alpha; B (${guildB}) of beta. Or give instance. ${available}`,
		],
	])("a call with %j is a result with isError, and reaches no bot", async (args, text) => {
		await using world = await startWorld();
		expect(await world.call("echo", args)).toEqual({
			jsonrpc: "2.0",
			id: 1,
			result: { content: [{ type: "text", text }], isError: true },
		});
		expect(world.alpha.received("echo")).toEqual([]);
		expect(world.beta.received("echo")).toEqual([]);
	});

	test.each<[args: unknown, named: string]>([
		[{ instance: 1 }, "instance"],
		[[], "arguments"],
	])("a call with %j is -32602 naming it, and reaches no bot", async (args, named) => {
		await using world = await startWorld({}, { DEFAULT_INSTANCE: "alpha" });
		const { id, error, result } = await world.call("echo", args);
		expect({ id, result }).toEqual({ id: 1, result: undefined });
		expect(error?.code).toBe(-32602);
		expect(error?.message).toStartWith(`Invalid parameters: ${named}: `);
		expect(world.alpha.received("echo")).toEqual([]);
	});

	test("neither argument goes to DEFAULT_INSTANCE where the operator set it", async () => {
		await using world = await startWorld({}, { DEFAULT_INSTANCE: "beta" });
		expect(await world.text("echo")).toBe("ran echo");
		expect(await world.text("echo", { instance: null, guild_id: "" })).toBe("ran echo");
		expect(world.beta.received("echo")).toHaveLength(2);
		expect(await world.text("echo", { guild_id: "300" })).toContain("GuildNotFound");
	});

	test.each<[env: Record<string, string>, text: string, isNeeded: boolean]>([
		[{}, "Each call needs `guild_id`", true],
		[{ DEFAULT_INSTANCE: "beta" }, "Calls without both go to beta.", false],
	])("with %j the instructions say whether a call needs an argument to be routed", async (env, text, isNeeded) => {
		await using world = await startWorld({}, env);
		const answer = await world.post(
			'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
		);
		const instructions = String(answer.message().result?.instructions);
		expect(instructions).toContain(text);
		expect(instructions.includes("needs")).toBe(isNeeded);
	});

	test("a tool that no bot has is forwarded, and the bot's answer comes back", async () => {
		await using world = await startWorld({
			on: { nonsense: ({ id }) => rpcError(id, -32601, "Method not found: nonsense") },
		});
		expect(await world.call("nonsense", { instance: "alpha" })).toEqual({
			jsonrpc: "2.0",
			id: 1,
			error: { code: -32601, message: "Method not found: nonsense" },
		});
	});
});

describe("what is forwarded", () => {
	worldTest("is every byte but for instance and our part of _meta", async (world) => {
		await world.post(
			callText(
				'{ "name":"echo", "arguments":{"z":1e400, "inst\\u0061nce":"alpha","a":1.0,"n":12345678901234567890123,"s":"\\u00e9\\/ü"} ,"x":1.0,"_meta":{"progressToken":"p","io.modelcontextprotocol/clientInfo":{"name":"c"},"trace":1.0}}',
			),
		);
		const [call] = world.alpha.received("echo");
		const body = call?.body ?? "";
		expect(body).toContain('"arguments":{"z":1e400,"a":1.0,"n":12345678901234567890123,"s":"\\u00e9\\/ü"}');
		expect(body).toContain('"x":1.0');
		expect(body).toContain('"_meta":{"progressToken":"p","trace":1.0}');
		expect(Object.keys(JSON.parse(body))).toEqual(["jsonrpc", "id", "method", "params"]);
	});

	test("is {} for absent arguments", async () => {
		await using world = await startWorld({}, { DEFAULT_INSTANCE: "alpha" });
		await world.post(callText('{"name":"echo"}'));
		const [call] = world.alpha.received("echo");
		expect(JSON.parse(call?.body ?? "").params).toEqual({ name: "echo", arguments: {} });
	});

	worldTest("is nothing of a client's but its calls, with none of its headers", async (world) => {
		const headers = {
			"x-foo": "secret-of-the-client",
			Cookie: "secret-of-the-client",
			"Mcp-Session-Id": "secret-of-the-client",
			"MCP-Protocol-Version": "2025-06-18",
			"User-Agent": "secret-of-the-client",
			"X-Forwarded-For": "secret-of-the-client",
			"Last-Event-ID": "secret-of-the-client",
			traceparent: "secret-of-the-client",
		};
		const methods = ["initialize", "ping", "tools/list", "resources/list", "server/discover", "logging/setLevel"];
		for (const method of methods)
			await world.post(
				`{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"protocolVersion":"2025-06-18"}}`,
				headers,
			);
		for (const method of ["notifications/initialized", "notifications/cancelled", "tools/call"])
			await world.post(
				`{"jsonrpc":"2.0","method":"${method}","params":{"name":"echo","arguments":{"instance":"alpha"}}}`,
				headers,
			);
		await world.post('{"jsonrpc":"2.0","id":1,"result":{}}', headers);
		await world.post(callText('{"name":"list_instances"}'), headers);
		expect(world.alpha.received("echo")).toEqual([]);
		await world.post(toAlpha, headers);
		await world.close();

		expect(world.alpha.requests.map(({ rpc, tool }) => tool ?? rpc)).toEqual([
			"initialize",
			"notifications/initialized",
			"tools/list",
			"list_guilds",
			// What list_instances asks for.
			"tools/list",
			"echo",
			"DELETE",
		]);
		const sessionIds = new Set<string | null>();
		for (const { rpc, headers, path } of world.alpha.requests) {
			expect(path).toBe("/mcp");
			expect(headers.get("host")).toBe("localhost:9090");
			expect(headers.get("authorization")).toBe(`Bearer ${gatewayToken}`);
			expect(JSON.stringify([...headers])).not.toContain("secret-of-the-client");
			if (rpc !== "initialize") sessionIds.add(headers.get("mcp-session-id"));
		}
		expect(sessionIds.size).toBe(1);
		// Ours, not the client's.
		const ids = world.alpha.requests.map(({ id }) => id).filter((id) => id !== "null");
		expect(new Set(ids).size).toBe(ids.length);
	});

	worldTest("is a body as large as the gateway takes", async (world) => {
		const room = 64 * 1024 - echo('{"instance":"alpha","x":""}').length;
		const { status } = await world.post(echo(`{"instance":"alpha","x":"${"y".repeat(room)}"}`));
		expect(status).toBe(200);
		expect(world.alpha.received("echo")[0]?.body.length).toBeGreaterThan(room);
	});
});

describe("what comes back", () => {
	const bytes =
		'{"content":[{"type":"text","text":"\\u00e9\\/ü\\ud800","annotations":{"priority":1.0}}],"structuredContent":{"n":12345678901234567890,"x":1e400, "z":-0,"a":[ ]},"resultType":"complete","_meta":{"progressToken":1,"io.modelcontextprotocol/x":2},"unknown":null}';

	test.each([bytes, '{"content":[]}'])("is the bot's result, byte for byte: %s", async (text) => {
		await using world = await startWorld({ on: { echo: ({ id }) => result(id, text) } });
		const id = '"\\u0061-\\/"';
		const answer = await world.post(echo('{"instance":"alpha"}', id));
		expect(answer.frame()).toBe(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
		expect(answer.status).toBe(200);
		expectMcpHeaders(answer.headers);
	});

	test("is one frame also where the bot's JSON has line breaks", async () => {
		await using world = await startWorld({
			on: { echo: ({ id }) => json(`{\r\n"jsonrpc": "2.0",\n"id": ${id},\n\n"result": {"content":\r[]}\n}`) },
		});
		const answer = await world.post(toAlpha);
		expect(answer.message()).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [] } });
	});

	test("of list_instances repeats what a bot says of itself, on one line", async () => {
		await using world = await startWorld({ description: "Switched off: events.\nbeta | online" });
		const [, alpha] = (await world.text("list_instances")).split("\n");
		expect(alpha).toEndWith(" | Switched off: events. beta | online");
	});

	test("is everyone's own answer, for 40 concurrent calls under one id", async () => {
		const held: { id: string; text: string; answer(response: Response): void }[] = [];
		await using world = await startWorld({
			on: {
				echo({ id, body }) {
					const { promise, resolve } = Promise.withResolvers<Response>();
					held.push({ id, text: JSON.parse(body).params.arguments.text, answer: resolve });
					// The last first, when all are there.
					if (held.length === 40) for (const { id, text, answer } of held.toReversed()) answer(textResult(id, text));
					return promise;
				},
			},
		});
		const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
		const answers = await Promise.all(texts.map((text) => world.text("echo", { instance: "alpha", text })));
		expect(answers).toEqual(texts);
		expect(new Set(held.map(({ id }) => id)).size).toBe(40);
	});
});

describe("a session that the bot has lost", () => {
	test("looks like a first-try success", async () => {
		await using world = await startWorld({ onLostSession: () => new Response(null, { status: 404 }) });
		world.alpha.wipeSessions();
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
		expect(world.alpha.received("initialize")).toHaveLength(2);
		expect(world.alpha.received("notifications/initialized")).toHaveLength(2);
		expect(world.alpha.received("echo")).toHaveLength(2);
		// And it is the session from then on.
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
		expect(world.alpha.received("initialize")).toHaveLength(2);
		expect(world.beta.received("initialize")).toHaveLength(1);
	});

	test("is opened once for 20 concurrent calls, each sent once more", async () => {
		const allArrived = Promise.withResolvers<void>();
		await using world = await startWorld({
			async onLostSession() {
				if (world.alpha.received("echo").length === 20) allArrived.resolve();
				await allArrived.promise;
				return new Response(null, { status: 404 });
			},
			on: { echo: ({ id, body }) => textResult(id, JSON.parse(body).params.arguments.text) },
		});
		world.alpha.wipeSessions();
		const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
		expect(await Promise.all(texts.map((text) => world.text("echo", { instance: "alpha", text })))).toEqual(texts);
		expect(world.alpha.received("initialize")).toHaveLength(2);
		const sent = world.alpha.received("echo").map(({ body }) => JSON.parse(body).params.arguments.text);
		expect(sent.toSorted()).toEqual([...texts, ...texts].toSorted());
	});

	test("is not opened again for a call that hears of it later than others", async () => {
		const release = Promise.withResolvers<void>();
		await using world = await startWorld({
			onLostSession: async ({ body }) => {
				if (body.includes("late")) await release.promise;
				return new Response(null, { status: 404 });
			},
		});
		world.alpha.wipeSessions();
		const late = world.text("echo", { instance: "alpha", text: "late" });
		await world.alpha.arrived("echo");
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
		release.resolve();
		expect(await late).toBe("ran echo");
		expect(world.alpha.received("initialize")).toHaveLength(2);
	});

	test("again in the new one is not tried a third time: the status is a BackendError", async () => {
		await using world = await startWorld({ on: { echo: () => new Response("Session not found", { status: 404 }) } });
		expect(await world.text("echo", { instance: "alpha" })).toMatch(
			/^ERROR Gateway error: BackendError: alpha refused the call .* Available instances: alpha, beta\.$/,
		);
		expect(world.alpha.received("echo")).toHaveLength(2);
		expect(world.alpha.received("initialize")).toHaveLength(2);
	});

	test("again in the new one is not tried a third time: the bot's error comes back", async () => {
		const message = "Method not found: Session not found";
		await using world = await startWorld({ on: { "Session not found": ({ id }) => rpcError(id, -32601, message) } });
		const answer = await world.call("Session not found", { instance: "alpha" });
		expect(answer.error).toEqual({ code: -32601, message });
		expect(world.alpha.received("Session not found")).toHaveLength(2);
	});

	worldTest("and cannot be opened anew is BackendOffline, for the call was refused", async (world) => {
		world.alpha.wipeSessions();
		world.alpha.on.initialize = () => new Response("later", { status: 503 });
		expect(await world.text("echo", { instance: "alpha" })).toBe(
			`ERROR Gateway error: BackendOffline: alpha cannot be reached (the MCP server answered HTTP 503); nothing was done. list_instances shows when it is online again. ${available}`,
		);
		expect(world.alpha.received("echo")).toHaveLength(1);
	});

	test("is not what a result speaks of", async () => {
		await using world = await startWorld({
			on: { echo: ({ id }) => result(id, '{"content":[{"type":"text","text":"Session not found"}],"isError":true}') },
		});
		expect(await world.text("echo", { instance: "alpha" })).toBe("ERROR Session not found");
		expect(world.alpha.received("echo")).toHaveLength(1);
		expect(world.alpha.received("initialize")).toHaveLength(1);
	});

	worldTest("is opened anew by a refresh as well", async (world) => {
		world.alpha.wipeSessions();
		await world.refresh();
		expect(world.alpha.received("initialize")).toHaveLength(2);
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
	});
});

describe("a call whose answer is lost", () => {
	const cases: [name: string, behaviour: Behaviour][] = [
		["an empty result", ({ id }) => result(id, "{}")],
		["a result whose content is none", ({ id }) => result(id, '{"content":"x"}')],
	];
	test.each(cases)("in %s is OutcomeUnknown, and not sent twice", async (_, behaviour) => {
		await using world = await startWorld({ on: { echo: behaviour } });
		expect(await world.text("echo", { instance: "alpha" })).toMatch(
			/^ERROR Gateway error: OutcomeUnknown: the outcome of echo on alpha is unknown: .* It may have been carried out\. Before repeating it, check .* Available instances: alpha, beta\.$/,
		);
		expect(world.alpha.received("echo")).toHaveLength(1);
		// It says nothing of the bot's next call.
		expect(await world.text("other", { instance: "alpha" })).toBe("ran other");
	});
});

describe("a call that the bot refuses", () => {
	test.each([401, 429])("with %d is BackendError, and sent once", async (status) => {
		await using world = await startWorld({ on: { echo: () => new Response("no", { status }) } });
		expect(await world.text("echo", { instance: "alpha" })).toBe(
			`ERROR Gateway error: BackendError: alpha refused the call (the MCP server answered HTTP ${status}${status === 401 ? ": it expects another token" : ""}); nothing was done. ${available}`,
		);
		expect(world.alpha.received("echo")).toHaveLength(1);
	});
});

describe("a bot that is away", () => {
	worldTest("is BackendOffline by instance and by guild_id, for its guilds are kept", async (world) => {
		await world.alpha.stop();
		const offline =
			/^ERROR Gateway error: BackendOffline: alpha cannot be reached \(.*\); nothing was done\. list_instances shows when it is online again\. Available instances: alpha, beta\.$/;
		expect(await world.text("echo", { instance: "alpha" })).toMatch(offline);
		expect(await world.text("echo", { guild_id: guildA })).toMatch(offline);
		expect(world.recorded.entries("bot is offline")).toMatchObject([{ instance: "alpha" }]);
		await world.refresh();
		expect(await world.text("echo", { guild_id: guildA })).toMatch(offline);
		expect(await world.text("echo", { guild_id: guildB })).toBe("ran echo");
		expect(await world.text("list_instances")).toMatch(
			/^alpha \| offline \(.+\) \| 1 guild\(s\): A \(100000000000000001\) \| since \d+ s$/m,
		);
	});
});

test("a stalled bot delays neither another's calls nor its own others", async () => {
	await using world = await startWorld({ on: { slow: stall } });
	const stalled = Array.from({ length: 30 }, () => world.text("slow", { instance: "alpha" }));
	await world.alpha.arrived("slow", 30);
	expect(await world.text("echo", { instance: "beta" })).toBe("ran echo");
	expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
	await world.alpha.stop();
	for (const outcome of await Promise.all(stalled)) expect(outcome).toContain("OutcomeUnknown");
});

test("a bot whose handshake stalls delays no calls to others", async () => {
	const release = Promise.withResolvers<Response>();
	await using alpha = startStubBackend({ on: { initialize: () => release.promise } });
	await using beta = startStubBackend();
	await using gateway = await startTestGateway({ alpha, beta }, { refreshed: false });
	const waiting = gateway.text("echo", { instance: "alpha" });
	await alpha.arrived("initialize");
	expect(await gateway.text("echo", { instance: "beta" })).toBe("ran echo");
	release.resolve(new Response(null, { status: 503 }));
	expect(await waiting).toContain("BackendOffline");
});

describe("a bot with ways of its own", () => {
	test("without sessions is served", async () => {
		await using world = await startWorld({ sessions: false });
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
		expect(await world.text("echo", { guild_id: guildA })).toBe("ran echo");
		await world.close();
		expect(world.alpha.received("DELETE")).toHaveLength(0);
	});

	worldTest("that answers tools/list with an error is given a new session, once", async (world) => {
		world.alpha.on["tools/list"] = ({ id }) => rpcError(id, -32000, "Server not initialized");
		await world.refresh();
		expect(world.alpha.received("initialize")).toHaveLength(2);
		expect(await world.text("list_instances")).toContain("alpha | offline (the bot answered tools/list with an error");
	});

	test("that has no list_guilds is online, without guilds", async () => {
		await using world = await startWorld({
			on: { list_guilds: ({ id }) => rpcError(id, -32601, "Method not found: list_guilds") },
		});
		expect(await world.text("list_instances")).toContain("alpha | online | 0 guild(s) | since 0 s\n");
		expect(await world.text("echo", { instance: "alpha" })).toBe("ran echo");
	});

	worldTest("that fails to list its guilds keeps those that were known", async (world) => {
		world.alpha.on.list_guilds = ({ id }) =>
			result(id, '{"content":[{"type":"text","text":"Discord API error: x"}],"isError":true}');
		await world.refresh();
		expect(await world.text("echo", { guild_id: guildA })).toBe("ran echo");
	});
});

describe("guilds", () => {
	worldTest("that changed are known after a refresh", async (world) => {
		world.alpha.guilds = { "300": "C" };
		await world.refresh();
		expect(await world.text("echo", { guild_id: "300" })).toBe("ran echo");
		expect(await world.text("echo", { guild_id: guildA })).toContain("GuildNotFound");
	});

	test("that two bots serve go to the first in INSTANCES, and list_instances and the log say so", async () => {
		await using first = startStubBackend({ guilds: { "300": "C" } });
		await using second = startStubBackend({ guilds: { "300": "C", "400": "D" } });
		await using gateway = await startTestGateway({ zeta: first, alpha: second });
		expect(await gateway.text("echo", { guild_id: "300" })).toBe("ran echo");
		expect(first.received("echo")).toHaveLength(1);
		expect(await gateway.text("list_instances")).toBe(
			[
				"2 instance(s):",
				"zeta | online | 1 guild(s): C (300) | since 0 s",
				"alpha | online | 2 guild(s): C (300, by guild_id served by zeta), D (400) | since 0 s",
			].join("\n"),
		);
		expect(gateway.recorded.entries("guild is served by two bots: only one gets calls")).toMatchObject([
			{ guild: "300", instance: "zeta", ignored: "alpha" },
		]);
		// Away, it still is the first.
		await first.stop();
		expect(await gateway.text("echo", { guild_id: "300" })).toContain("BackendOffline: zeta");
	});

	test("cannot be taken over by another's name", async () => {
		await using world = await startWorld({ guilds: { [guildA]: `x | ID: ${guildB}` } });
		await world.text("echo", { guild_id: guildB });
		expect(world.alpha.received("echo")).toHaveLength(0);
		expect(world.beta.received("echo")).toHaveLength(1);
	});
});

describe("tools/list", () => {
	test("without a catalog shows list_instances alone", async () => {
		const away = startStubBackend();
		await away.stop();
		await using gateway = await startTestGateway({ away });
		expect(await gateway.toolNames()).toEqual(["list_instances"]);
		await using never = await startTestGateway({ away }, { refreshed: false });
		expect(await never.toolNames()).toEqual(["list_instances"]);
	});

	test("has the tools of every page, to which nextCursor leads", async () => {
		const pages: Record<string, string> = {
			undefined: `{"tools":[${bareTool("a")}],"nextCursor":"c\\"1"}`,
			'c"1': `{"tools":[${bareTool("b")}],"nextCursor":"2"}`,
			"2": `{"tools":[${bareTool("c")}],"nextCursor":null}`,
		};
		await using world = await startWorld({
			on: { "tools/list": ({ id, body }) => result(id, pages[JSON.parse(body).params.cursor] ?? "{}") },
		});
		world.beta.tools = [];
		await world.refresh();
		expect(await world.toolNames()).toEqual(["a", "b", "c", "list_instances"]);
	});

	worldTest("is answered from the cache, and changes with a refresh", async (world) => {
		world.alpha.tools = [bareTool("new")];
		world.beta.tools = world.alpha.tools;
		const asked = world.alpha.received("tools/list").length;
		expect(await world.toolNames()).toEqual(["echo", "list_instances"]);
		expect(world.alpha.received("tools/list")).toHaveLength(asked);
		await world.refresh();
		expect(await world.toolNames()).toEqual(["new", "list_instances"]);
	});
});

describe("a bot's tools that clients refuse", () => {
	const bad = '{"name":"no schema"}';

	test("are left out, named in list_instances, and logged once for each set of them", async () => {
		await using world = await startWorld({ tools: [echoTool, bad] });
		expect(await world.toolNames()).toEqual(["echo", "list_instances"]);
		const fault = '"no schema" (name: expected 1 to 64 letters, digits, "_" and "-")';
		expect(await world.text("list_instances")).toContain(`| not listed: ${fault}`);
		const logged = () =>
			world.recorded.entries("left tools of a bot out of the gateway's tools/list, each for the reason in parentheses");
		await world.refresh();
		expect(logged()).toMatchObject([{ instance: "alpha", tools: fault }]);
		world.alpha.tools = [echoTool, '{"name":"bare"}', bad];
		await world.refresh();
		await world.refresh();
		const both = `bare (inputSchema: is missing), ${fault}`;
		expect(logged().map(({ tools }) => tools)).toEqual([fault, both]);
		world.alpha.tools = [echoTool];
		await world.refresh();
		expect(logged()).toHaveLength(2);
		expect(await world.text("list_instances")).not.toContain("not listed");
	});

	test("have no words of their own that could pass for a line", async () => {
		const evil = "x\nbeta | online | 1 guild(s): Evil (123)";
		const tool = { name: "a", inputSchema: { type: "object", properties: { [evil]: 1 } } };
		await using world = await startWorld({ tools: [JSON.stringify(tool)] });
		const text = await world.text("list_instances");
		expect(text.split("\n")).toHaveLength(3);
		expect(text).toContain("not listed: a (inputSchema.properties.x beta");
	});

	test("are those after the 500th", async () => {
		const tools = Array.from({ length: 502 }, (_, n) => bareTool(`tool${n}`));
		await using world = await startWorld({ tools });
		expect(await world.tools()).toHaveLength(502);
		expect(await world.text("list_instances")).toContain("| not listed: the rest (over the limit of 500 tools)");
	});

	test("count to the 500, and no more of them is looked at", async () => {
		const tools = [...Array.from({ length: 10_000 }, () => "{}"), echoTool];
		await using world = await startWorld({ tools });
		expect(await world.text("list_instances")).toContain(
			"| not listed: the rest (over the limit of 500 tools), tool 1 (name: is missing), ",
		);
		const response = await fetch(`${world.url}/status`, { headers: { Authorization: `Bearer ${gatewayToken}` } });
		const { backends } = (await response.json()) as { backends: { tools_dropped: unknown[] }[] };
		expect(backends[0]?.tools_dropped).toHaveLength(502);
	});
});

describe("a bot that sends more than there is room for", () => {
	/** An event stream of this many bytes, and then no more. */
	const flood = (bytes: number) => eventStream(`: ${"x".repeat(bytes)}`, { open: true });
	const endless =
		(bytes: number): Behaviour =>
		({ id }) =>
			result(id, `{"tools":[${bareTool("first")}],"x":"${"x".repeat(bytes)}","nextCursor":"more"}`);

	test.each<[name: string, limit: string, pages: number, tools: Behaviour]>([
		["pages", "100 pages", 100, endless(0)],
		["bytes", "2097152 bytes", 4, endless(600_000)],
	])("in %s of tools has the first of them listed", async (_, limit, pages, behaviour) => {
		await using world = await startWorld({ on: { "tools/list": behaviour } });
		expect(world.alpha.received("tools/list")).toHaveLength(pages);
		expect(await world.toolNames()).toEqual(["first", "echo", "list_instances"]);
		const text = await world.text("list_instances");
		expect(text).toContain("alpha | online |");
		expect(text).toContain(`not listed: the rest (over the limit of ${limit})`);
	});

	test.each<[name: string, tools: Behaviour]>([
		["without end", () => flood(3_000_000)],
		[
			"with an announced length",
			({ id }) => json(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[],"x":"${"x".repeat(3_000_000)}"}}`),
		],
	])("in one page of tools %s is offline, and the others serve", async (_, behaviour) => {
		await using world = await startWorld({ on: { "tools/list": behaviour } });
		expect(world.alpha.received("tools/list")).toHaveLength(1);
		expect(await world.text("list_instances")).toContain(
			"alpha | offline (invalid HTTP response: the body is larger than 2097152 bytes)",
		);
		expect(await world.toolNames()).toEqual(["echo", "list_instances"]);
		expect(await world.text("echo", { instance: "beta" })).toBe("ran echo");
	});

	test("of answers at the same time loses the largest of them, and the others serve", async () => {
		const megabyte = 1024 * 1024;
		await using world = await startWorld({ on: { flood: () => flood(15 * megabyte) } }, { CALL_TIMEOUT_SECONDS: "60" });
		const floods = Array.from({ length: 6 }, () => world.text("flood", { instance: "alpha" }));
		// 6 of 15 MB are on their way, and 64 MB have room: two have to go.
		const given = [await Promise.race(floods)];
		expect(given[0]).toContain(
			"OutcomeUnknown: the outcome of flood on alpha is unknown: the call was sent, but no answer to it came back (dropped an HTTP response, because all unfinished responses together exceed 67108864 bytes)",
		);
		const big = "y".repeat(6 * megabyte);
		world.beta.on.echo = ({ id }) => textResult(id, big);
		expect(await world.text("echo", { instance: "beta" })).toBe(big);
		await world.alpha.stop();
		await Promise.all(floods);
	});
});

describe("list_instances", () => {
	test("names the first 1,000 guilds of a bot, and counts all", async () => {
		const ids = Array.from({ length: 1_002 }, (_, n) => `${10n ** 17n + BigInt(n)}`);
		await using world = await startWorld({ guilds: Object.fromEntries(ids.map((id) => [id, `G${id}`])) });
		const [, alpha = ""] = (await world.text("list_instances")).split("\n");
		expect(alpha).toStartWith("alpha | online | 1002 guild(s): G");
		expect(alpha.match(/\(\d+\)/g)).toHaveLength(1_000);
		expect(alpha).toContain(" and 2 more | since ");
	});

	worldTest("takes and ignores arguments, and reaches no bot's tools", async (world) => {
		expect(await world.text("list_instances", { instance: "gamma", x: 1 })).toStartWith("2 instance(s):");
		expect(world.alpha.received("list_instances")).toEqual([]);
	});

	worldTest("notices what became of a bot since the last refresh", async (world) => {
		await world.beta.stop();
		expect(await world.text("list_instances")).toContain("\nbeta | offline (");
		await using _back = startStubBackend({ port: world.beta.port });
		expect(await world.text("list_instances")).toContain("\nbeta | online |");
	});
});

describe("duplicate keys", () => {
	test.each([
		[callText('{"name":"list_instances","arguments":{},"arguments":{}}'), 1],
		[echo('{"instance":"alpha","instance":"beta"}'), 1],
	])("%s is -32600, and reaches no bot", async (body, id) => {
		await using world = await startWorld();
		const answer = await world.post(body);
		expect(answer.message()).toMatchObject({ id, error: { code: -32600 } });
		expectMcpHeaders(answer.headers);
		expect(world.alpha.received("echo")).toEqual([]);
		expect(world.beta.received("echo")).toEqual([]);
	});
});

describe("without the token", () => {
	test.each([
		...["GET /metrics", "GET /status", "POST /metrics", "GET /x/../mcp"],
		...["TRACE /mcp", "PATCH /mcp", "GET http://evil.example/mcp"],
	])("%s is 401, and with it is not", async (requestLine) => {
		await using world = await startWorld();
		const ask = (...token: [name: string, value: string][]) =>
			exchange(world.url, requestText(requestLine, [["Host", "x"], ...token]));
		expect((await ask()).status).toBe(401);
		const allowed = await ask(["Authorization", `Bearer ${gatewayToken}`]);
		if (/^GET \/(metrics|status)$/.test(requestLine)) expect(allowed.status).toBe(200);
		else expect(allowed.status).toBe(405);
	});
});

worldTest("the end of the gateway ends its sessions", async (world) => {
	await world.text("echo", { instance: "alpha" });
	await world.close();
	for (const bot of [world.alpha, world.beta]) {
		const [end, ...more] = bot.received("DELETE");
		expect(more).toEqual([]);
		expect(end?.headers.get("mcp-session-id")).toBe(
			bot.received("tools/list")[0]?.headers.get("mcp-session-id") ?? null,
		);
	}
});

worldTest("the end of the gateway does not fail for a bot that is away", async (world) => {
	await world.alpha.stop();
	await world.close();
	expect(world.beta.received("DELETE")).toHaveLength(1);
});

test("the token is in no log line, whatever happens", async () => {
	const leak = ({ id, headers }: RecordedRequest) => rpcError(id, -32000, `no: ${headers.get("authorization")}`);
	await using world = await startWorld();
	await world.post(toAlpha, { Authorization: "Bearer wrong" });
	await world.post(toAlpha);
	await world.post("{");
	world.alpha.wipeSessions();
	await world.post(toAlpha);
	world.alpha.on.echo = leak;
	await world.post(toAlpha);
	await world.beta.stop();
	await world.post(echo('{"instance":"beta"}'));
	await world.refresh();
	await world.close();
	expect(world.recorded.lines.length).toBeGreaterThan(5);
	expect(world.recorded.lines.join("\n")).not.toContain(gatewayToken);
});
