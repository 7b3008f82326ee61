// The mistakes that are made most often, and what is said of each: what is wrong, what stands there, and what to do.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../../src/bot/config/config.ts";
import { deniableTools } from "../../../src/bot/features/index.ts";
import { ConfigError } from "../../../src/lib/config.ts";

const id = "123456789012345678";
const secret = "MTIz.hunter2";

type Files = Record<string, string | Uint8Array>;

/** The issues of an instance with these lines behind those that it cannot do without. */
function faultsOf(
	toml: string,
	env = "",
	fromProcess: Record<string, string> = {},
): readonly string[] {
	const token = /^DISCORD_TOKEN=/m.test(env) ? "" : "DISCORD_TOKEN=token\n";
	const files = {
		".env": `${token}${env}\n`,
		"config.toml": `bot_name = "Cook"\n${toml}\n`,
	};
	return faultsIn(files, fromProcess);
}

function faultsIn(
	files: Files,
	fromProcess: Record<string, string> = {},
): readonly string[] {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	try {
		for (const [name, content] of Object.entries(files))
			writeFileSync(join(directory, name), content);
		readConfig({ CONFIG_DIR: directory, ...fromProcess }, deniableTools);
		return [];
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		return error.issues;
	} finally {
		rmSync(directory, { recursive: true });
	}
}

