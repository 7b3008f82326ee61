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
		page("gateway", gateway.console, "sign in with the token below"),
		"",
		bold("Connect an MCP client"),
		`  endpoint  ${link(gateway.url)}`,
		`  token     ${secret(gateway.token)}`,
		"",
		`${bold("Claude Code")} ${note("(others: README.md, Connect an assistant)")}`,
		`  claude mcp add --transport http guildhall ${gateway.url} \\`,
		`    --header "Authorization: Bearer ${gateway.token}"`,
		"",
		bold("Ask it"),
		`  ${question}`,
		"",
		...(notes.length > 0 ? [note(`${notes.length} differences from the guild documents; --verbose lists them.`)] : []),
		note("Ctrl-C stops everything. --verbose prints curl commands and more."),
	].join("\n");
}

/** Commands to paste, and further URLs. */
export function details(facts: DemoFacts): string {
	const { gateway, instances, platform, game, ai, worlds } = facts;
	const [first] = instances;
	const [person] = platform.users;
	const channel = first?.chat_channel_id;
	const call = (name: string, args: Record<string, unknown>) => {
		const params = { name, arguments: args };
		const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
		return `curl ${gateway.url} -H 'Authorization: Bearer ${gateway.token}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
	};
	const postMessage = (content: string) =>
		`curl ${platform.api}/v10/channels/${channel}/messages -H 'Authorization: ${person?.token}' -H 'Content-Type: application/json' -d '${JSON.stringify({ content })}'`;
	const isDemo = worlds.length === 0;
	const differences = worlds
		.filter(({ notes }) => notes.length > 0)
		.map(({ file, notes }) => {
			const lines = notes.map((note) => `  ${note}\n`);
			return `\nNot as in ${file}:\n\n${lines.join("")}`;
		})
		.join("");
	const signIn =
		gateway.connections &&
		`To sign in with the simulated Discord, give an MCP client the endpoint without the token, and choose ${person?.username}.
See and end sign-ins at ${gateway.connections}
`;
	const rest = `A key that may only read: GATEWAY_DATABASE='${gateway.database}' ${runs("gateway")} --new-key me
${signIn ?? ""}The game server is ${game.url}; src/bot/game/README.md documents its API, with curl.
The bots' AI provider is ${ai.url}; src/simulator/README.md documents how to make it fail.
--json prints every address, token, code and id.`;
	const start = `List the bots:

  ${call("list_instances", {})}

For an MCP client, see Connect at ${gateway.console}.
${differences}
Then ask your assistant which communities there are${isDemo ? ", who Zoë is, or to greet everyone in #general" : ", or to change something in them"}.`;
	if (!channel) return `${start}\n\n${rest}`;
	const gameLines = `Link ${person?.username} to a game account, with a code that the game issued, and read the reply in the channel:

  ${postMessage(`${first?.command} verify ${game.codes[0]}`)}

`;
	return `${start} By hand:

  ${call("send_message", { instance: first?.name, channel_id: channel, content: "Dinner is served." })}

Read the message and reply as ${person?.username} of the simulated Discord:

  curl ${platform.api}/v10/channels/${channel}/messages -H 'Authorization: ${person?.token}'
  ${postMessage("Thank you!")}

Make Discord refuse the next message, send another, and read the journal of writes:

  curl ${new URL("/simulator/faults", platform.api)} -d '{"kind":"refuse","match":"POST /channels/*/messages","code":50013,"times":1}'
  curl ${new URL("/simulator/journal", platform.api)}

${isDemo ? gameLines : ""}Chat with the bot, and read its reply in the channel. The simulated AI only quotes you:

  ${postMessage(`<@${first?.user_id}> What can you do?`)}

${rest}`;
}
