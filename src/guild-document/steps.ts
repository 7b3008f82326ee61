// What a plan consists of: the state of a guild as Discord's API returns it, and the steps that change it.

import type {
	APIAutoModerationRule,
	APIBan,
	APIGuild,
	APIGuildChannel,
	APIGuildMember,
	APIGuildOnboarding,
	APIGuildScheduledEvent,
	APIGuildWelcomeScreen,
	APIWebhook,
} from "discord.js";

import type { BotKeys } from "./format/fields.ts";

/** Parts that were not fetched are undefined. */
export interface GuildState {
	guild: APIGuild;
	channels: readonly APIGuildChannel[];
	automod?: readonly APIAutoModerationRule[] | undefined;
	events?: readonly APIGuildScheduledEvent[] | undefined;
	webhooks?: readonly APIWebhook[] | undefined;
	welcomeScreen?: APIGuildWelcomeScreen | undefined;
	onboarding?: APIGuildOnboarding | undefined;
	members?: readonly { id: string; roles: readonly string[] }[] | undefined;
	bans?: readonly APIBan[] | undefined;
	/** Those that documents have posted. */
	messages?: readonly KnownMessage[] | undefined;
	bot?: BotSettings | undefined;
	/** Of a restore, by user id; undefined for those who are not in the guild. */
	people?: ReadonlyMap<string, APIGuildMember | undefined> | undefined;
	/** Codes of those of a restore that exist. */
	invites?: ReadonlySet<string> | undefined;
	/** Hashes by emoji id, or by Discord's own hash of an icon. A missing one is not compared. */
	pictures: ReadonlyMap<string, string>;
}

/** The bot's own settings in the guild, of which only the bot knows what they mean. */
export interface BotSettings {
	/** JSON values by key, with ids; without those that have their default. */
	stored: Readonly<Record<string, unknown>>;
	keys: BotKeys;
	/** What is wrong with values by themselves; null: to the default. */
	mistakesIn(wanted: BotSettings["stored"]): readonly BotProblem[];
	/** What the bot cannot use, or who asks for it may not set; and warnings. */
	check(changed: BotSettings["stored"]): { refused: readonly BotProblem[]; warnings: readonly BotProblem[] };
}

interface BotProblem {
	key: string;
	message: string;
}

/** A message or forum post of the bot that a document has posted. */
export interface KnownMessage {
	/** A post has the ids of its forum and its thread. */
	channelId: string;
	key: string;
	id: string;
	/** The message of the document, as JSON with ids. */
	posted: string;
	/** Undefined if someone has deleted it. */
	content: string | undefined;
	isPinned: boolean;
	/** Why the bot cannot edit it, for people. */
	why?: string | undefined;
}

/** `path` is relative to the API's URL: "/guilds/1/roles". */
export interface ApiRequest {
	method: "POST" | "PATCH" | "PUT" | "DELETE";
	path: `/${string}`;
	body?: unknown;
	/** To be added to the body as a data URI in `field`. */
	picture?: { field: "image" | "icon"; hash: string };
	/** To be remembered when it is done. */
	record?: { channel_id: string; key: string; content: string };
	/** Of a ban, for the audit log and the list of bans. */
	reason?: string;
}

export type StepAction = "create" | "edit" | "order" | "delete" | "assign" | "ban";

export type StepKind =
	| "settings"
	| "everyone"
	| "role"
	| "emoji"
	| "category"
	| "channel"
	| "automod"
	| "event"
	| "webhook"
	| "welcome_screen"
	| "onboarding"
	| "bot"
	| "message"
	| "post"
	| "pin"
	| "member"
	| "ban"
	| "person"
	| "invite";

/** For users. */
export interface FieldChange {
	field: string;
	/** Undefined if there was none, as for a new thing. */
	before?: string | undefined;
	after: string;
}

/** Made with one request to Discord. */
export interface Step {
	/** Such as "create role/Mods". The same whenever computed again: what was created keeps its placeholder here. */
	id: string;
	action: StepAction;
	kind: StepKind;
	/** For an existing role, channel or emoji its key, such as "Staff/general". */
	name: string;
	/** An id, or a fixed text such as "welcome_screen"; undefined if the step creates something. */
	targetId?: string | undefined;
	/** For the id of what the step creates, such as "+role/Mods"; used in `needs` and requests of other steps. */
	placeholder?: string | undefined;
	changes: readonly FieldChange[];
	/** The channel moves into a category and gets its access. */
	follows?: boolean | undefined;
	/** A sentence, such as who gains access. */
	note?: string | undefined;
	/** Placeholders of what must be created before. */
	needs: readonly string[];
	/** Of a restore: the ids of the entries that it undoes. */
	undoes?: readonly string[] | undefined;
	guard: StepGuard;
	/** `ids`: one for each placeholder in `needs`. */
	request(ids: ReadonlyMap<string, string>): ApiRequest;
}

/** What the checks of permissions and of the role hierarchy need. */
export interface StepGuard {
	/** Role ids may be placeholders such as "+role/Mods". */
	overwrites?: { before: readonly RawOverwrite[]; after: readonly RawOverwrite[] } | undefined;
	/** Roles (or placeholders) edited, moved, deleted, assigned, or given by onboarding from this step on. */
	roleIds?: readonly string[] | undefined;
	/** The category after the step, or a placeholder such as "+category/Staff"; "" for none. */
	parentId?: string | undefined;
	/** Ids or placeholders of what changes its position. */
	moves?: readonly string[] | undefined;
	/** Of a message: an id or a placeholder. */
	channelId?: string | undefined;
	/** It pings everyone, or a role that not everyone may mention. */
	pingsMany?: boolean | undefined;
	fields?: readonly string[] | undefined;
}

export interface RawOverwrite {
	id: string;
	/** 0 for a role, 1 for a member. */
	type: 0 | 1;
	allow: bigint;
	deny: bigint;
}

/** What cannot be applied, and why, for users. */
export interface Refusal {
	/** Such as "role Mods". */
	subject: string;
	reason: string;
	/** Undefined if no step is concerned. */
	stepId?: string | undefined;
}

export interface Difference {
	/** In the order of execution. */
	steps: readonly Step[];
	refusals: readonly Refusal[];
	/** Of a restore: what needs no step, or loses something. */
	notes?: readonly Refusal[];
	/** Of a restore: ids of entries of which something is not set back. */
	kept?: ReadonlySet<string>;
}
