// What a tool is defined with, and its context: the bot, and the objects that the arguments refer to.

import type { Client, Guild, GuildMember } from "discord.js";
import type * as v from "valibot";
import type { Connection } from "../../discord/connection/connection.ts";
import type { Finder } from "../../discord/find.ts";
import type { PrivilegedIntent } from "../../discord/intents.ts";
import type { Needed } from "../../discord/permissions.ts";
import type { ToolRun } from "../../discord/rest/rest.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { LruMap } from "../../lib/lru-map.ts";
import type { Principal } from "../../lib/principal.ts";
import type { ArgumentsOf, Tool, ToolCall, ToolDefinition } from "../../mcp/tool.ts";
import type { Said } from "../../texts/texts.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { GuildDocuments } from "../guild-documents/guild-documents.ts";
import type { Output } from "../results/result.ts";
import type { ModeratorAction } from "../settings/grants.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import type { Store } from "../store/store.ts";
import type { Audit } from "./audit.ts";
import type { CaseDraft, CaseRecorder } from "./case-record.ts";
import type { Locks } from "./channel-locks.ts";
import type { Review } from "./review.ts";

export interface Self {
	name: string;
	toml: TomlSettings;
	tools: readonly BotTool[];
	/** Those in `tools/list`. */
	listed: readonly BotTool[];
	/** Those that only the caller's access level excludes. */
	beyond: readonly BotTool[];
	store: Pick<Store, "state" | "since" | "sql">;
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
	settings: GuildSettings;
	guildDocuments: GuildDocuments;
	people: People;
	/** Guilds that tools may access. Undefined: all. */
	guilds?: ReadonlySet<string> | undefined;
	/** Undefined for the holder of the root key, who has no limits. */
	principal: Principal | undefined;
	/** Called once in each call that changes something, before the change. If it throws, the call ends with its error. */
	review?: Review | undefined;
	/** Gets `Plan.basis` in a dry run. */
	onDryRun?: ((basis: readonly string[]) => void) | undefined;
	/** Gets the tool's result or its error, for people. */
	onEnd?: ((end: { output: Output } | { error: unknown }) => void) | undefined;
	/** Called before each request that changes something. If it throws, the request is not sent. */
	beforeWrite?: (() => void) | undefined;
	/** See `ActingPerson`. */
	hidesTextsOf?: ((userId: string) => boolean) | undefined;
	/** If it throws, the tool stores nothing. */
	beforeStore?: (() => void) | undefined;
	/** See `ToolRun`. */
	onItem?: ToolRun["onItem"];
	/** For Discord's audit log; undefined if the call needed no approval. */
	approvedBy?: string | undefined;
	/** Undefined if the feature `moderation` is off. */
	cases?: CaseRecorder | undefined;
	/** Undefined if the feature `moderation` is off. */
	tempBans?: StoredBans | undefined;
	draft?: CaseDraft | undefined;
	/** Undefined if the feature `moderation` is off. */
	announcer?: Announcer | undefined;
	/** `DoneAction.place`; undefined for assistants. */
	announceFrom?: string | undefined;
	log: Log;
}

/** What a call has done. */
export interface DoneAction {
	guild: Guild;
	draft: CaseDraft;
	args: object;
	/** The channel in which a person used a command that announces what it does; undefined if it announces nothing. */
	place: string | undefined;
}

export interface Announcer {
	/** Announces it in the channels, and ends announcements that it made wrong. Returns what failed. Never rejects. */
	after(done: DoneAction): Promise<readonly Said[]>;
}

export interface StoredBans {
	/** The function deletes the stored ban once it is lifted, later if needed. The caller holds the user's lock. */
	beforeUnban(guildId: string, userId: string): Promise<(() => Promise<void>) | undefined>;
	/** If so, the ban on Discord ends by itself. Rejects with StoreUnavailable. */
	has(guildId: string, userId: string): Promise<boolean>;
	/** Makes the ban on Discord permanent. The caller holds the user's lock. Rejects with StoreUnavailable. */
	makePermanent(guildId: string, userId: string): Promise<void>;
}

export interface ToolContext extends BotContext {
	discord: Client<true>;
	/** Of a call with `where`. */
	chosen?: Chosen | undefined;
	mayTouch(guildId: string): boolean;
	/** A second guild of this bot, to read; a person needs ADMINISTRATOR there. */
	otherGuild(id: string): Promise<Guild>;
}

export type PeopleContext = ToolContext & { guild: Guild };

/** A question about people, see `whereGrammar`. */
interface Question {
	where: string;
	/** When it was asked. */
	nowMs: number;
	/** Only these members. */
	ids?: readonly string[] | undefined;
}

/** What a call with `where` has shown. `ids`: without those to whom it was done. */
interface PeoplePreview extends Question {
	guildId: string;
	caller: string;
	tool: string;
	/** As JSON, without those that say who is meant. */
	args: string;
	ids: readonly string[];
}

export interface FoundPeople {
	matches: readonly GuildMember[];
	unknown: readonly GuildMember[];
	/** Such as "joined 2026-11-21, 0 messages since 2026-11-17". */
	factsOf(member: GuildMember): string;
	/** What was covered. */
	notes: readonly string[];
}

