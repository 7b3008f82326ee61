// A guild as a document with all fields, in which ids stand for names: from Discord's API to the fields of a document.

import {
	type APIGuildOnboarding,
	type APIRole,
	ChannelType,
	GuildOnboardingMode,
	GuildOnboardingPromptType,
	GuildScheduledEventStatus,
	OverwriteType,
	WebhookType,
} from "discord.js";
import { durationText, secondsOf } from "../../lib/times.ts";
import {
	type AutomodRule,
	type Category,
	type Channel,
	type Emoji,
	everyone,
	type GuildDocument,
	type Onboarding,
	type Overwrite,
	type Role,
	type Settings,
} from "../format/document.ts";
import { archiveTimes } from "../format/document-schema.ts";
import { type BotKeys, mapReferences, withoutUndefined } from "../format/fields.ts";
import { channelsWithCategories } from "../format/references.ts";
import { ruleFieldsOf, ruleFieldsWith, triggerOf, wordFields } from "../names/automod-rule.ts";
import {
	type EditedKind,
	editedKinds,
	flagFields,
	kindOf,
	layouts,
	nameIn,
	sortOrders,
	videoQualities,
} from "../names/channel-kinds.ts";
import { compareIds } from "../names/ids.ts";
import { eventFieldsOf, eventKinds } from "../names/scheduled-event.ts";
import { levels, noticeFlags } from "../names/setting-names.ts";
import type { GuildState } from "../steps.ts";
import { type ApiChannel, apiChannels, compareChannels, isUnseen, permissionNames, rolesFromTop } from "./from-api.ts";

/** All fields; references are ids, not keys. Sections that were not fetched, such as `webhooks`, are left out. */
export function documentWithIds(state: GuildState): GuildDocument {
	return withoutDangling(rawDocument(state), state.bot?.keys);
}

function withoutDangling(document: GuildDocument, botKeys: BotKeys | undefined): GuildDocument {
	const roles = new Set(document.roles?.map(({ id }) => id));
	const channels = new Set(channelsWithCategories(document).map(({ channel }) => channel.id));
	const emojis = new Set(document.emojis?.map(({ id }) => id));
	const map = {
		role: (id: string) => (roles.has(id) ? id : undefined),
		channel: (id: string) => (channels.has(id) ? id : undefined),
		emoji: (id: string) => (emojis.has(id) ? `:${id}:` : undefined),
	};
	return mapReferences(document, map, botKeys);
}

type Sort = (ids: readonly string[]) => string[];

const ascending = (a: string, b: string) => Number(a > b) - Number(a < b);

function rawDocument(state: GuildState): GuildDocument {
	const { guild, pictures } = state;
	const roles = rolesFromTop(state);
	const managed = new Set(roles.filter(({ managed }) => managed).map(({ id }) => id));
	const all = apiChannels(state)
		.filter(({ type }) => kindOf(type))
		.sort(compareChannels);
	const isCategory = ({ type }: ApiChannel) => type === ChannelType.GuildCategory;
	const categories = all.filter(isCategory);
	const isRoot = ({ parent_id }: ApiChannel) => !categories.some(({ id }) => id === parent_id);
	const ownEmojis = guild.emojis.filter(({ id, name, managed }) => id && name && !managed);
	const order = new Map(roles.map(({ id }, index) => [id, index]));
	const byOrder: Sort = (ids) => ids.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
	const everyoneRole = guild.roles.find(({ id }) => id === guild.id);
	const { welcomeScreen } = state;
	return withoutUndefined<GuildDocument>({
		version: 1,
		omitted: "default",
		id: guild.id,
		settings: settingsOf(state),
		everyone: permissionNames(everyoneRole?.permissions ?? "0"),
		roles: roles.map((role) => roleOf(role, pictures)),
		emojis: ownEmojis
			.map((emoji): Emoji & { id: string } => ({
				name: emoji.name ?? "",
				id: emoji.id ?? "",
				animated: emoji.animated ?? false,
				picture: pictures.get(emoji.id ?? ""),
				roles: byOrder(emoji.roles ?? []),
			}))
			.sort((a, b) => ascending(a.name, b.name) || compareIds(a.id, b.id)),
		channels: all
			.filter((channel) => !isCategory(channel) && isRoot(channel))
			.map((channel) => channelOf(channel, guild.id)),
		categories: categories.map(
			(category): Category => ({
				name: category.name,
				id: category.id,
				...(isUnseen(category) ? { unseen: true } : { overwrites: overwritesOf(category, guild.id) }),
				channels: all
					.filter((channel) => !isCategory(channel) && channel.parent_id === category.id)
					.map((channel) => channelOf(channel, guild.id)),
			}),
		),
		automod: automodOf(state, byOrder),
		events: eventsOf(state),
		webhooks: byAge(state.webhooks)
			?.filter(({ type }) => type === WebhookType.Incoming)
			.map(({ id, name, channel_id }) => ({ name: name ?? "", id, channel: channel_id ?? "" }))
			.filter(({ name, channel }) => name !== "" && channel !== ""),
		welcome_screen: welcomeScreen && {
			enabled: guild.features.some((one) => one === "WELCOME_SCREEN_ENABLED"),
			description: welcomeScreen.description ?? "",
			channels: welcomeScreen.welcome_channels.map((shown) => ({
				channel: shown.channel_id,
				description: shown.description,
				emoji: emojiReference(shown.emoji_id, shown.emoji_name),
			})),
		},
		messages: state.messages
			?.filter(({ content, why }) => content !== undefined && why === undefined)
			.map((one) => ({ channel: one.channelId, ...JSON.parse(one.posted), ...(one.isPinned && { pin: true }) })),
		onboarding: state.onboarding && onboardingOf(state.onboarding, byOrder),
		bot: state.bot?.stored,
		members: state.members
			?.map(({ id, roles }) => ({ id, roles: byOrder(roles.filter((role) => order.has(role) && !managed.has(role))) }))
			.filter(({ roles }) => roles.length > 0)
			.sort((a, b) => compareIds(a.id, b.id)),
		bans: state.bans
			?.map(({ user, reason }) => ({ id: user.id, ...(reason && { reason }) }))
			.sort((a, b) => compareIds(a.id, b.id)),
	});
}

