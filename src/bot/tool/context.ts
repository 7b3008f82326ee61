// What a tool is given beside its arguments: the bot, and whatever its arguments name.

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

/** What the bot reports about itself. */
export interface Self {
	name: string;
	toml: TomlSettings;
	/** The tools that it offers. */
	tools: readonly BotTool[];
	store: Pick<Store, "state" | "since">;
}

/** What all tools of a bot share. */
export interface BotContext {
	connection: Connection;
	/** The guild of a call without `guild_id`: GUILD_ID. */
	guildId: string | undefined;
	/** Held, by id, while a thing is edited. */
	mutex: KeyedMutex;
	/** Past calls. */
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Locks;
	/** The only guilds that tools may touch; undefined: all that the bot is in. */
	guilds?: ReadonlySet<string> | undefined;
	log: Log;
}

/** What every tool is given. */
export interface ToolContext {
	discord: Client<true>;
	connection: Connection;
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Pick<Locks, "of" | "begin" | "forget">;
	/** Whether the operator lets tools act in a guild. */
	mayTouch(guildId: string): boolean;
}

/** The thing that an argument names: what the `find` of its schema resolves to. */
type FoundBy<Schema> = Schema extends { find: Finder<infer Thing> }
	? Thing
	: Schema extends { wrapped: infer Wrapped }
		? OrAbsent<FoundBy<Wrapped>>
		: Schema extends { item: infer Item }
			? OrNever<FoundBy<Item>>
			: never;
type OrAbsent<Thing> = [Thing] extends [never] ? never : Thing | undefined;
type OrNever<Thing> = [Thing] extends [never] ? never : Thing[];

/** `channel_id` names the `channel`, `role_ids` the `roles`, `invite_code` the `invite`. */
type ThingName<Key> = Key extends `${infer Name}_ids`
	? `${Name}s`
	: Key extends `${infer Name}_${"id" | "code"}`
		? Name
		: never;

/** Everything that the arguments name. */
type Things<Entries> = {
	[Key in keyof Entries as [FoundBy<Entries[Key]>] extends [never]
		? never
		: ThingName<Key>]: FoundBy<Entries[Key]>;
};

/** What `run` is given. With a `guild_id` among the arguments that includes the guild and what they name in it. */
export type ContextFor<Entries> = "guild_id" extends keyof Entries
	? ToolContext & { guild: Guild } & Things<Entries>
	: ToolContext;
