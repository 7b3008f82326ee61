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
	/** Locks users by id while their roles or bans are changed. Shared by tools and features. */
	mutex: KeyedMutex;
	/** Registry for metrics. */
	registry?: Registry;
	/** Undefined if no AI provider is configured. */
	ai?: Ai | undefined;
}

/** What a feature adds to the bot. */
export interface Feature {
	commands?: readonly Command[];
	tools?: readonly BotTool[];
	/** Handles an HTTP request; undefined if `path` is not one of its routes. */
	respond?(
		request: Request,
		path: string,
	): Response | Promise<Response> | undefined;
	/** Adds listeners. Called with each new client. */
	attach?(client: Client): void;
	/** Starts background work. */
	start?(): void;
	/** Stops background work. Unfinished work continues at the next start. */
	close?(): Promise<void>;
}
