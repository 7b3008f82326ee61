// Entry point of the executable `guildhall`: starts the program that is named by the first argument, or by the name
// under which the executable was started.

import { basename } from "node:path";
import { parseCommandLine } from "../lib/program/program.ts";

const install = () => import("../install/program.ts");
const programs: Record<string, [description: string, run: () => Promise<unknown>]> = {
	up: ["the gateway and all bots of a directory", () => import("../up/main.ts")],
	gateway: ["one MCP endpoint in front of several bots", () => import("../gateway/main.ts")],
	bot: ["a Discord bot with an MCP server", () => import("../bot/main.ts")],
	"new-instance": ["makes the directory of another bot", () => import("../bot/setup/new-instance-main.ts")],
	check: ["checks all bots of a directory and the gateway", () => import("../up/check-main.ts")],
	connect: ["connects a client that starts servers as processes to a gateway", () => import("../connect/main.ts")],
	install: ["installs this executable on a server, as a service", async () => (await install()).installProgram()],
	upgrade: ["replaces this executable by the newest release", () => import("../install/upgrade-program.ts")],
	uninstall: ["removes what install made", async () => (await install()).uninstallProgram()],
	simulator: ["Discord in memory, with a game server and an AI provider", () => import("../simulator/main.ts")],
	demo: ["a simulator, two bots and the gateway", () => import("../demo/main.ts")],
	completion: ["prints a script for bash, zsh or fish", () => import("./completion.ts")],
	// A bot starts it: people do not.
	rehearsal: ["", () => import("../rehearsal/main.ts")],
};

const shown = Object.entries(programs).filter(([, [description]]) => description);
const names = shown.map(([name]) => name);

function usage(): string {
	const width = Math.max(...names.map(({ length }) => length));
	const rows = shown.map(([name, [description]]) => `  ${name.padEnd(width)}  ${description}`);
	return `Usage: guildhall <program> [--help] [--version]

${rows.join("\n")}

guildhall <program> --help shows the options of each.`;
}

function programOf(name = "") {
	return Object.hasOwn(programs, name) ? programs[name] : undefined;
}

const named = programOf(process.argv[2]);
// The programs read their arguments from index 2 on.
if (named) process.argv.splice(2, 1);
// A link called "gateway" or "bot" runs the program of this name.
const [, linked] = /^(gateway|bot)(?:\.exe)?$/.exec(basename(process.argv0)) ?? [];
const [, run] = named ?? programOf(linked) ?? [];
if (run) await run();
else {
	parseCommandLine(usage, {}, undefined, names);
	console.error(usage());
	process.exit(2);
}
