// Entry point of `guildhall check`.

import type { UpStatus } from "../lib/instances/control.ts";
import { defaultInstances, enterInstances } from "../lib/program/instances.ts";
import { exitAfter, parseCommandLine, runs } from "../lib/program/program.ts";
import { checkAll } from "./check.ts";
import { send } from "./commands.ts";
import { newerLines } from "./status.ts";

const usage = () => `Usage: ${runs("check")} [--directory <directory>] [--help] [--version]

Checks all bots in a directory of instances, and the gateway, with the settings that "up" gives them: configuration, ports,
databases, a login of each bot, its guilds. Changes nothing. Exits with 0 if all is in order, otherwise with 1.

  --directory <path>  the directory of all instances (default: ${defaultInstances()})`;

const values = parseCommandLine(usage, { directory: { type: "string" } });
await exitAfter(async () => {
	// Files that a check creates, such as SQLite's, must belong to the owner of the directory.
	const directory = enterInstances(values.directory);
	const response = await send(directory, { command: "status" }).catch(() => undefined);
	const status = response && "status" in response ? response.status : undefined;
	const isPassed = await checkAll(directory, { ...process.env, ...runningPort(status) }, console.log);
	for (const line of newerLines(status?.newer)) console.log(line);
	return isPassed ? 0 : 1;
});

/** That of the gateway which `up` runs: the environment of `up` may name another than this one. */
function runningPort(status: UpStatus | undefined): { GATEWAY_PORT?: string } {
	const url = status?.programs.find(({ name }) => name === "gateway")?.url;
	return url === undefined ? {} : { GATEWAY_PORT: new URL(url).port };
}
