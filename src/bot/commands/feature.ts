// The interface of features: optional parts of the bot beside its tools.

import type { ChatInputCommandInteraction, Client, MessageContextMenuCommandInteraction } from "discord.js";
import type { Ai } from "../../ai/ai.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import type { BotConfig } from "../config/config.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import type { Store } from "../store/store.ts";
import type { ChatPrivacy } from "../store/tables/privacy.ts";
import type { CallAs } from "../tool/call-as.ts";
import type { CaseRecorder } from "../tool/case-record.ts";
import type { Announcer, BotTool, StoredBans } from "../tool/context.ts";
import type { Action, ActionOption, Suggestion, SuggestQuery } from "./action.ts";
import type { Command } from "./commands.ts";
import type { ComponentHandler } from "./components.ts";
import type { Restricted } from "./who-may.ts";

export interface FeatureOptions {
	config: BotConfig;
	settings: GuildSettings;
	connection: Connection;
	store: Store;
	log: Log;
	/** By user id, held while roles or bans of the user are changed. */
	mutex: KeyedMutex;
	registry?: Registry | undefined;
	/** Undefined if no provider is configured. */
	ai?: Ai | undefined;
	callAs: CallAs;
	chatPrivacy: ChatPrivacy;
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
	suggest?: ((query: SuggestQuery) => Promise<readonly Suggestion[]>) | undefined;
	/** Of at most one feature. */
	cases?: CaseRecorder | undefined;
	/** Of at most one feature. */
	tempBans?: StoredBans | undefined;
	/** Of at most one feature. */
	announcer?: Announcer | undefined;
	/** Undefined if the feature has no route for `path`. */
	respond?(request: Request, path: string): Response | Promise<Response> | undefined;
}

/**
 * A context menu command or slash command of a feature's own, because it does more than call one tool. `run` must check again
 * who may use it, because administrators can change who sees it.
 */
export type MenuHandler = Restricted & {
	/** 1 to 32 characters, unique for its type; lower case for slash commands. */
	name: string;
} & (
		| {
				type: "message";
				/** Must defer, reply or show a form within 3 s, before any other request. A ToolError's text is shown. */
				run(interaction: MessageContextMenuCommandInteraction & { guildId: string }): Promise<void>;
		  }
		| {
				type: "slash";
				options: readonly Omit<ActionOption, "argument">[];
				/** Also in direct messages with the bot, where `guildId` is null. */
				inDms?: boolean;
				/** As for a message. */
				run(interaction: ChatInputCommandInteraction & { guildId: string }): Promise<void>;
		  }
	);

/** Several features, or parts of one, as one. */
export function combineFeatures(given: readonly (Feature | undefined)[]) {
	const features = given.filter((feature) => feature !== undefined);
	return {
		commands: features.flatMap(({ commands = [] }) => commands),
		tools: features.flatMap(({ tools = [] }) => tools),
		actions: features.flatMap(({ actions = [] }) => actions),
		components: features.flatMap(({ components = [] }) => components),
		menus: features.flatMap(({ menus = [] }) => menus),
		suggest: features.find(({ suggest }) => suggest)?.suggest,
		cases: features.find(({ cases }) => cases)?.cases,
		tempBans: features.find(({ tempBans }) => tempBans)?.tempBans,
		announcer: features.find(({ announcer }) => announcer)?.announcer,
		respond(request, path) {
			for (const feature of features) {
				const response = feature.respond?.(request, path);
				if (response) return response;
			}
			return undefined;
		},
		attach(client) {
			for (const feature of features) feature.attach?.(client);
		},
		start() {
			for (const feature of features) feature.start?.();
		},
		async close() {
			await Promise.all(features.map((feature) => feature.close?.()));
		},
	} satisfies Feature;
}