/** In config.toml: the lines, what is said of them, and the number of the line that is shown. */
const inToml: [lines: string, said: string, line: number][] = [
	[
		'[mcp]\ntoolsets = ["thread"]',
		'mcp.toolsets: there is no toolset "thread"; did you mean threads?',
		3,
	],
	[
		'[mcp]\ntoolsets = ["core", 3]',
		"mcp.toolsets: there is no toolset 3; expected",
		3,
	],
	[
		'[mcp]\ntoolsets = "messages"',
		'mcp.toolsets: expected a list, received "messages"; put it in brackets: ["messages"]',
		3,
	],
	[
		'[mcp]\ntoolsets = ["all"]',
		'mcp.toolsets: expected "all" alone, without brackets: toolsets = "all"',
		3,
	],
	[
		'[mcp.tools]\ndeny = ["bann"]',
		'mcp.tools.deny: there is no tool "bann"; did you mean ban?',
		3,
	],
	[
		'[mcp.tools]\ndeny = ["ban_member"]',
		'mcp.tools.deny: there is no tool "ban_member"; it is another name of ban',
		3,
	],
	[
		'[mcp.tools]\ndeny = "ban"',
		'mcp.tools.deny: expected a list, received "ban"; put it in brackets: ["ban"]',
		3,
	],
	// TOML's own numbers end at 64 bits, and many readers' at 53: an id has up to 64.
	[
		`[mcp]\naudit_channel = ${id}`,
		`mcp.audit_channel: expected text, received ${id}; put it in quotation marks: "${id}"`,
		3,
	],
	[
		"[mcp]\naudit_channel = 1234567890123456789",
		'mcp.audit_channel: expected text, received 1234567890123456789; put it in quotation marks: "1234567890123456789"',
		3,
	],
	[
		"[mcp]\naudit_channel = 18446744073709551615",
		'put it in quotation marks: "18446744073709551615"',
		3,
	],
	[
		`[mcp]\nguilds = ["${id}", ${id}]`,
		`mcp.guilds.1: expected text, received ${id}; put it in quotation marks: "${id}"`,
		3,
	],
	[
		`[mcp]\nguilds = "${id}"`,
		`mcp.guilds: expected a list, received "${id}"; put it in brackets: ["${id}"]`,
		3,
	],
	[
		"[mcp]\naudit_channel = general",
		'mcp.audit_channel: expected a TOML value; put text in quotation marks: "general", received general',
		3,
	],
	[
		"timezone = Europe/Berlin # home",
		'timezone: expected a TOML value; put text in quotation marks: "Europe/Berlin", received Europe/Berlin',
		2,
	],
	[
		"command_prefix = !",
		'command_prefix: expected a TOML value; put text in quotation marks: "!"',
		2,
	],
	[
		"personality_file = The Cook.txt",
		'put text in quotation marks: "The Cook.txt"',
		2,
	],
	[
		"[auto_role]\nmin_age = 3d",
		'auto_role.min_age: expected a TOML value; put text in quotation marks: "3d"',
		3,
	],
	["command_prefix = 007", 'put text in quotation marks: "007"', 2],
	[
		"[mcp.tools]\ndeny = [ban, kick]",
		'mcp.tools.deny: expected a TOML value; put text in quotation marks: "ban", received ban',
		3,
	],
	[
		'[mcp.tools]\ndeny = [\n  "ban",\n  kick,\n]',
		'put text in quotation marks: "kick", received kick',
		5,
	],
	[
		"timezone = “UTC”",
		'timezone: expected straight quotation marks, such as "text", received “UTC”',
		2,
	],
	[
		"timezone = #UTC",
		"timezone: expected a value after =; # starts a comment, received #UTC",
		2,
	],
	[
		"timezone =",
		"timezone: expected a value after =; # starts a comment, received nothing",
		2,
	],
	[
		"[features]\nchat = True",
		"features.chat: expected true or false, in small letters: true, received True",
		3,
	],
	[
		"[features]\nchat = FALSE",
		"features.chat: expected true or false, in small letters: false, received FALSE",
		3,
	],
	[
		"[features]\nchat = yes",
		"features.chat: expected true or false, in small letters: true, received yes",
		3,
	],
	[
		"[features]\nchat = off # later",
		"features.chat: expected true or false, in small letters: false, received off",
		3,
	],
	[
		'[features]\nchat = "true"',
		'features.chat: expected true or false, received "true"; leave out the quotation marks',
		3,
	],
	[
		'[features]\nchat = "yes"',
		'features.chat: expected true or false, received "yes"',
		3,
	],
	[
		"[features]\nchat = 1",
		"features.chat: expected true or false, received 1",
		3,
	],
	[
		'[mcp]\naudit_days = "90"',
		'mcp.audit_days: expected a number, received "90"; leave out the quotation marks',
		3,
	],
	[
		"discord_token = hunter2",
		"discord_token: expected a TOML value; put text in quotation marks\n",
		2,
	],
	[
		"bot_name = Cook's bot",
		'bot_name: expected a TOML value; put text in quotation marks: "Cook\'s bot"',
		2,
	],
	// What is wrong with these is not the value.
	[
		"[features]\nchat = true\nchat = true",
		"Invalid TOML document: trying to redefine an already defined table or value; duplicate key: keep one of the two\n",
		4,
	],
	[
		"[mcp]\naudit_days = 90\n[mcp]\naudit_days = 90",
		"Invalid TOML document: trying to redefine an already defined table or value; duplicate key: keep one of the two\n",
		4,
	],
	[
		`[mcp]\nguilds = ["${id}" "${id}"]`,
		"Invalid TOML document: expected comma or end of structure; put a comma between the items of a list\n",
		3,
	],
	[`[mcp]\nguilds = ["${id}",\n[chat]`, 'a list between "[" and "]"\n', 4],
	[
		'timezone = "UTC',
		"a text ends in its line: the quotation mark at its end is missing\n",
		2,
	],
	[
		'personality_file = "C:\\Users\\cook.txt"',
		'within "…" write each backslash twice\n',
		2,
	],
	[
		'timezone: "UTC"',
		"a line is one of these: key = value, [section], # comment\n",
		2,
	],
	['timezone = "UTC";', "only a comment may follow a value\n", 2],
	['timezone = UTC"', "a text stands between two quotation marks", 2],
	[
		`[mcp]\naudit_channel = "<#${id}>"`,
		`mcp.audit_channel: expected an id of 17 to 20 digits, received "<#${id}>"; leave out all but ${id}\n`,
		3,
	],
	[
		'[ai]\nopenai_api_key = "hunter2"',
		"ai.openai_api_key: is not a known key here; secrets belong into .env\n",
		3,
	],
	[
		'timezone = "UTC\u200b"',
		'timezone: expected an IANA time zone such as "Europe/Berlin", received "UTC\\u200b"',
		2,
	],
	[
		'command_prefix = ""',
		'command_prefix: expected 1 to 10 characters without white space, received ""',
		2,
	],
	// Only the key was switched on, and not the section above it.
	[
		`[mcp]\n# [auto_role]\n\n# The role.\nto_role = "${id}"`,
		'mcp.to_role: belongs to [auto_role], which is still commented out: take away the "# " before that line, too',
		6,
	],
	[
		'[mcp]\n# [auto_role]\nto_role = "your-role-id"',
		"mcp.to_role: belongs to [auto_role], which is still commented out",
		4,
	],
	[
		'# [mcp.tools]\ndeny = ["ban"]',
		"deny: belongs to [mcp.tools], which is still commented out",
		3,
	],
	[
		`[game.donators.tiers]\n#[ auto_role ]\nto_role = "${id}"`,
		"game.donators.tiers.to_role: belongs to [auto_role], which is still commented out",
		4,
	],
	[
		`[mcp]\n# [game.donators.tiers]\ngold = "${id}"`,
		"mcp.gold: belongs to [game.donators.tiers], which is still commented out",
		4,
	],
	[
		'[ai]\n# [ai.providers.mine]\nurl = "https://ai.example/v1"',
		"ai.url: belongs to [ai.providers.mine], which is still commented out",
		4,
	],
	[
		"[features]\nauto_role = true\n# [auto_role]\n",
		'features.auto_role: is on, and its section [auto_role] is still commented out: take away the "# " before that line, and before its keys',
		3,
	],
	[
		"[features]\nkeep_days = 3",
		"features.keep_days: is not a known key here; it belongs to [chat]",
		3,
	],
	[
		'[mcp]\ntimezone = "UTC"',
		"mcp.timezone: is not a known key here; it belongs to the top of the file",
		3,
	],
	[
		'[auto_role]\nmin_messages = 1\nto_role = "your-role-id"',
		'auto_role.to_role: is still the placeholder "your-role-id". What belongs there: The id of the role they get.',
		4,
	],
	[
		`[game]\nchargeback = true\nrestricted_role = "${id}"\nstaff_channel = "${id}"\nstaff_roles = ["your-role-id"]`,
		'game.staff_roles: expected at least one role while chargeback is on; is still the placeholder "your-role-id". What belongs there: The ids of the roles',
		6,
	],
	[
		'[welcome]\nchannel = "your-own-words"',
		'welcome.channel: is still a placeholder: what begins "your-" counts as not filled in. What belongs there: The id of the channel',
		3,
	],
	[
		'[ai.providers.mine]\nurl = "https://ai.example/v1"\nmodel = "m"\napi_key_env = "MINE_API_KEY"',
		"ai.providers.mine.api_key_env: names MINE_API_KEY, which is not set: put the key into .env as MINE_API_KEY=…, or leave this line out where the provider wants no key",
		5,
	],
];

