// The interface of features: optional parts of the bot beside its tools.

import type { Client } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import type { Ai } from "../ai/ai.ts";
import type { BotConfig } from "../config/config.ts";
import type { Store } from "../store/store.ts";
import type { CallAs } from "../tool/call-as.ts";
import type { CaseRecorder } from "../tool/case-record.ts";
import type { StoredBans } from "../tool/context.ts";
import type { BotTool } from "../tool/toolsets.ts";
import type { Action, Suggestion, SuggestQuery } from "./action.ts";
import type { Command } from "./commands.ts";
import type { ComponentHandler } from "./components.ts";
import type { MenuHandler } from "./menus.ts";

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
	/** Calls a tool in the name of a member of a guild: what slash commands, chat commands and buttons do. */
	callAs: CallAs;
}

/** An optional part of the bot, such as moderation: its commands, tools, HTTP routes, listeners and background work. */
export interface Feature {
	commands?: readonly Command[];
	tools?: readonly BotTool[];
	/** Actions of the feature: slash commands, chat commands and context menu commands that call tools. */
	actions?: readonly Action[];
	/** Handlers of the buttons, select menus and forms that the feature posts. */
	components?: readonly ComponentHandler[];
	/** Context menu commands and slash commands of the feature that do more than call one tool. */
	menus?: readonly MenuHandler[];
	/**
	 * Returns suggestions for the option of kind "reason" or "case" that a person is typing. At most one feature
	 * implements it. If it rejects, no suggestions are shown.
	 */
	suggest?(query: SuggestQuery): Promise<readonly Suggestion[]>;
	/** Stores moderation cases for tool calls. At most one feature implements it. */
	cases?: CaseRecorder | undefined;
	/** Access to the temporary bans in the database. At most one feature implements it. */
	tempBans?: StoredBans | undefined;
	/** Responds to an HTTP request to the bot. Returns undefined if this feature has no route for `path`. */
	respond?(request: Request, path: string): Response | Promise<Response> | undefined;
	/** Adds the feature's event listeners to a Discord client. Called again for each new client. */
	attach?(client: Client): void;
	/** Starts the feature's background work. */
	start?(): void;
	/** Stops the feature's background work. Unfinished work continues at the next start of the bot. */
	close?(): Promise<void>;
}
