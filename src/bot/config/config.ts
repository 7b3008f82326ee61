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
import { readLogOptions } from "../../lib/log.ts";
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
import { readToml, type TomlValues, withoutPlaceholders } from "./toml.ts";
import { denyIssues, type NamedTool } from "./tool-choice.ts";

export type BotConfig = ReturnType<typeof readConfig>;

/** Environment variables. */
type Env = Record<string, string | undefined>;

/** Maximum size of a personality file: it is part of every request to a model. */
const maxPersonalityBytes = 64 * 1024;

/** Warning about a missing MCP_AUTH_TOKEN. */
export const withoutToken =
	"MCP_AUTH_TOKEN is not set: every program on this machine can call the tools";

const utf8 = new TextDecoder("utf-8", { fatal: true });

const howToCreate = `${runs("bot")} --new-instance <name> makes one`;

/** Reads CONFIG_DIR and `env`, which takes precedence over .env. `tools` are all deniable tools. Throws a ConfigError with all issues. */
export function readConfig(env: Env, tools: readonly NamedTool[]) {
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
	const all = [
		...issues,
		...variables.named(unmet),
		...[...file.issues, ...personality.issues].map(
			(issue) => `config.toml: ${issue}`,
		),
	];
	if (!file.settings || !settings || all.length > 0)
		throw new ConfigError(directory, all);
	const { command_prefix, command_root } = file.settings;
	return {
		/** The instance's directory. */
		directory,
		botName: file.settings.bot_name,
		/** Full prefix of chat commands, such as "!m". Without command_root, "m" is added unless it ends in a letter. */
		command:
			command_prefix +
			(command_root ?? (/\p{L}$/u.test(command_prefix) ? "" : "m")),
		/** System prompt of AI chat; undefined without a personality file. */
		personality: personality.text,
		/** IANA name. */
		timezone: file.settings.timezone,
		discordToken: settings.DISCORD_TOKEN,
		/** Application id. */
		clientId: settings.CLIENT_ID,
		/** Base URL of Discord's REST API, without its version. */
		discordApiUrl: settings.DISCORD_API_URL,
		/** Guild of tool calls without guild_id. */
		guildId: settings.GUILD_ID,
		/** PostgreSQL URL with password. Without it the store is an SQLite file. */
		databaseUrl: settings.DATABASE_URL,
		/** This instance's schema in that database. */
		dbSchema: settings.DB_SCHEMA,
		/** Directory of the SQLite file. */
		dataDirectory: settings.DATA_DIR ?? join(directory, "data"),
		mcpPort: settings.MCP_PORT,
		mcpBindAddress: settings.MCP_BIND_ADDR,
		/** Bearer token of the MCP server. Without it, any program on this machine can call the tools. */
		mcpToken: settings.MCP_AUTH_TOKEN,
		/** Host names that callers may use besides the loopback names. */
		allowedHosts: settings.MCP_ALLOWED_HOSTS ?? [],
		/** Origins of web pages that may call the bot. */
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		/** Channel for posts about tool calls that change something. */
		auditChannelId: file.settings.mcp.audit_channel,
		gameVerifyUrl: settings.GAME_VERIFY_URL,
		gameVerifySecret: settings.GAME_VERIFY_SECRET,
		/** API keys by variable, such as OPENAI_API_KEY. */
		apiKeys,
		/** config.toml with defaults. */
		toml: file.settings,
		log: readLogOptions(settings),
	};
}

/** The address of the bot's readiness probe. Validates only the variables of the address; CONFIG_DIR is optional. */
export function readHealthAddress(env: Env): HealthAddress {
	const directory = env.CONFIG_DIR?.trim();
	const { all, file } = mergeVariables(directory, env);
	const { settings, issues } = parseSettings(v.object(address), all);
	const source = directory ?? "the environment";
	if (!settings || file.issues.length > 0)
		throw new ConfigError(source, [...file.issues, ...issues]);
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
	toml,
}: Pick<BotConfig, "toml">): boolean {
	const { features, game } = toml;
	const hasCommands = features.game && (game?.verify ?? false);
	return hasCommands || features.moderation;
}

/** Issues of variables that config.toml requires. Verification without them replies to the user instead. */
function missingRequirements(
	{ features, game, mcp }: TomlSettings,
	settings: v.InferOutput<typeof environment>,
): ConfigIssue[] {
	const issues: ConfigIssue[] = [];
	const { GUILD_ID } = settings;
	if (GUILD_ID !== undefined && mcp.guilds?.includes(GUILD_ID) === false) {
		const message = "is not among mcp.guilds, so no tool may touch it";
		issues.push({ path: ["GUILD_ID"], message });
	}
	const message =
		"is required while game.donator_sync or game.chargeback is on";
	if (features.game && (game?.donator_sync || game?.chargeback))
		for (const name of ["GAME_VERIFY_URL", "GAME_VERIFY_SECRET"] as const)
			if (settings[name] === undefined) issues.push({ path: [name], message });
	return issues;
}

