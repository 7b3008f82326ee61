// What the checks of a plan need to know of a guild, and how steps change it. A plan is checked as a whole: each step sees
// what the steps before it leave behind.

import type { APIEmoji, APIOverwrite, APIRole, ChannelType, Guild, Snowflake } from "discord.js";
import { rawOverwritesOf } from "../../../guild-document/steps/to-api.ts";
import type { ApiRequest, GuildState, RawOverwrite, Step } from "../../../guild-document/steps.ts";

/**
 * A plan step together with its request to Discord, for checks. An object that does not exist yet has a placeholder,
 * such as "+role/Mods", instead of an id.
 */
export interface CheckedStep extends Step {
	path: string;
	/** Body of the plan step's request to Discord; {} if it has no body or the body is an array. */
	body: Readonly<Record<string, unknown>>;
	/** Body of the plan step's request if it is an array, which sets the order of roles or channels; [] otherwise. */
	entries: readonly Readonly<Record<string, unknown>>[];
	picture: ApiRequest["picture"];
}

/**
 * Returns a plan step together with its request to Discord. `ids` maps placeholders, which stand for the ids of new
 * objects, to the ids to use in the request.
 */
export function withRequest(step: Step, ids: ReadonlyMap<string, string>): CheckedStep {
	const known = new Map(step.needs.map((need) => [need, need]));
	const { path, body, picture } = step.request(new Map([...known, ...ids]));
	const isList = Array.isArray(body);
	const idOf = (id: string) => ids.get(id) ?? id;
	const withIds = (overwrites: readonly RawOverwrite[]) => overwrites.map((one) => ({ ...one, id: idOf(one.id) }));
	const { parentId, overwrites, roleIds } = step.guard;
	return {
		...step,
		guard: {
			...step.guard,
			parentId: parentId === undefined ? undefined : idOf(parentId),
			roleIds: roleIds?.map(idOf),
			overwrites: overwrites && {
				before: withIds(overwrites.before),
				after: withIds(overwrites.after),
			},
		},
		path,
		body: (isList ? {} : (body ?? {})) as CheckedStep["body"],
		entries: (isList ? body : []) as CheckedStep["entries"],
		picture,
	};
}

interface RoleFacts {
	name: string;
	permissions: bigint;
	managed: boolean;
	position: number;
}

interface ChannelFacts {
	type: ChannelType;
	parentId: string;
	overwrites: readonly RawOverwrite[];
}

interface EventFacts {
	type: number;
	channelId: string;
	creatorId: string;
}

interface OnboardingFacts {
	enabled: boolean;
	mode: number;
	defaultIds: readonly string[];
	optionIds: readonly string[];
}

/**
 * What the checks of a plan know about a guild. Maps are by id, or by placeholder for objects that do not exist yet. An
 * undefined field is unknown, and no check uses it; Discord then does the check itself.
 */
export interface GuildFacts {
	features: ReadonlySet<string>;
	premiumTier: number;
	verificationLevel: number;
	contentFilter: number;
	rulesChannelId: string;
	updatesChannelId: string;
	roles: Map<string, RoleFacts>;
	/** Permissions that each role had before the first step of the plan, by role id. */
	permissionsBefore: ReadonlyMap<string, bigint>;
	channels: Map<string, ChannelFacts>;
	emojis: Map<string, { animated: boolean; creatorId: string }>;
	/** Trigger type of each AutoMod rule, by rule id. */
	automod: Map<string, number> | undefined;
	events: Map<string, EventFacts> | undefined;
	/** Channel id of each webhook, by webhook id. */
	webhooks: Map<string, string> | undefined;
	memberIds: ReadonlySet<string> | undefined;
	onboarding: OnboardingFacts | undefined;
	/** Placeholders (stand-ins for ids) of the new channels that the bot will not be able to see or manage. */
	hidden: Set<string>;
}

const byId = <Thing extends { id: string }, Value>(things: readonly Thing[], read: (thing: Thing) => Value) =>
	new Map(things.map((thing) => [thing.id, read(thing)]));

interface ApiChannel {
	id: string;
	type: ChannelType;
	parent_id?: string | null;
	permission_overwrites?: readonly APIOverwrite[];
}

