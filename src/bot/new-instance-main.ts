// new-instance as a program: makes the directory of another bot, and says what is left to do.

import { readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import { ConfigError } from "../lib/config.ts";
import { invitePermissions, inviteUrl } from "./invite.ts";
import {
	describeInstances,
	findGaps,
	makeInstance,
	type NewInstance,
	readInstances,
} from "./new-instance.ts";
import { describeBits } from "./permissions.ts";
import { toml } from "./settings.ts";
import { isPlaceholder, readToml } from "./toml.ts";

const usage = `Usage: bun run new-instance <name> [--directory <directory>] [--help]

Makes the directory of another bot, from instances/example, with a port, a schema and a token. It overwrites nothing.

  <name>       letters, digits, ".", "_" and "-", at most 40; the gateway will know the bot by it
  --directory  where the directories of all instances are (instances)`;

const example = resolve(import.meta.dir, "../../instances/example");

const { name, directory } = readCommandLine();
try {
	const made = makeInstance(name, directory, example);
	for (const paragraph of report(made, directory)) {
		console.log(paragraph.join("\n"));
		console.log();
	}
} catch (error) {
	if (!(error instanceof ConfigError)) throw error;
	console.error(error.message);
	process.exit(1);
}

function readCommandLine() {
	try {
		const { values, positionals } = parseArgs({
			allowPositionals: true,
			options: {
				directory: { type: "string", default: "instances" },
				help: { type: "boolean", short: "h" },
			},
		});
		if (values.help) {
			console.log(usage);
			process.exit(0);
		}
		const [name, ...more] = positionals;
		if (name === undefined || more.length > 0)
			throw new Error("Expected one name.");
		if (values.directory === "")
			throw new Error("Expected a directory after --directory.");
		return { name, directory: resolve(values.directory) };
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${usage}`);
		process.exit(2);
	}
}

/** What there is to say of it, in paragraphs. The token is not among it. */
function report(made: NewInstance, directory: string): string[][] {
	const instances = readInstances(directory);
	const { value, warnings } = describeInstances(instances);
	const path = fromHere(made.path);
	return [
		[
			`Wrote ${path}: ${made.files.join(", ")}.`,
			`  MCP_PORT        ${made.port}`,
			`  DB_SCHEMA       ${made.schema}`,
			`  MCP_AUTH_TOKEN  ${made.tokenOf === undefined ? "a new one" : `the one of ${fromHere(join(directory, made.tokenOf, ".env"))}`}; it stands in ${join(path, ".env")}, and the gateway needs the same`,
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
			`CONFIG_DIR=${quoted(path)} bun run bot --check`,
		],
	];
}

function invitation(path: string): string[] {
	const read = (name: string) => readFileSync(join(path, name), "utf8");
	const { settings, faults } = readToml(toml, read("config.toml"));
	if (!settings) throw new ConfigError(join(path, "config.toml"), faults);
	const { CLIENT_ID } = parseEnv(read(".env"));
	const clientId = isPlaceholder(CLIENT_ID) ? undefined : CLIENT_ID;
	const permissions = invitePermissions(settings);
	return [
		"To invite the bot to your Discord server, open:",
		inviteUrl(clientId ?? "CLIENT_ID", permissions),
		...(clientId === undefined
			? [
					"It is not known yet which application this is: write its id for CLIENT_ID in this link.",
				]
			: []),
		`It asks for what the bot's tools and features need: ${describeBits(permissions)}. What you do not want to give it, leave out there; a tool without it says so.`,
	];
}

/** A path as one would type it here. */
function fromHere(path: string): string {
	const short = relative("", path);
	return short.startsWith("..") || isAbsolute(short) ? path : short;
}

/** For a shell. */
function quoted(path: string): string {
	return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
