// Reads the configuration of an instance from its directory and the environment.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import * as v from "valibot";
import {
	ConfigError,
	type ConfigIssue,
	checkSettings,
	didYouMean,
	formatIssue,
	isPlaceholder,
	masked,
	nameNearMisses,
	namePlaceholders,
	type Parsed,
	parseSettings,
	secret,
	trimEnv,
	unknownKey,
} from "../../lib/config.ts";
import type { HealthAddress } from "../../lib/health.ts";
import { type LogOptions, readLogOptions } from "../../lib/log.ts";
import { runs } from "../../lib/program.ts";
import { storeIssues } from "../store/settings.ts";
import { aiIssues, apiKeyPattern, keyVariables } from "./ai-providers.ts";
import { describePlaceholder } from "./example.ts";
import {
	address,
	environment,
	missingSections,
	type TomlSettings,
	toml,
	variables,
} from "./settings.ts";
import { readToml, type TomlValues } from "./toml.ts";
import { denyIssues, type NamedTool } from "./tool-choice.ts";

export interface BotConfig {
	/** The instance's directory. */
	directory: string;
	botName: string;
	/** Full prefix of chat commands, such as "!m". */
	command: string;
	/** System prompt of AI chat; undefined without a personality file. */
	personality: string | undefined;
	/** IANA name. */
	timezone: string;
	discordToken: string;
	/** Application id. */
	clientId: string | undefined;
	/** Base URL of Discord's REST API, without its version. */
	discordApiUrl: string;
	/** Guild of tool calls without guild_id. */
	guildId: string | undefined;
	/** PostgreSQL URL with password. Without it the store is an SQLite file. */
	databaseUrl: string | undefined;
	/** This instance's schema in that database. */
	dbSchema: string | undefined;
	/** Directory of the SQLite file. */
	dataDirectory: string;
	mcpPort: number;
	mcpBindAddress: string;
	/** Without it, any program on this machine can call the tools. */
	mcpToken: string | undefined;
	/** Host names that callers may use besides the loopback names. */
	allowedHosts: readonly string[];
	/** Origins of web pages that may call the bot. */
	allowedOrigins: readonly string[];
	/** Channel for posts about tool calls that change something. */
	auditChannelId: string | undefined;
	/** Days that tool calls are kept. */
	auditDays: number;
	gameVerifyUrl: string | undefined;
	gameVerifySecret: string | undefined;
	/** By variable, such as OPENAI_API_KEY. */
	apiKeys: Readonly<Record<string, string>>;
	/** config.toml with defaults. */
	toml: TomlSettings;
	log: LogOptions;
}

/** Maximum size of a personality file: it is part of every request to a model. */
const maxPersonalityBytes = 64 * 1024;

/** Warning about a missing MCP_AUTH_TOKEN. */
export const withoutToken =
	"MCP_AUTH_TOKEN is not set: every program on this machine can call the tools";

const utf8 = new TextDecoder("utf-8", { fatal: true });

const howToCreate = `${runs("bot")} --new-instance <name> makes one`;

/** Reads CONFIG_DIR and `env`, which takes precedence over .env. `tools` are all deniable tools. Throws a ConfigError with all issues. */
export function readConfig(
	env: Record<string, string | undefined>,
	tools: readonly NamedTool[],
): BotConfig {
	const directory = env.CONFIG_DIR?.trim();
	if (!directory)
		throw new ConfigError("the environment", [
			`CONFIG_DIR: is required: the directory of this instance, with .env and config.toml in it; ${howToCreate}`,
		]);
	if (!isDirectory(directory))
		throw new ConfigError("the environment", [
			`CONFIG_DIR: there is no directory ${JSON.stringify(directory)}${suggestDirectory(directory)}`,
		]);

	const { apiKeys, settings, ...variables } = readVariables(directory, env);
	const file = readTomlFile(join(directory, "config.toml"), (values, off) => [
		...missingSections(values, off),
		...aiIssues(values, apiKeys),
		...denyIssues(values, tools),
	]);
	const issues = variables.issuesBeside(keyVariables(file.values));
	const personality = readPersonality(directory, file.values.personality_file);
	const unmet =
		file.settings && settings
			? missingRequirements(file.settings, settings)
			: [];
	if (
		!file.settings ||
		!settings ||
		issues.length + personality.issues.length + unmet.length > 0
	)
		throw new ConfigError(directory, [
			...issues,
			...variables.named(unmet),
			...[...file.issues, ...personality.issues].map(
				(issue) => `config.toml: ${issue}`,
			),
		]);
	const { command_prefix, command_root } = file.settings;
	return {
		directory,
		botName: file.settings.bot_name,
		// A prefix that ends in a letter, such as "!m", needs no root.
		command:
			command_prefix +
			(command_root ?? (/\p{L}$/u.test(command_prefix) ? "" : "m")),
		personality: personality.text,
		timezone: file.settings.timezone,
		discordToken: settings.DISCORD_TOKEN,
		clientId: settings.CLIENT_ID,
		discordApiUrl: settings.DISCORD_API_URL,
		guildId: settings.GUILD_ID,
		databaseUrl: settings.DATABASE_URL,
		dbSchema: settings.DB_SCHEMA,
		dataDirectory: settings.DATA_DIR ?? join(directory, "data"),
		mcpPort: settings.MCP_PORT,
		mcpBindAddress: settings.MCP_BIND_ADDR,
		mcpToken: settings.MCP_AUTH_TOKEN,
		allowedHosts: settings.MCP_ALLOWED_HOSTS ?? [],
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		auditChannelId: file.settings.mcp.audit_channel,
		auditDays: file.settings.mcp.audit_days,
		gameVerifyUrl: settings.GAME_VERIFY_URL,
		gameVerifySecret: settings.GAME_VERIFY_SECRET,
		apiKeys,
		toml: file.settings,
		log: readLogOptions(settings),
	};
}

