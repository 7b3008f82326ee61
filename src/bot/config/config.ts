// What an instance's directory and the environment say, as one configuration.

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
	/** What people begin a chat command with: prefix and root, such as "!m". */
	command: string;
	/** The system prompt of AI chat; undefined where there is no personality file. */
	personality: string | undefined;
	/** IANA. */
	timezone: string;
	discordToken: string;
	/** The application's id. */
	clientId: string | undefined;
	/** Where Discord's REST API is, without its version. */
	discordApiUrl: string;
	/** The guild that a tool means when it is told none. */
	guildId: string | undefined;
	/** PostgreSQL's; it holds a password. Without it the store is an SQLite file. */
	databaseUrl: string | undefined;
	/** This instance's own in the database. */
	dbSchema: string | undefined;
	/** Where the SQLite file goes. */
	dataDirectory: string;
	mcpPort: number;
	mcpBindAddress: string;
	/** Without one, anyone on this machine may call the tools. */
	mcpToken: string | undefined;
	/** The names that callers may use for this bot, beside the loopback's. */
	allowedHosts: readonly string[];
	/** Web pages from elsewhere that may call it. */
	allowedOrigins: readonly string[];
	/** Where tool calls that change something are told of. */
	auditChannelId: string | undefined;
	/** How long tool calls are kept. */
	auditDays: number;
	gameVerifyUrl: string | undefined;
	gameVerifySecret: string | undefined;
	/** By variable, such as OPENAI_API_KEY. */
	apiKeys: Readonly<Record<string, string>>;
	/** config.toml as it stands, with its defaults. */
	toml: TomlSettings;
	log: LogOptions;
}

/** What a personality file may hold, in bytes: it is part of every request to a model. */
const maxPersonalityBytes = 64 * 1024;

/** What is said of a bot that has no MCP_AUTH_TOKEN. */
export const withoutToken =
	"MCP_AUTH_TOKEN is not set: every program on this machine can call the tools";

const utf8 = new TextDecoder("utf-8", { fatal: true });

const makesOne = `${runs("bot")} --new-instance <name> makes one`;

