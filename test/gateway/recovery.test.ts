// What becomes of calls when bots lose answers, stall, are busy or are away.

import { describe, expect, test } from "bun:test";
import { startTestGateway } from "../support/gateway.ts";
import {
	type Behaviour,
	eventStream,
	rpcError,
	type StubBackend,
	stall,
	startStubBackend,
	textResult,
} from "../support/stub-backend.ts";
import { testWith } from "../support/test-with.ts";
import { until } from "../support/until.ts";

const worldTest = testWith(() => startWorld());

const reading = '{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}';
const writing = '{"name":"act","annotations":{"readOnlyHint":false},"inputSchema":{"type":"object"}}';

/** A gateway in front of one bot, to which every call goes. */
async function startWorld(on: Record<string, Behaviour> = {}, env: Record<string, string> = {}) {
	const bot = startStubBackend({ tools: [reading, writing], on });
	const gateway = await startTestGateway({ alpha: bot }, { env: { DEFAULT_INSTANCE: "alpha", ...env } });
	return { bot, ...gateway };
}

/** Loses the answer the first `times`, then answers. */
function losing(times: number): Behaviour {
	let lost = 0;
	return () => (lost++ < times ? new Response(null, { status: 500 }) : undefined);
}

describe.concurrent("a lost answer", () => {
	test("of a tool that only reads is asked for once more", async () => {
		await using world = await startWorld({ look: losing(1) });
		expect(await world.text("look")).toBe("ran look");
		expect(world.bot.received("look")).toHaveLength(2);
	});

	test("of a tool that only reads is not asked for a third time", async () => {
		await using world = await startWorld({ look: losing(2) });
		expect(await world.text("look")).toBe(
			"ERROR Gateway error: NoAnswer: alpha gave no answer to look (the MCP server answered HTTP 500). The tool only reads: nothing was changed. Try again. Available instances: alpha.",
		);
		expect(world.bot.received("look")).toHaveLength(2);
	});

	test.each(["act", "unlisted"])("of %s is not", async (tool) => {
		await using world = await startWorld({ [tool]: losing(1) });
		expect(await world.text(tool)).toStartWith(
			`ERROR Gateway error: OutcomeUnknown: the outcome of ${tool} on alpha is unknown: `,
		);
		expect(world.bot.received(tool)).toHaveLength(1);
	});

	test("after a lost session is still asked for once more", async () => {
		await using world = await startWorld({ look: losing(1) });
		world.bot.wipeSessions();
		expect(await world.text("look")).toBe("ran look");
		expect(world.bot.received("look")).toHaveLength(3);
		expect(world.bot.received("initialize")).toHaveLength(2);
	});

	test("with an invalid tool name shows it on one line, cut to 100 characters", async () => {
		const name = `no\nname${"x".repeat(200)}`;
		await using world = await startWorld({ [name]: losing(1) });
		expect(await world.text(name)).toStartWith(
			`ERROR Gateway error: OutcomeUnknown: the outcome of ${JSON.stringify(name.slice(0, 100))} on alpha is unknown: `,
		);
	});
});

describe.concurrent("the deadline", () => {
	const env = { CALL_TIMEOUT_SECONDS: "1" };

	test.each<[name: string, behaviour: Behaviour]>([
		["an answer that does not come", stall],
		["a body that does not end", () => eventStream(": hi\n\n", { open: true })],
	])("covers %s; the bot is told", async (_, behaviour) => {
		await using world = await startWorld({ act: behaviour }, env);
		expect(await world.text("act")).toBe(
			"ERROR Gateway error: OutcomeUnknown: the outcome of act on alpha is unknown: the call was sent, but no answer to it came back (no answer within 1 s). It may have been carried out. Before repeating it, check with a tool that reads whether its effect is there. Available instances: alpha.",
		);
		expect(world.bot.received("act")).toHaveLength(1);
		await world.bot.arrived("notifications/cancelled");
	});

	test("passes for a tool that only reads with nothing unknown", async () => {
		await using world = await startWorld({ look: stall }, env);
		expect(await world.text("look")).toBe(
			"ERROR Gateway error: NoAnswer: alpha gave no answer to look (no answer within 1 s). The tool only reads: nothing was changed. Try again. Available instances: alpha.",
		);
		expect(world.bot.received("look")).toHaveLength(1);
	});

	test("covers a session that is being opened, and then nothing was done", async () => {
		await using world = await startWorld({}, env);
		world.bot.on.initialize = stall;
		world.bot.wipeSessions();
		expect(await world.text("act")).toBe(
			"ERROR Gateway error: BackendOffline: alpha cannot be reached (no answer within 1 s); nothing was done. list_instances shows when it is online again. Available instances: alpha.",
		);
		// The gateway would wait for the session.
		await world.bot.stop();
	});
});

