// Reads the configuration of an instance from its directory and the environment.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { aiIssues, keyVariables } from "../../ai/providers.ts";
import { apiKeyPattern } from "../../ai/settings.ts";
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
import { readLogOptions } from "../../lib/log.ts";
import type { HealthAddress } from "../../lib/program/health.ts";
import { runs } from "../../lib/program/program.ts";
import { storeIssues } from "../store/store.ts";
import { describePlaceholder, whatBelongs } from "./example.ts";
import { address, environment, type TomlSettings, toml, variables } from "./settings.ts";
import { readToml, type TomlValues, withoutPlaceholders } from "./toml.ts";
import { toolNameIssues } from "./tool-choice.ts";

export type BotConfig = ReturnType<typeof readConfig>;

type Env = Record<string, string | undefined>;

const maxPersonalityBytes = 64 * 1024;

export const withoutToken = "MCP_AUTH_TOKEN is not set: every program on this machine can call the bot's tools";

export const idleApproval =
	"no call needs approval: without MCP_AUTH_TOKEN all callers count as its holder, who is exempt unless mcp.approval_for_root is true";

/** Without MCP_AUTH_TOKEN every caller counts as the holder of this token, whose calls need no approval. */
export function hasIdleApproval({ toml: { mcp }, mcpToken }: Pick<BotConfig, "toml" | "mcpToken">): boolean {
	return mcp.approval !== "off" && !mcp.approval_for_root && mcpToken === undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

const howToCreate = `${runs("new-instance")} <name> makes one`;

/**
 * Variables in `env` override .env. `tools`: all that `mcp.tools.deny` can name. Throws a ConfigError with all
 * errors.
 */
export function readConfig(env: Env, tools: readonly { name: string }[]) {
	const directory = env.CONFIG_DIR?.trim();
	if (!directory)
		throw new ConfigError("the environment", [
			`CONFIG_DIR: is required; set it to the directory of this instance, which contains .env and config.toml; ${howToCreate}`,
		]);
	if (!isDirectory(directory))
		throw new ConfigError("the environment", [
			`CONFIG_DIR: there is no directory ${JSON.stringify(directory)}${suggestDirectory(directory)}`,
		]);

	const { apiKeys, settings, ...variables } = readVariables(directory, env);
	const file = readTomlFile(join(directory, "config.toml"), (values) => [
		...aiIssues(values, apiKeys),
		...toolNameIssues(values, tools),
	]);
	const issues = variables.issuesBeside(keyVariables(file.values));
	const personality = readPersonality(directory, file.values.personality_file);
	const guildId = settings?.GUILD_ID;
	const isOff = guildId !== undefined && file.settings?.mcp.guilds?.includes(guildId) === false;
	const unmet = isOff ? [{ path: ["GUILD_ID"], message: "is not among mcp.guilds, so no tool may touch it" }] : [];
	const all = [
		...issues,
		...variables.named(unmet),
		...[...file.issues, ...personality.issues].map((issue) => `config.toml: ${issue}`),
	];
	if (!file.settings || !settings || all.length > 0) throw new ConfigError(directory, all);
	const { command_prefix, command_root } = file.settings;
	return {
		directory,
		botName: file.settings.bot_name,
		command: command_prefix + (command_root ?? (/\p{L}$/u.test(command_prefix) ? "" : "m")),
		personality: personality.text,
		timezone: file.settings.timezone,
		discordToken: settings.DISCORD_TOKEN,
		clientId: settings.CLIENT_ID,
		shards: settings.SHARDS,
		/** Without the version, such as https://discord.com/api. */
		discordApiUrl: settings.DISCORD_API_URL,
		/** Such as https://cdn.discordapp.com. */
		discordCdnUrl: settings.DISCORD_CDN_URL,
		/** For tool calls without `guild_id`. */
		guildId: settings.GUILD_ID,
		/** With password; undefined for SQLite. */
		databaseUrl: settings.DATABASE_URL,
		dbSchema: settings.DB_SCHEMA,
		dataDirectory: settings.DATA_DIR ?? join(directory, "data"),
		mcpPort: settings.MCP_PORT,
		mcpBindAddress: settings.MCP_BIND_ADDR,
		/** If undefined, any program on this machine can call the tools. */
		mcpToken: settings.MCP_AUTH_TOKEN,
		allowedHosts: settings.MCP_ALLOWED_HOSTS ?? [],
		/** Of web pages that may send requests. */
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		gameVerifyUrl: settings.GAME_VERIFY_URL,
		gameVerifySecret: settings.GAME_VERIFY_SECRET,
		apiKeys,
		toml: file.settings,
		log: readLogOptions(settings),
	};
}

/** CONFIG_DIR is optional. Throws a ConfigError if a variable of the address is invalid. */
export function readHealthAddress(env: Env): HealthAddress {
	const directory = env.CONFIG_DIR?.trim();
	const { all, file } = mergeVariables(directory, env);
	const { settings, issues } = parseSettings(v.object(address), all);
	const source = directory ?? "the environment";
	if (!settings || file.issues.length > 0) throw new ConfigError(source, [...file.issues, ...issues]);
	return {
		hostname: settings.MCP_BIND_ADDR,
		port: settings.MCP_PORT,
		// The path that the gateway probes.
		path: "/mcp",
		portSetting: "MCP_PORT",
	};
}

function readVariables(directory: string, env: Env) {
	const { file, raw, all, sourceOf } = mergeVariables(directory, env);
	const { settings, issues } = checkSettings(environment, all);
	const known = Object.keys(variables);
	const missing = nameNearMisses(issues, trimEnv(env), known).map((issue) => nameLine(issue, file.text));
	const apiKeys = Object.fromEntries(Object.entries(all).filter(([key]) => apiKeyPattern.test(key)));
	const keyIssues = checkSettings(v.record(v.string(), secret), apiKeys).issues;
	const { DATABASE_URL: databaseUrl, DB_SCHEMA: schema } = all;
	const storage = storeIssues({ databaseUrl, schema });
	const named = (issues: readonly ConfigIssue[]) =>
		namePlaceholders(issues, raw, (...at) => describePlaceholder(".env", ...at)).map(({ path, message }) => {
			const next = file.text && message === "is required" ? whatBelongs(".env", path) : "";
			return `${sourceOf(path[0] ?? "")}: ${formatIssue({ path, message })}${next}`;
		});
	return {
		settings,
		apiKeys,
		named,
		issuesBeside: (keys: readonly string[]) => [
			...file.issues,
			...(file.isAbsent && missing.some(isMissing) ? [`.env: ${absent(join(directory, ".env"))}`] : []),
			...named([...missing, ...keyIssues]),
			...storage.map((issue) => `${sourceOf(issue.split(":", 1)[0] ?? "")}: ${issue}`),
			...unknownVariables(Object.keys(file.variables), keys),
		],
	};
}

function nameLine(issue: ConfigIssue, text: string): ConfigIssue {
	const { path, message } = issue;
	const [name = ""] = path;
	const names = new RegExp(`^(?!\\s*(?:export\\s+)?${name}\\s*[=:]).*\\b${name}\\b`);
	const line = text.split("\n").findIndex((line) => names.test(line)) + 1;
	if (message !== "is required" || line === 0) return issue;
	const next = `line ${line} names it and sets nothing: write ${name}=… there, with nothing before it`;
	return { path, message: `${message}; ${next}` };
}

const isMissing = ({ message }: ConfigIssue) => message.startsWith("is required");

function unknownVariables(names: readonly string[], keys: readonly string[]): string[] {
	const known = [...Object.keys(variables), ...keys];
	return names.flatMap((name) => {
		if (known.includes(name)) return [];
		const isKey = apiKeyPattern.test(name);
		const meant = didYouMean(name, isKey ? keys : known);
		// It may be the key of a provider that will be configured later.
		if (isKey && meant === "") return [];
		const what = isKey ? "is an API key that no AI provider in config.toml uses" : unknownKey;
		return [`.env: ${masked(name)}: ${what}${meant}`];
	});
}

function mergeVariables(directory: string | undefined, env: Env) {
	const file = readEnvFile(directory);
	const inFile = trimEnv(file.variables);
	const inProcess = trimEnv(env);
	const [ownValues, processValues] = [inFile, inProcess].map(withoutPlaceholders) as Record<string, string>[];
	const all = { ...ownValues, ...processValues };
	const raw = { ...inFile, ...inProcess, ...all };
	const sourceOf = (name: string) =>
		Object.hasOwn(inProcess, name) && inProcess[name] === raw[name] ? "the environment" : ".env";
	return { file, raw, all, sourceOf };
}

function readEnvFile(directory: string | undefined) {
	const path = directory && join(directory, ".env");
	const { text = "", issue, isAbsent } = path ? readText(path) : absentFile;
	return { variables: parseEnv(text), issues: issue === undefined ? [] : [`.env: ${issue}`], text, isAbsent };
}

function readTomlFile(
	path: string,
	check: (values: TomlValues) => ConfigIssue[],
): Parsed<TomlSettings> & { values: TomlValues } {
	const { text, issue } = readText(path);
	if (text !== undefined) return readToml(toml, text, check);
	return { settings: undefined, values: {}, issues: [issue ?? absent(path)] };
}

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

// Suggests a similar name, because some editors hide or add an extension.
function absent(path: string): string {
	const visible = path.replace(/\.(?=env$)/, "");
	const near = [`${path}.txt`, visible, `${visible}.txt`].find(existsSync);
	return `the file does not exist; ${near === undefined ? howToCreate : `rename ${basename(near)} to ${basename(path)}`}`;
}

interface FileText {
	text?: string | undefined;
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
				? "the file is not UTF-8 text; save it as UTF-8 in your editor"
				: `the file cannot be read (${code})`;
		return { issue, isAbsent: false };
	}
}

function suggestDirectory(path: string): string {
	const near = [dirname(path), join("instances", path)];
	const meant = near.find((candidate) => existsSync(join(candidate, "config.toml")));
	return meant === undefined ? "" : `; did you mean ${meant}?`;
}

function isDirectory(path: string): boolean {
	try {
		return statSync(path).isDirectory();
	} catch {
		return false;
	}
}
