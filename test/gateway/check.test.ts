import { describe, expect, test } from "bun:test";
import { checkGateway } from "../../src/gateway/check.ts";
import { readConfig } from "../../src/gateway/config/config.ts";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { openGatewayStore, storeEnvOf } from "../support/gateway-store.ts";
import { recordLog } from "../support/log.ts";
import { startProgram } from "../support/program.ts";
import { onBoth } from "../support/stores.ts";
import {
	type Behaviour,
	echoTool,
	json,
	rpcError,
	type StubOptions,
	sse,
	startStubBackend,
	textResult,
} from "../support/stub-backend.ts";

const envOf = (bots: Record<string, { url: string }>) => ({
	INSTANCES: Object.entries(bots)
		.map(([name, { url }]) => `${name}=${url}`)
		.join(","),
	MCP_AUTH_TOKEN: gatewayToken,
	GATEWAY_BIND_ADDR: "127.0.0.1",
	GATEWAY_PORT: "0",
});

async function check(bots: Record<string, { url: string }>, env: Record<string, string> = {}) {
	const config = readConfig({ ...envOf(bots), ...env });
	const lines: string[] = [];
	const recorded = recordLog("warn");
	const write = (line: string) => lines.push(line);
	const passed = await checkGateway(config, recorded.log, { write });
	expect([...lines, ...recorded.lines].join("\n")).not.toContain(config.token);
	return { passed, lines };
}

const all = (answer: Behaviour): StubOptions => ({ on: { initialize: answer } });

onBoth((databases, kind) => {
	test("the gateway's database is checked, and not changed", async () => {
		await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
		const place = await databases.place();
		const line = async () => {
			const { lines } = await check({ alpha }, storeEnvOf(place));
			return lines.find((one) => one.includes(" database: "));
		};
		const start = `^✓ database: ${kind} .*, version \\d[\\d.]*: the`;
		for (let time = 0; time < 2; time++)
			expect(await line()).toMatch(new RegExp(`${start} (file|schema) will be created$`));
		await using opened = openGatewayStore(place);
		await opened.store.ready();
		expect(await line()).toMatch(new RegExp(`${start} tables are up to date$`));
		await place.look("INSERT INTO migrations (number, name, checksum, applied_at) VALUES (2, 'more', '', 0)");
		expect(await line()).toStartWith("✗ database: The database is newer than this program");
	});
});

test("a database that does not answer fails the check, without its password", async () => {
	await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
	const { lines, passed } = await check({ alpha }, { GATEWAY_DATABASE: "postgres://ada:s3cret@127.0.0.1:1/keys" });
	expect(passed).toBe(false);
	expect(lines).toContain("✗ database: GATEWAY_DATABASE: nothing answers at 127.0.0.1:1");
	expect(lines.join()).not.toContain("s3cret");
});

test("where all is well, every bot has its tick, and its session is ended", async () => {
	await using alpha = startStubBackend({ guilds: { "300": "Cooks", "301": "Cats" } });
	await using beta = startStubBackend({ guilds: { "400": "Bakers" } });
	const { passed, lines } = await check({ alpha, beta });
	expect(lines.sort()).toEqual(
		[
			"✓ configuration: 2 instance(s)",
			"✓ port: 0: any free port",
			`✓ alpha (${alpha.url}): version 1, 1 tool(s), 2 guild(s): Cooks, Cats`,
			`✓ beta (${beta.url}): version 1, 1 tool(s), 1 guild(s): Bakers`,
			"✓ guilds: 3, none of them served by two bots",
			"5 passed",
		].sort(),
	);
	expect(passed).toBe(true);
	for (const bot of [alpha, beta])
		expect(bot.requests.map(({ rpc }) => rpc)).toEqual([
			"initialize",
			"notifications/initialized",
			"tools/list",
			"tools/call",
			"DELETE",
		]);
});

interface Row {
	what: string;
	options: StubOptions;
	reason: RegExp;
	next: RegExp;
}

