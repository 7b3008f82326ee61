// The interface of features: optional parts of the bot beside its tools.

import type { Client } from "discord.js";
import type { Ai } from "../../ai/ai.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import type { BotConfig } from "../config/config.ts";
import type { Store } from "../store/store.ts";
import type { CallAs } from "../tool/call-as.ts";
import type { CaseRecorder } from "../tool/case-record.ts";
import type { Announcer, BotTool, StoredBans } from "../tool/context.ts";
import type { Action, Suggestion, SuggestQuery } from "./action.ts";
import type { Command } from "./commands.ts";
import type { ComponentHandler } from "./components.ts";
import type { MenuHandler } from "./menus.ts";

export interface FeatureOptions {
	config: BotConfig;
	connection: Connection;
	store: Store;
	log: Log;
	/** By user id, held while roles or bans of the user are changed. */
	mutex: KeyedMutex;
	registry?: Registry;
	/** Undefined if no provider is configured. */
	ai?: Ai | undefined;
	callAs: CallAs;
}

/** A part of the bot, made inert. */
export interface Part {
	/** Called again for each new client, before it logs in. */
	attach?(client: Client): void;
	start?(): void;
	/** The bot shuts down: answer at once what waits for something. */
	stop?(): void;
	/** Unfinished work continues at the next start. */
	close?(): Promise<void>;
}

export interface Feature extends Part {
	commands?: readonly Command[];
	tools?: readonly BotTool[];
	actions?: readonly Action[];
	components?: readonly ComponentHandler[];
	menus?: readonly MenuHandler[];
	/** For "reason" and "case". Of at most one feature. If it rejects, nothing is shown. */
	suggest?(query: SuggestQuery): Promise<readonly Suggestion[]>;
	/** Of at most one feature. */
	cases?: CaseRecorder | undefined;
	/** Of at most one feature. */
	tempBans?: StoredBans | undefined;
	/** Of at most one feature. */
	announcer?: Announcer | undefined;
	/** Undefined if the feature has no route for `path`. */
	respond?(request: Request, path: string): Response | Promise<Response> | undefined;
}
