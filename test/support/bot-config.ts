// A bot's configuration, for tests.

import type { BotConfig } from "../../src/bot/config.ts";

/** A bot on a free port of the loopback, without a token, whose Discord is not there; `changes` say what is otherwise. */
export function botConfig(changes: Partial<BotConfig> = {}): BotConfig {
	return {
		botName: "Alpha",
		command: "!m",
		discordToken: "token",
		discordApiUrl: "http://127.0.0.1:1/api",
		guildId: undefined,
		mcpPort: 0,
		mcpBindAddress: "127.0.0.1",
		mcpToken: undefined,
		allowedHosts: [],
		allowedOrigins: [],
		log: { format: "json", level: "info" },
		...changes,
	};
}
