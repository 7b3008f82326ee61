// `bun run demo`: starts all parts and prints what to try.

import * as v from "valibot";
import { ConfigError, parseSettings, port } from "../lib/config.ts";
import { parseCommandLine, runProgram, runs } from "../lib/program/program.ts";
import { readWorlds, worldOptions, worldUsage } from "../simulator/documents/command-line.ts";
import { startDemo } from "./demo.ts";
import { details, summary } from "./directions.ts";
import { tryPort } from "./ports.ts";

const usage = `Usage: ${runs("demo")} [--world FILE]... [--gateway-port N] [--gateway-bind-addr ADDRESS] [--json]

Starts a simulated Discord, a game server, an AI provider, two bots and the gateway in front of them. Ctrl-C stops everything.
With --world the guilds are copies of those in the documents, and each has a bot of its own, without a game.

  --gateway-port N  port on which the gateway listens (default: 9100; 0 takes any free port)
  --gateway-bind-addr ADDRESS
                    address on which it listens (default: 127.0.0.1)
  --simulator-port N
                    port on which the simulated Discord listens (default: 9200, or a free port if that is in use)
  --simulator-bind-addr ADDRESS
                    address on which it listens (default: 127.0.0.1)
${worldUsage}
  --verbose         print each step of the start, and commands to paste
  --json            print every address, token and id as one line on stdout when all is ready; the rest on stderr
  --help            print this text
  --version         print the version`;

const values = parseCommandLine(usage, {
	"gateway-port": { type: "string" },
	"gateway-bind-addr": { type: "string" },
	"simulator-port": { type: "string" },
	"simulator-bind-addr": { type: "string" },
	...worldOptions,
	verbose: { type: "boolean" },
	json: { type: "boolean" },
});
const print = values.json ? console.error : console.log;
const loopback = "127.0.0.1";
const usualSimulatorPort = 9200;
const launcherMs = 250;

// All requests stay on this machine and must not go through an HTTP proxy.
process.env.NO_PROXY = "127.0.0.1,localhost";

// If `bun run` is killed, this process gets no signal from it, only another parent.
const launcher = process.ppid;
setInterval(() => {
	if (process.ppid !== launcher) process.kill(process.pid, "SIGTERM");
}, launcherMs).unref();

await runProgram(
	() => {
		const { settings, issues } = parseSettings(
			v.object({
				"gateway-port": v.optional(port, "9100"),
				"gateway-bind-addr": v.optional(v.string(), loopback),
				"simulator-port": v.optional(port),
				"simulator-bind-addr": v.optional(v.string(), loopback),
			}),
			values,
		);
		if (!settings) throw new ConfigError("the command line", issues);
		return { ...settings, log: { format: "text", level: "info" } as const };
	},
	async (settings) => {
		const gatewayPort = settings["gateway-port"];
		const gatewayBindAddress = settings["gateway-bind-addr"];
		const simulatorBindAddress = settings["simulator-bind-addr"];
		await requirePort("gateway", gatewayPort, gatewayBindAddress);
		// Any, if the gateway takes any, or the usual one is in use: several demos can run at once.
		const isUsual =
			gatewayPort !== 0 && (await tryPort(usualSimulatorPort, simulatorBindAddress)) === usualSimulatorPort;
		const simulatorPort = settings["simulator-port"] ?? (isUsual ? usualSimulatorPort : 0);
		await requirePort("simulator", simulatorPort, simulatorBindAddress);
		const worlds = await readWorlds(values);
		const { verbose, json } = values;
		print("Starting a simulated Discord, its bots and the gateway …\n");
		const onTrouble = (line: string) => print(`… ${line}`);
		const demo = await startDemo({
			gatewayPort,
			gatewayBindAddress,
			simulatorPort,
			simulatorBindAddress,
			worlds,
			progress: verbose || json ? onTrouble : () => {},
			onTrouble,
		});
		if (json) console.log(JSON.stringify(demo.facts));
		else {
			if (verbose) console.log(`${details(demo.facts)}\n`);
			console.log(summary(demo.facts));
		}
		return demo;
	},
	print,
);

async function requirePort(part: "gateway" | "simulator", port: number, address: string): Promise<void> {
	const tried = await tryPort(port, address);
	if (typeof tried === "number") return;
	const issue =
		tried === "EADDRINUSE"
			? `Port ${port} is in use. Stop the program that uses it`
			: `${address}:${port} cannot be used (${tried}). Change --${part}-bind-addr`;
	console.error(`${issue}, or add --${part}-port 0 (any free port).`);
	process.exit(1);
}
