// The gateway as a program: environment in, signals handled, nothing else.

import { healthProgram } from "../lib/health.ts";
import { checkProgram, parseCommandLine, runProgram } from "../lib/program.ts";
import { checkGateway } from "./check.ts";
import { readConfig, readHealthAddress, variablesHelp } from "./config.ts";
import { startGateway } from "./gateway.ts";

const usage = `Usage: gateway [--check | --health] [--help] [--version]

One MCP endpoint in front of several Discord bots, at http://<address>:<port>/mcp.

  --check   check the configuration, the port and every bot, then exit with 0 (all in order) or 1
  --health  ask the gateway on this machine and port whether it is ready, then exit with 0 (ready) or 1

Environment:
${variablesHelp}`;

const { check, health } = parseCommandLine(usage, {
	check: { type: "boolean" },
	health: { type: "boolean" },
});
// The token goes to the bots, and to no proxy that the environment names for other purposes.
process.env.NO_PROXY = "*";
const configure = () => readConfig(process.env);
if (health) await healthProgram(() => readHealthAddress(process.env));
if (check) await checkProgram(configure, checkGateway);
await runProgram(configure, startGateway);