function automodOf({ automod }: GuildState, byOrder: Sort): AutomodRule[] | undefined {
	return byAge(automod)?.flatMap((rule): AutomodRule[] => {
		const trigger = triggerOf(rule);
		if (!trigger) return [];
		const { name, exempt_role_ids, exempt_channel_ids, alert_channel_id, duration_seconds, ...rest } =
			ruleFieldsOf(rule);
		const isOwn = ruleFieldsWith(trigger);
		return [
			{
				name,
				id: rule.id,
				trigger,
				...Object.fromEntries(
					Object.entries(rest)
						.filter(([field]) => isOwn(field))
						.map(([field, value]) => [field, isWordField(field) ? [...(value as string[])].sort() : value]),
				),
				alert_channel: alert_channel_id,
				duration: durationText(duration_seconds),
				exempt_roles: byOrder(exempt_role_ids),
				exempt_channels: exempt_channel_ids.toSorted(compareIds),
			},
		];
	});
}

function eventsOf({ events }: GuildState): GuildDocument["events"] {
	return events
		?.filter(
			({ status, entity_type }) =>
				(status === GuildScheduledEventStatus.Scheduled || status === GuildScheduledEventStatus.Active) &&
				Object.values<number>(eventKinds).includes(entity_type),
		)
		.map((event) => {
			const { name, channel_id: channel, status, ...fields } = eventFieldsOf(event);
			return { name, id: event.id, channel, ...fields };
		})
		.sort((a, b) => ascending(a.scheduled_start_time, b.scheduled_start_time) || compareIds(a.id, b.id));
}

function onboardingOf(onboarding: APIGuildOnboarding, byOrder: Sort): Onboarding {
	return {
		enabled: onboarding.enabled,
		mode: onboarding.mode === GuildOnboardingMode.OnboardingAdvanced ? "advanced" : "default",
		default_channels: onboarding.default_channel_ids.toSorted(compareIds),
		prompts: onboarding.prompts.map((prompt) => ({
			title: prompt.title,
			kind: prompt.type === GuildOnboardingPromptType.Dropdown ? "dropdown" : "multiple_choice",
			single_select: prompt.single_select,
			required: prompt.required,
			in_onboarding: prompt.in_onboarding,
			options: prompt.options.map((option) => ({
				title: option.title,
				description: option.description ?? "",
				emoji: emojiReference(option.emoji?.id ?? null, option.emoji?.name ?? null),
				roles: byOrder(option.role_ids),
				channels: option.channel_ids.toSorted(compareIds),
			})),
		})),
	};
}