describe("more calls than MAX_IN_FLIGHT", () => {
	test("or than half of it by one caller, wait, twice as many; beyond them a call is Overloaded at once, and another bot's are not", async () => {
		const release = Promise.withResolvers<void>();
		await using busy = startStubBackend({
			on: {
				act: async ({ id }) => {
					await release.promise;
					return textResult(id, "at last");
				},
			},
		});
		await using idle = startStubBackend();
		await using gateway = await startTestGateway({ busy, idle }, { env: { MAX_IN_FLIGHT: "2" } });
		const call = () => gateway.text("act", { instance: "busy" });
		const served = [call()];
		await busy.arrived("act", 1);
		const waiting = [call(), call(), call(), call()];
		expect(await call()).toBe(
			"ERROR Gateway error: Overloaded: busy is busy with other tool calls (1 running, 4 waiting); nothing was done. Try again in a few seconds. Available instances: busy, idle.",
		);
		expect(await gateway.text("act", { instance: "idle" })).toBe("ran act");
		expect(await gateway.text("list_instances")).toContain("busy | online |");
		expect(busy.received("act")).toHaveLength(1);
		release.resolve();
		for (const answer of [...served, ...waiting]) expect(await answer).toBe("at last");
	});
});

describe("a bot that is away", () => {
	worldTest("is asked again by itself until it is back, and its guilds are known then", async (world) => {
		await world.bot.stop();
		expect(await world.text("act")).toContain("BackendOffline");
		expect((await fetch(`${world.url}/readyz`)).status).toBe(503);
		expect((await fetch(`${world.url}/healthz`)).status).toBe(200);
		await using _back = startStubBackend({ port: world.bot.port, guilds: { "300": "C" } });
		await until("the gateway is ready", async () => {
			world.watch();
			return (await fetch(`${world.url}/readyz`)).ok;
		});
		expect(await world.text("list_instances")).toContain("C (300)");
	});

	worldTest("for its guilds alone, having just started, is asked for them again", async (world) => {
		world.bot.on.list_guilds = ({ id }) => rpcError(id, -32603, "not connected yet");
		world.bot.guilds = { "300": "C" };
		await world.refresh();
		expect(await world.text("list_instances")).toContain("| 0 guild(s) |");
		delete world.bot.on.list_guilds;
		await until("the guild is known", async () => {
			world.watch();
			return (await world.text("list_instances")).includes("C (300)");
		});
	});
});

/** Listens in the place of a bot; `seen` is every byte that arrives. */
function impostor({ url, port }: StubBackend, onData: (socket: Bun.Socket) => void): Disposable & { seen(): string } {
	let seen = "";
	const listener = Bun.listen({
		hostname: new URL(url).hostname,
		port,
		socket: {
			data(socket, bytes) {
				seen += bytes.toString("latin1");
				onData(socket);
			},
		},
	});
	return { seen: () => seen, [Symbol.dispose]: () => listener.stop(true) };
}

const answering = (status: string, body: string) => (socket: Bun.Socket) => {
	socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
};

