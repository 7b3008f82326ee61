// Command line of new-instance, with a report on the next steps.

import { readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { ConfigError, isPlaceholder } from "../../lib/config.ts";
import { build } from "../../lib/program/program.ts";
import { example } from "../config/example.ts";
import { toml } from "../config/settings.ts";
import { readToml } from "../config/toml.ts";
import { describeBits } from "../discord/permissions.ts";
import { invitePermissions, inviteUrl } from "./invite.ts";
import {
	describeInstances,
	findGaps,
	makeInstance,
	type NewInstance,
	readInstances,
} from "./new-instance.ts";

const usage = `Usage: bun run new-instance <name> [--directory <directory>] [--help]

Makes the directory of another bot, from instances/example, with a port, a schema and a token. It overwrites nothing.

  <name>       letters, digits, ".", "_" and "-", at most 40; the gateway will know the bot by it
  --directory  where the directories of all instances are (instances)`;

/**
 * What a command line program returns: its exit code, and text that goes to stdout if the code is 0, otherwise to
 * stderr.
 */
export interface CommandResult {
	code: 0 | 1 | 2;
	text: string;
}

/**
 * Runs the program `new-instance`, which creates the directory of another bot. Relative paths refer to `cwd`. Exit
 * code 2: invalid arguments; 1: other errors.
 */
export function newInstanceCommand(
	args: readonly string[],
	cwd: string,
): CommandResult {
	let name: string | undefined;
	let directory: string | undefined;
	try {
		const { values, positionals } = parseArgs({
			args: [...args],
			allowPositionals: true,
			options: {
				directory: { type: "string" },
				help: { type: "boolean", short: "h" },
			},
		});
		if (values.help) return { code: 0, text: usage };
		({ directory } = values);
		[name] = positionals;
		if (name === undefined || positionals.length > 1)
			throw new Error(
				`Expected exactly one argument, the name of the new instance, received ${positionals.length}.`,
			);
		if (directory === "")
			throw new Error("Expected a directory after --directory.");
	} catch (error) {
		return { code: 2, text: `${(error as Error).message}\n\n${usage}` };
	}
	return newInstance(name, directory, cwd);
}

/**
 * Creates the directory of a new bot called `name` in `directory`, which is relative to `cwd`. The text of the result
 * lists the operator's next steps.
 */
export function newInstance(
	name: string,
	directory = "instances",
	cwd = process.cwd(),
): CommandResult {
	const path = resolve(cwd, directory);
	try {
		const made = makeInstance(name, path, example);
		const paragraphs = report(made, path, cwd);
		const text = paragraphs.map((lines) => `${lines.join("\n")}\n`).join("\n");
		return { code: 0, text };
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		return { code: 1, text: error.message };
	}
}

/** Prints the result of a command line program and exits the process with its code. */
export function exitWith({ code, text }: CommandResult): never {
	(code === 0 ? console.log : console.error)(text);
	process.exit(code);
}

/**
 * Returns the report on a new bot directory as paragraphs, which are lists of lines. The report does not contain the
 * new bot's token.
 */
function report(made: NewInstance, directory: string, cwd: string): string[][] {
	const instances = readInstances(directory);
	const { value, warnings } = describeInstances(instances);
	const path = pathFrom(cwd, made.path);
	return [
		[
			`Wrote ${path}: ${made.files.join(", ")}.`,
			`  MCP_PORT        ${made.port}`,
			`  DB_SCHEMA       ${made.schema}`,
			`  MCP_AUTH_TOKEN  ${made.tokenOf === undefined ? "a new one" : `the one of ${pathFrom(cwd, join(directory, made.tokenOf, ".env"))}`}; it is in ${join(path, ".env")}, and the gateway needs the same`,
		],
		[
			"For the gateway, with all bots on this machine:",
			`INSTANCES=${value}`,
			...warnings.map((warning) => `Note: ${warning}`),
		],
		invitation(made.path),
		[
			"Left to fill in:",
			...findGaps(made).flatMap(({ file, line, key, comment }) => [
				`  ${key} in ${join(path, file)}, line ${line}`,
				...comment.map((text) => `      ${text}`),
			]),
			...(instances.length > 1
				? [
						`  command_prefix in ${join(path, "config.toml")}, if another bot on the same Discord server has the same`,
					]
				: []),
		],
		[
			"Then check it, before you start it with the same without --check:",
			`CONFIG_DIR=${quoted(path)} ${bot(cwd)} --check`,
		],
	];
}

const unknownApplication =
	"CLIENT_ID is not set yet: replace CLIENT_ID in this link with the id of your application.";

function invitation(path: string): string[] {
	const read = (name: string) => readFileSync(join(path, name), "utf8");
	const { settings, issues } = readToml(toml, read("config.toml"));
	if (!settings) throw new ConfigError(join(path, "config.toml"), issues);
	const { CLIENT_ID } = parseEnv(read(".env"));
	const clientId = isPlaceholder(CLIENT_ID) ? undefined : CLIENT_ID;
	const permissions = invitePermissions(settings);
	return [
		"To invite the bot to your Discord server, open:",
		inviteUrl(clientId ?? "CLIENT_ID", permissions),
		...(clientId === undefined ? [unknownApplication] : []),
		`It asks for what the bot's tools and features need: ${describeBits(permissions)}. You can leave out permissions there; a tool that needs one of them then says so.`,
	];
}

/** Returns the shell command that starts the bot: `bun run bot`, or the path of this executable. */
function bot(cwd: string): string {
	if (!build) return "bun run bot";
	const path = pathFrom(cwd, process.execPath);
	return quoted(path.includes("/") ? path : `./${path}`);
}

/** Returns `path` relative to `cwd`, or unchanged if it is not inside `cwd`. */
function pathFrom(cwd: string, path: string): string {
	const short = relative(cwd, path);
	return short.startsWith("..") || isAbsolute(short) ? path : short;
}

/** Quotes a path for a POSIX shell if it needs quotes. */
function quoted(path: string): string {
	return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
