// Default values of new entities.

import { randomBytes } from "node:crypto";
import {
	GuildDefaultMessageNotifications,
	GuildExplicitContentFilter,
	GuildOnboardingMode,
	GuildVerificationLevel,
	Locale,
} from "discord.js";
import type { GuildChannel, GuildSettings, Member, Onboarding, Role, User } from "./entities.ts";
import { bitsOf } from "./permissions.ts";

export const everyonePermissions = bitsOf([
	"ViewChannel",
	"SendMessages",
	"ReadMessageHistory",
	"EmbedLinks",
	"AttachFiles",
	"AddReactions",
	"SendPolls",
	"UseExternalEmojis",
	"ChangeNickname",
	"CreateInstantInvite",
	"CreatePublicThreads",
	"CreatePrivateThreads",
	"SendMessagesInThreads",
	"UseApplicationCommands",
	"Connect",
	"Speak",
	"Stream",
	"UseVAD",
]);

export const newGuildSettings: Omit<GuildSettings, "name"> = {
	icon: null,
	description: null,
	verification_level: GuildVerificationLevel.None,
	default_message_notifications: GuildDefaultMessageNotifications.AllMessages,
	explicit_content_filter: GuildExplicitContentFilter.Disabled,
	afk_channel_id: null,
	afk_timeout: 300 as const,
	system_channel_id: null,
	system_channel_flags: 0,
	rules_channel_id: null,
	public_updates_channel_id: null,
	safety_alerts_channel_id: null,
	preferred_locale: Locale.EnglishUS,
	premium_progress_bar_enabled: false,
	widget_enabled: false,
	widget_channel_id: null,
};

export const newChannel = () =>
	({
		parent_id: null,
		permission_overwrites: [],
		topic: null,
		nsfw: false,
		rate_limit_per_user: 0,
		bitrate: 64_000,
		user_limit: 0,
		rtc_region: null,
		video_quality_mode: 1,
		last_message_id: null,
		default_thread_rate_limit_per_user: 0,
		available_tags: [],
		default_reaction_emoji: null,
		default_sort_order: null,
		default_forum_layout: 0,
		flags: 0,
	}) satisfies Partial<GuildChannel>;

export const noOnboarding: Onboarding = {
	prompts: [],
	default_channel_ids: [],
	enabled: false,
	mode: GuildOnboardingMode.OnboardingDefault,
};

export const newUserProfile = {
	discriminator: "0",
	global_name: null,
	avatar: null,
	flags: 0,
	public_flags: 0,
	primary_guild: null,
};

export const newVoice = { self_deaf: false, self_mute: false, self_stream: false, self_video: false };

export const noColors = { primary_color: 0, secondary_color: null, tertiary_color: null };

export function newRole(id: string): Role {
	return {
		id,
		name: "new role",
		description: null,
		color: 0,
		colors: noColors,
		hoist: false,
		icon: null,
		unicode_emoji: null,
		position: 0,
		permissions: "0",
		managed: false,
		mentionable: false,
		flags: 0,
	};
}

export function newToken(userId: string): string {
	const owner = Buffer.from(userId).toString("base64url");
	const random = (bytes: number) => randomBytes(bytes).toString("base64url");
	return `${owner}.${random(4)}.${random(27)}`;
}

export function newMember(user: User): Member {
	return {
		user,
		nick: null,
		roles: [],
		joined_at: new Date().toISOString(),
		communication_disabled_until: null,
		deaf: false,
		mute: false,
		pending: false,
		flags: 0,
	};
}