function settingsOf({ guild, pictures }: GuildState): Settings {
	const nameOf = <Field extends keyof typeof levels>(field: Field) =>
		levels[field][guild[field]] as (typeof levels)[Field][number] | undefined;
	return {
		name: guild.name,
		description: guild.description ?? "",
		icon: guild.icon ? pictures.get(guild.icon) : "",
		community: guild.features.some((feature) => feature === "COMMUNITY"),
		verification_level: nameOf("verification_level"),
		default_message_notifications: nameOf("default_message_notifications"),
		explicit_content_filter: nameOf("explicit_content_filter"),
		afk_channel: guild.afk_channel_id ?? "",
		afk_timeout: durationText(guild.afk_timeout),
		system_channel: guild.system_channel_id ?? "",
		system_channel_flags: [...noticeFlags]
			.filter(([, bit]) => (guild.system_channel_flags & bit) !== 0)
			.map(([name]) => name),
		rules_channel: guild.rules_channel_id ?? "",
		public_updates_channel: guild.public_updates_channel_id ?? "",
		safety_alerts_channel: guild.safety_alerts_channel_id ?? "",
		preferred_locale: guild.preferred_locale,
		premium_progress_bar_enabled: guild.premium_progress_bar_enabled,
	};
}

function roleOf(role: APIRole, pictures: GuildState["pictures"]): Role {
	const { primary_color, secondary_color, tertiary_color } = role.colors ?? {
		primary_color: role.color,
		secondary_color: null,
		tertiary_color: null,
	};
	const colors = [primary_color, secondary_color, tertiary_color].filter((color) => color != null);
	const hasColor = primary_color !== 0 || secondary_color != null;
	return {
		name: role.name,
		id: role.id,
		managed: role.managed,
		color: hasColor ? colors.map((color) => Bun.color(color, "HEX")).join(" to ") : "",
		hoist: role.hoist,
		mentionable: role.mentionable,
		icon: role.icon ? pictures.get(role.icon) : (role.unicode_emoji ?? ""),
		permissions: permissionNames(role.permissions),
	};
}

/** Oldest first, because Discord may list them in any order. */
function byAge<T extends { id: string }>(things: readonly T[] | undefined): T[] | undefined {
	return things?.toSorted((a, b) => compareIds(a.id, b.id));
}

const isWordField = (field: string) => (wordFields as readonly string[]).includes(field);

function overwritesOf({ permission_overwrites }: ApiChannel, guildId: string): Overwrite[] {
	return (permission_overwrites ?? [])
		.toSorted((a, b) => compareIds(a.id, b.id))
		.map(({ id, type, allow, deny }) => ({
			...(type === OverwriteType.Member ? { member: id } : { role: id === guildId ? everyone : id }),
			...(allow !== "0" && { allow: permissionNames(allow) }),
			...(deny !== "0" && { deny: permissionNames(deny) }),
		}));
}

/** ":id:" for a custom emoji, otherwise the character. */
function emojiReference(id: string | null, name: string | null): string {
	return id ? `:${id}:` : (name ?? "");
}

function channelOf(channel: ApiChannel, guildId: string): Channel {
	const kind = kindOf(channel.type) as Exclude<EditedKind, "category">;
	const { default_reaction_emoji: reaction, name, id } = channel;
	if (isUnseen(channel)) return { name, id, kind, unseen: true };
	const values: Omit<
		Required<Channel>,
		"name" | "id" | "key" | "unseen" | "overwrites" | "lock_permissions" | "messages" | "posts"
	> = {
		kind,
		topic: channel.topic ?? "",
		nsfw: channel.nsfw ?? false,
		slowmode: durationText(channel.rate_limit_per_user ?? 0),
		bitrate: channel.bitrate ?? 64_000,
		user_limit: channel.user_limit ?? 0,
		rtc_region: channel.rtc_region ?? "",
		video_quality: nameIn(videoQualities, channel.video_quality_mode) || "auto",
		thread_slowmode: durationText(channel.default_thread_rate_limit_per_user ?? 0),
		auto_archive: archiveTimes.find((one) => secondsOf(one) / 60 === channel.default_auto_archive_duration) ?? "0s",
		tags: (channel.available_tags ?? []).map((tag) => ({
			name: tag.name,
			emoji: emojiReference(tag.emoji_id, tag.emoji_name),
			moderated: tag.moderated,
		})),
		...flagFields(channel.flags ?? 0),
		default_reaction: emojiReference(reaction?.emoji_id ?? null, reaction?.emoji_name ?? null),
		default_sort_order: nameIn(sortOrders, channel.default_sort_order),
		default_layout: nameIn(layouts, channel.default_forum_layout),
	};
	const own: readonly string[] = ["kind", ...editedKinds[kind].fields];
	return {
		name,
		id,
		...Object.fromEntries(Object.entries(values).filter(([field]) => own.includes(field))),
		overwrites: overwritesOf(channel, guildId),
	};
}
