// All ways in which people on Discord use the bot: chat commands, slash commands, menus, buttons and forms.

import type { Client } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { CallAs } from "../tool/call-as.ts";
import type { Action } from "./action.ts";
import type { Suggest } from "./autocomplete.ts";
import { createChatDoor } from "./chat-door.ts";
import type { Command } from "./commands.ts";
import { type ComponentHandler, serveComponents } from "./components.ts";
import type { Limiter } from "./cooldown.ts";
import { definitionsOf } from "./definitions.ts";
import { createCommandLimits, createConcurrencyLimit } from "./limits.ts";
import type { MenuHandler } from "./menus.ts";
import { createPerform } from "./perform.ts";
import { type CommandScope, keepRegistered, type Registration } from "./registration.ts";
import { createSlashDoor } from "./slash-door.ts";

export interface DoorsOptions {
	/** Text at the start of every chat command, such as "!m". */
	prefix: string;
	commands: readonly Command[];
	actions?: readonly Action[];
	menus?: readonly MenuHandler[];
	components?: readonly ComponentHandler[];
	suggest?: Suggest;
	callAs: CallAs;
	/** Whether slash commands are registered for all guilds at once, for each guild, or not at all. */
	scope: CommandScope;
	/** Names of all commands that this program can register with any configuration. */
	known?: Iterable<string>;
	/** Whether to delete people's messages whose chat command contains a secret, such as a verification code. */
	deleteSecrets: boolean;
	/** Rate limiter, per person and guild, for commands that do not require a permission, and for people without it. */
	limiter?: Limiter;
	/**
	 * Minimum time in milliseconds between log lines about commands that were ignored because too many were running.
	 */
	logIntervalMs?: number;
	/** Waits in milliseconds before each retry of a failed registration of slash commands. */
	retryMs?: readonly number[];
	/** Milliseconds for which a person can confirm an action after the bot has asked. */
	questionMs?: number;
	log: Log;
}

export interface Doors {
	/** Adds listeners to a Discord client that run commands, and registers the slash commands with Discord. */
	attach(client: Client): void;
	/** The registration of the slash commands; undefined before `attach`. */
	readonly registration: Registration | undefined;
}

export function createDoors(options: DoorsOptions): Doors {
	const { actions = [], menus = [], components = [] } = options;
	const { suggest = async () => [], log } = options;
	const { callAs, questionMs } = options;
	const shared = {
		actions,
		menus,
		suggest,
		log,
		commands: options.commands,
		limits: createCommandLimits(options.limiter),
		concurrency: createConcurrencyLimit(log, options.logIntervalMs),
		performing: createPerform({ callAs, questionMs }),
	};
	const isAny = options.commands.length + actions.length > 0;
	const attachChat = createChatDoor({
		...shared,
		prefix: options.prefix,
		deleteSecrets: options.deleteSecrets,
	});
	const slash = createSlashDoor(shared);
	const definitions = definitionsOf(shared);
	const known = new Set([...(options.known ?? []), ...definitions.map(({ name }) => name)]);
	let registration: Registration | undefined;
	return {
		get registration() {
			return registration;
		},
		attach(client) {
			if (isAny) attachChat(client);
			slash.attach(client);
			const handlers = [...slash.components, ...components];
			serveComponents(client, { handlers, log });
			const { scope, retryMs } = options;
			registration = keepRegistered(client, {
				...{ scope, definitions, known, log, retryMs },
			});
		},
	};
}
