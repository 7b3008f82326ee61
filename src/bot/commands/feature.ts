// What an operator can switch on beside the tools: what it is given, and what it adds to the bot.

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
	/** Held, by user id, while somebody's roles or bans are changed; tools and features share it. */
	mutex: KeyedMutex;
	/** Where it counts, if anywhere. */
	registry?: Registry;
	/** Undefined where no provider of AI is set up. */
	ai?: Ai | undefined;
}

/** All of it is optional: a feature has what it needs. */
export interface Feature {
	commands?: readonly Command[];
	tools?: readonly BotTool[];
	/** Answers an HTTP request; undefined: `path` is none of its routes. */
	respond?(
		request: Request,
		path: string,
	): Response | Promise<Response> | undefined;
	/** Listens to what happens on Discord, on a client that is new. */
	attach?(client: Client): void;
	/** Begins what is done by itself, again and again. */
	start?(): void;
	/** Ends that; what was begun goes on at the next start. */
	close?(): Promise<void>;
}
