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
	 * The hashes of pictures, as in documents: of an emoji by its id, of an icon by Discord's hash of it. A picture that
	 * is missing here is not compared.
	 */
	pictures: ReadonlyMap<string, string>;
}

/** A request to Discord's REST API. `path` is relative to the API's URL: "/guilds/1/roles". */
export interface ApiRequest {
	method: "POST" | "PATCH" | "PUT" | "DELETE";
	path: `/${string}`;
	body?: unknown;
	/** Hash of a picture whose data URI must be put into the field `image` or `icon` of the body. */
	picture?: { field: "image" | "icon"; hash: string };
	/** The reason of a ban, for Discord's audit log and the guild's list of bans. */
	reason?: string;
}

export type StepAction =
	| "create"
	| "edit"
	| "order"
	| "delete"
	| "assign"
	| "ban";

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

/** One changed field, as texts for people. */
export interface FieldChange {
	field: string;
	/** Undefined for what is created. */
	before?: string | undefined;
	after: string;
}

/** One change of a guild, carried out with one request to Discord. */
export interface Step {
	/** The same for the same change whenever the difference is computed again, such as "create role Mods". */
	id: string;
	action: StepAction;
	kind: StepKind;
	/** The thing's name in the document; of one that the guild has, its key in an export, such as "Staff/general". */
	name: string;
	/** Id of the thing on Discord; undefined if the step creates it. */
	targetId?: string | undefined;
	/** Stands for the id of the thing that the step creates, in `needs` and in the requests of other steps: "+role/Mods". */
	placeholder?: string | undefined;
	changes: readonly FieldChange[];
	/** Placeholders of things that must exist before this step. */
	needs: readonly string[];
	/** The raw values that guards check: permissions that the step gives, overwrites that it sets, roles it assigns. */
	guard: StepGuard;
	/** Returns the request. `ids` has an id for each placeholder in `needs`. */
	request(ids: ReadonlyMap<string, string>): ApiRequest;
}

/** What a step changes, for the checks of permissions and of the role hierarchy. */
export interface StepGuard {
	/** Permissions that a role has after the step and did not have before. */
	gives?: bigint | undefined;
	/** Permission overwrites of a channel before and after the step; target ids may be placeholders. */
	overwrites?:
		| { before: readonly RawOverwrite[]; after: readonly RawOverwrite[] }
		| undefined;
	/**
	 * Ids of the roles that the step edits, moves, deletes or assigns, or that onboarding newly gives. Placeholders are left
	 * out.
	 */
	roleIds?: readonly string[] | undefined;
	/** Kind of channel that the step creates or changes to: "stage". */
	channelKind?: string | undefined;
	/** Id of the channel's category after the step, or a placeholder; "" for none. */
	parentId?: string | undefined;
	/** Whether an emoji that the step creates is animated. */
	animated?: boolean | undefined;
	/** Ids and placeholders of the things that the step puts in other places. */
	moves?: readonly string[] | undefined;
	/** Names of the changed fields. */
	fields?: readonly string[] | undefined;
}

export interface RawOverwrite {
	id: string;
	/** 0 for a role, 1 for a member. */
	type: 0 | 1;
	allow: bigint;
	deny: bigint;
}

/** Something in a document that cannot be done, and why, as text for people. */
export interface Refusal {
	/** What cannot be done: "role Mods". */
	subject: string;
	reason: string;
	/** Id of the step that is refused; undefined if there is no step. */
	stepId?: string | undefined;
}

export interface Difference {
	/** In the order in which they must be carried out. */
	steps: readonly Step[];
	refusals: readonly Refusal[];
}
