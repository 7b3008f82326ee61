// The command `gateway`: reads command line and environment, then runs the gateway or one of its checks.

import { checkProgram, describeVariables, parseCommandLine, runProgram, runs } from "../lib/program/program.ts";
import { helpVariables, readConfig, readHealthAddress } from "./config/config.ts";
import { startGateway } from "./gateway.ts";
import { storeOptions, storeUsage } from "./keys/options.ts";

const usage =
	() => `Usage: ${runs("gateway")} [--check | --health | --new-key NAME … | --keys | --revoke-key NAME | --grants | --revoke-grant ID] [--help] [--version]

One MCP endpoint in front of several Discord bots, at http://<address>:<port>/mcp.

  --check            check the configuration, the port, the database and every bot, then exit with 0 (all in order) or 1
  --health           ask the gateway on this machine and port whether it is ready, then exit with 0 (ready) or 1
${storeUsage}

Environment:
${describeVariables(helpVariables)}`;

const values = parseCommandLine(usage, { check: { type: "boolean" }, health: { type: "boolean" }, ...storeOptions });
// Requests to bots carry the token, so they must not go through an HTTP proxy of the environment.
process.env.NO_PROXY = "*";
const configure = () => readConfig(process.env);
// A gateway that serves clients does not load what only these options need: it starts sooner and needs less memory.
if (Object.keys(values).some((name) => name in storeOptions)) {
	const { readStoreCommand } = await import("./oauth/commands.ts");
	const { runStoreCommand } = await import("./store/command.ts");
	await checkProgram(() => readStoreCommand(values, process.env), runStoreCommand);
}
if (values.health) {
	const { healthProgram } = await import("../lib/program/health.ts");
	await healthProgram(() => readHealthAddress(process.env));
}
if (values.check) {
	const { checkGateway } = await import("./check.ts");
	await checkProgram(configure, checkGateway);
}
await runProgram(configure, startGateway);
