import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../../src/bot/config/config.ts";
import { deniableTools } from "../../../src/bot/features/index.ts";
import { defaultLogOptions } from "../../../src/lib/log.ts";
import { issuesIn, issuesOf, read, within } from "./instance.ts";

const token = "MTIz.secret.token-value-of-enough-length";
const id = "12345678901234567";
const cook = 'bot_name = "Cook"\n';
const tokenLine = `DISCORD_TOKEN=${token}\n`;
const files = { ".env": tokenLine, "config.toml": cook };

/** The issues of reading `CONFIG_DIR`. */
const issuesAt = (CONFIG_DIR: string, env = {}) =>
	issuesOf(() => readConfig({ CONFIG_DIR, ...env }, deniableTools)).join("\n");

test("what is not said has its default", () => {
	const config = read(files);
	expect(config).toEqual({
		directory: expect.any(String),
		botName: "Cook",
		command: "!m",
		personality: undefined,
		timezone: "UTC",
		discordToken: token,
		clientId: undefined,
		shards: 1,
		discordApiUrl: "https://discord.com/api",
		discordCdnUrl: "https://cdn.discordapp.com",
		guildId: undefined,
		databaseUrl: undefined,
		dbSchema: undefined,
		dataDirectory: join(config.directory, "data"),
		mcpPort: 9090,
		mcpBindAddress: "127.0.0.1",
		mcpToken: undefined,
		allowedHosts: [],
		allowedOrigins: [],
		gameVerifyUrl: undefined,
		gameVerifySecret: undefined,
		apiKeys: {},
		toml: {
			bot_name: "Cook",
			command_prefix: "!",
			commands: "global",
			timezone: "UTC",
			intents: ["GuildMembers", "MessageContent"],
			features: { game: false, moderation: true, chat: false },
			mcp: {
				audit_days: 90,
				audit_texts: false,
				read_only: false,
				sign_in_permission: "MANAGE_GUILD",
				approval: "off",
				approval_by: "discord",
				approval_for_root: false,
				approval_self: false,
				tools: { deny: [] },
			},
			ai: {},
			chat: { keep_days: 30 },
			game: { verify: true, slash_commands: false, delete_code_message: false, check_interval: 300 },
		},
		log: defaultLogOptions(),
	});
});

test("every variable and every key can be set", () => {
	const config = read(
		{
			".env": [
				tokenLine,
				`CLIENT_ID=${id}1`,
				`GUILD_ID=${id}2`,
				"DATABASE_URL=postgres://u:p@db/guildhall",
				"DB_SCHEMA=cook",
				"DATA_DIR=/var/lib/cook",
				"MCP_PORT=0",
				"MCP_BIND_ADDR=::1",
				"MCP_AUTH_TOKEN=a-token",
				"MCP_ALLOWED_HOSTS=Bot.example",
				"MCP_ALLOWED_ORIGINS=https://chat.example",
				"GAME_VERIFY_URL=http://game:8080/",
				"GAME_VERIFY_SECRET=s",
				"OPENAI_API_KEY=k1",
				"MY_OWN_API_KEY=k2",
			].join("\n"),
			"config.toml": `
bot_name = "Cook"
command_prefix = "?"
command_root = "cook"
personality_file = "who.txt"
timezone = "Europe/Berlin"

[features]
game = true
moderation = true
chat = false

[game]
verify = false

[mcp]
audit_days = 30

[backup]
every = "12h"
keep = 3
alarm_deletions = 0
alarm_window = "30s"

[ai]
order = ["mine", "openai"]

[ai.providers.mine]
url = "http://10.0.0.7:8000/v1/"
model = "small"
api_key_env = "MY_OWN_API_KEY"
max_tokens = 500
max_tokens_field = "max_completion_tokens"
temperature = 0.5
timeout_seconds = 90
silence_seconds = 20

[ai.providers.mine.extra]
reasoning = { effort = "low" }
`,
			"who.txt": "You are a cook.\n",
		},
		{ ANTHROPIC_API_KEY: "k3" },
	);
	expect(config).toMatchObject({
		command: "?cook",
		personality: "You are a cook.\n",
		timezone: "Europe/Berlin",
		clientId: `${id}1`,
		guildId: `${id}2`,
		databaseUrl: "postgres://u:p@db/guildhall",
		dbSchema: "cook",
		dataDirectory: "/var/lib/cook",
		mcpPort: 0,
		mcpBindAddress: "::1",
		mcpToken: "a-token",
		allowedHosts: ["bot.example"],
		allowedOrigins: ["https://chat.example"],
		gameVerifyUrl: "http://game:8080",
		gameVerifySecret: "s",
		apiKeys: { OPENAI_API_KEY: "k1", MY_OWN_API_KEY: "k2", ANTHROPIC_API_KEY: "k3" },
		toml: {
			features: { game: true, chat: false },
			mcp: { audit_days: 30 },
			backup: { every: 43_200_000, keep: 3, alarm_deletions: 0, alarm_window: 30_000 },
			game: { verify: false },
		},
	});
});