/**
 * The address of the bot's readiness probe. Reads and validates only the variables of the address. Works without
 * CONFIG_DIR.
 */
export function readHealthAddress(
	env: Record<string, string | undefined>,
): HealthAddress {
	const directory = env.CONFIG_DIR?.trim();
	const { all, file } = mergeVariables(directory, env);
	const { settings, issues } = parseSettings(v.object(address), all);
	if (!settings || file.issues.length > 0)
		throw new ConfigError(directory ?? "the environment", [
			...file.issues,
			...issues,
		]);
	return {
		hostname: settings.MCP_BIND_ADDR,
		port: settings.MCP_PORT,
		// The path that the gateway probes.
		path: "/mcp",
		portSetting: "MCP_PORT",
	};
}

/** Whether the bot needs the Message Content intent. */
export function needsMessageContent({
	toml: { features, game },
}: Pick<BotConfig, "toml">): boolean {
	const hasCommands = features.game && (game?.verify ?? false);
	return hasCommands || features.moderation;
}

/** Issues of variables that config.toml requires. Verification without them replies to the user instead. */
function missingRequirements(
	{ features, game, mcp }: TomlSettings,
	settings: v.InferOutput<typeof environment>,
): ConfigIssue[] {
	const { GUILD_ID } = settings;
	const message = "is not among mcp.guilds, so no tool may touch it";
	const outside =
		GUILD_ID !== undefined && mcp.guilds?.includes(GUILD_ID) === false
			? [{ path: ["GUILD_ID"], message }]
			: [];
	return [...outside, ...missingForGame({ features, game }, settings)];
}

function missingForGame(
	{ features, game }: Pick<TomlSettings, "features" | "game">,
	settings: v.InferOutput<typeof environment>,
): ConfigIssue[] {
	if (!features.game || !(game?.donator_sync || game?.chargeback)) return [];
	const names = ["GAME_VERIFY_URL", "GAME_VERIFY_SECRET"] as const;
	return names
		.filter((name) => settings[name] === undefined)
		.map((name) => ({
			path: [name],
			message: "is required while game.donator_sync or game.chargeback is on",
		}));
}

/** Reads the variables of .env and the environment, which takes precedence. Each issue names its source. */
function readVariables(
	directory: string,
	env: Record<string, string | undefined>,
) {
	const { file, raw, all, sourceOf } = mergeVariables(directory, env);
	const { settings, issues } = checkSettings(environment, all);
	const missing = nameNearMisses(
		issues,
		trimEnv(env),
		Object.keys(variables),
	).map((issue) => nameLine(issue, file.text));
	const apiKeys = Object.fromEntries(
		Object.entries(all).filter(([key]) => apiKeyPattern.test(key)),
	);
	const keyIssues = checkSettings(v.record(v.string(), secret), apiKeys).issues;
	const storage = storeIssues({
		databaseUrl: all.DATABASE_URL,
		schema: all.DB_SCHEMA,
	});
	/** Formats issues, each with the source of its value. */
	const named = (issues: readonly ConfigIssue[]) =>
		namePlaceholders(issues, raw, (...at) =>
			describePlaceholder(".env", ...at),
		).map((issue) => `${sourceOf(issue.path[0] ?? "")}: ${formatIssue(issue)}`);
	return {
		settings,
		apiKeys,
		named,
		/** All issues, given the key variables of AI providers. */
		issuesBeside: (keys: readonly string[]) => [
			...file.issues,
			...(file.isAbsent && missing.some(isMissing)
				? [`.env: ${absent(join(directory, ".env"))}`]
				: []),
			...named([...missing, ...keyIssues]),
			...storage.map(
				(issue) => `${sourceOf(issue.split(":", 1)[0] ?? "")}: ${issue}`,
			),
			...unknownVariables(Object.keys(file.variables), keys),
		],
	};
}

