// The command `gateway`: reads command line and environment, then runs the gateway or one of its checks.

import { healthProgram } from "../lib/program/health.ts";
import {
	checkProgram,
	describeVariables,
	parseCommandLine,
	runProgram,
} from "../lib/program/program.ts";
import { checkGateway } from "./check.ts";
import {
	helpVariables,
	readConfig,
	readHealthAddress,
} from "./config/config.ts";
import { startGateway } from "./gateway.ts";
import {
	hasKeyOptions,
	keyOptions,
	keyUsage,
	readKeyCommand,
} from "./keys/commands.ts";
import {
	grantOptions,
	grantUsage,
	hasGrantOptions,
	readGrantCommand,
} from "./oauth/commands.ts";
import { runStoreCommand } from "./store/command.ts";

const usage =
	() => `Usage: gateway [--check | --health | --new-key NAME … | --keys | --revoke-key NAME | --grants | --revoke-grant ID] [--help] [--version]

One MCP endpoint in front of several Discord bots, at http://<address>:<port>/mcp.

  --check            check the configuration, the port, the database and every bot, then exit with 0 (all in order) or 1
  --health           ask the gateway on this machine and port whether it is ready, then exit with 0 (ready) or 1
${keyUsage}
${grantUsage}

Environment:
${describeVariables(helpVariables)}`;

const values = parseCommandLine(usage, {
	check: { type: "boolean" },
	health: { type: "boolean" },
	...keyOptions,
	...grantOptions,
});
// Requests to bots carry the token, so they must not go through an HTTP proxy of the environment.
process.env.NO_PROXY = "*";
const configure = () => readConfig(process.env);
if (hasKeyOptions(values))
	await checkProgram(
		() => readKeyCommand(values, process.env),
		runStoreCommand,
	);
if (hasGrantOptions(values))
	await checkProgram(
		() => readGrantCommand(values, process.env),
		runStoreCommand,
	);
if (values.health) await healthProgram(() => readHealthAddress(process.env));
if (values.check) await checkProgram(configure, checkGateway);
await runProgram(configure, startGateway);
