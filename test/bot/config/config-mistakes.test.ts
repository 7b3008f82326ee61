// Common mistakes, and the issue for each: what is wrong, the value, and what to do.

import { expect, test } from "bun:test";
import { readConfig } from "../../../src/bot/config/config.ts";
import { deniableTools } from "../../../src/bot/features/index.ts";
import { type Files, issuesIn, issuesOf, read } from "./instance.ts";

const id = "123456789012345678";
const secret = "MTIz.hunter2";

/** In config.toml: the lines, part of the issue, and the number of the line that it shows, by default the last. */
const inToml: [lines: string, expected: string, line?: number][] = [
	['[mcp]\ntoolsets = ["thread"]', 'mcp.toolsets: there is no toolset "thread"; did you mean threads?'],
	['[mcp]\ntoolsets = ["core", 3]', "mcp.toolsets: there is no toolset 3; expected"],
	[
		'[mcp]\ntoolsets = "messages"',
		'mcp.toolsets: expected a list, received "messages"; put it in brackets: ["messages"]',
	],
	['[mcp]\ntoolsets = ["all"]', 'mcp.toolsets: expected "all" alone, without brackets: toolsets = "all"'],
	['[mcp.tools]\ndeny = ["bann"]', 'mcp.tools.deny: there is no tool "bann"; did you mean ban?'],
	['[mcp]\nlist = ["defualt"]', 'mcp.list: there is no toolset or tool "defualt"; did you mean default?'],
	['[mcp]\nlist = "messages"', 'mcp.list: expected a list, received "messages"; put it in brackets: ["messages"]'],
	['[mcp.tools]\ndeny = "ban"', 'mcp.tools.deny: expected a list, received "ban"; put it in brackets: ["ban"]'],
	// TOML's own numbers end at 64 bits, and many readers' at 53: an id has up to 64.
	[`personality_file = ${id}`, `personality_file: expected text, received ${id}; put it in quotation marks: "${id}"`],
	[
		"personality_file = 1234567890123456789",
		'personality_file: expected text, received 1234567890123456789; put it in quotation marks: "1234567890123456789"',
	],
	["personality_file = 18446744073709551615", 'put it in quotation marks: "18446744073709551615"'],
	[
		`[mcp]\nguilds = ["${id}", ${id}]`,
		`mcp.guilds.1: expected text, received ${id}; put it in quotation marks: "${id}"`,
	],
	[`[mcp]\nguilds = "${id}"`, `mcp.guilds: expected a list, received "${id}"; put it in brackets: ["${id}"]`],
	...[
		"personality_file = general",
		"timezone = Europe/Berlin # home",
		"command_prefix = !",
		"personality_file = The Cook.txt",
		"timezone = “UTC”",
		"timezone = #UTC",
		"timezone =",
		"[features]\nchat = yes",
	].map((lines): (typeof inToml)[number] => [lines, "put a text between two quotation marks"]),
	...[
		['"true"', ', received "true"; leave out the quotation marks'],
		['"yes"', ', received "yes"'],
		["1", ", received 1"],
	].map(([value, expected]): (typeof inToml)[number] => [
		`[features]\nchat = ${value}`,
		`features.chat: expected true or false${expected}`,
	]),
	['[mcp]\naudit_days = "90"', 'mcp.audit_days: expected a number, received "90"; leave out the quotation marks'],
	// What is wrong with these is not the value.
	[
		"[features]\nchat = true\nchat = true",
		"Invalid TOML document: trying to redefine an already defined table or value; duplicate key: keep one of the two\n",
	],
	[
		"[mcp]\naudit_days = 90\n[mcp]\naudit_days = 90",
		"Invalid TOML document: trying to redefine an already defined table or value; duplicate key: keep one of the two\n",
		4,
	],
	[
		`[mcp]\nguilds = ["${id}" "${id}"]`,
		"Invalid TOML document: expected comma or end of structure; put a comma between the items of a list\n",
	],
	[`[mcp]\nguilds = ["${id}",\n[chat]`, 'a list between "[" and "]"\n'],
	['timezone = "UTC', "put a quotation mark at the end of the text, in the line in which the text begins\n"],
	['personality_file = "C:\\Users\\cook.txt"', 'within "…" write each backslash twice\n'],
	['timezone: "UTC"', "a line is one of these: key = value, [section], # comment\n"],
	['timezone = "UTC";', "only a comment may follow a value\n"],
	['timezone = UTC"', "put a text between two quotation marks"],
	[
		`[mcp]\nguilds = ["<#${id}>"]`,
		`mcp.guilds.0: expected an id of 17 to 20 digits, received "<#${id}>"; leave out all but ${id}\n`,
	],
	['[ai]\nopenai_api_key = "hunter2"', "ai.openai_api_key: is not a known key here; secrets belong into .env\n"],
	['timezone = "UTC\u200b"', 'timezone: expected an IANA time zone such as "Europe/Berlin", received "UTC\\u200b"'],
	['command_prefix = ""', 'command_prefix: expected 1 to 10 characters without white space, received ""'],
	// Only the key was switched on, and not the section above it.
	["[mcp]\n# [backup]\n\n# How many.\nkeep = 3", "mcp.keep: is not a known key here; it belongs to [backup]"],
	["[features]\nkeep_days = 3", "features.keep_days: is not a known key here; it belongs to [chat]"],
	['[mcp]\ntimezone = "UTC"', "mcp.timezone: is not a known key here; it belongs to the top of the file"],
	[
		'[ai.providers.mine]\nurl = "https://ai.example/v1"\nmodel = "m"\napi_key_env = "MINE_API_KEY"',
		"ai.providers.mine.api_key_env: the variable MINE_API_KEY is not set: put the key into .env as MINE_API_KEY=…, or leave this line out where the provider wants no key",
	],
];

