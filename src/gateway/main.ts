// The gateway as a program: environment in, signals handled, nothing else.

import { healthProgram } from "../lib/health.ts";
import { checkProgram, parseCommandLine, runProgram } from "../lib/program.ts";
import { checkGateway } from "./check.ts";
import { readConfig, readHealthAddress } from "./config.ts";
import { startGateway } from "./gateway.ts";

const usage = `Usage: gateway [--check | --health] [--help] [--version]

One MCP endpoint in front of several Discord bots, at http://<address>:<port>/mcp.

  --check   only tries the configuration, the port and every bot; exit 0 if all is well, 1 otherwise
  --health  only asks the gateway that runs on this machine, with the same port, whether it is ready; exit 0 or 1

Environment:
  INSTANCES                 name=url,name=url: the bots, e.g. alpha=http://127.0.0.1:9090 (required)
  MCP_AUTH_TOKEN            the bearer token that clients must send, and that the bots expect (required)
  GATEWAY_PORT              the port to listen on (9100; 0: any free one)
  GATEWAY_BIND_ADDR         the address to listen on (0.0.0.0)
  REFRESH_INTERVAL_SECONDS  how often the bots' state, guilds and tools are asked for (300)
  CALL_TIMEOUT_SECONDS      how long a call may take, the bot's whole answer included (30)
  MAX_IN_FLIGHT             how many calls one bot may be busy with at once (256)
  SHUTDOWN_SECONDS          how long calls in flight are waited for at the end (10)
  GUILDS_<NAME>             ids of guilds, separated by commas, that belong to the instance of this name alone, whatever
                            other bots list; GUILDS_MY_BOT is for my-bot (none)
  DEFAULT_INSTANCE          where a call goes that names neither instance nor guild_id (none)
  MCP_ALLOWED_HOSTS         the names that clients may call it by, separated by commas (any)
  MCP_ALLOWED_ORIGINS       origins of web pages that may call it from a browser, separated by commas (none)
  LOG_FORMAT                text or json (text on a terminal, json otherwise)
  LOG_LEVEL                 the least that is logged: debug, info, warn or error (info)`;

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
