// What Discord refuses to everyone: its limits, what needs boosts or Community, and what a community must have.

import {
	AutoModerationActionType as Action,
	ChannelType,
	type Guild,
	GuildExplicitContentFilter,
	GuildVerificationLevel,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { kindOf } from "../../../guild-document/names/channel-kinds.ts";
import { time } from "../../discord/describe.ts";
import { isAllowedKind } from "../../discord/guild-features.ts";
import { lengthOf, thousands } from "../../discord/text.ts";
import {
	type CheckedStep,
	featuresIn,
	type GuildFacts,
	isAnimated,
	numberIn,
	parentIn,
	textIn,
	webhookChannel,
} from "./guild-facts.ts";
import { refusedHiding, refusedOnboarding } from "./refused-onboarding.ts";

/**
 * Maximum number of roles in a guild (error 30005 of Discord).
 * https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
 */
const maxRoles = 250;
const maxChannels = 500;
/** Maximum number of channels in a category: https://discord.com/developers/docs/resources/channel */
const maxChannelsPerCategory = 50;
const maxWebhooks = 15;
const maxEvents = 100;
/** Maximum number of tags in a forum: https://discord.com/developers/docs/resources/channel#channel-object */
const maxTags = 20;

/**
 * Maximum number of static emoji, and of animated emoji, by the guild's boost level from 0 to 3. The feature MORE_EMOJI
 * gives at least 200. https://support.discord.com/hc/en-us/articles/360028038352; discord.py, Guild.emoji_limit
 */
const emojiSlots = [50, 100, 150, 250];
const moreEmoji = 200;

/**
 * Maximum number of AutoMod rules in a guild, by trigger type.
 * https://discord.com/developers/docs/resources/auto-moderation#auto-moderation-rule-object-trigger-types
 */
const maxRules = new Map<number, { max: number; name: string }>([
	[Trigger.Keyword, { max: 6, name: "keyword" }],
	[Trigger.Spam, { max: 1, name: "spam" }],
	[Trigger.KeywordPreset, { max: 1, name: "keyword_preset" }],
	[Trigger.MentionSpam, { max: 1, name: "mention_spam" }],
	[Trigger.MemberProfile, { max: 1, name: "member_profile" }],
]);

/**
 * Maximum user limit of a voice channel.
 * https://discord.com/developers/docs/resources/channel#modify-channel-json-params-guild-channel
 */
const maxUsersInVoice = 99;
const maxTopic = 1024;
const maxGuidelines = 4096;

const enableCommunity =
	"An administrator can enable Community in the guild's settings, or the document with settings.community.";

type Check = (guild: Guild, facts: GuildFacts, step: CheckedStep, now: number) => string | false | undefined;

/**
 * Returns why Discord would refuse the request of a plan step, because of a limit or an invalid value, as sentences; []
 * if it would not. `now` is in epoch milliseconds. `isRunning`: whether a job is about to send the request. Checks that
 * depend on earlier steps are then left to Discord, because the bot's cache is updated a moment later.
 */
export function refusedLimits(
	guild: Guild,
	facts: GuildFacts,
	step: CheckedStep,
	now: number,
	isRunning: boolean,
): string[] {
	const checks = [...(isRunning ? [] : (stateChecks[step.kind] ?? [])), ...(valueChecks[step.kind] ?? [])];
	return checks.map((check) => check(guild, facts, step, now)).filter((reason) => typeof reason === "string");
}

const room =
	(what: string, max: number, countOf: (facts: GuildFacts) => number | undefined): Check =>
	(_, facts, { action }) =>
		action === "create" &&
		(countOf(facts) ?? 0) >= max &&
		`A guild has at most ${max} ${what}, and this one would have more. Delete some first.`;

const isVoice = (type: ChannelType | undefined) =>
	type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice;
const hasPosts = (type: ChannelType | undefined) => type === ChannelType.GuildForum || type === ChannelType.GuildMedia;

const typeOf = (facts: GuildFacts, { body, targetId }: CheckedStep) =>
	(numberIn(body, "type") as ChannelType | undefined) ??
	facts.channels.get(targetId ?? "")?.type ??
	ChannelType.GuildText;

/** Refuses a plan step that would put more channels into a category than Discord allows. */
const categoryRoom: Check = (_, facts, step) => {
	const { action, targetId, entries } = step;
	if (action === "delete") return undefined;
	const moves = new Map(
		action === "order"
			? entries.flatMap((entry): [string, string][] => {
					const parent = textIn(entry, "parent_id");
					return parent ? [[String(entry.id), parent]] : [];
				})
			: [[targetId ?? step.id, parentIn(step) ?? ""]],
	);
	for (const parent of new Set(moves.values())) {
		if (!parent) continue;
		const isIn = (id: string) => facts.channels.get(id)?.parentId === parent;
		const inside = [...facts.channels.keys()].filter(isIn);
		const arriving = [...moves].filter(([id, to]) => to === parent && !isIn(id));
		if (arriving.length > 0 && inside.length + arriving.length > maxChannelsPerCategory)
			return `A category holds at most ${maxChannelsPerCategory} channels, and this one would hold ${inside.length + arriving.length}. Move some elsewhere.`;
	}
	return undefined;
};

const channelKind: Check = (_, facts, step) => {
	const { action, body, targetId } = step;
	if (action !== "create" && action !== "edit") return undefined;
	const before = facts.channels.get(targetId ?? "")?.type;
	const after = numberIn(body, "type");
	const isNew = action === "create" || (after !== undefined && after !== before);
	const kind = kindOf(typeOf(facts, step)) ?? "";
	if (isNew && !isAllowedKind({ features: [...facts.features] as never }, kind))
		return `Discord allows ${kind} channels only in communities, and the guild is not one. ${enableCommunity}`;
	const convertible: readonly unknown[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];
	return (
		action === "edit" &&
		isNew &&
		before !== undefined &&
		!(convertible.includes(before) && convertible.includes(after)) &&
		"Discord converts only text channels to announcement channels and back. Create a new channel instead, and delete this one if nobody needs its messages."
	);
};

const channelValues: Check = (guild, facts, step) => {
	const { body, action } = step;
	if (action !== "create" && action !== "edit") return undefined;
	const type = typeOf(facts, step);
	const topic = lengthOf(textIn(body, "topic") ?? "");
	const max = hasPosts(type) ? maxGuidelines : maxTopic;
	if (topic > max)
		return `The topic has ${thousands(topic)} characters; ${hasPosts(type) ? "forums" : "channels other than forums"} allow ${thousands(max)}.`;
	if (Array.isArray(body.available_tags) && body.available_tags.length > maxTags)
		return `A forum has at most ${maxTags} tags, and this one would have ${body.available_tags.length}.`;
	if (!isVoice(type)) return undefined;
	const isStage = type === ChannelType.GuildStageVoice;
	const limit = isStage ? guild.maximumStageBitrate : guild.maximumBitrate;
	const bitrate = numberIn(body, "bitrate") ?? 0;
	if (bitrate > limit)
		return `The bitrate ${bitrate} is too high: ${isStage ? "stage channels allow" : `voice channels of this guild, which has boost level ${facts.premiumTier}, allow`} ${limit}.`;
	const users = numberIn(body, "user_limit") ?? 0;
	return (
		!isStage &&
		users > maxUsersInVoice &&
		`The user limit ${users} is too high: voice channels allow ${maxUsersInVoice}.`
	);
};

/**
 * Refuses to delete the rules channel or the public updates channel of a Community guild, or to convert it to an
 * announcement channel (error 50086): https://github.com/discord/discord-api-docs/pull/4302
 */
const requiredChannel: Check = (_, facts, { action, targetId, body }) => {
	const isConverted = body.type === ChannelType.GuildAnnouncement;
	if (action !== "delete" && !(action === "edit" && isConverted)) return undefined;
	if (!facts.features.has("COMMUNITY")) return undefined;
	const { rulesChannelId, updatesChannelId } = facts;
	const settings = [
		rulesChannelId === targetId && "rules_channel",
		updatesChannelId === targetId && "public_updates_channel",
	].filter(Boolean);
	return (
		settings.length > 0 &&
		(isConverted
			? `It is the ${settings.join(" and ")} of the guild, which cannot be an announcement channel. Set another one first.`
			: `It is the ${settings.join(" and ")} of the guild, which a community must have. Set another one first.`)
	);
};

const roleFeatures: Check = (_, { features }, { body, picture }) => {
	const colors = (body.colors ?? {}) as Record<string, unknown>;
	const isSet = (value: unknown) => value !== undefined && value !== null && value !== "";
	if ((isSet(body.icon) || isSet(body.unicode_emoji) || picture) && !features.has("ROLE_ICONS"))
		return "Roles have icons only in guilds with the feature ROLE_ICONS, which comes with boost level 2. Remove the icon.";
	return (
		(isSet(colors.secondary_color) || isSet(colors.tertiary_color)) &&
		!features.has("ENHANCED_ROLE_COLORS") &&
		"Roles have gradients only in guilds with the feature ENHANCED_ROLE_COLORS, which comes with boosts. Give the role one color."
	);
};

const emojiRoom: Check = (_, facts, step) => {
	if (step.action !== "create") return undefined;
	const animated = isAnimated(step);
	const used = [...facts.emojis.values()].filter((emoji) => emoji.animated === animated).length;
	const slots = Math.max(emojiSlots[facts.premiumTier] ?? 0, facts.features.has("MORE_EMOJI") ? moreEmoji : 0);
	return (
		used >= slots &&
		`The guild has boost level ${facts.premiumTier}, which allows ${slots} ${animated ? "animated" : "static"} emoji, and it would have more. Delete some first.`
	);
};

const automodRoom: Check = (_, facts, { action, body }) => {
	if (action !== "create" || !facts.automod) return undefined;
	const trigger = numberIn(body, "trigger_type") ?? 0;
	const limit = maxRules.get(trigger);
	const used = [...facts.automod.values()].filter((one) => one === trigger);
	return (
		limit !== undefined &&
		used.length >= limit.max &&
		`A guild has at most ${limit.max} AutoMod rule(s) with the trigger ${limit.name}. Delete one first, or match this one with it by its name.`
	);
};

/**
 * Refuses an AutoMod rule without actions, or with an action that its trigger does not allow.
 * https://discord.com/developers/docs/resources/auto-moderation#auto-moderation-action-object-action-types
 */
const automodActions: Check = (_, facts, { action, body, targetId }) => {
	if (action === "delete") return undefined;
	const given = body.actions ?? (action === "create" ? [] : undefined);
	if (!Array.isArray(given)) return undefined;
	if (given.length === 0) return "An AutoMod rule needs an action, such as block_message.";
	const trigger = numberIn(body, "trigger_type") ?? facts.automod?.get(targetId ?? "");
	const has = (type: Action) => (given as { type?: unknown }[]).some((one) => one?.type === type);
	if (trigger === undefined) return undefined;
	const { Keyword, MemberProfile, MentionSpam } = Trigger;
	if (has(Action.Timeout) && trigger !== Keyword && trigger !== MentionSpam)
		return "Only AutoMod rules with the trigger keyword or mention_spam can time members out.";
	return (
		has(Action.BlockMemberInteraction) &&
		trigger !== MemberProfile &&
		"Only AutoMod rules with the trigger member_profile can have block_member_interaction."
	);
};

const eventTimes: Check = (_, __, { body, action }, now) => {
	if (action === "delete") return undefined;
	const start = textIn(body, "scheduled_start_time");
	const end = textIn(body, "scheduled_end_time");
	if (start && Date.parse(start) <= now)
		return `It would start in the past: ${start}, and now it is ${time(now)}. Give it a later start, or leave it out.`;
	return (
		start !== undefined &&
		end !== undefined &&
		Date.parse(end) <= Date.parse(start) &&
		`It would end (${end}) before it starts (${start}).`
	);
};

/**
 * Refuses names of webhooks that Discord does not allow.
 * https://discord.com/developers/docs/resources/webhook#create-webhook
 */
const webhookName: Check = (_, __, { body, action }) =>
	action !== "delete" &&
	/discord|clyde/i.test(textIn(body, "name") ?? "") &&
	'Discord refuses names of webhooks that contain "discord" or "clyde".';

const webhookRoom: Check = (_, facts, step) => {
	const { action, body, targetId } = step;
	const channel = webhookChannel(step) ?? textIn(body, "channel_id");
	if (action === "delete" || !channel || !facts.webhooks) return undefined;
	const others = [...facts.webhooks].filter(([id, at]) => at === channel && id !== targetId);
	return (
		others.length >= maxWebhooks &&
		`A channel has at most ${maxWebhooks} webhooks, and this one would have more. Delete some first.`
	);
};

const textTypes: readonly unknown[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];

const channelSettings = [
	["afk_channel_id", "afk_channel", [ChannelType.GuildVoice], "a voice channel"],
	["system_channel_id", "system_channel", textTypes, "a text channel"],
	["rules_channel_id", "rules_channel", textTypes, "a text channel"],
	["public_updates_channel_id", "public_updates_channel", textTypes, "a text channel"],
	["safety_alerts_channel_id", "safety_alerts_channel", textTypes, "a text channel"],
] as const satisfies readonly (readonly [string, string, readonly unknown[], string])[];

const settingChannels: Check = (_, facts, { body }) => {
	const wrong = channelSettings.find(([field, , types]) => {
		const type = facts.channels.get(textIn(body, field) ?? "")?.type;
		return type !== undefined && !types.some((one) => one === type);
	});
	return wrong && `${wrong[1]} must be ${wrong[3]}.`;
};

const communityFields = {
	rules_channel_id: "rules_channel",
	public_updates_channel_id: "public_updates_channel",
	safety_alerts_channel_id: "safety_alerts_channel",
	preferred_locale: "preferred_locale",
} as const;

const community: Check = (_, facts, step) => {
	const { body } = step;
	const features = featuresIn(step) ?? facts.features;
	if (!features.has("COMMUNITY")) {
		const fields = Object.entries(communityFields).filter(
			([field]) => body[field] !== undefined && body[field] !== null,
		);
		return (
			fields.length > 0 &&
			`Only communities have ${fields.map(([, name]) => name).join(", ")}, and the guild is not one. ${enableCommunity}`
		);
	}
	const after = (field: string, before: number) => numberIn(body, field) ?? before;
	const isNew = !facts.features.has("COMMUNITY");
	// The request that enables Community must have both: https://github.com/discord/discord-api-docs/issues/6015
	const channelAfter = (field: string, before: string) =>
		body[field] === null ? "" : (textIn(body, field) ?? (isNew ? "" : before));
	// What the step does not touch was there before, and Discord accepted it.
	const isChecked = (field: string) => isNew || body[field] !== undefined;
	const missing = [
		isChecked("verification_level") &&
			after("verification_level", facts.verificationLevel) === GuildVerificationLevel.None &&
			"verification_level LOW or higher",
		isChecked("explicit_content_filter") &&
			after("explicit_content_filter", facts.contentFilter) !== GuildExplicitContentFilter.AllMembers &&
			"explicit_content_filter ALL_MEMBERS",
		isChecked("rules_channel_id") && !channelAfter("rules_channel_id", facts.rulesChannelId) && "a rules_channel",
		isChecked("public_updates_channel_id") &&
			!channelAfter("public_updates_channel_id", facts.updatesChannelId) &&
			"a public_updates_channel",
	].filter(Boolean);
	return missing.length > 0 && `A community must have ${missing.join(", ")}.`;
};

const needsCommunity: Check = (_, { features }) =>
	!features.has("COMMUNITY") && `Only communities have this, and the guild is not one. ${enableCommunity}`;

const isMember: Check = (_, { memberIds }, { targetId = "" }) =>
	memberIds !== undefined &&
	!memberIds.has(targetId.split("/")[0] ?? "") &&
	"This user is not a member of the guild. Roles can be given once they join.";

const channelChecks: readonly Check[] = [
	room("channels, with categories", maxChannels, ({ channels }) => channels.size),
	categoryRoom,
	channelKind,
	requiredChannel,
	refusedHiding,
];

type Checks = Partial<Record<CheckedStep["kind"], readonly Check[]>>;

const stateChecks: Checks = {
	settings: [settingChannels, community],
	role: [room("roles", maxRoles, ({ roles }) => roles.size)],
	category: channelChecks,
	channel: channelChecks,
	emoji: [emojiRoom],
	automod: [automodRoom],
	event: [room("scheduled events", maxEvents, ({ events }) => events?.size)],
	webhook: [webhookRoom],
	welcome_screen: [needsCommunity],
	onboarding: [refusedOnboarding],
	member: [isMember],
};

const valueChecks: Checks = {
	role: [roleFeatures],
	category: [channelValues],
	channel: [channelValues],
	automod: [automodActions],
	event: [eventTimes],
	webhook: [webhookName],
};
