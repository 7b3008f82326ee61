// What the simulated platform consists of. Entities keep Discord's own shapes and spelling: most are sent as they are stored.

import {
	type APIAutoModerationAction,
	type APIAutoModerationRuleTriggerMetadata,
	type ApplicationCommandOptionType,
	type AuditLogEvent,
	type AutoModerationRuleEventType,
	type AutoModerationRuleTriggerType,
	ChannelType,
	type GuildDefaultMessageNotifications,
	type GuildExplicitContentFilter,
	type GuildScheduledEventEntityType,
	type GuildScheduledEventStatus,
	type GuildVerificationLevel,
	type MessageType,
} from "discord.js";

export interface User {
	readonly id: string;
	username: string;
	discriminator: string;
	global_name: string | null;
	avatar: string | null;
	public_flags: number;
	bot?: true;
}

export type PrivilegedIntent =
	| "GuildMembers"
	| "GuildPresences"
	| "MessageContent";

/** Someone who holds a token: a bot, or a person who is driven through the REST API. */
export interface Account {
	readonly token: string;
	readonly user: User;
	/** Only for bots: what its owner switched on in the developer portal. */
	readonly privilegedIntents: readonly PrivilegedIntent[];
}

export interface Role {
	readonly id: string;
	name: string;
	description: string | null;
	color: number;
	colors: RoleColors;
	hoist: boolean;
	icon: null;
	unicode_emoji: string | null;
	position: number;
	/** Permission bits, in decimal. */
	permissions: string;
	managed: boolean;
	mentionable: boolean;
	flags: number;
	tags?: { bot_id: string };
}

export interface RoleColors {
	primary_color: number;
	secondary_color: number | null;
	tertiary_color: number | null;
}

/** What a channel grants and denies to a role (type 0) or a member (type 1). */
export interface Overwrite {
	id: string;
	type: 0 | 1;
	allow: string;
	deny: string;
}

export type GuildChannelType =
	| ChannelType.GuildText
	| ChannelType.GuildVoice
	| ChannelType.GuildCategory
	| ChannelType.GuildAnnouncement
	| ChannelType.GuildStageVoice
	| ChannelType.GuildForum
	| ChannelType.GuildMedia;

/** Whether its messages are in posts: a media channel is a forum of pictures. */
export function holdsPosts({ type }: { type: ChannelType }): boolean {
	return type === ChannelType.GuildForum || type === ChannelType.GuildMedia;
}

export interface GuildChannel {
	readonly id: string;
	readonly guild_id: string;
	type: GuildChannelType;
	name: string;
	position: number;
	parent_id: string | null;
	permission_overwrites: Overwrite[];
	topic: string | null;
	nsfw: boolean;
	rate_limit_per_user: number;
	bitrate: number;
	user_limit: number;
	rtc_region: string | null;
	last_message_id: string | null;
	/** In minutes; what its threads start with. */
	default_auto_archive_duration?: number | null;
	/** In seconds; what its threads start with. */
	default_thread_rate_limit_per_user: number;
	/** Of a forum: what its posts can be tagged with. */
	available_tags: readonly ForumTag[];
	default_reaction_emoji: Readonly<Record<string, unknown>> | null;
	default_sort_order: number | null;
	default_forum_layout: number;
	/** Of a forum: ChannelFlags.RequireTag, or none. */
	flags: number;
}

/** One of the tags of a forum. */
export interface ForumTag {
	readonly id: string;
	readonly name: string;
	/** Only those who manage threads put it on a post. */
	readonly moderated: boolean;
	readonly emoji_id: string | null;
	readonly emoji_name: string | null;
}

export type ThreadType =
	| ChannelType.AnnouncementThread
	| ChannelType.PublicThread
	| ChannelType.PrivateThread;

/** A thread of a channel, or a post of a forum. */
export interface Thread {
	readonly id: string;
	readonly guild_id: string;
	readonly parent_id: string;
	readonly type: ThreadType;
	readonly owner_id: string;
	readonly create_timestamp: string;
	name: string;
	rate_limit_per_user: number;
	last_message_id: string | null;
	/** Without the one that it started with, and without deleted ones. */
	message_count: number;
	/** The same with deleted ones. */
	total_message_sent: number;
	archived: boolean;
	/** When it was last archived or reopened. ISO 8601. */
	archive_timestamp: string;
	/** In minutes. */
	auto_archive_duration: number;
	locked: boolean;
	/** Of a private one: whether anyone in it may bring others. */
	invitable: boolean;
	/** Of a forum post, and only of one. */
	applied_tags?: readonly string[];
	/** Of a forum post: ChannelFlags.Pinned, or none. */
	flags: number;
	/** When each member joined, by the user's id. ISO 8601. */
	readonly members: Map<string, string>;
}

export interface DmChannel {
	readonly id: string;
	readonly type: ChannelType.DM;
	readonly recipients: readonly [User, User];
	last_message_id: string | null;
}

/** What belongs to a guild and holds messages or channels. */
export type GuildPlace = GuildChannel | Thread;
export type Channel = GuildPlace | DmChannel;

