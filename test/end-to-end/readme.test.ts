// The documents for people: each command in them is run, here or elsewhere, or says why not; what is to be pasted into a
// client reaches the gateway; what they promise to say is said. docker/ and src/bot/game/ have such tests of their own.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Glob } from "bun";
import { freePort } from "../../src/demo/ports.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { token as serversToken, startBothServers } from "../support/both-servers.ts";
import { anchorsIn, commandsIn, headingsOf, project, readDocument, wordsOf } from "../support/documents.ts";
import { connectTo } from "../support/mcp.ts";
import { pathWithBun } from "../support/path-with-bun.ts";
import { openPlace } from "../support/place.ts";
import { becomesReady, type Program, startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { sharedBy } from "../support/test-with.ts";
import { until } from "../support/until.ts";

const documents = await Promise.all(
	[
		"README.md",
		"src/docs/connect.md",
		"src/docs/troubleshooting.md",
		...["communities", "first-bot", "operate", "rehearse", "server"].map((name) => `src/docs/${name}.md`),
		".github/CONTRIBUTING.md",
		".github/SECURITY.md",
		"src/build/README.md",
		"src/gateway/README.md",
		"src/bot/features/README.md",
	].map(readDocument),
);
const [readme = "", connect = "", troubleshooting = ""] = documents.map(({ text }) => text);

/** How a command is tested: below, in another file, or why it is not. */
type Coverage = "here" | { file: string; has: string } | { not: string };

const elsewhere = (file: string, has: string): Coverage => ({ file, has });
const not = (why: string): Coverage => ({ not: why });
const all = (commands: readonly string[], how: Coverage | ((command: string) => Coverage)) =>
	Object.fromEntries(commands.map((one) => [one, typeof how === "function" ? how(one) : how]));
const allOfIt = not("it is what runs this test, or takes as long");

const bot = "CONFIG_DIR=instances/alpha bun run bot";
const gateway =
	"INSTANCES=alpha=http://127.0.0.1:9090 MCP_AUTH_TOKEN=<MCP_AUTH_TOKEN> GATEWAY_BIND_ADDR=127.0.0.1 bun run gateway";
const readyz = "curl http://127.0.0.1:9100/readyz";
const status = 'curl http://127.0.0.1:9100/status -H "Authorization: Bearer <MCP_AUTH_TOKEN>"';
const backup = 'sqlite3 instances/alpha/data/store.sqlite ".backup alpha-backup.sqlite"';
const header = '--header "Authorization: Bearer <MCP_AUTH_TOKEN>"';
const claudeCode = `claude mcp add --transport http guildhall http://127.0.0.1:9100/mcp ${header}`;
const gemini = `gemini mcp add --scope user --transport http ${header} guildhall http://127.0.0.1:9100/mcp`;
const inspectors = [
	`npx -y @modelcontextprotocol/inspector --server-url http://127.0.0.1:9100/mcp --transport http ${header}`,
	`npx -y @modelcontextprotocol/inspector --cli http://127.0.0.1:9100/mcp --transport http ${header} --method tools/list`,
];

const coverage: Record<string, Coverage> = {
	...all(
		['Claude, Cursor, VS Code, …  ──▶  gateway  ──▶  bot "alpha"  ──▶  Discord', '└────▶  bot "beta"   ──▶  Discord'],
		not("a picture"),
	),
	"npx -y bun@1.4.5": not("what may stand for bun"),
	...all(
		["npx -y bun@1.4.5 run demo", "npx -y --prefer-offline bun@1.4.5 run demo", "bun run demo"],
		elsewhere("test/end-to-end/demo.test.ts", "run --silent demo"),
	),
	...all(["bun run test", "bun run test:quick", "bun run test:tools"], allOfIt),
	...all(["bun run check", "bun run test:clock", "bun run test:binaries"], (one) => elsewhere(".ci/run", one.slice(4))),
	...all(["bun run format", "bun run bench", "bun run bench:footprint", "bun run bench:tools", "bun run soak"], (one) =>
		elsewhere("package.json", `"${one.slice(8)}":`),
	),
	"CLOCK='2028-02-28T23:59:30-05:00[America/Havana]' bun run test:clock": elsewhere(".ci/run", "run test:clock"),
	"bun run docs": elsewhere("test/build/docs.test.ts", "docs.sh"),
	"bun run reference": elsewhere("test/bot/reference.long.test.ts", "WRITE_REFERENCE"),
	"bun test/mutations.ts --seed 1": not("it takes an hour"),
	"bun install": not("test and demo do it before they start"),
	"bun test --timeout 120000 test/lib/keyed-mutex.test.ts": allOfIt,
	"bun test test/bot/tools.test.ts -u": not("it writes into the project"),
	"bun run guildhall check": elsewhere("test/up/check.test.ts", "start(program"),
	"bun test test/pages test/end-to-end/demo.test.ts": not("all of its tests run with the others"),
	"bun add --dev discord-api-spec": not("it downloads and writes into the project"),
	"CHAOS_SECONDS=600 bun test test/end-to-end/chaos.test.ts": elsewhere(
		"test/end-to-end/chaos.test.ts",
		"CHAOS_SECONDS",
	),
	// None of our packages: their words are read below.
	...all([claudeCode, gemini, ...inspectors], "here"),
	"bun run …": not("no command"),
	...all(["bun run new-instance alpha", `${bot} --check`, bot, gateway, readyz, status, backup], "here"),
	...all(["rm -r instances/alpha", "openssl rand -hex 32", "bun run gateway --help"], "here"),
	"bun run up": elsewhere("test/up/up.long.test.ts", '"up"'),
	...all(
		["export", "plan", "apply"].map((action) => `${bot} --${action}-guild guild.yaml`),
		(one) => elsewhere("test/bot/guild-documents/command-line/guild-file.long.test.ts", `"${one.split(" ")[4]}"`),
	),
	'pg_dump --format=custom --schema=alpha --file=alpha.dump "$DATABASE_URL"': not(
		"it has to be of the server's version",
	),
	'pg_restore --dbname="$DATABASE_URL" alpha.dump': not("needs the one before"),
	'psql "$DATABASE_URL" --command \'DROP SCHEMA "alpha" CASCADE\'': elsewhere(
		"test/end-to-end/instances.test.ts",
		"DROP SCHEMA",
	),
	"bun run bot": not("a part of the one above"),
	"bun run simulator": elsewhere("test/simulator/main.long.test.ts", "src/simulator/main.ts"),
	"bun run simulator --world guild.yaml": elsewhere("test/simulator/main.long.test.ts", '"--world"'),
	"bun run bot --check": elsewhere("test/bot/main.long.test.ts", "ends by itself with exit 0"),
	"bun run gateway --check": elsewhere("test/gateway/check.test.ts", "it ends by itself with exit 0"),
	...all(["bun run bot --health", "bun run gateway --health"], (one) =>
		elsewhere("test/end-to-end/health.test.ts", `${one.split(" ")[2]}`),
	),
	...all(
		[
			"--new-key hanna --access write --guilds 123456789012345678 --person 234567890123456789 --expires 90d",
			...["--keys", "--revoke-key hanna"],
		].map((options) => `GATEWAY_DATABASE=gateway.sqlite bun run gateway ${options}`),
		(one) => elsewhere("test/gateway/keys/commands.test.ts", `"${one.split(" ")[4]}"`),
	),
	"bun run gateway --grants": elsewhere("test/gateway/oauth/commands.test.ts", '"--grants"'),
	...all(
		["bun run build", "bun run build --all", "bun run build --target linux-x64-baseline"],
		elsewhere("test/build/compile.test.ts", "compileGuildhall"),
	),
	...all(
		[
			"apt-get update && apt-get install --yes caddy curl",
			"curl -fsSL https://github.com/OWNER/guildhall/releases/latest/download/install.sh | sh -s -- --domain mcp.example.com",
			...["guildhall new-instance alpha", "guildhall new-instance beta", "guildhall check"],
		],
		(one) => elsewhere("test/install/server.test.ts", one),
	),
	"bun run release": elsewhere("test/build/release.test.ts", "release.sh"),
	"cd dist && sha256sum -c SHA256SUMS": not("it checks a build"),
};

const commands = new Set(documents.flatMap(commandsIn));
const tried = new Set<string>();

describe("the commands", () => {
	test("each is run, or says why not; none is listed that is gone", () => {
		expect([...commands].sort()).toEqual(Object.keys(coverage).sort());
	});

	test("what runs them elsewhere is there", () => {
		for (const [command, how] of Object.entries(coverage)) {
			if (how === "here" || "not" in how) continue;
			const path = join(project, how.file);
			const text = existsSync(path) ? readFileSync(path, "utf8") : "";
			expect([command, text.includes(how.has)]).toEqual([command, true]);
		}
	});

	test("scripts and their options are those that there are", async () => {
		const { scripts } = (await Bun.file(join(project, "package.json")).json()) as { scripts: Record<string, string> };
		const help = new Map<string, string>();
		for (const command of commands) {
			const [, name, options = ""] = /\bbun(?:@\S+)? run ([\w:-]+)(.*)/.exec(command) ?? [];
			if (name === undefined) continue;
			expect([command, scripts[name]]).toEqual([command, expect.any(String)]);
			for (const [, option = ""] of options.matchAll(/ (--[\w-]+)/g)) {
				const [main = ""] = /src\/\S+\.ts/.exec(scripts[name] ?? "") ?? [];
				const text =
					help.get(main) ??
					Bun.spawnSync([process.execPath, join(project, main), "--help"], { env: {} }).stdout.toString();
				help.set(main, text);
				expect([command, text]).toEqual([command, expect.stringContaining(option)]);
			}
		}
		tried.add("bun run gateway --help");
	});
});

test("every file and heading that a document links to is there", async () => {
	const paths = [...new Glob("**/*.md").scanSync({ cwd: project, dot: true })].filter(
		(path) => !path.includes("node_modules"),
	);
	const all = new Map(await Promise.all(paths.map(async (path) => [path, await readDocument(path)] as const)));
	const links = [...all.values()].flatMap((one) => anchorsIn(one).map((link) => ({ from: one.path, ...link })));
	expect(links.length).toBeGreaterThan(200);
	const isThere = ({ file, anchor }: { file: string; anchor?: string }) => {
		const document = all.get(file);
		return existsSync(join(project, file)) && (!anchor || !document || headingsOf(document).includes(anchor));
	};
	expect(links.filter((link) => !isThere(link))).toEqual([]);
});

test("README is at most 150 lines, and its first screen is for people who run communities", () => {
	expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
	const [firstScreen = ""] = readme.split("## Your own bot");
	expect(firstScreen.length).toBeGreaterThan(2_000);
	expect(firstScreen.match(/\b(mcp|tokens?|instances?|endpoints?)\b/gi)).toBeNull();
});

test("every path that the documents for developers name is there", async () => {
	const documents = await Promise.all(
		[".github/CONTRIBUTING.md", "src/README.md", "src/DECISIONS.md"].map(readDocument),
	);
	const paths = documents.flatMap(({ text }) => [
		...Array.from(text.matchAll(/`((?:src|test|instances)\/[\w./-]*)`/g), ([, path = ""]) => path),
		...Array.from(text.matchAll(/`((?:gateway|bot|mcp|lib|simulator)\/[\w./-]*)`/g), ([, path = ""]) =>
			join("src", path),
		),
	]);
	expect(paths.length).toBeGreaterThan(50);
	expect(paths.filter((path) => !existsSync(join(project, path)))).toEqual([]);
});

describe("the clients", () => {
	const servers = sharedBy(() => startBothServers({ tools: [] }));

	/** What a client would do with it: where it calls, and with what. */
	interface ClientSettings {
		url: unknown;
		authorization: unknown;
	}

	/** The JSON that stands after a client's name. */
	function pasted(client: string) {
		const [, after = ""] = connect.split(`**${client}**`);
		const [, json = ""] = /```json\n([\s\S]*?)```/.exec(after) ?? [];
		return JSON.parse(json);
	}

	const inJson = (client: string, servers: string, address: string) => () => {
		const { [address]: url, headers } = pasted(client)[servers].guildhall;
		return { url, authorization: headers.Authorization };
	};

	/** What follows an option. */
	function given(words: readonly string[], option: string): string {
		expect(words).toContain(option);
		return words[words.indexOf(option) + 1] ?? "";
	}

	const inHeader = (text: string) => /^Authorization: ?(.*)$/.exec(text)?.[1];

	const inspector = (line: string, address: string) => () => {
		tried.add(line);
		const words = wordsOf(line);
		expect(words.splice(0, 3)).toEqual([...["npx", "-y", "@modelcontextprotocol/inspector"]]);
		expect(given(words, "--transport")).toBe("http");
		return { url: given(words, address), authorization: inHeader(given(words, "--header")) };
	};

	const clients: Record<string, () => ClientSettings> = {
		"Claude Code": () => {
			tried.add(claudeCode);
			const words = wordsOf(claudeCode);
			const [url = "", ...rest] = words.splice(6);
			expect(words).toEqual([...["claude", "mcp", "add", "--transport", "http", "guildhall"]]);
			expect(rest).toEqual(["--header", expect.any(String)]);
			return { url, authorization: inHeader(rest[1] ?? "") };
		},
		Cursor: inJson("Cursor", "mcpServers", "url"),
		"VS Code": () => {
			const { inputs, servers } = pasted("VS Code");
			expect(inputs).toEqual([
				{ id: expect.any(String), type: "promptString", description: expect.any(String), password: true },
			]);
			const { type, url, headers } = servers.guildhall;
			expect(type).toBe("http");
			const asked = `\${input:${inputs[0].id}}`;
			expect(headers.Authorization).toContain(asked);
			return {
				url,
				// What a person pastes there is the token.
				authorization: headers.Authorization.replace(asked, "<MCP_AUTH_TOKEN>"),
			};
		},
		"Claude Desktop": () => {
			const { command, args, env } = pasted("Claude Desktop").mcpServers.guildhall as {
				command: string;
				args: string[];
				env: Record<string, string>;
			};
			const [yes, bridge, url, option, text = "", ...more] = args;
			expect([command, yes, bridge, option, ...more]).toEqual([...["npx", "-y", "mcp-remote", "--header"]]);
			// On Windows an argument with a blank in it does not arrive whole.
			expect(text).not.toContain(" ");
			const filled = text.replace(/\$\{(\w+)\}/, (_, name) => env[name] ?? "");
			return { url, authorization: inHeader(filled) };
		},
		// https://developers.openai.com/codex/mcp
		Codex: () => {
			const [, after = ""] = connect.split("**Codex**");
			const [, text = ""] = /```toml\n([\s\S]*?)```/.exec(after) ?? [];
			const { guildhall } = (Bun.TOML.parse(text) as { mcp_servers: Record<string, Record<string, string>> })
				.mcp_servers;
			const [, name, token] = /`export (\w+)=(\S+)`/.exec(after) ?? [];
			expect(guildhall?.bearer_token_env_var).toBe(name ?? "");
			return { url: guildhall?.url, authorization: `Bearer ${token}` };
		},
		// https://geminicli.com/docs/tools/mcp-server
		"Gemini CLI": () => {
			tried.add(gemini);
			const words = wordsOf(gemini);
			expect(words.slice(0, 3)).toEqual(["gemini", "mcp", "add"]);
			expect(given(words, "--scope")).toBe("user");
			expect(given(words, "--transport")).toBe("http");
			expect(words.slice(-2, -1)).toEqual(["guildhall"]);
			return { url: words.at(-1), authorization: inHeader(given(words, "--header")) };
		},
		// https://docs.windsurf.com/windsurf/cascade/mcp
		Windsurf: inJson("Windsurf", "mcpServers", "serverUrl"),
		// https://zed.dev/docs/ai/mcp
		Zed: inJson("Zed", "context_servers", "url"),
		"MCP Inspector in a browser": inspector(inspectors[0] ?? "", "--server-url"),
		"MCP Inspector in a shell": inspector(inspectors[1] ?? "", "--cli"),
	};

	test.each(Object.entries(clients))("%s: what is pasted opens a session", async (_, read) => {
		const { url, authorization } = read();
		expect(url).toBe("http://127.0.0.1:9100/mcp");
		expect(authorization).toBe("Bearer <MCP_AUTH_TOKEN>");
		const { pathname } = new URL(String(url));
		const { call } = await connectTo(
			new URL(pathname, servers().gateway).href,
			String(authorization).replace("<MCP_AUTH_TOKEN>", serversToken).replace("Bearer ", ""),
		);
		const { text, isError } = await call("list_instances");
		expect([isError, text]).toEqual([false, expect.stringContaining("lonely | ")]);
	});

	test("9100 is where the demo and the gateway listen unless they are told otherwise", () => {
		for (const main of ["src/demo/main.ts", "src/gateway/main.ts"]) {
			const { stdout } = Bun.spawnSync([...[process.execPath, join(project, main), "--help"]]);
			expect(stdout.toString()).toMatch(/\blisten.*\b9100\b/);
		}
	});
});

describe("a bot of one's own", () => {
	/** A clone, as far as the commands can tell. */
	const { path: place, [Symbol.dispose]: remove } = openPlace();
	let simulator: Simulator;
	/** Commands name the ports that are usual; here others may have them. */
	const ports = new Map<string, string>();
	let token = "<MCP_AUTH_TOKEN>";

	beforeAll(async () => {
		for (const name of ["package.json", "bunfig.toml", "node_modules", "src"])
			symlinkSync(join(project, name), join(place, name));
		cpSync(join(project, "instances/example"), join(place, "instances/example"), { recursive: true });
		simulator = await startSimulator();
		for (const port of ["9090", "9100"]) ports.set(port, String(await freePort()));
	});

	afterAll(async () => {
		await simulator[Symbol.asyncDispose]();
		remove();
	});

	function start(command: string): Program {
		tried.add(command);
		let line = command.replaceAll("<MCP_AUTH_TOKEN>", token);
		for (const [usual, port] of ports) line = line.replaceAll(usual, port);
		return startCommand(
			["sh", "-c", line],
			{
				PATH: pathWithBun(),
				NO_PROXY: "127.0.0.1",
				DISCORD_API_URL: simulator.api,
				MCP_PORT: ports.get("9090") ?? "",
				GATEWAY_PORT: ports.get("9100") ?? "",
			},
			{ cwd: place },
		);
	}

	async function run(command: string): Promise<{ code: number; said: string }> {
		await using program = start(command);
		const code = await program.exited;
		// Its streams are read to their ends.
		await program.line(() => undefined).catch(() => {});
		return { code, said: program.lines.join("\n") };
	}

	/** A program that runs until its end is asked for, which takes that of what it has started along. */
	async function stop(program: Program): Promise<void> {
		program.orphan();
		await program.exited;
	}

	test("its steps lead to a call; health, backup, restoring and dropping it do what they say", async () => {
		const made = await run("bun run new-instance alpha");
		expect(made.code).toBe(0);
		expect(made.said).toContain("INSTANCES=alpha=http://127.0.0.1:9090");
		expect(made.said).toContain("https://discord.com/oauth2/authorize");
		const env = join(place, "instances/alpha/.env");
		token = parseEnv(readFileSync(env, "utf8")).MCP_AUTH_TOKEN ?? "";
		writeFileSync(
			env,
			readFileSync(env, "utf8").replace(
				"DISCORD_TOKEN=your-bot-token",
				`DISCORD_TOKEN=${simulator.bot("alpha").token}`,
			),
		);
		const checked = await run(`${bot} --check`);
		expect([checked.code, checked.said]).toEqual([0, expect.any(String)]);

		let alpha = start(bot);
		await becomesReady(alpha, `http://127.0.0.1:${ports.get("9090")}`);
		const front = start(gateway);
		const url = `http://127.0.0.1:${ports.get("9100")}`;
		await until("the gateway is ready", async () => {
			const { ok } = await fetch(`${url}/readyz`).catch(() => ({ ok: false }));
			return ok || front.end !== null;
		});
		const { call } = await connectTo(`${url}/mcp`, token);
		expect((await call("list_guilds", { instance: "alpha" })).text).toContain("The Cooks");

		expect((await run(readyz)).said).toContain("ok");
		expect((await run(status)).said).toContain('"alpha"');

		// CI has it; elsewhere it may be missing.
		if (Bun.which("sqlite3")) await run(backup);
		await stop(alpha);
		await stop(front);
		if (Bun.which("sqlite3")) {
			const copy = join(place, "alpha-backup.sqlite");
			const data = join(place, "instances/alpha/data");
			for (const name of readdirSync(data)) rmSync(join(data, name));
			cpSync(copy, join(data, "store.sqlite"));
			using tables = new Database(copy, { readonly: true });
			expect(tables.query("SELECT name FROM sqlite_master").values().flat()).toContain("tool_calls");
			alpha = start(bot);
			await becomesReady(alpha, `http://127.0.0.1:${ports.get("9090")}`);
			await stop(alpha);
		} else tried.add(backup);

		await run("rm -r instances/alpha");
		expect(readdirSync(join(place, "instances"))).toEqual(["example"]);
	}, 300_000);

	test("the command for a token makes one that is long enough", async () => {
		expect((await run("openssl rand -hex 32")).said).toMatch(/^[0-9a-f]{64}$/);
	});
});

test("what it says that one sees is what the programs say", async () => {
	const rows = [...troubleshooting.matchAll(/^\| (.+?) \| .+ \| .+ \|$/gm)]
		.map(([, seen = ""]) => seen)
		.filter((seen) => !/^(you see|---)$/.test(seen));
	expect(rows.length).toBeGreaterThan(12);
	const sources = await Promise.all(
		[...new Bun.Glob("src/**/*.ts").scanSync(project)].map((path) => Bun.file(join(project, path)).text()),
	);
	const all = sources.join("\n").replaceAll(/\s+/g, " ");
	const messages = rows
		.flatMap((seen) => [...seen.matchAll(/`([^`]+)`/g)])
		.map(([, text = ""]) => text)
		// What comes after that is the name of a fault: both are said, not in one place.
		.flatMap((text) => text.split(/(?<=^Gateway error: )/));
	expect(messages.length).toBeGreaterThan(15);
	const isSaid = (message: string) =>
		new RegExp(
			message
				.split("…")
				.map((piece) => RegExp.escape(piece.trim()))
				.join(".{0,120}?"),
		).test(all);
	expect(messages.filter((message) => !isSaid(message))).toEqual([]);
});

test('every command marked "here" was run', () => {
	const here = Object.keys(coverage).filter((one) => coverage[one] === "here");
	expect(here.filter((command) => !tried.has(command))).toEqual([]);
});