test.each([
	["", "!m"],
	['command_prefix = "?"', "?m"],
	['command_prefix = "!m"', "!m"],
	['command_prefix = "ü"', "ü"],
	['command_prefix = "!7"', "!7m"],
	['command_prefix = "!m"\ncommand_root = "cook"', "!mcook"],
	['command_root = ""', "!"],
])("with %j commands begin with %j", (lines, command) => {
	const config = read({ ...files, "config.toml": `${cook}${lines}\n` });
	expect(config.command).toBe(command);
});

test("personality.txt is read where it is there, and one that is named must be", () => {
	const text = "You are kind.\n";
	expect(read({ ...files, "personality.txt": text }).personality).toBe(text);
	expect(issuesIn('personality_file = "other.txt"')).toEqual([
		expect.stringMatching(/^config\.toml: personality_file: ".*other\.txt": there is no such file$/),
	]);
	const long = { ...files, "personality.txt": "x".repeat(64 * 1024 + 1) };
	expect(issuesOf(() => read(long)).join()).toContain("is longer than 64 KiB");
});

test("an issue of config.toml shows its line, with a caret under the value", () => {
	const issues = issuesIn(`
timezone = "Berlin"   # home
note = """
timezone = "no"
"""
features.gmae = true
[mcp]
audit_days = "90"
"guilds" = ["12"]
[backup]
every = "three days"`).join("\n");
	for (const issue of [
		'timezone: expected an IANA time zone such as "Europe/Berlin", received "Berlin"\n    3: timezone = "Berlin"   # home\n                  ^',
		'note: is not a known key\n    4: note = """\n              ^',
		"features.gmae: is not a known key; did you mean game?\n    7: features.gmae = true\n                       ^",
		'mcp.audit_days: expected a number, received "90"; leave out the quotation marks\n    9: audit_days = "90"\n                    ^',
		'mcp.guilds.0: expected an id of 17 to 20 digits, received "12"\n    10: "guilds" = ["12"]\n                   ^',
		'backup.every: expected a duration such as "30m", "12h" or "3d", received "three days"\n    12: ',
	])
		expect(issues).toContain(issue);
});

test("backups are on with an empty section, and off without one", () => {
	const backup = (lines: string) => read({ ...files, "config.toml": `${cook}${lines}\n` }).toml.backup;
	expect(backup("")).toBeUndefined();
	expect(backup("[backup]")).toEqual({ every: 86_400_000, keep: 14, alarm_deletions: 5, alarm_window: 60_000 });
	expect(backup('[backup]\nevery = "1h"')?.every).toBe(3_600_000);
	const issues = issuesIn(`[backup]
every = "59m"
keep = 1
alarm_window = "two minutes"`).join("\n");
	for (const issue of [
		'backup.every: expected a duration from "1h" to "30d", received "59m"',
		"backup.keep: expected a whole number from 2 to 1000, received 1",
		'backup.alarm_window: expected a duration such as "30m", "12h" or "3d", received "two minutes"',
	])
		expect(issues).toContain(issue);
});