/** Extracts what the checks of a plan need to know from a guild's state that was just fetched from Discord. */
export function factsOfState(state: GuildState): GuildFacts {
	const { guild } = state;
	const channels = state.channels as readonly unknown[];
	return {
		features: new Set(guild.features),
		premiumTier: guild.premium_tier,
		verificationLevel: guild.verification_level,
		contentFilter: guild.explicit_content_filter,
		rulesChannelId: guild.rules_channel_id ?? "",
		updatesChannelId: guild.public_updates_channel_id ?? "",
		roles: byId(guild.roles, roleFacts),
		permissionsBefore: byId(guild.roles, ({ permissions }) => BigInt(permissions)),
		channels: byId(channels as readonly ApiChannel[], (channel) => ({
			type: channel.type,
			parentId: channel.parent_id ?? "",
			overwrites: rawOverwritesOf(channel),
		})),
		emojis: new Map(
			guild.emojis
				.filter(({ managed }) => !managed)
				.map((emoji: APIEmoji) => [
					emoji.id ?? "",
					{
						animated: emoji.animated ?? false,
						creatorId: emoji.user?.id ?? "",
					},
				]),
		),
		automod: state.automod && byId(state.automod, (rule) => rule.trigger_type),
		events:
			state.events &&
			byId(state.events, (event) => ({
				type: event.entity_type,
				channelId: event.channel_id ?? "",
				creatorId: event.creator_id ?? "",
			})),
		webhooks: state.webhooks && byId(state.webhooks, ({ channel_id }) => channel_id ?? ""),
		memberIds: state.members && new Set(state.members.map(({ id }) => id)),
		onboarding: state.onboarding && {
			enabled: state.onboarding.enabled,
			mode: state.onboarding.mode,
			defaultIds: state.onboarding.default_channel_ids,
			optionIds: channelsOfOptions(state.onboarding.prompts),
		},
		hidden: new Set(),
	};
}

function roleFacts({ name, permissions, managed, position }: APIRole) {
	return { name, permissions: BigInt(permissions), managed, position };
}

/**
 * Extracts what the checks of a plan step need to know from discord.js's cache of a guild. What the cache lacks is
 * undefined.
 */
export function factsOfCache(guild: Guild): GuildFacts {
	const channels = [...guild.channels.cache.values()].filter((channel) => !channel.isThread());
	return {
		features: new Set(guild.features),
		premiumTier: guild.premiumTier,
		verificationLevel: guild.verificationLevel,
		contentFilter: guild.explicitContentFilter,
		rulesChannelId: guild.rulesChannelId ?? "",
		updatesChannelId: guild.publicUpdatesChannelId ?? "",
		roles: byId([...guild.roles.cache.values()], (role) => ({
			name: role.name,
			permissions: role.permissions.bitfield,
			managed: role.managed,
			position: role.rawPosition,
		})),
		permissionsBefore: guild.roles.cache.mapValues(({ permissions }) => permissions.bitfield),
		channels: byId(channels, ({ type, parentId, permissionOverwrites }) => ({
			type,
			parentId: parentId ?? "",
			overwrites: permissionOverwrites.cache.map((one) => ({
				id: one.id as Snowflake,
				type: one.type as 0 | 1,
				allow: one.allow.bitfield,
				deny: one.deny.bitfield,
			})),
		})),
		emojis: byId([...guild.emojis.cache.values()], (emoji) => ({
			animated: emoji.animated ?? false,
			creatorId: emoji.author?.id ?? "",
		})),
		automod: undefined,
		events: byId([...guild.scheduledEvents.cache.values()], (event) => ({
			type: event.entityType,
			channelId: event.channelId ?? "",
			creatorId: event.creatorId ?? "",
		})),
		webhooks: undefined,
		memberIds: undefined,
		onboarding: undefined,
		hidden: new Set(),
	};
}

/** Returns a field of a request's body if it is a string; undefined otherwise. */
export const textIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "string" ? body[field] : undefined;

/** Returns a field of a request's body if it is a number; undefined otherwise. */
export const numberIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "number" ? body[field] : undefined;

/**
 * Returns the feature flags that a plan step sets for the guild, such as "COMMUNITY"; undefined if the step sets none.
 */
export function featuresIn({ body: { features } }: CheckedStep): ReadonlySet<string> | undefined {
	return Array.isArray(features) ? new Set(features.map(String)) : undefined;
}

/** Returns the id of the channel in which a plan step creates a webhook; undefined if it creates none. */
export function webhookChannel({ path }: CheckedStep): string | undefined {
	return /^\/channels\/(.+)\/webhooks$/.exec(path)?.[1];
}

function channelsOfOptions(
	prompts: readonly {
		options?: readonly { channel_ids?: readonly string[] }[];
	}[],
): string[] {
	return prompts.flatMap(({ options = [] }) => options.flatMap(({ channel_ids = [] }) => channel_ids));
}

/** Returns the guild's onboarding settings after a plan step that edits them. */
export function onboardingAfter({ onboarding }: GuildFacts, { body }: CheckedStep): OnboardingFacts {
	const { default_channel_ids: ids, prompts, enabled } = body;
	return {
		enabled: typeof enabled === "boolean" ? enabled : (onboarding?.enabled ?? false),
		mode: numberIn(body, "mode") ?? onboarding?.mode ?? 0,
		defaultIds: Array.isArray(ids) ? ids.map(String) : (onboarding?.defaultIds ?? []),
		optionIds: Array.isArray(prompts) ? channelsOfOptions(prompts) : (onboarding?.optionIds ?? []),
	};
}

/** Whether an emoji that a plan step creates is animated. */
export function isAnimated({ guard }: CheckedStep): boolean {
	return guard.animated ?? false;
}

