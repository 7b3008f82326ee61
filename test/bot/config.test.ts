import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/bot/config.ts";
import { ConfigError } from "../../src/lib/config.ts";
import { defaultLogOptions } from "../../src/lib/log.ts";

const token = "MTIz.secret.token-value";

/** A CONFIG_DIR that goes with the test. */
function directory(files: Record<string, string>) {
	const path = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	for (const [name, text] of Object.entries(files))
		writeFileSync(join(path, name), text);
	return {
		path,
		[Symbol.dispose]: () => rmSync(path, { recursive: true }),
	};
}

function faultsOf(read: () => unknown): string {
	try {
		read();
	} catch (error) {
		if (error instanceof ConfigError) return error.message;
		throw error;
	}
	throw new Error("there is no fault");
}

test("what is not said has its default", () => {
	using config = directory({
		".env": `DISCORD_TOKEN=${token}\n`,
		"config.toml": 'bot_name = "Cook"\n',
	});
	expect(readConfig({ CONFIG_DIR: config.path })).toEqual({
		botName: "Cook",
		command: "!m",
		discordToken: token,
		discordApiUrl: "https://discord.com/api",
		guildId: undefined,
		mcpPort: 9090,
		mcpBindAddress: "127.0.0.1",
		mcpToken: undefined,
		allowedHosts: [],
		allowedOrigins: [],
		log: defaultLogOptions(),
	});
});

test("the environment beats .env, and an empty value in it does not", () => {
	using config = directory({
		".env":
			'DISCORD_TOKEN="from-file"\nMCP_PORT=1\nMCP_AUTH_TOKEN=from-file # why\nLOG_FORMAT=text\nLOG_LEVEL=error\nDISCORD_API_URL=http://x/api/\n',
		"config.toml":
			'bot_name = "Cook"\ncommand_prefix = "?"\ncommand_root = ""\n',
	});
	const read = readConfig({
		CONFIG_DIR: ` ${config.path} `,
		DISCORD_TOKEN: " from-environment ",
		MCP_PORT: "2",
		MCP_AUTH_TOKEN: "",
		MCP_BIND_ADDR: "0.0.0.0",
		LOG_LEVEL: "debug",
	});
	expect(read).toMatchObject({
		command: "?",
		discordToken: "from-environment",
		discordApiUrl: "http://x/api",
		mcpPort: 2,
		mcpToken: "from-file",
		mcpBindAddress: "0.0.0.0",
		log: { format: "text", level: "debug" },
	});
});

test("a missing CONFIG_DIR is a fault that names the example", () => {
	expect(faultsOf(() => readConfig({}))).toContain("instances/example");
	expect(faultsOf(() => readConfig({ CONFIG_DIR: "/nowhere" }))).toContain(
		'"/nowhere"',
	);
});

test("the example itself says what is left to fill in, and nothing else", () => {
	const example = join(import.meta.dir, "../../instances/example");
	expect(faultsOf(() => readConfig({ CONFIG_DIR: example }))).toBe(
		`${example} has 1 fault:\n  .env: DISCORD_TOKEN: is required`,
	);
});

test("all faults are told at once, by file and key, without a secret", () => {
	using config = directory({
		".env": `DISCORD_TOKEN=bad ${token}\nGUILD_ID=12\nMCP_PORT=99999\nDISCORD_API_URL=ftp://x\nLOG_FORMAT=xml\n`,
		"config.toml":
			'bot_name = ""\ncommand_prefix = "a b"\nfoo = 1\nbar = 2\ntoString = 3\n',
	});
	const faults = faultsOf(() =>
		readConfig({
			CONFIG_DIR: config.path,
			MCP_BIND_ADDR: "0.0.0.0",
			LOG_LEVEL: "loud",
		}),
	);
	for (const fault of [
		"has 12 faults",
		".env: DISCORD_TOKEN: expected visible ASCII",
		".env: GUILD_ID: expected an id",
		".env: MCP_PORT: expected a whole number from 0 to 65535",
		".env: DISCORD_API_URL: expected a URL",
		'.env: LOG_FORMAT: expected ("text" | "json")',
		'.env: LOG_LEVEL: expected ("debug" | "info" | "warn" | "error")',
		".env: MCP_AUTH_TOKEN: is required while MCP_BIND_ADDR",
		"config.toml: bot_name: expected at least 1 character",
		"config.toml: command_prefix: expected",
		"config.toml: foo: is not a known key",
		"config.toml: bar: is not a known key",
		"config.toml: toString: is not a known key",
	])
		expect(faults).toContain(fault);
	expect(faults).not.toContain("secret");
});

test("broken TOML is shown with a caret under the fault", () => {
	using config = directory({
		".env": `DISCORD_TOKEN=${token}\n`,
		"config.toml": 'bot_name = "Cook"\nbot_name = "Baker"\n',
	});
	const faults = faultsOf(() => readConfig({ CONFIG_DIR: config.path }));
	expect(faults).toContain("config.toml: Invalid TOML document");
	expect(faults).toMatch(/2: {2}bot_name = "Baker"\n\s+\^/);
});

test("an .env that cannot be read, and a CONFIG_DIR that is a file, are faults", () => {
	using config = directory({ "config.toml": 'bot_name = "Cook"\n' });
	mkdirSync(join(config.path, ".env"));
	expect(
		faultsOf(() =>
			readConfig({ CONFIG_DIR: config.path, DISCORD_TOKEN: token }),
		),
	).toContain(".env: it cannot be read (EISDIR)");
	const file = join(config.path, "config.toml");
	expect(faultsOf(() => readConfig({ CONFIG_DIR: file }))).toContain(
		"there is no directory",
	);
});