const withLines = inToml.map(
	([lines, expected, line = lines.split("\n").length + 1]) => [lines, expected, line] as const,
);

test.each(withLines)("config.toml with %j", (lines, expected, line) => {
	const [issue = "", ...more] = issuesIn(lines);
	expect(issue).toContain(expected);
	expect(issue).toContain(`\n    ${line}: `);
	expect(issue).toEndWith("^");
	expect(more).toEqual([]);
	expect(issue).not.toContain("hunter2");
});

test.each([
	// A header that was renamed, and its keys: they stand where they belong.
	'[ai.providers.new]\n# [ai.providers.old]\nurl = "https://ai.example/v1"\nmodel = "m"',
	"[mcp]\n# [chat]\naudit_days = 3\n[chat]\nkeep_days = 3",
	"# [backup]\n# keep = 3\n[chat]\nkeep_days = 3",
	'# """\n# [chat]\n[features]\nchat = true',
	`[game]\n# [chat]\nguilds = ["${id}"]`,
	'[mcp.tools]\ndeny = ["list_donators", "sync_donators", "ban"]',
])("config.toml with %j is in order", (lines) => {
	expect(issuesIn(lines)).toEqual([]);
});

/** In .env, or in the environment. */
const inEnv: [env: string, expected: string][] = [
	...[
		["OPENAI_KEY", "OPENAI_API_KEY"],
		["ANTHROPIC_KEY", "ANTHROPIC_API_KEY"],
		["DEEPSEEK_APIKEY", "DEEPSEEK_API_KEY"],
		["GUILD", "GUILD_ID"],
		["MCP_TOKEN", "MCP_AUTH_TOKEN"],
		["DATABASE", "DATABASE_URL"],
	].map(([name, meant]): (typeof inEnv)[number] => [
		`${name}=postgres://u:hunter2@h/d`,
		`.env: ${name}: is not a known key; did you mean ${meant}?`,
	]),
	[
		"OPENIA_API_KEY=hunter2",
		".env: OPENIA_API_KEY: is an API key that no AI provider in config.toml uses; did you mean OPENAI_API_KEY?",
	],
	[
		"LOG_LEVEL=warning",
		'.env: LOG_LEVEL: expected ("debug" | "info" | "warn" | "error"), received "warning"; did you mean warn?',
	],
	["LOG_LEVEL=inof", 'received "inof"; did you mean info?'],
	...[
		["DISCORD_TOKEN", "Bot hunter2", "Bot "],
		["MCP_AUTH_TOKEN", "Bearer hunter2", "Bearer "],
		["DISCORD_TOKEN", "“hunter2”", "“"],
	].map(([name, value, odd]): (typeof inEnv)[number] => [
		`${name}=${value}`,
		`.env: ${name}: expected visible ASCII without spaces; leave out "${odd}" at its beginning`,
	]),
	[
		"# DISCORD_TOKEN=hunter2\nDISCORD_TOKEN=",
		".env: DISCORD_TOKEN: is required; line 1 names it and sets nothing: write DISCORD_TOKEN=… there",
	],
	["DISCORD_TOKEN=", ".env: DISCORD_TOKEN: is required. What belongs there: The bot's token, for its login."],
	[
		"DISCORD_API_URL=http://a/api DISCORD_CDN_URL=http://a",
		'.env: DISCORD_API_URL: expected a URL without blanks, received "http://a/api ',
	],
	["DISCORD_TOKEN=hunter2'", ".env: DISCORD_TOKEN: expected no quotation marks; leave them out"],
	[
		"DISCORD_API_URL=https://discord.com/api/v10/",
		".env: DISCORD_API_URL: expected a URL without a version; leave out what follows /api",
	],
	[
		"DISCORD_TOKEN=your-bot-token",
		'.env: DISCORD_TOKEN: is still the placeholder "your-bot-token". What belongs there: The bot\'s token, ',
	],
	[
		"DISCORD_TOKEN=your-hunter2",
		'.env: DISCORD_TOKEN: is still a placeholder: what begins "your-" counts as not filled in. What belongs there: ',
	],
	[
		"MCP_BIND_ADDR=0.0.0.0\nMCP_AUTH_TOKEN=your-shared-token",
		'.env: MCP_AUTH_TOKEN: is required while MCP_BIND_ADDR can be reached from other machines; is still the placeholder "your-shared-token". What belongs there: The token',
	],
];