const rows: Row[] = [
	{
		what: "expects another token",
		options: all(() => new Response("Unauthorized\n", { status: 401 })),
		reason: /: the MCP server answered HTTP 401: it expects another token$/,
		next: /MCP_AUTH_TOKEN here and in the \.env of beta differ/,
	},
	{
		what: "refuses the Host header",
		options: all(() => new Response("no", { status: 403 })),
		reason: /: the MCP server answered HTTP 403$/,
		next: /Host header/,
	},
	{
		what: "is no MCP server",
		options: all(() => new Response("Not found\n", { status: 404 })),
		reason: /: HTTP 404: there is no MCP server at http.*\/mcp$/,
		next: /INSTANCES/,
	},
	{
		what: "answers garbage",
		options: all(() => new Response("<html>hello</html>")),
		reason: /: the MCP server answered HTTP 200 without a JSON-RPC response$/,
		next: /Is the program at .* a bot/,
	},
	{
		what: "quotes our token",
		options: all(({ id, headers }) => rpcError(id, -32000, `who is ${headers.get("authorization")}?`)),
		reason: /who is Bearer \[token\]\?/,
		next: /Is the program at .* a bot/,
	},
	{
		what: "has no list of tools",
		options: { on: { "tools/list": ({ id }) => json(`{"jsonrpc":"2.0","id":${id},"result":{}}`) } },
		reason: /: the bot answered tools\/list without a list of tools$/,
		next: /Is the program at .* a bot/,
	},
	{
		what: "cannot list its guilds",
		options: {
			on: {
				list_guilds: ({ id }) =>
					sse(
						`{"jsonrpc":"2.0","id":${id},"result":{"isError":true,"content":[{"type":"text","text":"not connected to Discord"}]}}`,
					),
			},
		},
		reason: /: the bot offers 1 tool\(s\), but does not list its guilds: not connected to Discord$/,
		next: /bot's log says why/,
	},
];

describe("a cross, and what to do, where a bot", () => {
	test.each(rows)("$what", async ({ options, reason, next }) => {
		await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
		await using beta = startStubBackend(options);
		const { passed, lines } = await check({ alpha, beta });
		expect(lines.filter((line) => line.startsWith("✗"))).toEqual([expect.stringMatching(reason)]);
		expect(lines).toContainEqual(expect.stringMatching(next));
		expect(lines).toContainEqual(expect.stringMatching(/^✓ alpha /));
		expect(passed).toBe(false);
	});

	test("is not running", async () => {
		const gone = startStubBackend();
		await gone.stop();
		const { passed, lines } = await check({ gone });
		expect(lines.slice(-3)).toEqual([
			`✗ gone (${gone.url}): the connection was refused`,
			expect.stringMatching(/^ {4}Is it running\? .*MCP_PORT/),
			"2 passed, 1 failed",
		]);
		expect(passed).toBe(false);
	});
});

test("an unwise configuration is a warning, and no failure", async () => {
	await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
	await using beta = startStubBackend({ guilds: { "300": "Cooks" } });
	await using none = startStubBackend();
	await using odd = startStubBackend({ guilds: { "400": "Odd" }, tools: [echoTool, '{"name":"bare"}'] });
	await using taken = startStubBackend({ hostname: "127.0.0.1" });
	const { passed, lines } = await check(
		{ alpha, beta, none, odd },
		{ MCP_AUTH_TOKEN: "short-of-16", GATEWAY_PORT: String(taken.port) },
	);
	expect(lines.filter((line) => line.startsWith("!")).sort()).toEqual([
		expect.stringMatching(/^! configuration: MCP_AUTH_TOKEN has fewer than 16/),
		"! guilds: alpha and beta serve Cooks (ID: 300): calls by guild_id go to alpha",
		`! none (${none.url}): the bot is in no guild (version 1, 1 tool(s))`,
		`! odd (${odd.url}): version 1, 1 tool(s), 1 guild(s): Odd; not listed: bare (inputSchema: is missing)`,
		`! port: the address 127.0.0.1:${taken.port} is in use (is a gateway running?)`,
	]);
	expect(passed).toBe(true);
});

