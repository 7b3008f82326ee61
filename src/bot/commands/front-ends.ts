// All ways in which people on Discord use the bot: chat commands, slash commands, menus, buttons and forms.

import type { Client } from "discord.js";
import type { GuildSettings } from "../settings/guild-settings.ts";
import { type ChatCommandsOptions, createChatCommands } from "./chat-commands.ts";
import { serveComponents } from "./components.ts";
import type { Limiter } from "./cooldown.ts";
import { definitionsOf } from "./definitions.ts";
import type { Feature, FeatureOptions } from "./feature.ts";
import { createHelp } from "./help.ts";
import { createCommandLimits, createConcurrencyLimit } from "./limits.ts";
import { createPerform } from "./perform.ts";
import { type CommandScope, keepRegistered, type Registration } from "./registration.ts";
import { SlashCommands } from "./slash-commands.ts";

export interface FrontEndsOptions
	extends Pick<Feature, "actions" | "menus" | "components" | "suggest">,
		Pick<FeatureOptions, "callAs" | "log">,
		Pick<ChatCommandsOptions, "prefix" | "commands" | "deleteSecrets"> {
	settings: GuildSettings;
	scope: CommandScope;
	/** All that this program can register with any configuration. */
	known?: Iterable<string>;
	/** Per person and guild, for commands without a permission, and people without it. */
	limiter?: Limiter;
	/** Between log lines about commands ignored because too many ran, in milliseconds. */
	logIntervalMs?: number;
	retryMs?: readonly number[];
}

export function createFrontEnds(options: FrontEndsOptions) {
	const { actions = [], menus = [], components = [] } = options;
	const { suggest = async () => [], log } = options;
	const { settings } = options;
	const help = createHelp({ prefix: options.prefix, actions, menus, commands: options.commands });
	const shared = {
		actions,
		help,
		menus,
		suggest,
		log,
		commands: options.commands,
		grants: settings,
		limits: createCommandLimits(options.limiter),
		concurrency: createConcurrencyLimit(log, options.logIntervalMs),
		performing: createPerform(options.callAs),
	};
	const isAny = options.commands.length + actions.length > 0;
	const attachChat = createChatCommands({ ...shared, prefix: options.prefix, deleteSecrets: options.deleteSecrets });
	const slash = new SlashCommands(shared);
	const definitions = (guildId?: string) =>
		definitionsOf({
			...shared,
			granted: (may) => guildId !== undefined && settings.of(guildId)[`may.${may}`].length > 0,
		});
	const known = new Set([...(options.known ?? []), ...definitions().map(({ name }) => name)]);
	let registration: Registration | undefined;
	settings.onChange((guildId) => registration?.renew(guildId));
	return {
		/** Undefined before `attach`. */
		get registration() {
			return registration;
		},
		/** Also registers the slash commands. */
		attach(client: Client) {
			if (isAny) attachChat(client);
			slash.attach(client);
			serveComponents(client, [...slash.components, ...components], log);
			const { scope, retryMs } = options;
			registration = keepRegistered(client, { ...{ scope, definitions, known, log, retryMs } });
		},
	};
}
