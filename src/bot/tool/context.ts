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

export interface Self {
	name: string;
	toml: TomlSettings;
	tools: readonly BotTool[];
	/** Those in `tools/list`. */
	listed: readonly BotTool[];
	store: Pick<Store, "state" | "since">;
}

export interface BotContext {
	connection: Connection;
	/** The setting GUILD_ID, for calls without `guild_id`. */
	guildId: string | undefined;
	/** By Discord ids: edits of the same object run one after another. */
	mutex: KeyedMutex;
	audit: Pick<Audit, "recent">;
	self: Self;
	locks: Locks;
	guildDocuments: GuildDocuments;
	/** Guilds that tools may access. Undefined: all. */
	guilds?: ReadonlySet<string> | undefined;
	/** Undefined for the holder of the root key, who has no limits. */
	principal: Principal | undefined;
	/** Called once in each call that changes something, before the change. If it throws, the call ends with its error. */
	review?: Review | undefined;
	/** Gets `Plan.basis` in a dry run. */
	onDryRun?: ((basis: readonly string[]) => void) | undefined;
	/** Called before each request that changes something. If it throws, the request is not sent. */
	beforeWrite?: (() => void) | undefined;
	/** For Discord's audit log; undefined if the call needed no approval. */
	approvedBy?: string | undefined;
	/** Undefined if the feature `moderation` is off. */
	cases?: CaseRecorder | undefined;
	/** Undefined if the feature `moderation` is off. */
	tempBans?: StoredBans | undefined;
	draft?: CaseDraft | undefined;
	log: Log;
}

export interface StoredBans {
	/** The function deletes the stored ban once it is lifted, later if needed. The caller holds the user's lock. */
	beforeUnban(guildId: string, userId: string): Promise<(() => Promise<void>) | undefined>;
	/** If so, the ban on Discord ends by itself. Rejects with StoreUnavailable. */
	has(guildId: string, userId: string): Promise<boolean>;
	/** Makes the ban on Discord permanent. The caller holds the user's lock. Rejects with StoreUnavailable. */
	makePermanent(guildId: string, userId: string): Promise<void>;
}

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
	mayTouch(guildId: string): boolean;
	/** With the call's `reason` and `tell`. Undefined if the feature `moderation` is off. */
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

/** With `guild_id`, also the guild and the objects of the other id arguments. */
export type ContextFor<Entries> = "guild_id" extends keyof Entries
	? ToolContext & { guild: Guild } & Things<Entries>
	: ToolContext;
