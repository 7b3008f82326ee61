// What the checks of a plan need to know of a guild, and how steps change it. A plan is checked as a whole: each step sees
// what the steps before it leave behind.

import type {
	APIEmoji,
	APIOverwrite,
	APIRole,
	ChannelType,
	Guild,
	Snowflake,
} from "discord.js";
import type {
	ApiRequest,
	GuildState,
	RawOverwrite,
	Step,
} from "../../../guild-document/steps.ts";

/** A step with its request. Ids that do not exist yet are the placeholders. */
export interface CheckedStep extends Step {
	path: string;
	/** The body of the request; {} if there is none or it is a list. */
	body: Readonly<Record<string, unknown>>;
	/** The body of the request if it is a list: the things that a step orders. */
	entries: readonly Readonly<Record<string, unknown>>[];
	picture: ApiRequest["picture"];
}

/** Returns a step with its request. `ids` are the ids of things that were placeholders. */
export function withRequest(
	step: Step,
	ids: ReadonlyMap<string, string>,
): CheckedStep {
	const known = new Map(step.needs.map((need) => [need, need]));
	const { path, body, picture } = step.request(new Map([...known, ...ids]));
	const isList = Array.isArray(body);
	const idOf = (id: string) => ids.get(id) ?? id;
	const withIds = (overwrites: readonly RawOverwrite[]) =>
		overwrites.map((one) => ({ ...one, id: idOf(one.id) }));
	const { parentId, overwrites } = step.guard;
	return {
		...step,
		guard: {
			...step.guard,
			parentId: parentId === undefined ? undefined : idOf(parentId),
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

/** Onboarding: whether it is enabled, and the channels that new members get, by default and by their choice. */
interface OnboardingFacts {
	enabled: boolean;
	mode: number;
	defaultIds: readonly string[];
	optionIds: readonly string[];
}

/**
 * What exists in a guild, by id or placeholder. Things that are unknown are undefined, and not checked; Discord refuses
 * what it must.
 */
export interface GuildFacts {
	features: ReadonlySet<string>;
	premiumTier: number;
	verificationLevel: number;
	contentFilter: number;
	rulesChannelId: string;
	updatesChannelId: string;
	roles: Map<string, RoleFacts>;
	/** The permissions of the roles before the first step. */
	permissionsBefore: ReadonlyMap<string, bigint>;
	channels: Map<string, ChannelFacts>;
	emojis: Map<string, { animated: boolean; creatorId: string }>;
	/** The trigger types of AutoMod rules. */
	automod: Map<string, number> | undefined;
	events: Map<string, EventFacts> | undefined;
	/** The channels of webhooks. */
	webhooks: Map<string, string> | undefined;
	memberIds: ReadonlySet<string> | undefined;
	onboarding: OnboardingFacts | undefined;
	/** The new channels that the bot cannot see or manage. */
	hidden: Set<string>;
}

const byId = <Thing extends { id: string }, Value>(
	things: readonly Thing[],
	read: (thing: Thing) => Value,
) => new Map(things.map((thing) => [thing.id, read(thing)]));

/** Converts permission overwrites from the form of Discord's API. */
function readOverwrites(
	overwrites: readonly APIOverwrite[] = [],
): RawOverwrite[] {
	return overwrites.map(({ id, type, allow, deny }) => ({
		...{ id, type: type as 0 | 1 },
		allow: BigInt(allow ?? 0),
		deny: BigInt(deny ?? 0),
	}));
}

/** A channel as in Discord's API, with the fields that not every type has. */
interface ApiChannel {
	id: string;
	type: ChannelType;
	parent_id?: string | null;
	permission_overwrites?: readonly APIOverwrite[];
}

/** Returns the facts of a guild whose state was just fetched from Discord. */
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
		permissionsBefore: byId(guild.roles, ({ permissions }) =>
			BigInt(permissions),
		),
		channels: byId(channels as readonly ApiChannel[], (channel) => ({
			type: channel.type,
			parentId: channel.parent_id ?? "",
			overwrites: readOverwrites(channel.permission_overwrites),
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
		webhooks:
			state.webhooks &&
			byId(state.webhooks, ({ channel_id }) => channel_id ?? ""),
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

/** Returns the facts of a guild as the bot knows it at the moment. */
export function factsOfCache(guild: Guild): GuildFacts {
	const channels = [...guild.channels.cache.values()].filter(
		(channel) => !channel.isThread(),
	);
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
		permissionsBefore: guild.roles.cache.mapValues(
			({ permissions }) => permissions.bitfield,
		),
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

/** Returns the text in a field of a request's body; undefined if there is none. */
export const textIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "string" ? body[field] : undefined;

/** Returns the number in a field of a request's body; undefined if there is none. */
export const numberIn = (body: CheckedStep["body"], field: string) =>
	typeof body[field] === "number" ? body[field] : undefined;

/** Returns the guild's features after a step that sets them; undefined if the step does not. */
export function featuresIn({
	body: { features },
}: CheckedStep): ReadonlySet<string> | undefined {
	return Array.isArray(features) ? new Set(features.map(String)) : undefined;
}

/** Returns the id of the channel in which a step creates a webhook; undefined if it creates none. */
export function webhookChannel({ path }: CheckedStep): string | undefined {
	return /^\/channels\/(.+)\/webhooks$/.exec(path)?.[1];
}

/** Returns the ids of the channels that members can choose in onboarding. */
function channelsOfOptions(
	prompts: readonly {
		options?: readonly { channel_ids?: readonly string[] }[];
	}[],
): string[] {
	return prompts.flatMap(({ options = [] }) =>
		options.flatMap(({ channel_ids = [] }) => channel_ids),
	);
}

/** Returns onboarding after a step that edits it. */
export function onboardingAfter(
	{ onboarding }: GuildFacts,
	{ body }: CheckedStep,
): OnboardingFacts {
	const { default_channel_ids: ids, prompts, enabled } = body;
	return {
		enabled:
			typeof enabled === "boolean" ? enabled : (onboarding?.enabled ?? false),
		mode: numberIn(body, "mode") ?? onboarding?.mode ?? 0,
		defaultIds: Array.isArray(ids)
			? ids.map(String)
			: (onboarding?.defaultIds ?? []),
		optionIds: Array.isArray(prompts)
			? channelsOfOptions(prompts)
			: (onboarding?.optionIds ?? []),
	};
}

/** Whether an emoji that a step creates is animated. */
export function isAnimated({ guard }: CheckedStep): boolean {
	return guard.animated ?? false;
}

/** Returns the id of a channel's category after a step, "" for none; undefined if the step does not set it. */
export function parentIn({ guard, body }: CheckedStep): string | undefined {
	if (body.parent_id === null) return "";
	return textIn(body, "parent_id") ?? guard.parentId;
}

/** Returns a channel's permission overwrites after a step that creates it. */
export function overwritesOfNew(
	facts: GuildFacts,
	step: CheckedStep,
): readonly RawOverwrite[] {
	const isGiven = step.body.permission_overwrites !== undefined;
	if (isGiven && step.guard.overwrites) return step.guard.overwrites.after;
	// Without overwrites of its own a channel gets those of its category.
	return facts.channels.get(parentIn(step) ?? "")?.overwrites ?? [];
}

/** Changes the facts as the step changes the guild. */
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
			else if (action === "create")
				facts.emojis.set(id, { animated: isAnimated(step), creatorId: "" });
			break;
		case "automod":
			if (action === "delete") facts.automod?.delete(id);
			else if (action === "create")
				facts.automod?.set(id, numberIn(body, "trigger_type") ?? 0);
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
	const channel = (field: string, before: string) =>
		body[field] === null ? "" : (textIn(body, field) ?? before);
	facts.features = featuresIn(step) ?? facts.features;
	facts.verificationLevel =
		numberIn(body, "verification_level") ?? facts.verificationLevel;
	facts.contentFilter =
		numberIn(body, "explicit_content_filter") ?? facts.contentFilter;
	facts.rulesChannelId = channel("rules_channel_id", facts.rulesChannelId);
	facts.updatesChannelId = channel(
		"public_updates_channel_id",
		facts.updatesChannelId,
	);
}

/** Returns a role's permissions after a step that creates or edits it; undefined if the step does not set them. */
export function permissionsIn({ body }: CheckedStep): bigint | undefined {
	const permissions = textIn(body, "permissions");
	return permissions !== undefined && /^\d+$/.test(permissions)
		? BigInt(permissions)
		: undefined;
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
		for (const channel of channels.values())
			if (channel.parentId === id) channel.parentId = "";
	} else if (action === "order")
		for (const entry of entries)
			move(
				String(entry.id),
				entry.parent_id === null ? "" : textIn(entry, "parent_id"),
			);
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
