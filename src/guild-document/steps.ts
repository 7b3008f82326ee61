// What a plan consists of: the state of a guild as Discord's API returns it, and the steps that change it.

import type {
	APIAutoModerationRule,
	APIBan,
	APIGuild,
	APIGuildChannel,
	APIGuildOnboarding,
	APIGuildScheduledEvent,
	APIGuildWelcomeScreen,
	APIWebhook,
} from "discord.js";

/** A guild as Discord's API returns it. Parts that were not fetched are undefined. */
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
	/**
	 * Picture hashes in the form of guild documents, by emoji id, or by Discord's own hash of an icon. A picture that is
	 * missing here is not compared.
	 */
	pictures: ReadonlyMap<string, string>;
}

/** A request to Discord's REST API. `path` is relative to the API's URL: "/guilds/1/roles". */
export interface ApiRequest {
	method: "POST" | "PATCH" | "PUT" | "DELETE";
	path: `/${string}`;
	body?: unknown;
	/**
	 * Picture to add to the request body: its data URI goes into the field `image` or `icon`. `hash` identifies the
	 * picture.
	 */
	picture?: { field: "image" | "icon"; hash: string };
	/** The reason of a ban, for Discord's audit log and the guild's list of bans. */
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
	| "member"
	| "ban";

/** A changed field of a role, channel or other item, formatted for users. */
export interface FieldChange {
	field: string;
	/** The field's old value, formatted for users; undefined if there was none, as for a new item. */
	before?: string | undefined;
	after: string;
}

/** One change to a guild, which is made with one request to Discord. */
export interface Step {
	/**
	 * Identifies the step by its action and target, such as "create role/Mods". Equal for the same change whenever the
	 * steps are computed again: what was created from the document keeps its placeholder here.
	 */
	id: string;
	action: StepAction;
	kind: StepKind;
	/**
	 * Name of the role, channel or other item that the step changes. For an existing role, channel or emoji, its key in
	 * an export, such as "Staff/general".
	 */
	name: string;
	/**
	 * Discord's id of the item that the step changes, such as a role, or a fixed text such as "welcome_screen". Undefined
	 * if the step creates an item.
	 */
	targetId?: string | undefined;
	/**
	 * Placeholder for the id of the item that the step creates, such as "+role/Mods". Other steps use it in `needs` and
	 * in their requests.
	 */
	placeholder?: string | undefined;
	changes: readonly FieldChange[];
	/** Whether the step gives a channel the access of its category, because the channel moves into it. */
	follows?: boolean | undefined;
	/** A sentence about the step for the plan: who gains access by it. */
	note?: string | undefined;
	/** Placeholders, such as "+role/Mods", of what must be created before this step is carried out. */
	needs: readonly string[];
	/** What the permission checks look at, such as the permissions that the step gives and the roles that it assigns. */
	guard: StepGuard;
	/**
	 * Returns the request that carries out the step. `ids` maps each placeholder in `needs`, such as "+role/Mods", to an
	 * id.
	 */
	request(ids: ReadonlyMap<string, string>): ApiRequest;
}

/** What a step changes, as far as the checks of permissions and of the role hierarchy need it. */
export interface StepGuard {
	/**
	 * Permission overwrites of a channel before and after the step. Role ids in them may be placeholders such as
	 * "+role/Mods".
	 */
	overwrites?: { before: readonly RawOverwrite[]; after: readonly RawOverwrite[] } | undefined;
	/**
	 * Ids of the roles that the step edits, moves, deletes or assigns, or that onboarding gives to members from this step
	 * on. New ones have placeholders such as "+role/Mods".
	 */
	roleIds?: readonly string[] | undefined;
	/** Kind of the channel that the step creates, or the kind to which it converts a channel, such as "stage". */
	channelKind?: string | undefined;
	/**
	 * Id of the category in which the channel is after the step, or a placeholder such as "+category/Staff"; "" for none.
	 */
	parentId?: string | undefined;
	/** Ids of the roles or channels whose position the step changes. New ones have placeholders such as "+role/Mods". */
	moves?: readonly string[] | undefined;
	/** Names of the fields that the step changes. */
	fields?: readonly string[] | undefined;
}

export interface RawOverwrite {
	id: string;
	/** Type of the overwrite's target: 0 for a role, 1 for a member. */
	type: 0 | 1;
	allow: bigint;
	deny: bigint;
}

/** A part of a guild document that cannot be applied to the guild, and the reason, formatted for users. */
export interface Refusal {
	/** The part of the document that cannot be applied, such as "role Mods". */
	subject: string;
	reason: string;
	/** Id of the step that cannot be carried out; undefined if no step is concerned. */
	stepId?: string | undefined;
}

export interface Difference {
	/** The steps that change the guild, in the order in which they must be carried out. */
	steps: readonly Step[];
	refusals: readonly Refusal[];
}
