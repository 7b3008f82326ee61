// Entry point of the executable `guildhall`: starts the program that is named by the first argument, or by the name
// under which the executable was started.

import { basename } from "node:path";
import { parseCommandLine } from "../lib/program/program.ts";

const programs: Record<string, { description?: string; run: () => Promise<unknown> }> = {
	up: { description: "the gateway and all bots of a directory", run: () => import("../up/main.ts") },
	gateway: { description: "one MCP endpoint in front of several bots", run: () => import("../gateway/main.ts") },
	bot: { description: "a Discord bot with an MCP server", run: () => import("../bot/main.ts") },
	"new-instance": {
		description: "makes the directory of another bot",
		run: () => import("../bot/setup/new-instance-main.ts"),
	},
	check: { description: "checks all bots of a directory and the gateway", run: () => import("../up/check-main.ts") },
	connect: {
		description: "connects a client that starts servers as processes to a gateway",
		run: () => import("../connect/main.ts"),
	},
	install: {
		description: "installs this executable on a server, as a service",
		run: async () => (await import("../install/program.ts")).installProgram(),
	},
	upgrade: {
		description: "replaces this executable by the newest release",
		run: async () => (await import("../install/upgrade-program.ts")).upgradeProgram(),
	},
	uninstall: {
		description: "removes what install made",
		run: async () => (await import("../install/program.ts")).uninstallProgram(),
	},
	simulator: {
		description: "Discord in memory, with a game server and an AI provider",
		run: () => import("../simulator/main.ts"),
	},
	rehearsal: { run: () => import("../rehearsal/main.ts") }, // a bot starts it
	demo: { description: "a simulator, two bots and the gateway", run: () => import("../demo/main.ts") },
	completion: { description: "prints a script for bash, zsh or fish", run: () => import("./completion.ts") },
};

const names = Object.keys(programs).filter((name) => programs[name]?.description);

function usage(): string {
	const width = Math.max(...names.map(({ length }) => length));
	const rows = names.map((name) => `  ${name.padEnd(width)}  ${programs[name]?.description}`);
	return `Usage: guildhall <program> [--help] [--version]

${rows.join("\n")}

guildhall <program> --help shows the options of each.`;
}

function programOf(name = ""): (typeof programs)[string] | undefined {
	return Object.hasOwn(programs, name) ? programs[name] : undefined;
}

const named = programOf(process.argv[2]);
// The programs read their arguments from index 2 on.
if (named) process.argv.splice(2, 1);
// A link called "gateway" or "bot" runs the program of this name. An earlier release was installed as guildhall-gateway
// and guildhall-bot.
const [, linked] = /^(?:guildhall-)?(gateway|bot)(?:\.exe)?$/.exec(basename(process.argv0)) ?? [];
const program = named ?? programOf(linked);
if (program) await program.run();
else {
	parseCommandLine(usage, {}, undefined, names);
	console.error(usage());
	process.exit(2);
}
