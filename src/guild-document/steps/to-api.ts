// From the fields of a guild document to the bodies of requests to Discord's API. Bodies contain placeholders for the ids of
// things that do not exist yet; `fillPlaceholders` replaces them.

import {
	type APIGuild,
	GuildOnboardingMode,
	GuildOnboardingPromptType,
	GuildScheduledEventPrivacyLevel,
	OverwriteType,
} from "discord.js";
import { secondsOf } from "../../lib/times.ts";
import {
	type AutomodRule,
	type Channel,
	everyone,
	type Onboarding,
	type Overwrite,
	type Role,
	type ScheduledEvent,
	type Settings,
	type WelcomeScreen,
} from "../format/document.ts";
import { present } from "../format/fields.ts";
import { isPlaceholder } from "../match/match.ts";
import { emptyRule, type RuleFields, ruleBody, triggerBody } from "../names/automod-rule.ts";
import { editedKinds, flagsWith, layouts, sortOrders, videoQualities } from "../names/channel-kinds.ts";
import { eventBody } from "../names/scheduled-event.ts";
import { levels, noticeFlags } from "../names/setting-names.ts";
import { type ApiChannel, bitsOfNames } from "../read/from-api.ts";
import type { GuildState, RawOverwrite } from "../steps.ts";
import { isPictureHash } from "./values.ts";

/** Undefined fields are not sent. */
export type Body = Record<string, unknown>;

const idFields = new Set([
	"id",
	"parent_id",
	"channel_id",
	"afk_channel_id",
	"system_channel_id",
	"rules_channel_id",
	"public_updates_channel_id",
	"safety_alerts_channel_id",
	"emoji_id",
	"exempt_roles",
	"exempt_channels",
	"roles",
	"role_ids",
	"channel_ids",
	"default_channel_ids",
	"applied_tags",
	"roleId",
	"requires",
]);

type IdOf = (placeholder: string) => string | undefined;

/** Without an id, a placeholder or object with such an `id` leaves its list; elsewhere a placeholder becomes null. */
export function fillPlaceholders(value: unknown, idOf: IdOf, field = ""): unknown {
	const isUnknown = (one: unknown) => typeof one === "string" && isPlaceholder(one) && idOf(one) === undefined;
	if (field === "content" && typeof value === "string")
		return value.replaceAll(/(?<=<(?:@&|#))%2B[^>]+(?=>)/g, (one) => idOf(decodeURIComponent(one)) ?? one);
	if (typeof value === "string") return idFields.has(field) && isPlaceholder(value) ? (idOf(value) ?? null) : value;
	if (Array.isArray(value))
		return value
			.filter((one) => !(idFields.has(field) && isUnknown(one)) && !isUnknown(one?.id))
			.map((one) => fillPlaceholders(one, idOf, field));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillPlaceholders(one, idOf, name)]));
}

export function placeholdersIn(body: unknown): string[] {
	const found: string[] = [];
	fillPlaceholders(body, (placeholder) => {
		found.push(placeholder);
		return placeholder;
	});
	return found;
}

/** In a text. A placeholder is encoded, because the name in it may have any characters. */
export const mentionOf = (mark: "@&" | "#", id: string) => `<${mark}${encodeURIComponent(id)}>`;

/** As JSON. Placeholders without an id stay. */
export function textWith(text: unknown, ids: ReadonlyMap<string, string>): string {
	return JSON.stringify(fillPlaceholders(text, (one) => ids.get(one) ?? one));
}

const orNull = (text: string | undefined) => (text === "" ? null : text);

export function emojiFields(reference: string | undefined) {
	const [, id] = /^:(.+):$/s.exec(reference ?? "") ?? [];
	return { emoji_id: id ?? null, emoji_name: id ? null : reference || null };
}