export interface People {
	/** By their codes. */
	previews: LruMap<string, PeoplePreview>;
	/** Among the members in the cache. `reads`: nothing is changed. Throws a ToolError for an invalid question. */
	find(context: PeopleContext, question: Question & { reads: boolean }): Promise<FoundPeople>;
}

/** The people of a call with `where`. */
export interface Chosen extends Pick<FoundPeople, "notes"> {
	ids: readonly string[];
	/** Nothing may be done yet, because nobody has seen them. */
	isShownOnly: boolean;
	/** The caller has seen them in a preview. */
	wasShown: boolean;
	line(member: GuildMember): string;
	done(ids: ReadonlySet<string>): void;
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

/** For tools with which the bot can do more than a person with its permissions, such as editing the bot's messages. */
interface PersonNeeds<Args> {
	/** See `Needs`. */
	permissions?: readonly Needed<Args>[];
	/** Default: the tool's `permissionsIn`, or `channel_id` if that is "run". */
	permissionsIn?: keyof Args & string;
	/** Without MANAGE_THREADS, if the thread is not archived. Default: true for destructive tools, else false. */
	inLockedThreads?: boolean;
	/** Of which action of moderators the tool is a part: a guild may let more roles use it. */
	may?: ModeratorAction;
	/** In place of `may`, in calls for which it is one. */
	mayWith?(args: Args): ModeratorAction | undefined;
	/** The person needs MANAGE_GUILD: see `requireBotManager`. Default: true for tools without the argument `guild_id`. */
	managesBot?: boolean;
}

/** The person in whose name a call acts needs the same permissions and rank as the bot, and what `person` says. */
export interface Needs<Args> {
	person?: PersonNeeds<Args>;
	/** In the channel of `permissionsIn`, of the user in voice, the webhook or the invite; without one, guild-wide. */
	permissions?: readonly Needed<Args>[];
	/** Name of the argument with the channels. Default: `channel_id`. "run": the tool's own function checks them. */
	permissionsIn?: (keyof Args & string) | "run";
	/** Arguments with the ids of what the tool edits, one call at a time; if empty, GUILD_ID. Or those of these ids that are given. */
	lock?:
		| (keyof Args & string)
		| readonly (keyof Args & string)[]
		| ((args: Args, bot: BotContext) => readonly (string | undefined)[]);
	/** Below the bot have to be the roles or, without roles, the members in the arguments. "others": but not itself. */
	ranked?: boolean | "others";
	/** Privileged Discord intents without which this tool's result is incomplete. */
	intents?: readonly PrivilegedIntent[];
}

/** What a tool is about to do. Making it must not change anything on Discord. */
export type Plan = {
	/** What a dry run says and a person has to approve; left out if name and arguments tell enough. */
	preview?: Output | (() => Output | Promise<Output>);
	/** Equal for two plans which do the same. Default: the preview without the current time. */
	basis?: string | readonly string[] | ((shown: readonly string[]) => string | readonly string[]);
	/** Leaves out what the caller may not do, instead of refusing the call. */
	leavesOut?: boolean;
	/** What the call is about to do to people or channels, for the guild's moderation record. */
	record?: CaseDraft | undefined;
} & (
	| { act(call: ToolCall): Promise<Output> }
	/** For a tool with a single request that changes something. */
	| { write(): Promise<unknown>; result: Output }
);

/** The effect of a tool's calls and the annotations of MCP, which follow from how it is defined. */
export type Hints = Pick<ToolDefinition<v.ObjectEntries, never>, "effect" | "additive" | "idempotent">;

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends Omit<ToolDefinition<Entries, never>, keyof Hints | "run">,
		Needs<ArgumentsOf<Entries>> {
	toolset: Toolset;
	/** "listed": in `tools/list` by default. "extra": not in the toolset "default". "always": whatever the settings say. */
	offered?: "listed" | "extra" | "always";
	/** Why a call of a "write" tool grants power, silences many or replaces what cannot be restored. Changes nothing. */
	destructive?(
		args: ArgumentsOf<Entries>,
		context: ContextFor<Entries>,
	): string | undefined | Promise<string | undefined>;
	/** Does what the tool does. A tool that changes something can have `plan` instead. */
	run?(args: ArgumentsOf<Entries>, context: ContextFor<Entries>, call: ToolCall): Output | Promise<Output>;
	plan?(args: ArgumentsOf<Entries>, context: ContextFor<Entries>): Plan | Promise<Plan>;
}

/** An MCP tool with its toolset and the permissions and intents that it needs. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	offered: BotToolDefinition<v.ObjectEntries>["offered"];
	/** Whether calls of this "write" tool count as destructive with some arguments. */
	effectVaries: boolean;
	needs: {
		permissions: readonly Needed<never>[];
		intents: readonly PrivilegedIntent[];
		person?: PersonNeeds<never> | undefined;
		checkedInRun: boolean;
		isPlanned: boolean;
	};
}
