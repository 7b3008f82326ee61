// The interface of features: optional parts of the bot beside its tools.

import type { Client } from "discord.js";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import type { Ai } from "../ai/ai.ts";
import type { BotConfig } from "../config/config.ts";
import type { Connection } from "../discord/connection/connection.ts";
import type { Store } from "../store/store.ts";
import type { BotTool } from "../tool/toolsets.ts";
import type { Command } from "./commands.ts";

export interface FeatureOptions {
	config: BotConfig;
	connection: Connection;
	store: Store;
	log: Log;
	/** Mutex for each Discord user, by user id. Tools and features lock it while they change a user's roles or bans. */
	mutex: KeyedMutex;
	/** Registry to which features add their Prometheus metrics. */
	registry?: Registry;
	/** Client for the AI providers; undefined if none is configured. */
	ai?: Ai | undefined;
}

/** An optional part of the bot, such as moderation: its commands, tools, HTTP routes, listeners and background work. */
export interface Feature {
	commands?: readonly Command[];
	tools?: readonly BotTool[];
	/** Responds to an HTTP request to the bot. Returns undefined if this feature has no route for `path`. */
	respond?(
		request: Request,
		path: string,
	): Response | Promise<Response> | undefined;
	/** Adds the feature's event listeners to a Discord client. Called again for each new client. */
	attach?(client: Client): void;
	/** Starts the feature's background work. */
	start?(): void;
	/** Stops the feature's background work. Unfinished work continues at the next start of the bot. */
	close?(): Promise<void>;
}
