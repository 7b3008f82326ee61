// The settings of an instance: variables in .env and keys in config.toml. Descriptions are checked against the reference.

import * as v from "valibot";
import { aiSettings } from "../../ai/settings.ts";
import { baseUrl, formatValue, hostList, optional, originList, port, secret, text, whole } from "../../lib/config.ts";
import { logSettings } from "../../lib/log.ts";
import { isLoopbackAddress } from "../../mcp/access.ts";
import { listChoice, toolsetChoice } from "./tool-choice.ts";
import { durationFrom, flag, permissionName, snowflake, timezone, word } from "./values.ts";

// Docker does not strip quotation marks from variables.
const discordToken = v.pipe(secret, v.regex(/^[^"'`]+$/, "expected no quotation marks; leave them out"));

const discordApiUrl = v.pipe(
	baseUrl,
	v.check((url) => !/\/v\d+$/.test(url), "expected a URL without a version; leave out what follows /api"),
);

// As many as can log in within 24 hours: Discord allows 1,000 logins.
// https://discord.com/developers/docs/events/gateway#identifying
const maxShards = 900;

const shards = v.pipe(
	v.string(),
	v.check(
		(text) => text === "auto" || (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= maxShards),
		({ input }) => `expected auto or a whole number from 1 to ${maxShards}, received ${formatValue(input)}`,
	),
	v.transform((text) => (text === "auto" ? text : Number(text))),
);

export const address = {
	MCP_PORT: optional(port, "Port to listen on; 0 takes any free port", "9090"),
	MCP_BIND_ADDR: optional(v.string(), "Address to listen on", "127.0.0.1"),
};

export const variables = {
	DISCORD_TOKEN: v.pipe(discordToken, v.description("Token of the bot")),
	CLIENT_ID: optional(snowflake, "Id of the application"),
	GUILD_ID: optional(snowflake, "Guild for tool calls that name none; default: the only one"),
	SHARDS: optional(shards, "Number of shards among which Discord divides the bot's guilds, or auto", "1"),
	DISCORD_API_URL: optional(discordApiUrl, "URL of Discord's API without its version", "https://discord.com/api"),
	DISCORD_CDN_URL: optional(
		baseUrl,
		"URL of Discord's CDN, which has the pictures of emoji and guilds",
		"https://cdn.discordapp.com",
	),
	DATABASE_URL: v.pipe(
		v.optional(v.string()),
		v.description("PostgreSQL database, such as postgres://user:password@host:5432/database"),
		v.metadata({ default: "an SQLite file" }),
	),
	DB_SCHEMA: optional(v.string(), "Schema of this bot alone in that database; required with DATABASE_URL"),
	DATA_DIR: v.pipe(
		v.optional(v.string()),
		v.description("Directory of the SQLite file"),
		v.metadata({ default: "CONFIG_DIR/data" }),
	),
	...address,
	MCP_AUTH_TOKEN: optional(
		secret,
		"Bearer token that callers must send; required unless MCP_BIND_ADDR is a loopback address",
	),
	MCP_ALLOWED_HOSTS: optional(
		hostList,
		"Host names that callers may use besides the loopback names, separated by commas",
	),
	MCP_ALLOWED_ORIGINS: optional(
		originList,
		"Origins of web pages that may call it from a browser, separated by commas",
	),
	GAME_VERIFY_URL: optional(baseUrl, "URL of the game server's plugin"),
	GAME_VERIFY_SECRET: optional(secret, "Secret shared with the plugin"),
	...logSettings,
};

/** Those that `--help` lists. */
export const helpVariables = { ...variables, "<NAME>_API_KEY": optional(secret, "Keys of AI providers") };

export const environment = v.pipe(
	v.object(variables),
	v.forward(
		v.partialCheck(
			[["MCP_BIND_ADDR"], ["MCP_AUTH_TOKEN"]],
			({ MCP_BIND_ADDR, MCP_AUTH_TOKEN }) => isLoopbackAddress(MCP_BIND_ADDR) || MCP_AUTH_TOKEN !== undefined,
			"is required while MCP_BIND_ADDR can be reached from other machines",
		),
		["MCP_AUTH_TOKEN"],
	),
);

const intentNames = { GUILD_MEMBERS: "GuildMembers", MESSAGE_CONTENT: "MessageContent" } as const;

const intent = v.pipe(
	v.picklist(["GUILD_MEMBERS", "MESSAGE_CONTENT"]),
	v.transform((name) => intentNames[name]),
);

const approvalLevels = ["off", "destructive", "write"] as const;

export const toml = v.strictObject({
	bot_name: text(100),
	command_prefix: v.optional(word(1, 10), "!"),
	command_root: v.optional(word(0, 20)),
	commands: v.optional(v.picklist(["global", "guild", "off"]), "global"),
	personality_file: v.optional(text(500)),
	timezone: v.optional(timezone, "UTC"),
	intents: v.optional(v.array(intent), ["GUILD_MEMBERS", "MESSAGE_CONTENT"]),
	features: v.optional(v.strictObject({ game: flag(false), moderation: flag(true), chat: flag(false) }), {}),
	mcp: v.optional(
		v.strictObject({
			audit_days: v.optional(whole(1, 3_650), 90),
			audit_texts: flag(false),
			toolsets: v.optional(toolsetChoice),
			list: v.optional(listChoice),
			read_only: flag(false),
			guilds: v.optional(v.array(snowflake)),
			sign_in_permission: v.optional(permissionName, "MANAGE_GUILD"),
			approval: v.optional(v.picklist(approvalLevels), "off"),
			approval_by: v.optional(v.picklist(["discord", "client"]), "discord"),
			approval_for_root: flag(false),
			approval_self: flag(false),
			tools: v.optional(v.strictObject({ deny: v.optional(v.array(text(64)), []) }), {}),
		}),
		{},
	),
	backup: v.optional(
		v.strictObject({
			every: v.optional(durationFrom("1h", "30d"), "1d"),
			// With one, a backup made in the middle of a mass deletion would replace that from before.
			keep: v.optional(whole(2, 1_000), 14),
			alarm_deletions: v.optional(whole(0, 100), 5),
			alarm_window: v.optional(durationFrom("10s", "1h"), "1m"),
		}),
	),
	ai: v.optional(aiSettings, {}),
	chat: v.optional(v.strictObject({ keep_days: v.optional(whole(0, 3_650), 30) }), {}),
	game: v.optional(
		v.strictObject({
			guilds: v.optional(v.array(snowflake)),
			verify: flag(true),
			slash_commands: flag(false),
			delete_code_message: flag(false),
			check_interval: v.optional(whole(10, 86_400), 300),
		}),
		{},
	),
});

export type TomlSettings = v.InferOutput<typeof toml>;
