// `bun run demo`: everything at once, and what to do with it.

import * as v from "valibot";
import { ConfigError, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram } from "../lib/program.ts";
import { type DemoFacts, startDemo } from "./demo.ts";
import { launcherEnd } from "./launcher.ts";

const usage = `Usage: bun run demo [--gateway-port N] [--gateway-bind-addr ADDRESS] [--json]

Starts a simulated Discord, a game server, an AI provider, two bots and the gateway in front of them. Ctrl-C ends all of it.

  --gateway-port N  where the gateway listens; 9100 unless said otherwise, 0 for any free port
  --gateway-bind-addr ADDRESS
                    the address that it listens on; 127.0.0.1 unless said otherwise
  --json            one line on stdout, once all is ready, with every address, token and id; the rest on stderr
  --help            this text
  --version         the version`;

const values = parseCommandLine(usage, {
	"gateway-port": { type: "string" },
	"gateway-bind-addr": { type: "string" },
	json: { type: "boolean" },
});
const say = values.json ? console.error : console.log;

// Everything is on this machine; a proxy that the environment names knows nothing of it.
process.env.NO_PROXY = "127.0.0.1,localhost";

// Whoever started us may be killed without a word to us.
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
			progress: (line) => say(`… ${line}`),
		});
		console.log(
			values.json ? JSON.stringify(demo.facts) : directions(demo.facts),
		);
		return demo;
	},
	say,
);

function directions({
	gateway,
	instances,
	platform,
	game,
	ai,
}: DemoFacts): string {
	const [first] = instances;
	const [person] = platform.users;
	const channel = first?.channel_ids.general;
	const call = (name: string, args: Record<string, unknown>) =>
		`curl ${gateway.url} -H 'Authorization: Bearer ${gateway.token}' -H 'Content-Type: application/json' -d '${JSON.stringify(
			{
				jsonrpc: "2.0",
				id: 1,
				method: "tools/call",
				params: { name, arguments: args },
			},
		)}'`;
	const written = (content: string) =>
		`curl ${platform.api}/v10/channels/${channel}/messages -H 'Authorization: ${person?.token}' -H 'Content-Type: application/json' -d '${JSON.stringify({ content })}'`;
	const server = {
		type: "http",
		url: gateway.url,
		headers: { Authorization: `Bearer ${gateway.token}` },
	};
	/** What a client's file says; VS Code has a name of its own for it. */
	const file = (key: "mcpServers" | "servers") =>
		JSON.stringify({ [key]: { guildhall: server } }, undefined, 2).replace(
			/^/gm,
			"  ",
		);
	return `
Ready.

  endpoint  ${gateway.url}
  token     ${gateway.token}

Ask it who is there:

  ${call("list_instances", {})}

For an MCP client on this machine, such as Claude Code (.mcp.json) or Cursor (~/.cursor/mcp.json):

${file("mcpServers")}

For VS Code (.vscode/mcp.json):

${file("servers")}

Then ask your assistant which communities there are, who Zoë is, or to greet everyone in #general. By hand:

  ${call("send_message", { instance: first?.name, channel_id: channel, content: "Dinner is served." })}

Read what came of it, and answer, as ${person?.username} of the simulated Discord:

  curl ${platform.api}/v10/channels/${channel}/messages -H 'Authorization: ${person?.token}'
  ${written("Thank you!")}

Let Discord refuse the next message, send another, and read what the platform was made to do:

  curl ${new URL("/simulator/faults", platform.api)} -d '{"kind":"refuse","match":"POST /channels/*/messages","code":50013,"times":1}'
  curl ${new URL("/simulator/journal", platform.api)}

Link ${person?.username} to a game account, with a code that the game has issued, and read the bot's answer in the channel:

  ${written(`${first?.command} verify ${game.codes[0]}`)}

Talk with the bot, and read its answer in the channel; it is of a simulated AI, which only quotes you:

  ${written(`<@${first?.user_id}> What can you do?`)}

The game server is ${game.url}; src/bot/game/README.md has the rest of what it says and hears, with curl.
The bots' AI provider is ${ai.url}; src/simulator/README.md has how to make it misbehave.
--json prints every address, token, code and id.
Ctrl-C ends all of it.`;
}