test("approval is off, or for people on Discord or at their client", () => {
	const mcp = (lines: string) => read({ ...files, "config.toml": `${cook}[mcp]\n${lines}\n` }).toml.mcp;
	expect(mcp("").approval).toBe("off");
	expect(mcp('approval = "write"')).toMatchObject({
		approval: "write",
		approval_by: "discord",
		approval_for_root: false,
		approval_self: false,
	});
	expect(mcp('approval = "destructive"\napproval_by = "client"')).toMatchObject({ approval_by: "client" });
	expect(issuesIn('[mcp]\napproval = "read"').join("\n")).toContain("mcp.approval: expected");
});

test("no issue hides another: types, sections, the personality and ids without quotation marks", () => {
	const issues = issuesIn(
		'command_prefix = 3\npersonality_file = "no.txt"\n[features]\ngame = true\n[mcp]\nguilds = [123456789012345678]',
	);
	expect(issues.map((issue) => issue.split("\n")[0])).toEqual([
		'config.toml: command_prefix: expected text, received 3; put it in quotation marks: "3"',
		'config.toml: mcp.guilds.0: expected text, received 123456789012345678; put it in quotation marks: "123456789012345678"',
		expect.stringContaining("personality_file: "),
	]);
});

const url = "postgres://u:pw@h/d";

test.each([
	[`database_url = "${url}"\nfoo = = 3`, url],
	[`foo = = 3\ndatabase_url = "${url}"`, url],
	[`database_url = "${url}" = 3`, url],
	[`mcp = { auth_token = "${url}", audit_dayz = 3 }`, url],
	[`auth_token = ${url}`, url],
	[`api_key = [${url}]`, url],
	[`discord_token = "${token}"`, token],
	[`command_root = "${token}"`, token],
	[`discord_token = "${token}" and more`, token],
])("config.toml with %j does not show the secret", (lines, secret) => {
	const issues = issuesIn(lines).join("\n");
	expect(issues).toContain("config.toml: ");
	expect(issues).not.toContain(secret);
});

test("a secret that was wrapped onto a line of its own in .env is not shown", () => {
	const wrapped = "c2VjcmV0LXRoYXQtd2FzLXdyYXBwZWQ";
	const issues = issuesIn("", `${wrapped}=`);
	expect(issues).toHaveLength(1);
	expect(issues.join()).not.toContain(wrapped);
});

test.each([
	["foo.bar = 1", "    2: foo.bar = 1"],
	["[foo.bar]", "    2: [foo.bar]"],
	['note = "# \\"\\"\\""\ntimezone = "x"', '    3: timezone = "x"'],
	['# """\ntimezone = "x"', '    3: timezone = "x"'],
])("the line of %j is found", (lines, shown) => {
	expect(issuesIn(lines).join("\n")).toContain(shown);
});

test("a CONFIG_DIR below a file is no directory", () => {
	expect(issuesAt("/etc/passwd/x")).toContain('CONFIG_DIR: there is no directory "/etc/passwd/x"');
});

test("an unknown variable of .env is an issue, with the one that may be meant; one of the environment is none", () => {
	const env = { PATH: "/bin", HOME: "/" };
	expect(issuesIn("", "MCP_PROT=1\nFOO=2", env)).toEqual([
		".env: MCP_PROT: is not a known key; did you mean MCP_PORT?",
		".env: FOO: is not a known key",
	]);
});

test("a GUILD_ID that tools may not touch is an issue", () => {
	expect(issuesIn(`[mcp]\nguilds = ["2${id}"]`, `GUILD_ID=1${id}`)).toEqual([
		".env: GUILD_ID: is not among mcp.guilds, so no tool may touch it",
	]);
});

test("a value that begins your- counts as unset, in .env and in config.toml", () => {
	const unset = read({
		".env": `${tokenLine}GUILD_ID=your-guild-id\nMCP_AUTH_TOKEN=your-shared-token\n`,
		"config.toml": `${cook}timezone = "your-time-zone"\npersonality_file = "your-file"\n`,
	});
	expect({ ...unset, directory: "", dataDirectory: "" }).toEqual({ ...read(files), directory: "", dataDirectory: "" });
});

