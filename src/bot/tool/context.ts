// The context of a tool: the bot, and the objects that the arguments refer to.

import type { Client, Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import type { Finder } from "../../discord/find.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { GuildDocuments } from "../guild-documents/plans/operations.ts";
import type { Store } from "../store/store.ts";
import type { Audit } from "./audit.ts";
import type { CaseDraft, CaseRecorder, OpenCases } from "./case-record.ts";
import type { Locks } from "./channel-locks.ts";
import type { Review } from "./review.ts";
import type { BotTool } from "./toolsets.ts";

/** What tools can find out about the bot itself: its name, configuration, tools and database state. */
export interface Self {
	name: string;
	toml: TomlSettings;
	/** The MCP tools that clients of this bot may call. */
	tools: readonly BotTool[];
	/** The MCP tools that `tools/list` contains. */
	listed: readonly BotTool[];
	store: Pick<Store, "state" | "since">;
}

/** Objects and settings that all tools of a bot share, such as the connection to Discord. */
export interface BotContext {
	connection: Connection;
	/** The guild for tool calls without the argument `guild_id`, from the setting GUILD_ID. */
	guildId: string | undefined;
	/** Keyed mutex with Discord ids as keys: makes concurrent edits of the same object run one after another. */
	mutex: KeyedMutex;
	/** The bot's log of past tool calls. */
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Locks;
	guildDocuments: GuildDocuments;
	/** Ids of the guilds that tools may access. Undefined: all guilds that the bot is in. */
	guilds?: ReadonlySet<string> | undefined;
	/** The caller, and what the caller may do. Undefined for the holder of the root key, who has no limits. */
	principal: Principal | undefined;
	/**
	 * Shown what a call would do, before the call changes anything; called once in each call of a tool that changes
	 * something. If it throws, the call ends with its error. If undefined, calls run without this review.
	 */
	review?: Review | undefined;
	/** Gets the basis of the plan (`Plan.basis`) in a dry run; undefined if nobody needs it. */
	onDryRun?: ((basis: readonly string[]) => void) | undefined;
	/**
	 * Called before each request to Discord that changes something; undefined if nothing is to be called. If it throws,
	 * the request is not sent.
	 */
	beforeWrite?: (() => void) | undefined;
	/**
	 * Name of the person who approved the tool call, for Discord's audit log; undefined if the call needed no approval.
	 */
	approvedBy?: string | undefined;
	/** Keeps the moderation record; undefined if the feature `moderation` is off. */
	cases?: CaseRecorder | undefined;
	/** Temporary bans, which lifting a ban ends; undefined if the feature `moderation` is off. */
	tempBans?: StoredBans | undefined;
	/** What the case of this call says if the tool does not say it; see `PersonCall`. */
	draft?: CaseDraft | undefined;
	log: Log;
}

/** The temporary bans in the store. */
export interface StoredBans {
	/**
	 * Prepares lifting a user's ban: returns undefined if no temporary ban of the user is stored, otherwise a function that
	 * deletes it, to be called when the ban was lifted. The caller holds the lock of the user until then. While the store
	 * is unavailable, the function has it deleted later.
	 */
	beforeUnban(guildId: string, userId: string): Promise<(() => Promise<void>) | undefined>;
	/**
	 * Whether a temporary ban of the user is stored. If so, the user's ban on Discord ends by itself. Rejects with
	 * StoreUnavailable.
	 */
	has(guildId: string, userId: string): Promise<boolean>;
	/**
	 * Forgets a user's temporary ban, so that the ban on Discord is permanent. The caller holds the lock of the user.
	 * Rejects with StoreUnavailable.
	 */
	makePermanent(guildId: string, userId: string): Promise<void>;
}

/** What every tool receives when it runs, besides its arguments. */
export interface ToolContext
	extends Pick<
		BotContext,
		| "connection"
		| "audit"
		| "self"
		| "locks"
		| "guildDocuments"
		| "principal"
		| "review"
		| "onDryRun"
		| "draft"
		| "approvedBy"
		| "tempBans"
	> {
	discord: Client<true>;
	/** Whether the bot's configuration allows tools to access this guild. */
	mayTouch(guildId: string): boolean;
	/**
	 * Stores what the call is about to do in the guild's moderation record, with the call's `reason` and `tell`. Undefined
	 * if the feature `moderation` is off.
	 */
	openCases?:
		| ((guild: Guild, draft: CaseDraft, args: { reason?: string; tell?: boolean }) => Promise<OpenCases | undefined>)
		| undefined;
}

type FoundBy<Schema> = Schema extends { find: Finder<infer Thing> }
	? Thing
	: Schema extends { wrapped: infer Wrapped }
		? OrAbsent<FoundBy<Wrapped>>
		: Schema extends { item: infer Item }
			? OrNever<FoundBy<Item>>
			: never;
type OrAbsent<Thing> = [Thing] extends [never] ? never : Thing | undefined;
type OrNever<Thing> = [Thing] extends [never] ? never : Thing[];

type ThingName<Key> = Key extends `${infer Name}_ids`
	? `${Name}s`
	: Key extends `${infer Name}_${"id" | "code"}`
		? Name
		: never;

type Things<Entries> = {
	[Key in keyof Entries as [FoundBy<Entries[Key]>] extends [never] ? never : ThingName<Key>]: FoundBy<Entries[Key]>;
};

/**
 * What a tool receives when it runs, besides its arguments. A tool with the argument `guild_id` also receives the guild
 * and the objects that its other id arguments refer to.
 */
export type ContextFor<Entries> = "guild_id" extends keyof Entries
	? ToolContext & { guild: Guild } & Things<Entries>
	: ToolContext;
