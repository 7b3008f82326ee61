// Entry point of the bot: command line, environment, signals.

import { healthProgram } from "../lib/program/health.ts";
import { defaultInstances } from "../lib/program/instances.ts";
import {
	checkProgram,
	describeRows,
	describeVariables,
	parseCommandLine,
	runProgram,
	runs,
} from "../lib/program/program.ts";
import { startBot } from "./bot.ts";
import { readConfig, readHealthAddress } from "./config/config.ts";
import { renewSchema } from "./config/example.ts";
import { helpVariables } from "./config/settings.ts";
import { deniableTools } from "./features/index.ts";
import { gameServerChecks } from "./game/check.ts";
import {
	type GuildFileValues,
	guildFileCommand,
	guildFileOptions,
	guildFileRows,
	UsageError,
} from "./guild-documents/command-line/options.ts";
import { checkBot, checkConfig } from "./setup/check.ts";

const usage =
	() => `Usage: CONFIG_DIR=<directory> ${runs("bot")} [--check | --check-config | --health | --new-instance <name> |
       --export-guild <file> | --plan-guild <file> | --apply-guild <file>] [--help] [--version]

A Discord bot with an MCP server, at http://<address>:<port>/mcp.

  --check   check the configuration, the port, the database, a login, the guild and what config.toml names in it,
            then exit with 0 (all in order) or 1
  --check-config  check only what .env and config.toml say, without network, then exit with 0 or 1
  --health  ask the bot on this machine and port whether it responds, then exit with 0 (it does) or 1
  --new-instance <name>  create the directory of another bot, for its operator to fill in
  --directory <path>     parent directory for --new-instance (default: ${defaultInstances()})
${describeRows(guildFileRows)}
  Export, plan and apply use the bot that runs with this configuration, or log in to Discord themselves if none runs. They
  exit with 0 (done, and the guild is like the document), 1 (error) or 3 (the guild is not like the document).

CONFIG_DIR is the directory of the instance: config.toml and .env. instances/README.md documents every key.
Variables, in .env or in the environment, which takes precedence:
${describeVariables(helpVariables)}`;

const {
	check,
	"check-config": onlyConfig,
	health,
	directory,
	"new-instance": name,
	...others
} = parseCommandLine(usage, {
	...guildFileOptions,
	check: { type: "boolean" },
	"check-config": { type: "boolean" },
	health: { type: "boolean" },
	"new-instance": { type: "string" },
	directory: { type: "string" },
});
const configure = () => readConfig(process.env, deniableTools);
if (name !== undefined) {
	const { newInstanceProgram } = await import("./setup/new-instance-program.ts");
	await newInstanceProgram({ name, directory: directory || undefined });
}
if (health) await healthProgram(() => readHealthAddress(process.env));
if (check)
	await checkProgram(configure, (config, log) => checkBot(config, log, { more: gameServerChecks(config, log) }));
if (onlyConfig) await checkProgram(configure, checkConfig);
const command = readGuildFileCommand(others);
if (command) {
	const [{ guildFile }, { openGuildDocuments }] = await Promise.all([
		import("./guild-documents/command-line/guild-file.ts"),
		import("./guild-documents/command-line/open.ts"),
	]);
	await checkProgram(configure, (config, log) => guildFile(command, config, log, { open: openGuildDocuments }));
}
renewSchema(process.env.CONFIG_DIR);
await runProgram(configure, startBot);
// What only the start needed, such as code that runs once: 4 of the 98 MiB of an idle bot.
Bun.shrink();

function readGuildFileCommand(values: GuildFileValues) {
	try {
		return guildFileCommand(values);
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		console.error(error.message);
		process.exit(2);
	}
}
