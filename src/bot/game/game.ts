// The game module: everything that talks to the game server. Off unless the configuration says so.

import type { Client } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { Command } from "../commands.ts";
import type { BotConfig } from "../config.ts";
import type { Connection } from "../connection.ts";
import type { BotContext } from "../context.ts";
import type { Store } from "../store/store.ts";
import { createGameClient } from "./client.ts";
import { createVerify } from "./verify.ts";

export interface GameOptions {
	config: BotConfig;
	connection: Connection;
	store: Store;
	log: Log;
}

export interface Game {
	commands: readonly Command[];
	tools: readonly Tool<BotContext>[];
	/** Answers a request from the game server; undefined: `path` is none of its routes. */
	respond(
		request: Request,
		path: string,
	): Response | Promise<Response> | undefined;
	/** Listens to what happens on Discord, on a client that is new. */
	attach(client: Client): void;
	/** Begins what is done by itself, again and again. */
	start(): void;
	/** Ends that; what was begun goes on at the next start. */
	close(): Promise<void>;
}

/** The module, as `[game]` has it; undefined where the feature is off. */
export function createGame({ config, log }: GameOptions): Game | undefined {
	const { features, game: settings } = config.toml;
	if (!features.game || !settings) return undefined;
	const { gameVerifyUrl: url, gameVerifySecret: secret } = config;
	const client =
		url !== undefined && secret !== undefined
			? createGameClient({ url, secret, log })
			: undefined;
	const missing = [
		...(url === undefined ? ["GAME_VERIFY_URL"] : []),
		...(secret === undefined ? ["GAME_VERIFY_SECRET"] : []),
	];
	const verify = createVerify({
		command: config.command,
		game: client,
		missing,
	});
	return {
		commands: settings.verify ? [verifyCommand(verify)] : [],
		tools: [],
		respond: () => undefined,
		attach() {},
		start() {},
		async close() {},
	};
}

function verifyCommand(run: Command["run"]): Command {
	return {
		name: "verify",
		description:
			"Link your game account with a code that /verify in the game gives you.",
		rest: {
			name: "code",
			description: "The code from the game",
			required: false,
		},
		secret: true,
		run,
	};
}