/** Reads the variables of .env and the environment, which takes precedence. Each issue names its source. */
function readVariables(directory: string, env: Env) {
	const { file, raw, all, sourceOf } = mergeVariables(directory, env);
	const { settings, issues } = checkSettings(environment, all);
	const known = Object.keys(variables);
	const missing = nameNearMisses(issues, trimEnv(env), known).map((issue) =>
		nameLine(issue, file.text),
	);
	const apiKeys = Object.fromEntries(
		Object.entries(all).filter(([key]) => apiKeyPattern.test(key)),
	);
	const keyIssues = checkSettings(v.record(v.string(), secret), apiKeys).issues;
	const { DATABASE_URL: databaseUrl, DB_SCHEMA: schema } = all;
	const storage = storeIssues({ databaseUrl, schema });
	/** Formats issues, each with the source of its value. */
	const named = (issues: readonly ConfigIssue[]) =>
		namePlaceholders(issues, raw, (...at) =>
			describePlaceholder(".env", ...at),
		).map((issue) => `${sourceOf(issue.path[0] ?? "")}: ${formatIssue(issue)}`);
	return {
		settings,
		apiKeys,
		named,
		/** Returns all issues, given the key variables of AI providers. */
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
function nameLine(issue: ConfigIssue, text: string): ConfigIssue {
	const { path, message } = issue;
	const [name = ""] = path;
	const names = new RegExp(
		`^(?!\\s*(?:export\\s+)?${name}\\s*[=:]).*\\b${name}\\b`,
	);
	const line = text.split("\n").findIndex((line) => names.test(line)) + 1;
	if (message !== "is required" || line === 0) return issue;
	const next = `line ${line} names it and sets nothing: write ${name}=… there, with nothing before it`;
	return { path, message: `${message}; ${next}` };
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
function mergeVariables(directory: string | undefined, env: Env) {
	const file = readEnvFile(directory);
	const inFile = trimEnv(file.variables);
	const inProcess = trimEnv(env);
	const [ownValues, processValues] = [inFile, inProcess].map(
		withoutPlaceholders,
	) as Record<string, string>[];
	const all = { ...ownValues, ...processValues };
	const raw = { ...inFile, ...inProcess, ...all };
	const sourceOf = (name: string) =>
		Object.hasOwn(inProcess, name) && inProcess[name] === raw[name]
			? "the environment"
			: ".env";
	return { file, raw, all, sourceOf };
}

/** The variables in a directory's .env; none if it does not exist: the environment may have them all. */
function readEnvFile(directory: string | undefined) {
	const path = directory && join(directory, ".env");
	const { text = "", issue, isAbsent } = path ? readText(path) : absentFile;
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
	return { settings: undefined, values: {}, issues: [issue ?? absent(path)] };
}

/** Reads the configured personality file, or personality.txt if it exists. */
function readPersonality(directory: string, name: unknown) {
	const named = typeof name === "string";
	const path = resolve(directory, named ? name : "personality.txt");
	const { text, issue, isAbsent } = readText(path);
	const issues = [
		...(issue === undefined ? [] : [issue]),
		...(named && isAbsent ? ["there is no such file"] : []),
		...(Buffer.byteLength(text ?? "") > maxPersonalityBytes
			? [`is longer than ${maxPersonalityBytes / 1024} KiB`]
			: []),
	].map((wrong) => `personality_file: ${JSON.stringify(path)}: ${wrong}`);
	return { text, issues };
}

/** The issue of a missing file. Suggests similar names: some editors hide or add an extension. */
function absent(path: string): string {
	const visible = path.replace(/\.(?=env$)/, "");
	const near = [`${path}.txt`, visible, `${visible}.txt`].find(existsSync);
	return `there is no such file; ${near === undefined ? howToCreate : `${basename(near)} is there: rename it`}`;
}

interface FileText {
	text?: string | undefined;
	/** Why the file cannot be read. */
	issue?: string;
	isAbsent: boolean;
}

const absentFile: FileText = { isAbsent: true };

function readText(path: string): FileText {
	try {
		// The decoder removes a byte order mark.
		return { text: utf8.decode(readFileSync(path)), isAbsent: false };
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return absentFile;
		const issue =
			code === "ERR_ENCODING_INVALID_ENCODED_DATA"
				? "it is not UTF-8 text; save it as UTF-8 in your editor"
				: `it cannot be read (${code})`;
		return { issue, isAbsent: false };
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
