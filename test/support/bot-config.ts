// A bot's configuration, for tests.

import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { BotConfig } from "../../src/bot/config/config.ts";
import { toml } from "../../src/bot/config/settings.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { databaseDirectory } from "./database-directory.ts";

// Without slash commands, whose registration would be among the requests that tests count, and without cases.
const quiet = { commands: "off", features: { moderation: false } };
const everyTool = { ...quiet, mcp: { toolsets: "all" } };

/** Of config.toml, beside the name of the bot. */
export type TomlKeys = Readonly<Record<string, unknown>>;
export const tomlOf = (keys: TomlKeys = {}) => v.parse(toml, { bot_name: "Alpha", ...keys });

export type ConfigChanges = Partial<Omit<BotConfig, "toml">> & { toml?: TomlKeys | undefined };

/** The option of `startBot` for a bot that never logs in to Discord: its calls do not wait for the login. */
export const withoutLogin = { start: { maxWaitMs: 0, startMs: 0 } };

/** The configuration of a bot on a free loopback port, without a token and with an unreachable Discord, plus `changes`. */
export function botConfig({ toml = everyTool, ...changes }: ConfigChanges = {}): BotConfig {
	return {
		directory: "/nowhere",
		botName: "Alpha",
		command: "!m",
		personality: undefined,
		timezone: "UTC",
		discordToken: "token",
		clientId: undefined,
		shards: 1,
		discordApiUrl: "http://127.0.0.1:1/api",
		discordCdnUrl: "http://127.0.0.1:1",
		guildId: undefined,
		databaseUrl: undefined,
		dbSchema: undefined,
		dataDirectory: changes.dataDirectory ?? temporaryDirectory(),
		mcpPort: 0,
		mcpBindAddress: "127.0.0.1",
		mcpToken: undefined,
		allowedHosts: [],
		allowedOrigins: [],
		gameVerifyUrl: undefined,
		gameVerifySecret: undefined,
		apiKeys: {},
		toml: tomlOf(toml),
		log: { format: "json", level: "info" },
		...changes,
	};
}

/** The same, of this bot in this simulator. */
export const connectedConfig = ({ bot, api, cdn }: Simulator, changes: ConfigChanges = {}, name = "alpha") =>
	botConfig({ discordToken: bot(name).token, discordApiUrl: api, discordCdnUrl: cdn, ...changes });

const parents = `guildhall-bots-of-${process.getuid?.()}-`;
const parent = join(databaseDirectory, `${parents}${process.pid}`);
afterAll(() => rmSync(parent, { recursive: true, force: true }));
// A worker runs many files, but the hook above belongs to the first: a later run of the same user removes the rest.
for (const name of readdirSync(databaseDirectory))
	if (name.startsWith(parents) && !runs(Number(name.slice(parents.length))))
		rmSync(join(databaseDirectory, name), { recursive: true, force: true });

function runs(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return Object(error).code === "EPERM";
	}
}

/** A directory that is removed after the tests of its file. */
function temporaryDirectory(): string {
	mkdirSync(parent, { recursive: true });
	return mkdtempSync(join(parent, "data-"));
}