/** The configuration in CONFIG_DIR and `env`; `env` wins over the directory's .env. Throws a ConfigError with every issue. `tools` are those that may be denied, whatever is switched on. */
export function readConfig(
	env: Record<string, string | undefined>,
	tools: readonly NamedTool[],
): BotConfig {
	const directory = env.CONFIG_DIR?.trim();
	if (!directory)
		throw new ConfigError("the environment", [
			`CONFIG_DIR: is required: the directory of this instance, with .env and config.toml in it; ${makesOne}`,
		]);
	if (!isDirectory(directory))
		throw new ConfigError("the environment", [
			`CONFIG_DIR: there is no directory ${JSON.stringify(directory)}${meantDirectory(directory)}`,
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
		file.settings && settings ? unmetNeeds(file.settings, settings) : [];
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
		// "!m" is a prefix with its root in it.
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
 * Where the bot with this environment says whether it is ready. Of its directory and of `env` only what says where counts:
 * a ConfigError is about that alone. Without CONFIG_DIR the environment has it all.
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
		// What the gateway's own look at it asks for.
		path: "/mcp",
		portSetting: "MCP_PORT",
	};
}

/** Whether what people write has to be read, for which Discord wants a privileged intent. */
export function needsMessageContent({
	toml: { features, game },
}: Pick<BotConfig, "toml">): boolean {
	const hasCommands = features.game && (game?.verify ?? false);
	return hasCommands || features.moderation;
}

/** What config.toml switches on that needs a variable which is not set. Verification says so itself, to whoever asks. */
function unmetNeeds(
	{ features, game, mcp }: TomlSettings,
	settings: v.InferOutput<typeof environment>,
): ConfigIssue[] {
	const { GUILD_ID } = settings;
	const message = "is not among mcp.guilds, so no tool may touch it";
	const outside =
		GUILD_ID !== undefined && mcp.guilds?.includes(GUILD_ID) === false
			? [{ path: ["GUILD_ID"], message }]
			: [];
	return [...outside, ...unmetByGame({ features, game }, settings)];
}

function unmetByGame(
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

/** The variables of .env and of the environment, which wins. Each issue names where the value stands. */
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
	const ofKeys = checkSettings(v.record(v.string(), secret), apiKeys).issues;
	const storage = storeIssues({
		databaseUrl: all.DATABASE_URL,
		schema: all.DB_SCHEMA,
	});
	/** Faults as lines that begin with the file where each value stands. */
	const named = (issues: readonly ConfigIssue[]) =>
		namePlaceholders(issues, raw, (...at) =>
			describePlaceholder(".env", ...at),
		).map((issue) => `${sourceOf(issue.path[0] ?? "")}: ${formatIssue(issue)}`);
	return {
		settings,
		apiKeys,
		named,
		/** All of them, where these are the keys of AI providers that somebody asks for. */
		issuesBeside: (keys: readonly string[]) => [
			...file.issues,
			...(file.isAbsent && missing.some(isMissing)
				? [`.env: ${absent(join(directory, ".env"))}`]
				: []),
			...named([...missing, ...ofKeys]),
			...storage.map(
				(issue) => `${sourceOf(issue.split(":", 1)[0] ?? "")}: ${issue}`,
			),
			...unknownVariables(Object.keys(file.variables), keys),
		],
	};
}

/** The issue of a missing variable, with the line of .env that names it and sets nothing. */
function nameLine({ path, message }: ConfigIssue, text: string): ConfigIssue {
	const [name = ""] = path;
	const names = new RegExp(
		`^(?!\\s*(?:export\\s+)?${name}\\s*[=:]).*\\b${name}\\b`,
	);
	const line = text.split("\n").findIndex((one) => names.test(one)) + 1;
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

/** What of these variables in .env nobody reads; `keys` are those that AI providers ask for. */
function unknownVariables(
	names: readonly string[],
	keys: readonly string[],
): string[] {
	const known = [...Object.keys(variables), ...keys];
	return names.flatMap((name) => {
		if (known.includes(name)) return [];
		const isKey = apiKeyPattern.test(name);
		const meant = didYouMean(name, isKey ? keys : known);
		// Whatever looks like a key may be one that config.toml is going to name.
		if (isKey && meant === "") return [];
		const what = isKey ? "is a key that no AI provider asks for" : unknownKey;
		return [`.env: ${masked(name)}: ${what}${meant}`];
	});
}

/** The variables of a directory's .env, of the environment, and of both together; `raw` is with placeholders. */
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

/** A value that was copied from the example was never filled in. */
function withoutPlaceholders(env: Record<string, string>) {
	return Object.fromEntries(
		Object.entries(env).filter(([, value]) => !isPlaceholder(value)),
	);
}

/** The variables in a file; none where there is no file, for then the environment may have them all. */
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

/** The text of the personality file: the one that is named, or personality.txt where there is one. */
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

/** What is said of a file that is not there: some editors write another name than they show. */
function absent(path: string): string {
	const visible = path.replace(/\.(?=env$)/, "");
	const near = [`${path}.txt`, visible, `${visible}.txt`].find(existsSync);
	return `there is no such file; ${near === undefined ? makesOne : `${basename(near)} is there: rename it`}`;
}

/** The text of a file, or why it cannot be read; neither where there is no such file. */
function readText(path: string): {
	text?: string | undefined;
	issue?: string | undefined;
	isAbsent?: boolean;
} {
	try {
		// Some editors begin a file with a mark for the order of its bytes: it is left out.
		return { text: utf8.decode(readFileSync(path)) };
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
			return { issue: "it is no UTF-8 text; save it as UTF-8 in your editor" };
		return code === "ENOENT"
			? { isAbsent: true }
			: { issue: unreadable(error) };
	}
}

/** "; did you mean …?", where a directory near this path has files of an instance. */
function meantDirectory(path: string): string {
	const near = [dirname(path), join("instances", path)];
	const meant = near.find((one) => existsSync(join(one, "config.toml")));
	return meant === undefined ? "" : `; did you mean ${meant}?`;
}

/** Whether this is a directory that can be looked into. */
function isDirectory(path: string): boolean {
	try {
		return statSync(path).isDirectory();
	} catch {
		return false; // Whatever is wrong with it, it is none.
	}
}

function unreadable(error: unknown): string {
	return `it cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
