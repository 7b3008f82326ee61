// Entry point of `up`: reads the command line and the environment.

import * as v from "valibot";
import { ConfigError, parseSettings, trimEnv } from "../lib/config.ts";
import { consoleLink } from "../lib/console-link.ts";
import { createLineWriter, type LogOptions, logSettings, readLogOptions } from "../lib/log.ts";
import { defaultInstances, enterInstances } from "../lib/program/instances.ts";
import { exitAfter, parseCommandLine, runProgram, runs } from "../lib/program/program.ts";
import { type CommandLine, runCommand, usageIssue } from "./commands.ts";
import { commands } from "./control.ts";
import { type LogLine, parseLine, toJson, toText } from "./log-lines.ts";
import { NonBlockingScreen } from "./screen.ts";
import { startUp } from "./up.ts";

const usage = () => `Usage: ${runs("up")} [--directory <directory>] [--help] [--version]
       ${runs("up")} status [--json] | restart <name> | restart --all | stop <name> | start <name>

Runs the gateway and one bot for each directory in a directory of instances. Restarts programs that end.
instances/README.md describes it.

  --directory <path>  the directory of all instances (default: ${defaultInstances()})

While it runs, in another terminal:

  status [--json]     show the state of all programs; exit with 0 if all are in order, otherwise with 1
  restart <name>      end a bot and start it again with its present configuration
  restart gateway     replace the gateway; running calls are still answered
  restart --all       restart all bots that run, one after the other, and then the gateway
  stop <name>         end a bot; it stays stopped until start, or until up itself starts again
  start <name>        start a bot that was stopped`;

const words: string[] = [];
const values = parseCommandLine(
	usage,
	{ directory: { type: "string" }, json: { type: "boolean" }, all: { type: "boolean" } },
	words,
	commands,
);
const env = { ...process.env };
// Requests to the gateway and the bots must not go through an HTTP proxy that the environment names.
process.env.NO_PROXY = "*";

const line = readCommandLine();
if (line) await exitAfter(() => runCommand(line, enterInstances(values.directory)));

const screen = process.stdout.isTTY ? new NonBlockingScreen() : undefined;
let format: LogOptions["format"] = screen ? "text" : "json";
const writeLine = createLineWriter(screen ? (text) => screen.write(`${text}\n`) : console.log);
const write = (line: LogLine) => writeLine(format === "json" ? toJson(line) : toText(line));
process.on("exit", () => screen?.end());

await runProgram(
	() => {
		const { settings, issues } = parseSettings(v.object(logSettings), trimEnv(env));
		if (!settings) throw new ConfigError("the environment", issues);
		const log = readLogOptions(settings);
		({ format } = log);
		return { directory: enterInstances(values.directory), env, log: { ...log, format: "json" as const } };
	},
	(config, log) => startUp(config, log, write, screen && showLink),
	(line) => write(parseLine("up", line, new Date().toISOString())),
);

/** Only on a terminal: nobody reads logs within ten minutes. */
async function showLink(url: string, token: string): Promise<void> {
	const page = new URL("/console", url).href;
	const link = await consoleLink(page, token, Date.now());
	writeLine(`\nConsole: ${page} (its token is MCP_AUTH_TOKEN in gateway.env). This link signs in once:\n${link}\n`);
}

function readCommandLine(): CommandLine | undefined {
	const [word, ...names] = words;
	const { json = false, all = false } = values;
	const known = commands.find((command) => command === word);
	if (word === undefined && !json && !all) return undefined;
	const line = known && { command: known, names, json, all };
	const issue = line ? usageIssue(line) : `Expected ${commands.join(", ")} or nothing.`;
	if (line && !issue) return line;
	console.error(`${issue}\n\n${usage()}`);
	process.exit(2);
}