export function settingsBody(settings: Settings, { features, system_channel_flags: flags }: APIGuild): Body {
	const level = (field: keyof typeof levels) => {
		const names: readonly string[] = levels[field];
		const name = settings[field];
		return name === undefined ? undefined : names.indexOf(name);
	};
	const off = settings.system_channel_flags;
	const { community } = settings;
	const others = features.filter((feature) => feature !== "COMMUNITY");
	return {
		name: settings.name,
		description: orNull(settings.description),
		features: community === undefined ? undefined : community ? [...others, "COMMUNITY"] : others,
		verification_level: level("verification_level"),
		default_message_notifications: level("default_message_notifications"),
		explicit_content_filter: level("explicit_content_filter"),
		afk_channel_id: orNull(settings.afk_channel),
		afk_timeout: settings.afk_timeout && secondsOf(settings.afk_timeout),
		system_channel_id: orNull(settings.system_channel),
		system_channel_flags:
			off &&
			[...noticeFlags].reduce((bits, [name, bit]) => (off.includes(name) ? bits | bit : bits & ~bit), flags as number),
		rules_channel_id: orNull(settings.rules_channel),
		public_updates_channel_id: orNull(settings.public_updates_channel),
		safety_alerts_channel_id: orNull(settings.safety_alerts_channel),
		preferred_locale: settings.preferred_locale,
		premium_progress_bar_enabled: settings.premium_progress_bar_enabled,
		// A new icon is put here when the request is sent.
		icon: settings.icon === "" ? null : undefined,
	};
}

export function roleBody(role: Partial<Role>): Body {
	const [primary, secondary, tertiary] = (role.color ?? "")
		.split(" to ")
		.map((color) => (color ? Number.parseInt(color.slice(1), 16) : 0));
	const { icon } = role;
	const isPicture = icon !== undefined && isPictureHash(icon);
	return {
		name: role.name,
		permissions: role.permissions && String(bitsOfNames(role.permissions)),
		colors:
			role.color === undefined
				? undefined
				: { primary_color: primary ?? 0, secondary_color: secondary ?? null, tertiary_color: tertiary ?? null },
		hoist: role.hoist,
		mentionable: role.mentionable,
		unicode_emoji: icon === undefined || isPicture ? undefined : orNull(icon),
		icon: icon === "" ? null : undefined,
	};
}

/** There, @everyone has the id of the guild. */
export function rawOverwrites(overwrites: readonly Overwrite[], guildId: string): RawOverwrite[] {
	return overwrites.map(({ role, member = "", allow = [], deny = [] }) => ({
		id: role === undefined ? member : role === everyone ? guildId : role,
		type: role === undefined ? OverwriteType.Member : OverwriteType.Role,
		allow: bitsOfNames(allow),
		deny: bitsOfNames(deny),
	}));
}

export function rawOverwritesOf(channel: Pick<ApiChannel, "permission_overwrites"> | undefined): RawOverwrite[] {
	return (channel?.permission_overwrites ?? []).map((one) => ({
		id: one.id,
		type: one.type,
		allow: BigInt(one.allow ?? 0),
		deny: BigInt(one.deny ?? 0),
	}));
}

export const overwritesBody = (overwrites: readonly RawOverwrite[]) =>
	overwrites.map((one) => ({ ...one, allow: String(one.allow), deny: String(one.deny) }));

/** `before` is undefined for a new channel. `parentId`: "" for no category, undefined to keep it. */
export function channelBody(
	channel: Partial<Channel>,
	parentId: string | undefined,
	guildId: string,
	before?: ApiChannel,
): Body {
	const { tags, overwrites, default_sort_order: sort, default_layout: layout } = channel;
	const { emoji_id, emoji_name } = emojiFields(channel.default_reaction);
	return {
		name: channel.name,
		type: channel.kind && editedKinds[channel.kind].type,
		topic: orNull(channel.topic),
		nsfw: channel.nsfw,
		rate_limit_per_user: channel.slowmode && secondsOf(channel.slowmode),
		bitrate: channel.bitrate,
		user_limit: channel.user_limit,
		rtc_region: orNull(channel.rtc_region),
		video_quality_mode: channel.video_quality && videoQualities[channel.video_quality],
		default_thread_rate_limit_per_user: channel.thread_slowmode && secondsOf(channel.thread_slowmode),
		default_auto_archive_duration: channel.auto_archive && (secondsOf(channel.auto_archive) / 60 || null),
		available_tags: tags?.map(({ name, emoji, moderated = false }) => ({
			// A tag of the same name keeps its id, so that posts keep their tags.
			id: before?.available_tags?.find((tag) => tag.name === name)?.id,
			name,
			moderated,
			...emojiFields(emoji),
		})),
		// Discord sets these only in a channel that exists.
		flags: before && flagsWith(before.flags ?? 0, channel),
		default_reaction_emoji:
			channel.default_reaction === undefined ? undefined : emoji_id || emoji_name ? { emoji_id, emoji_name } : null,
		default_sort_order: sort === undefined ? undefined : sort ? sortOrders[sort] : null,
		default_forum_layout: layout === undefined ? undefined : layout ? layouts[layout] : 0,
		parent_id: orNull(parentId),
		permission_overwrites: overwrites && overwritesBody(rawOverwrites(overwrites, guildId)),
	};
}