export interface Member {
	readonly user: User;
	nick: string | null;
	roles: string[];
	joined_at: string;
	communication_disabled_until: string | null;
	deaf: boolean;
	mute: boolean;
	/** Whether they have yet to pass the membership screening. */
	pending: boolean;
}

/** Where someone is in voice. Whether they are muted and deafened there is said of the member. */
export interface VoiceState {
	readonly user_id: string;
	channel_id: string;
	readonly session_id: string;
	self_deaf: boolean;
	self_mute: boolean;
	self_video: boolean;
	/** On a stage: whether they only listen. */
	suppress: boolean;
	request_to_speak_timestamp: string | null;
}

/** A stage that is live. */
export interface StageInstance {
	readonly id: string;
	readonly guild_id: string;
	readonly channel_id: string;
	topic: string;
	privacy_level: 2;
	readonly discoverable_disabled: true;
	readonly guild_scheduled_event_id: null;
}

export interface Ban {
	readonly user: User;
	readonly reason: string | null;
}

export interface AuditLogEntry {
	readonly id: string;
	readonly action_type: AuditLogEvent;
	readonly user_id: string;
	readonly target_id: string | null;
	readonly changes?: readonly AuditLogChange[];
	readonly options?: Readonly<Record<string, string>>;
	readonly reason?: string;
}

export interface AuditLogChange {
	readonly key: string;
	readonly old_value?: unknown;
	readonly new_value?: unknown;
}

/** What those who manage a guild decide about it. */
export interface GuildSettings {
	name: string;
	description: string | null;
	verification_level: GuildVerificationLevel;
	default_message_notifications: GuildDefaultMessageNotifications;
	explicit_content_filter: GuildExplicitContentFilter;
	afk_channel_id: string | null;
	/** In seconds. */
	afk_timeout: number;
	system_channel_id: string | null;
	system_channel_flags: number;
	rules_channel_id: string | null;
	public_updates_channel_id: string | null;
	safety_alerts_channel_id: string | null;
	preferred_locale: string;
	premium_progress_bar_enabled: boolean;
}

/** Until when nobody joins by an invite, and members do not write to each other directly. ISO 8601; null for neither. */
export interface IncidentsData {
	readonly invites_disabled_until: string | null;
	readonly dms_disabled_until: string | null;
}

/** A guild and everything in it, each by its id; members and bans by the user's. */
export interface Guild extends GuildSettings {
	readonly id: string;
	owner_id: string;
	/** Discord's names of what it is and may, such as COMMUNITY. */
	features: string[];
	/** What is switched off for a while. */
	incidents_data: IncidentsData | null;
	readonly roles: Map<string, Role>;
	readonly channels: Map<string, GuildChannel>;
	/** The threads of all its channels, archived or not. */
	readonly threads: Map<string, Thread>;
	readonly members: Map<string, Member>;
	readonly bans: Map<string, Ban>;
	readonly emojis: Map<string, GuildEmoji>;
	/** Of those who are in a voice channel, each by the user's id. */
	readonly voiceStates: Map<string, VoiceState>;
	/** Oldest first. */
	readonly auditLog: AuditLogEntry[];
}

/** Something that is to happen in a guild, at a time: on a stage, in a voice channel, or somewhere else. */
export interface ScheduledEvent {
	readonly id: string;
	readonly guild_id: string;
	channel_id: string | null;
	readonly creator_id: string;
	name: string;
	description: string | null;
	scheduled_start_time: string;
	scheduled_end_time: string | null;
	readonly privacy_level: 2;
	status: GuildScheduledEventStatus;
	entity_type: GuildScheduledEventEntityType;
	/** Where it is, if it is in no channel. */
	entity_metadata: { readonly location: string } | null;
	/** Those who are interested, by their ids. */
	readonly userIds: Set<string>;
}

/** A rule by which Discord itself moderates a guild. */
export interface AutoModerationRule {
	readonly id: string;
	readonly guild_id: string;
	readonly creator_id: string;
	name: string;
	readonly event_type: AutoModerationRuleEventType;
	readonly trigger_type: AutoModerationRuleTriggerType;
	trigger_metadata: APIAutoModerationRuleTriggerMetadata;
	actions: readonly APIAutoModerationAction[];
	enabled: boolean;
	exempt_roles: readonly string[];
	exempt_channels: readonly string[];
}

export interface Attachment {
	readonly id: string;
	readonly filename: string;
	readonly description?: string;
	readonly content_type: string;
	readonly size: number;
	readonly url: string;
	readonly proxy_url: string;
}

/** A Unicode emoji has no id; one of a guild has both. */
export interface Emoji {
	readonly id: string | null;
	readonly name: string;
	/** Only said of those that are. */
	readonly animated?: true;
}

/** An emoji that a guild has of its own. */
export interface GuildEmoji {
	readonly id: string;
	name: string;
	/** The ids of those roles whose members alone may use it; empty for everyone. */
	roles: readonly string[];
	/** Who made it. */
	readonly user: User;
	readonly require_colons: true;
	readonly managed: false;
	readonly animated: boolean;
	readonly available: true;
}

