// The context of a tool: the bot, and the objects that the arguments refer to.

import type { Client, Guild } from "discord.js";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { Connection } from "../discord/connection/connection.ts";
import type { Finder } from "../discord/find.ts";
import type { Store } from "../store/store.ts";
import type { Audit } from "./audit.ts";
import type { Locks } from "./channel-locks.ts";
import type { BotTool } from "./toolsets.ts";

/** Information about the bot itself. */
export interface Self {
	name: string;
	toml: TomlSettings;
	/** The tools that the bot offers. */
	tools: readonly BotTool[];
	store: Pick<Store, "state" | "since">;
}

/** Shared by all tools of a bot. */
export interface BotContext {
	connection: Connection;
	/** The guild of a call without `guild_id`: GUILD_ID. */
	guildId: string | undefined;
	/** Locks objects by id during edits. */
	mutex: KeyedMutex;
	/** Past tool calls. */
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Locks;
	/** The guilds that tools may access; undefined: all of the bot's. */
	guilds?: ReadonlySet<string> | undefined;
	log: Log;
}

/** Available to every tool. */
export interface ToolContext
	extends Pick<BotContext, "connection" | "audit" | "self" | "locks"> {
	discord: Client<true>;
	/** Whether tools may access a guild. */
	mayTouch(guildId: string): boolean;
}

/** The object that an argument refers to: the result of its schema's `find`. */
type FoundBy<Schema> = Schema extends { find: Finder<infer Thing> }
	? Thing
	: Schema extends { wrapped: infer Wrapped }
		? OrAbsent<FoundBy<Wrapped>>
		: Schema extends { item: infer Item }
			? OrNever<FoundBy<Item>>
			: never;
type OrAbsent<Thing> = [Thing] extends [never] ? never : Thing | undefined;
type OrNever<Thing> = [Thing] extends [never] ? never : Thing[];

/** `channel_id` → `channel`, `role_ids` → `roles`, `invite_code` → `invite`. */
type ThingName<Key> = Key extends `${infer Name}_ids`
	? `${Name}s`
	: Key extends `${infer Name}_${"id" | "code"}`
		? Name
		: never;

/** All objects that the arguments refer to. */
type Things<Entries> = {
	[Key in keyof Entries as [FoundBy<Entries[Key]>] extends [never]
		? never
		: ThingName<Key>]: FoundBy<Entries[Key]>;
};

/** The context of `run`. With a `guild_id` argument it has the guild and the objects that the arguments refer to. */
export type ContextFor<Entries> = "guild_id" extends keyof Entries
	? ToolContext & { guild: Guild } & Things<Entries>
	: ToolContext;
