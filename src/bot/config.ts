// What an instance's directory and the environment may say.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse as parseToml } from "smol-toml";
import * as v from "valibot";
import {
	baseUrl,
	ConfigError,
	hostList,
	originList,
	parseSettings,
	port,
	trimEnv,
} from "../lib/config.ts";
import { type LogOptions, logSettings, readLogOptions } from "../lib/log.ts";
import { isLoopbackAddress } from "../mcp/access.ts";

export interface BotConfig {
	botName: string;
	/** What people begin a chat command with: prefix and root, such as "!m". */
	command: string;
	discordToken: string;
	/** Where Discord's REST API is, without its version. */
	discordApiUrl: string;
	/** The guild that a tool means when it is told none. */
	guildId: string | undefined;
	mcpPort: number;
	mcpBindAddress: string;
	/** Without one, anyone on this machine may call the tools. */
	mcpToken: string | undefined;
	/** The names that callers may use for this bot, beside the loopback's. */
	allowedHosts: readonly string[];
	/** Web pages from elsewhere that may call it. */
	allowedOrigins: readonly string[];
	log: LogOptions;
}

const snowflake = v.pipe(
	v.string(),
	v.regex(/^\d{17,20}$/, "expected an id of 17 to 20 digits"),
);

const environment = v.pipe(
	v.object({
		DISCORD_TOKEN: v.pipe(
			v.string(),
			v.regex(/^[\x21-\x7e]+$/, "expected visible ASCII without spaces"),
		),
		GUILD_ID: v.optional(snowflake),
		DISCORD_API_URL: v.optional(baseUrl, "https://discord.com/api"),
		MCP_PORT: v.optional(port, "9090"),
		MCP_BIND_ADDR: v.optional(v.string(), "127.0.0.1"),
		MCP_ALLOWED_HOSTS: v.optional(hostList),
		MCP_ALLOWED_ORIGINS: v.optional(originList),
		MCP_AUTH_TOKEN: v.optional(
			v.pipe(
				v.string(),
				v.regex(/^[\x21-\x7e]+$/, "expected visible ASCII without spaces"),
			),
		),
		...logSettings,
	}),
	v.forward(
		v.partialCheck(
			[["MCP_BIND_ADDR"], ["MCP_AUTH_TOKEN"]],
			({ MCP_BIND_ADDR, MCP_AUTH_TOKEN }) =>
				isLoopbackAddress(MCP_BIND_ADDR) || MCP_AUTH_TOKEN !== undefined,
			"is required while MCP_BIND_ADDR can be reached from other machines",
		),
		["MCP_AUTH_TOKEN"],
	),
);

/** One word, as people type it in chat. */
function word(min: number, max: number) {
	const fault = `expected ${min} to ${max} characters without white space`;
	return v.pipe(
		v.string(),
		v.minLength(min, fault),
		v.maxLength(max, fault),
		v.regex(/^\S*$/, fault),
	);
}

const toml = v.strictObject({
	bot_name: v.pipe(
		v.string(),
		v.minLength(1, "expected at least 1 character"),
		v.maxLength(100, "expected at most 100 characters"),
	),
	command_prefix: v.optional(word(1, 10), "!"),
	command_root: v.optional(word(0, 20), "m"),
});

/** The configuration in CONFIG_DIR and `env`; `env` wins over the directory's .env. Throws a ConfigError with every fault. */
export function readConfig(env: Record<string, string | undefined>): BotConfig {
	const directory = env.CONFIG_DIR?.trim();
	if (!directory)
		throw new ConfigError("the environment", [
			"CONFIG_DIR: is required: the directory of this instance, with .env and config.toml in it; instances/example is one to copy",
		]);
	if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
		throw new ConfigError("the environment", [
			`CONFIG_DIR: there is no directory ${JSON.stringify(directory)}`,
		]);

	const file = readToml(join(directory, "config.toml"));
	const envFile = readEnvFile(join(directory, ".env"));
	const variables = parseSettings(environment, {
		...withoutPlaceholders(trimEnv(envFile.variables)),
		...withoutPlaceholders(trimEnv(env)),
	});
	if (!file.settings || !variables.settings || envFile.faults.length > 0)
		throw new ConfigError(directory, [
			...envFile.faults.map((fault) => `.env: ${fault}`),
			...variables.faults.map((fault) => `.env: ${fault}`),
			...file.faults.map((fault) => `config.toml: ${fault}`),
		]);
	const settings = variables.settings;
	return {
		botName: file.settings.bot_name,
		command: file.settings.command_prefix + file.settings.command_root,
		discordToken: settings.DISCORD_TOKEN,
		discordApiUrl: settings.DISCORD_API_URL,
		guildId: settings.GUILD_ID,
		mcpPort: settings.MCP_PORT,
		mcpBindAddress: settings.MCP_BIND_ADDR,
		mcpToken: settings.MCP_AUTH_TOKEN,
		allowedHosts: settings.MCP_ALLOWED_HOSTS ?? [],
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		log: readLogOptions(settings),
	};
}

/** A value that begins `your-` was never filled in. */
function withoutPlaceholders(env: Record<string, string>) {
	return Object.fromEntries(
		Object.entries(env).filter(([, value]) => !value.startsWith("your-")),
	);
}

/** The variables in a file; none where there is no file, for then the environment has them all. */
function readEnvFile(path: string): {
	variables: Record<string, string | undefined>;
	faults: string[];
} {
	if (!existsSync(path)) return { variables: {}, faults: [] };
	try {
		return { variables: parseEnv(readFileSync(path, "utf8")), faults: [] };
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return { variables: {}, faults: [`it cannot be read (${code})`] };
	}
}

function readToml(path: string) {
	if (!existsSync(path))
		return {
			settings: undefined,
			faults: ["there is no such file; instances/example has one to copy"],
		};
	try {
		return parseSettings(toml, parseToml(readFileSync(path, "utf8")));
	} catch (error) {
		// The parser shows the line, with a caret under the fault.
		const fault = error instanceof Error ? error.message : String(error);
		return { settings: undefined, faults: [fault.trimEnd()] };
	}
}
