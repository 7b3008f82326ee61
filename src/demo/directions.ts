// The texts that the demo prints when it is ready.

import { styleText } from "node:util";
import { runs } from "../lib/program/program.ts";
import type { DemoFacts } from "./demo.ts";

const bold = (text: string) => styleText("bold", text);
const link = (text: string) => styleText("cyan", text);
const secret = (text: string) => styleText("yellow", text);
const note = (text: string) => styleText("dim", text);

/** At most 80 columns; colours on a terminal without NO_COLOR. */
export function summary({ gateway, platform, worlds }: DemoFacts): string {
	const columns = Math.max(gateway.console.length, platform.url.length);
	const page = (name: string, url: string, words: string) =>
		`  ${name}  ${link(url)}${" ".repeat(columns - url.length)}  ${note(words)}`;
	const notes = worlds.flatMap((world) => world.notes);
	const question =
		worlds.length === 0
			? "Who is Zoë? Greet everyone in #general and say who she is."
			: "Which channels and roles are there, and who may do what?";
	return [
		bold("Watch in a browser"),
		page("Discord", platform.url, "its guilds; write as a person"),
		page("gateway", gateway.console, "console; this link signs in once:"),
		`  ${link(gateway.console_link)}`,
		"",
		bold("Connect an MCP client"),
		`  endpoint  ${link(gateway.url)}`,
		`  token     ${secret(gateway.token)}`,
		"",
		`${bold("Claude Code")} ${note("(others: the console's page Connect)")}`,
		`  claude mcp add --transport http guildhall ${gateway.url} \\`,
		`    --header "Authorization: Bearer ${gateway.token}"`,
		"",
		bold("Ask it"),
		`  ${question}`,
		"",
		...(notes.length > 0 ? [note(`${notes.length} differences from the guild documents; --verbose lists them.`)] : []),
		note("Ctrl-C stops everything. --verbose prints more commands to paste."),
	].join("\n");
}

/** What else there is, and how guilds differ from the documents of `--world`. */
export function details({ gateway, game, ai, worlds }: DemoFacts): string {
	const differences = worlds.filter(({ notes }) => notes.length > 0);
	return [
		...differences.flatMap(({ file, notes }) => [`Not as in ${file}:`, ...notes.map((one) => `  ${one}`), ""]),
		`Codes that link somebody to a game account, with /verify: ${game.codes.join(", ")}`,
		`A key that may only read: GATEWAY_DATABASE='${gateway.database}' ${runs("gateway")} --new-key me`,
		`Those who sign in, without the token, see and end that at ${gateway.console}#access`,
		`The game server is ${game.url}; src/bot/game/README.md documents its API, with curl.`,
		`Discord and the AI provider, ${ai.url}, can be made to fail: src/simulator/README.md.`,
		"--json prints every address, token, code and id.",
	].join("\n");
}