export function automodBody(
	rule: Partial<AutomodRule>,
	before?: RuleFields & { raw: Parameters<typeof ruleBody>[2] },
): Body {
	const given = present({
		...rule,
		alert_channel_id: rule.alert_channel,
		duration_seconds: rule.duration && secondsOf(rule.duration),
		exempt_role_ids: rule.exempt_roles,
		exempt_channel_ids: rule.exempt_channels,
	});
	const fields = Object.keys(given) as (keyof RuleFields)[];
	const full = { ...(before ?? emptyRule), ...given } as RuleFields;
	return { ...(rule.trigger && !before && triggerBody(rule.trigger)), ...ruleBody(full, fields, before?.raw) };
}

export function scheduledEventBody(event: Partial<ScheduledEvent>, isNew: boolean): Body {
	const { entity_type, location, channel, scheduled_start_time } = event;
	return {
		...eventBody({
			name: event.name,
			description: event.description,
			entity_type,
			channel_id: entity_type === "external" ? undefined : channel || undefined,
			location: entity_type === "external" || !isNew ? location || undefined : undefined,
			scheduled_start_time,
			scheduled_end_time: event.scheduled_end_time || undefined,
		}),
		...(isNew && { privacy_level: GuildScheduledEventPrivacyLevel.GuildOnly }),
	};
}

export function welcomeScreenBody(screen: WelcomeScreen): Body {
	return {
		enabled: screen.enabled,
		description: orNull(screen.description),
		welcome_channels: screen.channels?.map((shown) => ({
			channel_id: shown.channel,
			description: shown.description,
			...emojiFields(shown.emoji),
		})),
	};
}

/** Questions and options keep the id of the existing one with the same title. */
export function onboardingBody(
	{ enabled, mode, default_channels, prompts }: Onboarding,
	{ onboarding: before, guild }: GuildState,
): Body {
	const own = new Set(guild.emojis.map(({ id }) => id));
	return {
		enabled,
		mode:
			mode && (mode === "advanced" ? GuildOnboardingMode.OnboardingAdvanced : GuildOnboardingMode.OnboardingDefault),
		default_channel_ids: default_channels,
		prompts: prompts?.map((prompt, index) => {
			const old = before?.prompts.find(({ title }) => title === prompt.title);
			return {
				// Discord requires an id, and gives new questions an id of its own.
				id: old?.id ?? String(index),
				title: prompt.title,
				type:
					prompt.kind === "dropdown" ? GuildOnboardingPromptType.Dropdown : GuildOnboardingPromptType.MultipleChoice,
				single_select: prompt.single_select ?? false,
				required: prompt.required ?? false,
				in_onboarding: prompt.in_onboarding ?? true,
				options: prompt.options.map((option) => {
					const same = old?.options.find(({ title }) => title === option.title);
					// Documents cannot name the emoji of another guild.
					const foreign = same?.emoji?.id && !option.emoji && !own.has(same.emoji.id);
					return {
						id: same?.id,
						title: option.title,
						description: orNull(option.description),
						...(foreign ? { emoji_id: same.emoji.id, emoji_name: same.emoji.name } : emojiFields(option.emoji)),
						role_ids: option.roles ?? [],
						channel_ids: option.channels ?? [],
					};
				}),
			};
		}),
	};
}