describe("a port that is in use", () => {
	const portLine = async (bots: Record<string, { url: string }>, url: string, env: Record<string, string> = {}) => {
		const GATEWAY_PORT = new URL(url).port;
		const { lines } = await check(bots, { GATEWAY_PORT, ...env });
		const found = lines.find((line) => line.includes(" port: "));
		return found?.replace(GATEWAY_PORT, "PORT");
	};
	const taken = "! port: the address 127.0.0.1:PORT is in use (is a gateway running?)";

	test("passes if a gateway with the same token and instances uses it", async () => {
		await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
		await using beta = startStubBackend({ guilds: { "400": "Bakers" } });
		await using gateway = await startTestGateway({ alpha, beta }, { env: { MCP_ALLOWED_HOSTS: "mcp.example" } });
		const { url } = gateway;
		const passed = "✓ port: 127.0.0.1:PORT is in use by this gateway, which is running";
		expect(await portLine({ alpha, beta }, url)).toBe(passed);
		expect(await portLine({ beta, alpha }, url)).toBe(passed);
		// Then it is not ready.
		await alpha.stop();
		await beta.stop();
		await gateway.refresh();
		expect(await portLine({ alpha, beta }, url)).toBe(passed);
		const other = "! port: the address 127.0.0.1:PORT is in use by a gateway with other INSTANCES";
		expect(await portLine({ alpha }, url)).toBe(other);
		expect(await portLine({ alpha: beta, beta: alpha }, url)).toBe(other);
		expect(await portLine({ alpha, beta }, url, { MCP_AUTH_TOKEN: "another-token-of-the-test" })).toBe(taken);
	});

	test("is a warning if another program uses it, which does not receive the token", async () => {
		await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
		const received: (string | null)[] = [];
		await using other = {
			server: Bun.serve({
				hostname: "127.0.0.1",
				port: 0,
				fetch(request) {
					received.push(request.headers.get("authorization"));
					return Response.json({ name: "guildhall-gateway", backends: [] });
				},
			}),
			[Symbol.asyncDispose]() {
				return this.server.stop(true);
			},
		};
		expect(await portLine({ alpha }, String(other.server.url))).toBe(taken);
		expect(received).toEqual([null]);
	});
});

test("an address that is not this machine's is a cross", async () => {
	await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
	const { passed, lines } = await check({ alpha }, { GATEWAY_BIND_ADDR: "192.0.2.1", GATEWAY_PORT: "9100" });
	expect(lines).toContainEqual(expect.stringMatching(/^✗ port: GATEWAY_BIND_ADDR, GATEWAY_PORT: cannot/));
	expect(passed).toBe(false);
});

test("a guild's name cannot forge a line", async () => {
	await using alpha = startStubBackend({
		on: { list_guilds: ({ id }) => textResult(id, "x\u2028✓ y\u001b[2J | ID: 300") },
	});
	const { lines } = await check({ alpha });
	expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Zl}]/u);
});

describe("as a program", () => {
	async function runCheck(env: Record<string, string>) {
		await using program = startProgram("src/gateway/main.ts", env, ["--check"]);
		return { code: await program.exited, lines: program.lines };
	}

	test("it ends by itself with exit 0 where all is well, and with 1 where it is not", async () => {
		await using alpha = startStubBackend({ guilds: { "300": "Cooks" } });
		const fine = await runCheck(envOf({ alpha }));
		expect(fine.lines.filter((line) => !/^(✓|3 passed$)/.test(line))).toEqual([]);
		expect(fine.code).toBe(0);
		await alpha.stop();
		const bad = await runCheck(envOf({ alpha }));
		expect(bad.lines.join("\n")).toContain("✗ alpha ");
		expect(bad.code).toBe(1);
	});

	test("a configuration error is reported as at a start", async () => {
		const { code, lines } = await runCheck({ INSTANCES: "alpha" });
		expect(code).toBe(1);
		expect(lines[0]).toBe("the environment has 2 errors:");
	});
});