test.each(inToml)("config.toml with %j", (lines, said, line) => {
	const [issue = "", ...more] = faultsOf(lines);
	expect(issue).toContain(said);
	expect(issue).toContain(`\n    ${line}: `);
	expect(more).toEqual([]);
	expect(issue).not.toContain("hunter2");
});

test.each([
	// A header that was renamed, and its keys: they stand where they belong.
	'[ai.providers.new]\n# [ai.providers.old]\nurl = "https://ai.example/v1"\nmodel = "m"',
	"[mcp]\n# [chat]\naudit_days = 3\n[chat]\nkeep_days = 3",
	"# [auto_role]\n# to_role = 3\n[chat]\nkeep_days = 3",
	'# """\n# [chat]\n[features]\nchat = true',
	`[game.donators.tiers]\n# [chat]\ngold = "${id}"`,
	`# [auto_role]\n[game.donators.tiers]\nto_role = "${id}"`,
	'[mcp.tools]\ndeny = ["list_donators", "sync_donators", "ban"]',
])("config.toml with %j is in order", (lines) => {
	expect(faultsOf(lines)).toEqual([]);
});

/** In .env, or in the environment. */
const inEnv: [env: string, said: string][] = [
	[
		"OPENAI_KEY=hunter2",
		".env: OPENAI_KEY: is not a known key; did you mean OPENAI_API_KEY?",
	],
	[
		"ANTHROPIC_KEY=hunter2",
		".env: ANTHROPIC_KEY: is not a known key; did you mean ANTHROPIC_API_KEY?",
	],
	[
		"DEEPSEEK_APIKEY=hunter2",
		".env: DEEPSEEK_APIKEY: is not a known key; did you mean DEEPSEEK_API_KEY?",
	],
	[
		"OPENIA_API_KEY=hunter2",
		".env: OPENIA_API_KEY: is a key that no AI provider asks for; did you mean OPENAI_API_KEY?",
	],
	["GUILD=1", ".env: GUILD: is not a known key; did you mean GUILD_ID?"],
	[
		"MCP_TOKEN=hunter2",
		".env: MCP_TOKEN: is not a known key; did you mean MCP_AUTH_TOKEN?",
	],
	[
		"DATABASE=postgres://u:hunter2@h/d",
		".env: DATABASE: is not a known key; did you mean DATABASE_URL?",
	],
	[
		"LOG_LEVEL=warning",
		'.env: LOG_LEVEL: expected ("debug" | "info" | "warn" | "error"), received "warning"; did you mean warn?',
	],
	["LOG_LEVEL=inof", 'received "inof"; did you mean info?'],
	[
		'DISCORD_TOKEN="Bot hunter2"',
		'.env: DISCORD_TOKEN: expected visible ASCII without spaces; leave out "Bot " at its beginning',
	],
	[
		"MCP_AUTH_TOKEN=Bearer hunter2",
		'.env: MCP_AUTH_TOKEN: expected visible ASCII without spaces; leave out "Bearer " at its beginning',
	],
	[
		"DISCORD_TOKEN=“hunter2”",
		'.env: DISCORD_TOKEN: expected visible ASCII without spaces; leave out "“" at its beginning',
	],
	[
		"# DISCORD_TOKEN=hunter2\nDISCORD_TOKEN=",
		".env: DISCORD_TOKEN: is required; line 1 names it and sets nothing: write DISCORD_TOKEN=… there",
	],
	[
		"DISCORD_TOKEN=hunter2'",
		".env: DISCORD_TOKEN: expected no quotation marks; leave them out",
	],
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

test.each(inEnv)(".env with %j", (env, said) => {
	const [issue = "", ...more] = faultsOf("", env);
	expect(issue).toContain(said);
	expect(more).toEqual([]);
	expect(issue).not.toContain("hunter2");
});

const discordToken = "DISCORD_TOKEN=token\r\n";
const botName = 'bot_name = "Cook"\r\n';

/** With the mark for the order of bytes, as Windows calls "Unicode". */
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

const inFiles: [what: string, files: Files, said: string[]][] = [
	[
		"a mark for the order of bytes",
		{ ".env": `\ufeff${discordToken}`, "config.toml": `\ufeff${botName}` },
		[],
	],
	[
		"UTF-16",
		{ ".env": utf16(discordToken), "config.toml": utf16(botName) },
		[
			".env: it is not UTF-8 text; save it as UTF-8 in your editor",
			".env: DISCORD_TOKEN: is required",
			"config.toml: it is not UTF-8 text; save it as UTF-8 in your editor",
		],
	],
	[
		"no .env",
		{ "config.toml": botName },
		[
			".env: there is no such file; bun run bot --new-instance <name> makes one",
			".env: DISCORD_TOKEN: is required",
		],
	],
	...[".env.txt", "env", "env.txt"].map((name): (typeof inFiles)[number] => [
		`${name} for .env`,
		{ [name]: discordToken, "config.toml": botName },
		[
			`.env: there is no such file; ${name} is there: rename it`,
			".env: DISCORD_TOKEN: is required",
		],
	]),
	[
		"config.toml.txt for config.toml",
		{ ".env": discordToken, "config.toml.txt": botName },
		["config.toml: there is no such file; config.toml.txt is there: rename it"],
	],
];

test.each(inFiles)("files with %s", (_, files, said) => {
	expect(faultsIn(files)).toEqual(said);
});

test.each([
	[
		"instances/example/config.toml",
		'there is no directory "instances/example/config.toml"; did you mean instances/example?',
	],
	[
		"example",
		'there is no directory "example"; did you mean instances/example?',
	],
])("CONFIG_DIR=%s", (CONFIG_DIR, said) => {
	expect(() => readConfig({ CONFIG_DIR }, deniableTools)).toThrow(
		`CONFIG_DIR: ${said}`,
	);
});

test("of several lines of .env with one name the last counts", () => {
	const env = "GUILD_ID=none\nGUILD_ID=123456789012345678";
	expect(faultsOf("", env)).toEqual([]);
	expect(faultsOf("", `${env}\nGUILD_ID=none`)).not.toEqual([]);
});

test("a placeholder in the environment is told as one that stands there", () => {
	const [issue] = faultsOf("", "DISCORD_TOKEN=", {
		DISCORD_TOKEN: "your-bot-token",
	});
	expect(issue).toStartWith(
		"the environment: DISCORD_TOKEN: is still the placeholder",
	);
});

test("a variable of the environment that is nearly the one that is missing is named", () => {
	const [issue] = faultsOf("", "DISCORD_TOKEN=", { DISCORD_TOKN: "hunter2" });
	expect(issue).toBe(
		".env: DISCORD_TOKEN: is required; DISCORD_TOKN is set: is it meant to be this one?",
	);
});

test("a key that a provider of config.toml asks for is no mistake, however near another name is", () => {
	const own =
		'[ai.providers.opnai]\nurl = "https://ai.example/v1"\nmodel = "m"\napi_key_env = "OPNAI_API_KEY"';
	expect(faultsOf(own, "OPNAI_API_KEY=k")).toEqual([]);
	expect(faultsOf("", "MY_OWN_API_KEY=k")).toEqual([]);
});

test("a name that is the key itself is not shown, nor suggested", () => {
	const issues = faultsOf(
		`[ai.providers.openai]\napi_key_env = "${secret}"`,
		"OPENAI_API_KEYS=k",
	);
	expect(issues.join()).not.toContain("hunter2");
	expect(issues).toHaveLength(2);
});
