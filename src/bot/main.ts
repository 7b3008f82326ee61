// The bot as a program: environment in, signals handled, nothing else.

import { healthProgram } from "../lib/health.ts";
import { checkProgram, parseCommandLine, runProgram } from "../lib/program.ts";
import { startBot } from "./bot.ts";
import { readConfig, readHealthAddress } from "./config/config.ts";
import { deniableTools } from "./features/index.ts";
import { checkBot } from "./setup/check.ts";

const usage = `Usage: CONFIG_DIR=<directory> bot [--check | --health | --new-instance <name>] [--help] [--version]

A Discord bot with an MCP server, at http://<address>:<port>/mcp.

  --check   only tries the configuration, the port, the database, a login, the guild and what config.toml names in it;
            exit 0 if all is well, 1 otherwise
  --health  only asks the bot that runs on this machine, with the same port, whether it answers; exit 0 or 1
  --new-instance <name>  only makes the directory of another bot, which its operator then fills in
  --directory <path>     where the directories of all instances are, for --new-instance (instances)

CONFIG_DIR is the directory of its instance, with config.toml and .env in it; instances/README.md explains every key.
What follows may stand in .env or in the environment, which wins:
  DISCORD_TOKEN        the bot's token (required)
  CLIENT_ID            the application's id
  GUILD_ID             the guild that a tool means when it is told none
  DATABASE_URL         PostgreSQL's, such as postgres://user:password@host:5432/database (none: an SQLite file)
  DB_SCHEMA            this bot's own schema there; required beside DATABASE_URL
  DATA_DIR             where the SQLite file goes (CONFIG_DIR/data)
  MCP_PORT             the port to listen on (9090; 0: any free one)
  MCP_BIND_ADDR        the address to listen on (127.0.0.1)
  MCP_AUTH_TOKEN       the bearer token that callers must send; required unless the address is this machine's own
  MCP_ALLOWED_HOSTS    names that callers may use for it, beside this machine's own, separated by commas
  MCP_ALLOWED_ORIGINS  origins of web pages that may call it from a browser, separated by commas
  GAME_VERIFY_URL      the game server's plugin
  GAME_VERIFY_SECRET   the secret that it shares with the bot
  <NAME>_API_KEY       keys of AI providers
  LOG_FORMAT           text or json (text on a terminal, json otherwise)
  LOG_LEVEL            the least that is logged: debug, info, warn or error (info)
  DISCORD_API_URL      where Discord's API is (https://discord.com/api)`;

const {
	check,
	health,
	directory,
	"new-instance": name,
} = parseCommandLine(usage, {
	check: { type: "boolean" },
	health: { type: "boolean" },
	"new-instance": { type: "string" },
	directory: { type: "string" },
});
const configure = () => readConfig(process.env, deniableTools);
if (name !== undefined) {
	const { exitWith, newInstance } = await import(
		"./setup/new-instance-report.ts"
	);
	exitWith(newInstance(name, directory || undefined));
}
if (health) await healthProgram(() => readHealthAddress(process.env));
if (check) await checkProgram(configure, checkBot);
await runProgram(configure, startBot);
