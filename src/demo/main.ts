// `bun run demo`: starts all parts and prints what to try.

import * as v from "valibot";
import { ConfigError, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram } from "../lib/program/program.ts";
import {
	describeWorldOptions,
	readWorlds,
	worldOptions,
} from "../simulator/documents/command-line.ts";
import { type DemoFacts, startDemo } from "./demo.ts";
import { launcherEnd } from "./launcher.ts";

const usage = `Usage: bun run demo [--world FILE]... [--gateway-port N] [--gateway-bind-addr ADDRESS] [--json]

Starts a simulated Discord, a game server, an AI provider, two bots and the gateway in front of them. Ctrl-C stops everything.
With --world the guilds are copies of those in the documents, and each has a bot of its own, without a game.

  --gateway-port N  port on which the gateway listens (default: 9100; 0 takes any free port)
  --gateway-bind-addr ADDRESS
                    address on which it listens (default: 127.0.0.1)
${describeWorldOptions(20)}
  --json            print every address, token and id as one line on stdout when all is ready; the rest on stderr
  --help            print this text
  --version         print the version`;

const values = parseCommandLine(usage, {
	"gateway-port": { type: "string" },
	"gateway-bind-addr": { type: "string" },
	...worldOptions,
	json: { type: "boolean" },
});
const print = values.json ? console.error : console.log;

// All requests stay on this machine and must not go through an HTTP proxy.
process.env.NO_PROXY = "127.0.0.1,localhost";

// If `bun run` or npm is killed, this process gets no signal from it.
void launcherEnd().then(() => process.kill(process.pid, "SIGTERM"));

await runProgram(
	() => {
		const { settings, issues } = parseSettings(
			v.object({
				"gateway-port": v.optional(port, "9100"),
				"gateway-bind-addr": v.optional(v.string(), "127.0.0.1"),
			}),
			values,
		);
		if (!settings) throw new ConfigError("the command line", issues);
		return { ...settings, log: { format: "text", level: "info" } as const };
	},
	async (settings) => {
		const demo = await startDemo({
			gatewayPort: settings["gateway-port"],
			gatewayBindAddress: settings["gateway-bind-addr"],
			worlds: await readWorlds(values),
			progress: (line) => print(`… ${line}`),
		});
		console.log(
			values.json ? JSON.stringify(demo.facts) : directions(demo.facts),
		);
		return demo;
	},
	print,
);

function directions(facts: DemoFacts): string {
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
	const server = {
		type: "http",
		url: gateway.url,
		headers: { Authorization: `Bearer ${gateway.token}` },
	};
	/**
	 * Returns the JSON configuration that connects an MCP client to the demo. VS Code names the key `servers`, other
	 * clients `mcpServers`.
	 */
	const file = (key: "mcpServers" | "servers") => {
		const text = JSON.stringify({ [key]: { guildhall: server } }, undefined, 2);
		return text.replace(/^/gm, "  ");
	};
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
	const rest = `A key that may only read: GATEWAY_DATABASE='${gateway.database}' bun run gateway --new-key me
${signIn ?? ""}The game server is ${game.url}; src/bot/game/README.md documents its API, with curl.
The bots' AI provider is ${ai.url}; src/simulator/README.md documents how to make it fail.
--json prints every address, token, code and id.
Ctrl-C stops everything.`;
	const start = `
Ready.

  endpoint  ${gateway.url}
  token     ${gateway.token}

List the bots:

  ${call("list_instances", {})}

For an MCP client on this machine, such as Claude Code (.mcp.json) or Cursor (~/.cursor/mcp.json):

${file("mcpServers")}

For VS Code (.vscode/mcp.json):

${file("servers")}
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