describe("a bot in whose place there is", () => {
	test.each<[name: string, onData: (socket: Bun.Socket) => void]>([
		["a proxy that answers 502", answering("502 Bad Gateway", "no upstream")],
		["a proxy that answers 404", answering("404 Not Found", "nothing here")],
		["a web server", answering("200 OK", "<html>")],
		["one that hangs up", (socket) => socket.end()],
		["one that says nothing", () => {}],
	])("%s is sent one call at most, once it is not known to be there", async (_, onData) => {
		await using world = await startWorld({}, { CALL_TIMEOUT_SECONDS: "1" });
		const calls = (tool: string) => Promise.all(Array.from({ length: 8 }, () => world.text(tool)));
		await world.bot.stop();
		using other = impostor(world.bot, onData);
		expect(await world.text("act")).toMatch(/Gateway error: (OutcomeUnknown|BackendOffline): /);
		const sent = other.seen().match(/"tools\/call"/g) ?? [];
		expect(sent.length).toBeLessThanOrEqual(2);
		for (const text of [...(await calls("act")), ...(await calls("look"))])
			expect(text).toStartWith("ERROR Gateway error: BackendOffline: ");
		expect(other.seen().match(/"tools\/call"/g) ?? []).toEqual(sent);
		expect(world.bot.received("act")).toEqual([]);
	});

	worldTest("nothing, and then another server, gets an initialize for each call", async (world) => {
		await world.bot.stop();
		// Nobody has called it: a check found out.
		expect(await world.text("list_instances")).toContain("alpha | offline (");
		using other = impostor(world.bot, answering("502 Bad Gateway", ""));
		for (let count = 0; count < 8; count++)
			expect(await world.text("act")).toStartWith(
				"ERROR Gateway error: BackendOffline: alpha cannot be reached (the MCP server answered HTTP 502); nothing was done.",
			);
		expect(other.seen()).toContain('"initialize"');
		expect(other.seen()).not.toContain('"tools/call"');
		other[Symbol.dispose]();
		await using _back = startStubBackend({ port: world.bot.port, tools: [reading, writing] });
		expect(await world.text("act")).toBe("ran act");
	});
});

describe("a bot whose last call brought no answer", () => {
	test("is asked how it is before the next, in the same session", async () => {
		await using world = await startWorld({ act: losing(1) });
		await world.text("act");
		expect(await world.text("act")).toBe("ran act");
		const order = world.bot.requests.map(({ rpc, tool }) => tool ?? rpc);
		const last = order.lastIndexOf("act");
		expect(order.slice(order.indexOf("act"), last)).toContain("tools/list");
		expect(world.bot.received("initialize")).toHaveLength(1);
	});

	worldTest("is a rare thing: calls that are answered are not delayed", async (world) => {
		for (let count = 0; count < 3; count++) await world.text("act");
		expect(world.bot.received("tools/list")).toHaveLength(1);
	});
});

describe("a guild that no bot is known to serve", () => {
	worldTest("is looked for once, before the call is GuildNotFound", async (world) => {
		world.bot.guilds = { "300": "C" };
		const calls = Array.from({ length: 10 }, () => world.text("act", { guild_id: "300" }));
		for (const text of await Promise.all(calls)) expect(text).toBe("ran act");
		expect(world.bot.received("list_guilds")).toHaveLength(2);
		world.bot.guilds = { "300": "C", "400": "D" };
		expect(await world.text("act", { guild_id: "400" })).toStartWith(
			'ERROR Gateway error: GuildNotFound: no instance is known to serve the guild "400".',
		);
		expect(world.bot.received("list_guilds")).toHaveLength(2);
	});

	worldTest("is not looked for where the call names an instance", async (world) => {
		await world.text("act", { guild_id: "300", instance: "alpha" });
		expect(world.bot.received("list_guilds")).toHaveLength(1);
	});
});

describe("bots that differ", () => {
	test("are one catalogue, and list_instances says how they differ", async () => {
		await using older = startStubBackend({ tools: [reading] });
		await using newer = startStubBackend({ tools: [`${reading.slice(0, -1)},"title":"Look"}`, writing] });
		await using gateway = await startTestGateway({ older, newer });
		expect(await gateway.toolNames()).toEqual(["look", "act", "list_instances"]);
		expect(JSON.stringify(await gateway.tools())).toContain('"description":"(Not available on: older.)"');
		expect(await gateway.text("list_instances")).toBe(
			[
				"2 instance(s):",
				"older | online | 0 guild(s) | since 0 s | lacks act",
				"newer | online | 0 guild(s) | since 0 s | has another look",
			].join("\n"),
		);
		// The first healthy one describes what both have; nothing is forgotten of one that is away.
		await older.stop();
		await gateway.text("list_instances");
		expect(await gateway.toolNames()).toEqual(["look", "act", "list_instances"]);
		expect(JSON.stringify(await gateway.tools())).toContain('"title":"Look"');
	});
});
