// Command line of new-instance, with a report on the next steps.

import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { ConfigError, isPlaceholder } from "../../lib/config.ts";
import { defaultInstances, installedInstances } from "../../lib/program/instances.ts";
import { build, completing, completions, runs, versionLine } from "../../lib/program/program.ts";
import { example } from "../config/example.ts";
import { toml } from "../config/settings.ts";
import { readToml } from "../config/toml.ts";
import { invitePermissions, inviteUrl } from "./invite.ts";
import { describeInstances, findGaps, makeInstance, type NewInstance, readInstances } from "./new-instance.ts";

const usage = () =>
	`Usage: ${runs("new-instance")} <name> [--directory <directory>] [--token-stdin] [--help] [--version]

Creates the directory of another bot from instances/example, with a port, a schema and a token. Overwrites nothing.
At a terminal, asks for the bot's token from Discord; the input is not shown.

  <name>         letters, digits, ".", "_" and "-", at most 40; the gateway will know the bot by it
  --directory    the directory of all instances (default: ${defaultInstances()})
  --token-stdin  read the bot's token (from Discord) from stdin, for example from a pipe`;

/** `text` goes to stdout if `code` is 0, otherwise to stderr. */
interface CommandResult {
	code: 0 | 1 | 2;
	text: string;
}

export interface NewInstanceOptions {
	name: string;
	/** Undefined: the default one. */
	directory?: string | undefined;
	tokenStdin?: boolean | undefined;
}

const options = {
	directory: { type: "string" },
	"token-stdin": { type: "boolean" },
	help: { type: "boolean", short: "h" },
	version: { type: "boolean" },
} as const;

/** Output and exit code for --help and --version (0), and for invalid arguments (2). */
export function parseNewInstance(args: readonly string[]): NewInstanceOptions | CommandResult {
	if (process.env[completing]) return { code: 0, text: completions(options) };
	try {
		const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
		if (values.help) return { code: 0, text: usage() };
		if (values.version) return { code: 0, text: versionLine() };
		const { directory, "token-stdin": tokenStdin } = values;
		const [name] = positionals;
		if (name === undefined || positionals.length > 1)
			throw new Error(`Expected exactly one argument, the name of the new instance, received ${positionals.length}.`);
		if (directory === "") throw new Error("Expected a directory after --directory.");
		return { name, directory, tokenStdin };
	} catch (error) {
		return { code: 2, text: `${(error as Error).message}\n\n${usage()}` };
	}
}

/** `directory` is relative to `cwd`. Returns the operator's next steps. */
export function newInstance(
	name: string,
	directory = defaultInstances(),
	cwd = process.cwd(),
	variables: Readonly<Record<string, string>> = {},
): CommandResult {
	const path = resolve(cwd, directory);
	try {
		const made = makeInstance(name, path, example, variables);
		const paragraphs = report(made, path, cwd).filter((lines) => lines.length > 0);
		const text = paragraphs.map((lines) => `${lines.join("\n")}\n`).join("\n");
		return { code: 0, text };
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		return { code: 1, text: error.message };
	}
}

export function exitWith({ code, text }: CommandResult): never {
	(code === 0 ? console.log : console.error)(text);
	process.exit(code);
}

function report(made: NewInstance, directory: string, cwd: string): string[][] {
	const instances = readInstances(directory);
	const { value, warnings } = describeInstances(instances);
	const path = pathFrom(cwd, made.path);
	const gaps = findGaps(made).map(({ file, line, key, comment }) => ({
		place: `  ${key} in ${join(path, file)}, line ${line}`,
		comment: comment.map((text) => `      ${text}`),
		isOptional: comment.some((text) => text.includes("Optional.")),
	}));
	const { required = [], optional = [] } = Object.groupBy(gaps, ({ isOptional }) =>
		isOptional ? "optional" : "required",
	);
	const prefix =
		instances.length > 1
			? [`  command_prefix in ${join(path, "config.toml")}, if another bot on the same Discord server has the same`]
			: [];
	return [
		[
			`Wrote ${path}: ${made.files.join(", ")}.`,
			`  MCP_PORT        ${made.port}`,
			`  DB_SCHEMA       ${made.schema}`,
			`  MCP_AUTH_TOKEN  ${describeToken(made, directory, path, cwd)}`,
		],
		...(directory === installedInstances
			? []
			: [
					[
						"For a gateway that you start without up, with all bots on this machine:",
						`INSTANCES=${value}`,
						...warnings.map((warning) => `Note: ${warning}`),
					],
				]),
		invitation(made.path),
		required.length > 0 ? ["Left to fill in:", ...required.flatMap(({ place, comment }) => [place, ...comment])] : [],
		["Optional:", ...optional.map(({ place }) => place), ...prefix],
		...nextSteps(path, directory, cwd),
	];
}

function describeToken({ tokenFrom }: NewInstance, directory: string, path: string, cwd: string): string {
	const source = tokenFrom === undefined ? "a new one" : `the one of ${pathFrom(cwd, join(directory, tokenFrom))}`;
	// The service gives all its programs the same.
	return directory === installedInstances
		? source
		: `${source}; it is in ${join(path, ".env")}, and the gateway needs the same`;
}

function nextSteps(path: string, directory: string, cwd: string): string[][] {
	if (directory === installedInstances)
		return [
			[
				"The service guildhall starts the bot now, or as soon as its DISCORD_TOKEN is filled in. Check all programs, as root:",
				"guildhall check",
			],
		];
	return [
		["Then check the bot:", `CONFIG_DIR=${quoted(path)} ${command("bot", cwd)} --check`],
		[
			"And start all bots and the gateway. If up is running already, it has noticed the new directory.",
			`${command("up", cwd)}${directory === resolve(cwd, defaultInstances()) ? "" : ` --directory ${quoted(pathFrom(cwd, directory))}`}`,
		],
	];
}

const unknownApplication = "CLIENT_ID is not set yet: replace CLIENT_ID in this link with the id of your application.";

function invitation(path: string): string[] {
	const read = (name: string) => readFileSync(join(path, name), "utf8");
	const { settings, issues } = readToml(toml, read("config.toml"));
	if (!settings) throw new ConfigError(join(path, "config.toml"), issues);
	const { CLIENT_ID } = parseEnv(read(".env"));
	const clientId = isPlaceholder(CLIENT_ID) ? undefined : CLIENT_ID;
	return [
		"To invite the bot to your Discord server, open:",
		inviteUrl(clientId ?? "CLIENT_ID", invitePermissions(settings)),
		...(clientId === undefined ? [unknownApplication] : []),
		"It asks for what the bot's tools and features need. You can leave out permissions there; a tool that needs one then says so.",
	];
}

// `bun run bot`, or with the path of this executable.
function command(program: "bot" | "up", cwd: string): string {
	if (!build) return runs(program);
	const path = pathFrom(cwd, process.execPath);
	return `${quoted(path.includes("/") ? path : `./${path}`)} ${program}`;
}

function pathFrom(cwd: string, path: string): string {
	const short = relative(cwd, path);
	const isOutside = short.startsWith("..") || isAbsolute(short);
	return isOutside || dirname(cwd) === cwd ? path : short;
}

function quoted(path: string): string {
	return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