export interface Poll {
	readonly question: { readonly text: string };
	readonly answers: readonly {
		readonly answer_id: number;
		readonly poll_media: { readonly text: string; readonly emoji?: Emoji };
	}[];
	/** When it ends, or has ended. ISO 8601. */
	expiry: string;
	readonly allow_multiselect: boolean;
	readonly layout_type: 1;
	/** Who voted for each answer, by its id, in that order. */
	readonly votes: Map<number, readonly string[]>;
	ended: boolean;
}

/** What a forward keeps of a message. */
export type Snapshot = Pick<
	Message,
	| "type"
	| "content"
	| "timestamp"
	| "edited_timestamp"
	| "mentions"
	| "mention_roles"
	| "attachments"
	| "embeds"
	| "components"
	| "flags"
>;

/** An emoji on a message, and who put it there, in that order. */
export interface Reaction {
	readonly emoji: Emoji;
	readonly userIds: readonly string[];
}

export interface Message {
	readonly id: string;
	readonly channel_id: string;
	readonly type: MessageType;
	readonly author: User;
	content: string;
	readonly timestamp: string;
	edited_timestamp: string | null;
	readonly tts: boolean;
	mention_everyone: boolean;
	mentions: readonly User[];
	mention_roles: readonly string[];
	attachments: readonly Attachment[];
	embeds: readonly Readonly<Record<string, unknown>>[];
	components: readonly unknown[];
	/** When it was pinned; null while it is not. ISO 8601. */
	pinned_at: string | null;
	/** In the order in which they first came. */
	reactions: readonly Reaction[];
	flags: number;
	readonly nonce?: string | number;
	/** Set on a reply (type 0), on a forward (type 1), and on what Discord itself says of a message; there is none where it says something of a thread. */
	readonly message_reference?: {
		type: 0 | 1;
		message_id?: string;
		channel_id: string;
		guild_id?: string;
	};
	/** Set on a forward. */
	readonly message_snapshots?: readonly { readonly message: Snapshot }[];
	readonly poll?: Poll;
	/** Set on an answer to an interaction, with the two below. */
	readonly application_id?: string;
	readonly webhook_id?: string;
	readonly interaction_metadata?: Readonly<Record<string, unknown>>;
	/** Only on the answer to a command; the older form of the metadata. */
	readonly interaction?: Readonly<Record<string, unknown>>;
}

/** A way to write into a channel under any name. */
export interface Webhook {
	readonly id: string;
	/** Incoming, following announcements elsewhere, or an application's own. */
	readonly type: 1 | 2 | 3;
	readonly guild_id: string;
	channel_id: string;
	/** Who made it. */
	readonly user: User | null;
	name: string;
	avatar: string | null;
	/** Set where a bot made it. */
	readonly application_id: string | null;
	/** Whoever has it can write; only incoming ones have one. */
	readonly token?: string;
	/** What a following one follows. */
	readonly source_guild?: { readonly id: string; readonly name: string };
	readonly source_channel?: { readonly id: string; readonly name: string };
}

/** A way into a guild, by one of its channels. */
export interface Invite {
	readonly code: string;
	readonly guild_id: string;
	readonly channel_id: string;
	readonly inviter: User;
	readonly max_age: number;
	readonly max_uses: number;
	readonly temporary: boolean;
	/** What whoever comes in by it is to have. */
	readonly role_ids: readonly string[];
	readonly created_at: string;
	uses: number;
}

/** A slash command of an application: in all guilds it is in, or in one. */
export interface Command {
	readonly id: string;
	readonly application_id: string;
	readonly guild_id?: string;
	readonly type: 1;
	/** Another one after each change. */
	version: string;
	name: string;
	name_localizations: Readonly<Record<string, string>> | null;
	description: string;
	description_localizations: Readonly<Record<string, string>> | null;
	options: readonly CommandOption[];
	/** Permission bits that one needs to use it, in decimal; "0" is for administrators alone. */
	default_member_permissions: string | null;
	nsfw: boolean;
	dm_permission?: boolean;
	contexts?: readonly number[] | null;
	integration_types?: readonly number[];
}

export interface CommandOption {
	readonly type: ApplicationCommandOptionType;
	readonly name: string;
	readonly description: string;
	readonly required?: boolean;
	readonly choices?: readonly { name: string; value: string | number }[];
	readonly channel_types?: readonly number[];
	readonly min_value?: number;
	readonly max_value?: number;
	readonly min_length?: number;
	readonly max_length?: number;
}

/** Whether a channel is one that people speak in. */
export function isVoice(place: GuildPlace): boolean {
	const { GuildVoice, GuildStageVoice } = ChannelType;
	return place.type === GuildVoice || place.type === GuildStageVoice;
}

/** Whether a channel or thread belongs to a guild. */
export function inGuild(channel: Channel): channel is GuildPlace {
	return "guild_id" in channel;
}

/** Whether it is a channel of a guild, and no thread. */
export function isGuildChannel(channel: Channel): channel is GuildChannel {
	return inGuild(channel) && !isThread(channel);
}

export function isThread(channel: Channel): channel is Thread {
	return "archive_timestamp" in channel;
}
