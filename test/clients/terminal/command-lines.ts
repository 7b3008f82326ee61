// Assistants for the terminal: what each does without an account of its maker. They connect with a key and list the gateway
// as connected, and those that can sign in from the command line do. clients.test.ts runs this file in a process of its own, if CLIENTS=all.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../../../src/demo/ports.ts";
import { gatewayToken } from "../../support/gateway.ts";
import { type SignInWorld, startSignIn } from "../../support/sign-in.ts";
import { until } from "../../support/until.ts";

const programs = join(import.meta.dir, "node_modules/.bin");
const claudeCode = "https://claude.ai/oauth/claude-code-client-metadata";

/** The file of each program's configuration, below the home directory, and what stands in it about the gateway. */
const files: Record<string, [string, (server: object) => object]> = {
	claude: [".claude.json", (server) => ({ mcpServers: { guildhall: { type: "http", ...server } } })],
	gemini: [
		".gemini/settings.json",
		(server) => ({
			mcpServers: { guildhall: { type: "http", ...server } },
			security: { folderTrust: { enabled: false } },
			privacy: { usageStatisticsEnabled: false },
			general: { enableAutoUpdate: false },
		}),
	],
	opencode: [
		".config/opencode/opencode.json",
		(server) => ({ autoupdate: false, mcp: { guildhall: { type: "remote", ...server } } }),
	],
};

let world: SignInWorld;
let home: string;
beforeAll(async () => {
	// As published.
	const document = {
		client_id: claudeCode,
		client_name: "Claude Code",
		redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
		token_endpoint_auth_method: "none",
	};
	world = await startSignIn({
		documents: { resolve: async () => ["93.184.215.14"], fetch: async () => Response.json(document) },
	});
	await world.setManager("mona_lisa", true);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	world.requests.length = 0;
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function configure(program: string, more: object = {}): Promise<void> {
	const [file = "", configuration] = files[program] ?? [];
	await Bun.write(join(home, file), JSON.stringify(configuration?.({ url: `${world.url}/mcp`, ...more })));
}

/** Starts a program in a terminal: some do nothing without one. */
function start(program: string, args: readonly string[]) {
	let output = "";
	const shown = () => Bun.stripANSI(output);
	const take = (_: unknown, bytes: Uint8Array) => {
		output += Buffer.from(bytes).toString();
	};
	const terminal = { cols: 2_000, rows: 50, data: take };
	const env = {
		PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
		HOME: home,
		BROWSER: "true",
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
		OPENCODE_DISABLE_MODELS_FETCH: "1",
	};
	const child = Bun.spawn([join(programs, program), ...args], { cwd: home, env, terminal });
	return {
		write: (text: string) => child.terminal?.write(text),
		/** Rejects with what it has shown if it fails. */
		async end() {
			if ((await child.exited) !== 0) throw new Error(`${program} ${args.join(" ")}: ${shown()}`);
			return shown();
		},
		find: (pattern: RegExp) => until(`${program} shows ${pattern}`, () => pattern.exec(shown())?.[0]),
	};
}

const listed = async (program: string) => start(program, ["mcp", "list"]).end();
const authorizeUrl = /http:\/\/\S+\/oauth\/authorize\?\S+(?=\s)/;

test.each(Object.keys(files))("%s connects with a key", async (program) => {
	await configure(program, { headers: { Authorization: `Bearer ${gatewayToken}` } });
	expect(await listed(program)).toMatch(/[✔✓].*connected/i);
	expect(world.requests).toContain("POST /mcp 200");
});

test("Claude Code signs in with its metadata document", async () => {
	await configure("claude");
	const login = start("claude", ["mcp", "login", "--no-browser", "guildhall"]);
	const url = await login.find(authorizeUrl);
	expect(new URL(url).searchParams.get("client_id")).toBe(claudeCode);
	login.write(`${await world.allow("mona_lisa", url, "write")}\r`);
	expect(await login.end()).toContain('Authenticated with "guildhall"');
	expect(await listed("claude")).toMatch(/✔.*connected/i);
	expect(world.requests).not.toContain("POST /oauth/register 201");
});

test("opencode registers and signs in", async () => {
	await configure("opencode", { oauth: { redirectUri: `http://127.0.0.1:${await freePort()}/mcp/oauth/callback` } });
	const login = start("opencode", ["mcp", "auth", "guildhall"]);
	await fetch(await world.allow("mona_lisa", await login.find(authorizeUrl), "write"));
	expect(await login.end()).toContain("Authentication successful");
	expect(await listed("opencode")).toMatch(/✓.*connected/i);
});