test("the environment beats .env, and an empty value in it does not", () => {
	const env =
		'DISCORD_TOKEN="from-file"\nMCP_PORT=1\nMCP_AUTH_TOKEN=from-file # why\nLOG_FORMAT=text\nLOG_LEVEL=error\nDISCORD_API_URL=http://x/api/\nDISCORD_CDN_URL=http://x/cdn/\n';
	const config = within({ ...files, ".env": env }, (directory) =>
		readConfig(
			{
				CONFIG_DIR: ` ${directory} `,
				DISCORD_TOKEN: " from-environment ",
				MCP_PORT: "2",
				MCP_AUTH_TOKEN: "",
				MCP_BIND_ADDR: "0.0.0.0",
				LOG_LEVEL: "debug",
			},
			deniableTools,
		),
	);
	expect(config).toMatchObject({
		discordToken: "from-environment",
		discordApiUrl: "http://x/api",
		discordCdnUrl: "http://x/cdn",
		mcpPort: 2,
		mcpToken: "from-file",
		mcpBindAddress: "0.0.0.0",
		log: { format: "text", level: "debug" },
	});
});

test.each([
	["auto", "auto"],
	["1", 1],
	["16", 16],
	["900", 900],
] as const)("SHARDS=%s is a number of shards", (text, shards) => {
	const env = `${tokenLine}SHARDS=${text}\n`;
	expect(read({ ...files, ".env": env }).shards).toBe(shards);
});

test.each(["0", "-1", "1.5", "901", "01", "AUTO", "two", "[0,1]"])("SHARDS=%s is an issue", (text) => {
	const env = `${tokenLine}SHARDS=${text}\n`;
	expect(issuesOf(() => read({ ...files, ".env": env })).join()).toContain(
		".env: SHARDS: expected auto or a whole number from 1 to 900, received ",
	);
});

test("a missing CONFIG_DIR is an issue that says how to make one", () => {
	expect(issuesAt("")).toContain("bun run new-instance <name>");
	expect(issuesAt("/nowhere")).toContain('"/nowhere"');
});

test("the example itself says what is left to fill in, and nothing else", () => {
	expect(issuesAt(join(import.meta.dir, "../../../instances/example"))).toBe(
		`.env: DISCORD_TOKEN: is still the placeholder "your-bot-token". What belongs there: The bot's token, for its login. Required. https://discord.com/developers/applications → your application → Bot → Reset Token. The same page has "Server Members Intent": enable it. Each bot has its own token.`,
	);
});

test("all issues are reported at once, by file and key, without a secret", () => {
	const wrong = {
		".env": `DISCORD_TOKEN=bad ${token}\nGUILD_ID=12\nMCP_PORT=99999\nDISCORD_API_URL=ftp://x\nDISCORD_CDN_URL=x\nLOG_FORMAT=xml\n`,
		"config.toml": 'bot_name = ""\ncommand_prefix = "a b"\nfoo = 1\nbar = 2\ntoString = 3\n',
	};
	const issues = issuesOf(() => read(wrong, { MCP_BIND_ADDR: "0.0.0.0", LOG_LEVEL: "loud" }));
	for (const issue of [
		".env: DISCORD_TOKEN: expected visible ASCII",
		".env: GUILD_ID: expected an id",
		".env: MCP_PORT: expected a whole number from 0 to 65535",
		".env: DISCORD_API_URL: expected a URL",
		".env: DISCORD_CDN_URL: expected a URL",
		'.env: LOG_FORMAT: expected ("text" | "json")',
		'the environment: LOG_LEVEL: expected ("debug" | "info" | "warn" | "error")',
		".env: MCP_AUTH_TOKEN: is required while MCP_BIND_ADDR",
		"config.toml: bot_name: expected at least 1 character",
		"config.toml: command_prefix: expected",
		"config.toml: foo: is not a known key",
		"config.toml: bar: is not a known key",
		"config.toml: toString: is not a known key",
	])
		expect(issues).toContainEqual(expect.stringContaining(issue));
	expect(issues).toHaveLength(13);
	expect(issues.join()).not.toContain("secret");
});

test("an .env that cannot be read, and a CONFIG_DIR that is a file, are issues", () => {
	within({ "config.toml": cook }, (directory) => {
		mkdirSync(join(directory, ".env"));
		expect(issuesAt(directory, { DISCORD_TOKEN: token })).toBe(".env: the file cannot be read (EISDIR)");
		expect(issuesAt(join(directory, "config.toml"))).toContain("there is no directory");
	});
});