test.each(inEnv)(".env with %j", (env, expected) => {
	const [issue = "", ...more] = issuesIn("", env);
	expect(issue).toContain(expected);
	expect(more).toEqual([]);
	expect(issue).not.toContain("hunter2");
});

const discordToken = "DISCORD_TOKEN=token\r\n";
const botName = 'bot_name = "Cook"\r\n';

/** With the mark for the order of bytes, as Windows calls "Unicode". */
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

const inFiles: [what: string, files: Files, expected: string[]][] = [
	["a mark for the order of bytes", { ".env": `\ufeff${discordToken}`, "config.toml": `\ufeff${botName}` }, []],
	[
		"UTF-16",
		{ ".env": utf16(discordToken), "config.toml": utf16(botName) },
		[
			".env: the file is not UTF-8 text; save it as UTF-8 in your editor",
			".env: DISCORD_TOKEN: is required",
			"config.toml: the file is not UTF-8 text; save it as UTF-8 in your editor",
		],
	],
	[
		"no .env",
		{ "config.toml": botName },
		[".env: the file does not exist; bun run new-instance <name> makes one", ".env: DISCORD_TOKEN: is required"],
	],
	...[".env.txt", "env", "env.txt"].map((name): (typeof inFiles)[number] => [
		`${name} for .env`,
		{ [name]: discordToken, "config.toml": botName },
		[`.env: the file does not exist; rename ${name} to .env`, ".env: DISCORD_TOKEN: is required"],
	]),
	[
		"config.toml.txt for config.toml",
		{ ".env": discordToken, "config.toml.txt": botName },
		["config.toml: the file does not exist; rename config.toml.txt to config.toml"],
	],
];

test.each(inFiles)("files with %s", (_, files, expected) => {
	expect(issuesOf(() => read(files))).toEqual(expected);
});

test.each([
	[
		"instances/example/config.toml",
		'there is no directory "instances/example/config.toml"; did you mean instances/example?',
	],
	["example", 'there is no directory "example"; did you mean instances/example?'],
])("CONFIG_DIR=%s", (CONFIG_DIR, expected) => {
	expect(() => readConfig({ CONFIG_DIR }, deniableTools)).toThrow(`CONFIG_DIR: ${expected}`);
});

test("of several lines of .env with one name the last counts", () => {
	const env = "GUILD_ID=none\nGUILD_ID=123456789012345678";
	expect(issuesIn("", env)).toEqual([]);
	expect(issuesIn("", `${env}\nGUILD_ID=none`)).not.toEqual([]);
});

test("a placeholder in the environment is reported as one of the environment", () => {
	const [issue] = issuesIn("", "DISCORD_TOKEN=", { DISCORD_TOKEN: "your-bot-token" });
	expect(issue).toStartWith("the environment: DISCORD_TOKEN: is still the placeholder");
});

test("a variable of the environment that is nearly the one that is missing is named", () => {
	const [issue] = issuesIn("", "DISCORD_TOKEN=", { DISCORD_TOKN: "hunter2" });
	expect(issue).toBe(".env: DISCORD_TOKEN: is required; DISCORD_TOKN is set: is it meant to be this one?");
});

test("a key that a provider of config.toml asks for is no mistake, however near another name is", () => {
	const own = '[ai.providers.opnai]\nurl = "https://ai.example/v1"\nmodel = "m"\napi_key_env = "OPNAI_API_KEY"';
	expect(issuesIn(own, "OPNAI_API_KEY=k")).toEqual([]);
	expect(issuesIn("", "MY_OWN_API_KEY=k")).toEqual([]);
});

test("a name that is the key itself is not shown, nor suggested", () => {
	const issues = issuesIn(`[ai.providers.openai]\napi_key_env = "${secret}"`, "OPENAI_API_KEYS=k");
	expect(issues.join()).not.toContain("hunter2");
	expect(issues).toHaveLength(2);
});
