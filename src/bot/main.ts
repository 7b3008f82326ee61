// The bot as a program: environment in, signals handled, nothing else.

import { parseCommandLine, runProgram } from "../lib/program.ts";
import { startBot } from "./bot.ts";
import { readConfig } from "./config.ts";

const usage = `Usage: CONFIG_DIR=<directory> bot [--help] [--version]

A Discord bot with an MCP server, at http://<address>:<port>/mcp.

CONFIG_DIR is the directory of its instance, with config.toml and .env in it; instances/example shows every key.
What follows may stand in .env or in the environment, which wins:
  DISCORD_TOKEN        the bot's token (required)
  GUILD_ID             the guild that a tool means when it is told none
  MCP_PORT             the port to listen on (9090; 0: any free one)
  MCP_BIND_ADDR        the address to listen on (127.0.0.1)
  MCP_AUTH_TOKEN       the bearer token that callers must send; required unless the address is this machine's own
  MCP_ALLOWED_HOSTS    names that callers may use for it, beside this machine's own, separated by commas
  MCP_ALLOWED_ORIGINS  web pages' origins that may call it, beside this machine's
  LOG_FORMAT           text or json (text on a terminal, json otherwise)
  LOG_LEVEL            the least that is logged: debug, info, warn or error (info)
  DISCORD_API_URL      where Discord's API is (https://discord.com/api)`;

parseCommandLine(usage, {});
await runProgram(() => readConfig(process.env), startBot);
