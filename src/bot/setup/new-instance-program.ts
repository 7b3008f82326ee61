// The program new-instance: asks for the bot's token, and creates the directory with the same owner as the other
// instances.

import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import * as v from "valibot";
import { ConfigError, isPlaceholder } from "../../lib/config.ts";
import { readTable } from "../../lib/instances/table.ts";
import { askSecret } from "../../lib/program/ask.ts";
import { enterInstances } from "../../lib/program/instances.ts";
import { variables } from "../config/settings.ts";
import { checkName } from "./new-instance.ts";
import { exitWith, type NewInstanceOptions, newInstance } from "./new-instance-report.ts";

const question =
	"Token of the bot from Discord (Bot → Reset Token at https://discord.com/developers/applications).\nYour input is not shown. Press Enter to fill it in later: ";

const firstSharedId = BigInt(Date.UTC(2017) - 1_420_070_400_000) << 22n;

/** Asks for the token or reads it from stdin, and exits. */
export async function newInstanceProgram({ name, directory, tokenStdin }: NewInstanceOptions): Promise<never> {
	const cwd = process.cwd();
	try {
		const path = enterInstances(directory);
		// The name is checked before the operator is asked for a token.
		checkName(name, path);
		const token = tokenStdin ? await tokenFromStdin(path) : await askForToken(path);
		exitWith(newInstance(name, path, cwd, variablesOf(token)));
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		exitWith({ code: 1, text: error.message });
	}
}

async function tokenFromStdin(directory: string): Promise<string> {
	const token = (await text(process.stdin)).trim();
	const issue = tokenIssue(token, directory);
	if (issue) throw new ConfigError("stdin", [`the bot's token: ${issue}`]);
	return token;
}

async function askForToken(directory: string): Promise<string | undefined> {
	if (!process.stdin.isTTY) return undefined;
	for (;;) {
		const token = await askSecret(question);
		if (token === undefined) exitWith({ code: 1, text: "Cancelled; nothing was changed." });
		if (token === "") return undefined;
		const issue = tokenIssue(token, directory);
		if (issue === undefined) return token;
		console.error(`This is not a bot's token: ${issue}. Copy it from the page Bot, and try again.`);
	}
}

/** The simulator's tokens end with "-token". `directory`: of the other instances. */
function tokenIssue(text: string, directory: string): string | undefined {
	if (text === "") return "it is empty";
	const { issues } = v.safeParse(variables.DISCORD_TOKEN, text);
	if (issues) return issues[0].message;
	if (isPlaceholder(text)) return 'a value that begins with "your-" is a placeholder';
	if (!/^[\w-]+\.[\w-]+\.[\w-]+$|-token$/.test(text))
		return "it does not have three parts with dots between them. Is it the Client Secret?";
	const others = existsSync(directory) ? readTable(directory).entries : [];
	const other = others.find(({ env }) => env.DISCORD_TOKEN === text);
	return other && `${other.name} has it: each bot needs an application of its own`;
}

/** The token, and the application's id if the token contains it. */
export function variablesOf(token: string | undefined): Record<string, string> {
	if (token === undefined) return {};
	const id = Buffer.from(token.split(".")[0] ?? "", "base64url").toString();
	const isShared = /^\d{17,20}$/.test(id) && BigInt(id) >= firstSharedId;
	return { DISCORD_TOKEN: token, ...(isShared && { CLIENT_ID: id }) };
}