/**
 * Returns the id of a channel's category after a plan step; "" if it has none then, undefined if the step does not set
 * it.
 */
export function parentIn({ guard, body }: CheckedStep): string | undefined {
	if (body.parent_id === null) return "";
	return textIn(body, "parent_id") ?? guard.parentId;
}

/**
 * Returns the permission overwrites that a new channel has after the plan step that creates it: its own or those of its
 * category.
 */
export function overwritesOfNew(facts: GuildFacts, step: CheckedStep): readonly RawOverwrite[] {
	const isGiven = step.body.permission_overwrites !== undefined;
	if (isGiven && step.guard.overwrites) return step.guard.overwrites.after;
	// Without overwrites of its own a channel gets those of its category.
	return facts.channels.get(parentIn(step) ?? "")?.overwrites ?? [];
}

/** Updates `facts`, what is known about a guild, as if the plan step had been carried out. */
export function applyStep(facts: GuildFacts, step: CheckedStep): void {
	const { kind, action, body, targetId = "", placeholder } = step;
	const id = targetId || (placeholder ?? step.id);
	switch (kind) {
		case "settings":
			applySettings(facts, step);
			break;
		case "everyone":
		case "role":
			applyRole(facts, step, id);
			break;
		case "category":
		case "channel":
			applyChannel(facts, step, id);
			break;
		case "emoji":
			if (action === "delete") facts.emojis.delete(id);
			else if (action === "create") facts.emojis.set(id, { animated: isAnimated(step), creatorId: "" });
			break;
		case "automod":
			if (action === "delete") facts.automod?.delete(id);
			else if (action === "create") facts.automod?.set(id, numberIn(body, "trigger_type") ?? 0);
			break;
		case "event":
			if (action === "delete") facts.events?.delete(id);
			else if (action === "create")
				facts.events?.set(id, {
					type: numberIn(body, "entity_type") ?? 0,
					channelId: textIn(body, "channel_id") ?? "",
					creatorId: "",
				});
			break;
		case "onboarding":
			facts.onboarding = onboardingAfter(facts, step);
			break;
		case "webhook":
			if (action === "delete") facts.webhooks?.delete(id);
			else {
				const channel = webhookChannel(step) ?? textIn(body, "channel_id");
				if (channel !== undefined) facts.webhooks?.set(id, channel);
			}
			break;
	}
}

function applySettings(facts: GuildFacts, step: CheckedStep): void {
	const { body } = step;
	const channel = (field: string, before: string) => (body[field] === null ? "" : (textIn(body, field) ?? before));
	facts.features = featuresIn(step) ?? facts.features;
	facts.verificationLevel = numberIn(body, "verification_level") ?? facts.verificationLevel;
	facts.contentFilter = numberIn(body, "explicit_content_filter") ?? facts.contentFilter;
	facts.rulesChannelId = channel("rules_channel_id", facts.rulesChannelId);
	facts.updatesChannelId = channel("public_updates_channel_id", facts.updatesChannelId);
}

/**
 * Returns a role's permissions after a plan step that creates or edits the role; undefined if the step does not set
 * them.
 */
export function permissionsIn({ body }: CheckedStep): bigint | undefined {
	const permissions = textIn(body, "permissions");
	return permissions !== undefined && /^\d+$/.test(permissions) ? BigInt(permissions) : undefined;
}

function applyRole(facts: GuildFacts, step: CheckedStep, id: string): void {
	const { roles } = facts;
	if (step.action === "delete") roles.delete(id);
	else if (step.action === "order")
		for (const { id, position } of step.entries) {
			const role = roles.get(String(id));
			if (role && typeof position === "number") role.position = position;
		}
	else {
		const before = roles.get(id);
		roles.set(id, {
			name: textIn(step.body, "name") ?? before?.name ?? step.name,
			permissions: permissionsIn(step) ?? before?.permissions ?? 0n,
			managed: before?.managed ?? false,
			position: before?.position ?? 1,
		});
	}
}

function applyChannel(facts: GuildFacts, step: CheckedStep, id: string): void {
	const { channels } = facts;
	const { action, guard, body, entries } = step;
	const move = (id: string, parentId: string | undefined) => {
		const channel = channels.get(id);
		if (channel && parentId !== undefined) channel.parentId = parentId;
	};
	if (action === "delete") {
		channels.delete(id);
		for (const channel of channels.values()) if (channel.parentId === id) channel.parentId = "";
	} else if (action === "order")
		for (const entry of entries) move(String(entry.id), entry.parent_id === null ? "" : textIn(entry, "parent_id"));
	else if (action === "create")
		channels.set(id, {
			type: numberIn(body, "type") ?? 0,
			parentId: parentIn(step) ?? "",
			overwrites: overwritesOfNew(facts, step),
		});
	else {
		move(id, parentIn(step));
		const channel = channels.get(id);
		if (!channel) return;
		channel.type = numberIn(body, "type") ?? channel.type;
		channel.overwrites = guard.overwrites?.after ?? channel.overwrites;
	}
}