/** Adds to the issue of a missing variable the line of .env that names it without setting it. */
function nameLine({ path, message }: ConfigIssue, text: string): ConfigIssue {
	const [name = ""] = path;
	const names = new RegExp(
		`^(?!\\s*(?:export\\s+)?${name}\\s*[=:]).*\\b${name}\\b`,
	);
	const line = text.split("\n").findIndex((line) => names.test(line)) + 1;
	const isNamed = message === "is required" && line > 0;
	return {
		path,
		message: isNamed
			? `${message}; line ${line} names it and sets nothing: write ${name}=… there, with nothing before it`
			: message,
	};
}

const isMissing = ({ message }: ConfigIssue) =>
	message.startsWith("is required");

/** Issues of unknown variables in .env. `keys` are the key variables of AI providers. */
function unknownVariables(
	names: readonly string[],
	keys: readonly string[],
): string[] {
	const known = [...Object.keys(variables), ...keys];
	return names.flatMap((name) => {
		if (known.includes(name)) return [];
		const isKey = apiKeyPattern.test(name);
		const meant = didYouMean(name, isKey ? keys : known);
		// It may be the key of a provider that will be configured later.
		if (isKey && meant === "") return [];
		const what = isKey ? "is a key that no AI provider asks for" : unknownKey;
		return [`.env: ${masked(name)}: ${what}${meant}`];
	});
}

/** Merges a directory's .env with the environment. `raw` includes placeholders. */
function mergeVariables(
	directory: string | undefined,
	env: Record<string, string | undefined>,
) {
	const file = directory
		? readEnvFile(join(directory, ".env"))
		: { variables: {}, issues: [], text: "", isAbsent: true };
	const inFile = trimEnv(file.variables);
	const inProcess = trimEnv(env);
	const all = {
		...withoutPlaceholders(inFile),
		...withoutPlaceholders(inProcess),
	};
	const raw = { ...inFile, ...inProcess, ...all };
	const sourceOf = (name: string) =>
		Object.hasOwn(inProcess, name) && inProcess[name] === raw[name]
			? "the environment"
			: ".env";
	return { file, raw, all, sourceOf };
}

/** Drops values that are still placeholders of the example. */
function withoutPlaceholders(env: Record<string, string>) {
	return Object.fromEntries(
		Object.entries(env).filter(([, value]) => !isPlaceholder(value)),
	);
}

/** The variables in a file; none if it does not exist: the environment may have them all. */
function readEnvFile(path: string): {
	variables: Record<string, string | undefined>;
	issues: string[];
	text: string;
	isAbsent: boolean;
} {
	const { text = "", issue, isAbsent = false } = readText(path);
	return {
		variables: parseEnv(text),
		issues: issue === undefined ? [] : [`.env: ${issue}`],
		text,
		isAbsent,
	};
}

function readTomlFile(
	path: string,
	check: (values: TomlValues, off: ReadonlySet<string>) => ConfigIssue[],
): Parsed<TomlSettings> & { values: TomlValues } {
	const { text, issue } = readText(path);
	if (text !== undefined) return readToml(toml, text, check);
	return {
		settings: undefined,
		values: {},
		issues: [issue ?? absent(path)],
	};
}

/** Reads the configured personality file, or personality.txt if it exists. */
function readPersonality(directory: string, name: unknown) {
	const named = typeof name === "string";
	const path = resolve(directory, named ? name : "personality.txt");
	const { text, issue } = readText(path);
	const missing =
		named && text === undefined ? "there is no such file" : undefined;
	const tooLong =
		Buffer.byteLength(text ?? "") > maxPersonalityBytes
			? `is longer than ${maxPersonalityBytes / 1024} KiB`
			: undefined;
	const wrong = issue ?? missing ?? tooLong;
	return {
		text,
		issues:
			wrong === undefined
				? []
				: [`personality_file: ${JSON.stringify(path)}: ${wrong}`],
	};
}

/** The issue of a missing file. Suggests similar names: some editors hide or add an extension. */
function absent(path: string): string {
	const visible = path.replace(/\.(?=env$)/, "");
	const near = [`${path}.txt`, visible, `${visible}.txt`].find(existsSync);
	return `there is no such file; ${near === undefined ? howToCreate : `${basename(near)} is there: rename it`}`;
}

/** The text of a file, or why it cannot be read. */
function readText(path: string): {
	text?: string | undefined;
	issue?: string | undefined;
	isAbsent?: boolean;
} {
	try {
		// The decoder removes a byte order mark.
		return { text: utf8.decode(readFileSync(path)) };
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
			return { issue: "it is not UTF-8 text; save it as UTF-8 in your editor" };
		return code === "ENOENT"
			? { isAbsent: true }
			: { issue: unreadable(error) };
	}
}

/** "; did you mean …?" if a similar path is the directory of an instance. */
function suggestDirectory(path: string): string {
	const near = [dirname(path), join("instances", path)];
	const meant = near.find((candidate) =>
		existsSync(join(candidate, "config.toml")),
	);
	return meant === undefined ? "" : `; did you mean ${meant}?`;
}

/** Whether this is a readable directory. */
function isDirectory(path: string): boolean {
	try {
		return statSync(path).isDirectory();
	} catch {
		return false;
	}
}

function unreadable(error: unknown): string {
	return `it cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
