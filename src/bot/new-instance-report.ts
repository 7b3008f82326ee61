// Making the directory of another bot, for an operator: what is left to do, in words.

import { readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError, isPlaceholder } from "../lib/config.ts";
import { build } from "../lib/program.ts";
import { describeBits } from "./discord/permissions.ts";
import { example } from "./example.ts";
import { invitePermissions, inviteUrl } from "./invite.ts";
import {
	describeInstances,
	findGaps,
	makeInstance,
	type NewInstance,
	readInstances,
} from "./new-instance.ts";
import { toml } from "./settings.ts";
import { readToml } from "./toml.ts";

/** Makes the instance `name` in `directory`, and prints what is left to do; a fault goes to stderr, with exit 1. */
export function runNewInstance(name: string, directory = "instances"): void {
	const path = resolve(directory);
	try {
		const made = makeInstance(name, path, example);
		for (const paragraph of report(made, path)) {
			console.log(paragraph.join("\n"));
			console.log();
		}
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		console.error(error.message);
		process.exit(1);
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
			`CONFIG_DIR=${quoted(path)} ${bot()} --check`,
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

/** How the bot is started here. */
function bot(): string {
	if (!build) return "bun run bot";
	const path = fromHere(process.execPath);
	return quoted(path.includes("/") ? path : `./${path}`);
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
