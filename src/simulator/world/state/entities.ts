// The entities of the simulated Discord, in terms of the API's types. An entity has its own type where it is stored
// differently from how Discord sends it: with maps, with ids in place of objects, or with one shape for all kinds.

import type {
	APIApplicationCommand,
	APIAttachment,
	APIAutoModerationRule,
	APIBan,
	APIEmoji,
	APIExtendedInvite,
	APIGuild,
	APIGuildForumChannel,
	APIGuildForumTag,
	APIGuildMember,
	APIGuildOnboarding,
	APIGuildScheduledEventBase,
	APIGuildVoiceChannel,
	APIGuildWelcomeScreen,
	APIIncidentsData,
	APIMessage,
	APIMessageInteraction,
	APIMessageInteractionMetadata,
	APIMessageReference,
	APIMessageSnapshotFields,
	APIOverwrite,
	APIPartialEmoji,
	APIPoll,
	APIRole,
	APIThreadChannel,
	APIThreadMetadata,
	APIUser,
	APIVoiceState,
	APIWebhook,
	APIWebhookSourceChannel,
	APIWebhookSourceGuild,
	ApplicationCommandOptionType,
	ApplicationCommandType,
	GuildFeature,
	GuildScheduledEventEntityType,
	Locale,
	TextChannelType,
	WebhookType,
} from "discord.js";
import { ChannelType } from "discord.js";
import type { Sent, SentAuditLogEntry, SentEmbed, SentStage } from "./api-types.ts";

type Complete<T> = { [P in keyof T]-?: ReadonlyList<Exclude<T[P], undefined>> };
type ReadonlyList<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;
type Stored<T, K extends keyof T> = Complete<Pick<T, K>>;
type Maybe<T, K extends keyof T> = Partial<Stored<T, K>>;

export type User = Stored<
	APIUser,
	"id" | "username" | "discriminator" | "global_name" | "avatar" | "flags" | "public_flags" | "primary_guild"
> &
	Pick<APIUser, "bot">;

export type PrivilegedIntent = "GuildMembers" | "GuildPresences" | "MessageContent";

export interface Account {
	token: string;
	user: User;
	privilegedIntents: readonly PrivilegedIntent[];
}

export type Role = Omit<APIRole, "flags"> & { description: string | null; flags: number };

export type Overwrite = APIOverwrite;
export type ForumTag = Readonly<APIGuildForumTag>;

export type GuildChannelType =
	| ChannelType.GuildText
	| ChannelType.GuildVoice
	| ChannelType.GuildCategory
	| ChannelType.GuildAnnouncement
	| ChannelType.GuildStageVoice
	| ChannelType.GuildForum
	| ChannelType.GuildMedia;

export type GuildChannel = Complete<
	Omit<APIGuildForumChannel, "type" | "flags" | "last_pin_timestamp" | "default_auto_archive_duration"> &
		Pick<APIGuildVoiceChannel, "bitrate" | "user_limit" | "rtc_region" | "video_quality_mode">
> & {
	type: GuildChannelType;
	/** Default for new threads in this channel: after how many minutes without messages a thread is archived. */
	default_auto_archive_duration?: number | null;
	flags: number;
};

export type ThreadType = ChannelType.AnnouncementThread | ChannelType.PublicThread | ChannelType.PrivateThread;

/** A thread or forum post. The fields of Discord's nested object `thread_metadata` are direct properties. */
export type Thread = Stored<
	APIThreadChannel,
	| "id"
	| "guild_id"
	| "parent_id"
	| "owner_id"
	| "name"
	| "rate_limit_per_user"
	| "last_message_id"
	| "message_count"
	| "total_message_sent"
> &
	Maybe<APIThreadChannel, "applied_tags"> &
	Complete<Omit<APIThreadMetadata, "auto_archive_duration">> & {
		type: ThreadType;
		auto_archive_duration: number;
		flags: number;
		/** When each member of the thread joined it (ISO 8601), by user id. */
		members: Map<string, string>;
	};

export interface DmChannel {
	id: string;
	type: ChannelType.DM;
	recipients: readonly [User, User];
	last_message_id: string | null;
}

export type GuildPlace = GuildChannel | Thread;
export type Channel = GuildPlace | DmChannel;

export type Member = Stored<
	APIGuildMember,
	"nick" | "roles" | "communication_disabled_until" | "deaf" | "mute" | "pending"
> & { user: User; joined_at: string; flags: number };

/** While connected to a voice channel. `deaf` and `mute` are stored in the guild member instead. */
export type VoiceState = Complete<Omit<APIVoiceState, "guild_id" | "channel_id" | "member" | "deaf" | "mute">> & {
	channel_id: string;
};

export type StageInstance = SentStage;

export type Ban = Readonly<APIBan> & { user: User };

export type AuditLogEntry = SentAuditLogEntry;

export type GuildSettings = Pick<
	APIGuild,
	| "name"
	| "icon"
	| "description"
	| "verification_level"
	| "default_message_notifications"
	| "explicit_content_filter"
	| "afk_channel_id"
	| "afk_timeout"
	| "system_channel_id"
	| "rules_channel_id"
	| "public_updates_channel_id"
	| "safety_alerts_channel_id"
	| "premium_progress_bar_enabled"
> & {
	preferred_locale: `${Locale}`;
	system_channel_flags: number;
	widget_enabled: boolean;
	widget_channel_id: string | null;
};

export type WelcomeScreen = Sent<APIGuildWelcomeScreen>;

export type Onboarding = Sent<Omit<APIGuildOnboarding, "guild_id">>;

/** Roles, channels and so on are in maps by id; members, bans and voice states by user id. */
export interface Guild extends GuildSettings {
	id: string;
	owner_id: string;
	features: Sent<GuildFeature[]>;
	/** The guild's boost level, 0 to 3. */
	premium_tier: number;
	/** 1 if moderators of the guild must have two-factor authentication, otherwise 0. */
	mfa_level: number;
	incidents_data: Readonly<Pick<APIIncidentsData, "invites_disabled_until" | "dms_disabled_until">> | null;
	welcomeScreen: WelcomeScreen | null;
	onboarding: Onboarding;
	roles: Map<string, Role>;
	channels: Map<string, GuildChannel>;
	/** The active and archived threads of all channels of the guild, by thread id. */
	threads: Map<string, Thread>;
	members: Map<string, Member>;
	/** How many more there are, which only its number of members shows. */
	countedMembers: number;
	bans: Map<string, Ban>;
	emojis: Map<string, GuildEmoji>;
	voiceStates: Map<string, VoiceState>;
	auditLog: AuditLogEntry[];
}

export type ScheduledEvent = Stored<
	APIGuildScheduledEventBase<GuildScheduledEventEntityType>,
	| "id"
	| "guild_id"
	| "channel_id"
	| "name"
	| "description"
	| "scheduled_start_time"
	| "scheduled_end_time"
	| "privacy_level"
	| "status"
	| "entity_type"
> & { creator_id: string; entity_metadata: { location: string } | null; userIds: Set<string> };

export type AutoModerationRule = Complete<APIAutoModerationRule>;

export type Attachment = Readonly<
	Stored<APIAttachment, "id" | "filename" | "content_type" | "size" | "url" | "proxy_url"> &
		Pick<APIAttachment, "description">
>;

/** A custom emoji or a Unicode emoji. A Unicode emoji has `id` null, and its `name` is the emoji character. */
export type Emoji = Readonly<Omit<APIPartialEmoji, "name">> & { name: string };

export type GuildEmoji = Stored<APIEmoji, "roles" | "require_colons" | "managed" | "animated" | "available"> & {
	id: string;
	name: string;
	user: User;
};

export type Poll = Pick<APIPoll, "allow_multiselect" | "layout_type"> & {
	question: { text: string };
	answers: readonly { answer_id: number; poll_media: { text: string; emoji?: Emoji | undefined } }[];
	expiry: string;
	votes: Map<number, readonly string[]>;
	ended: boolean;
};

export type Snapshot = Pick<Message, keyof Message & keyof APIMessageSnapshotFields>;

export interface Reaction {
	emoji: Emoji;
	/** Users with a normal reaction, in the order in which they reacted. */
	userIds: readonly string[];
	/** Users with a super reaction ("burst"), which bots cannot add. */
	burstUserIds?: readonly string[];
}

/** To back-date the message, set `id` to a snowflake with an earlier time. */
export type NewMessage = Pick<Message, "content"> & Partial<Omit<Message, "channel_id" | "author" | "timestamp">>;

/** Without the fields that depend on who reads the message, such as whether the reader has reacted. */
export type Message = Stored<
	APIMessage,
	| "id"
	| "channel_id"
	| "type"
	| "content"
	| "timestamp"
	| "edited_timestamp"
	| "tts"
	| "mention_everyone"
	| "mention_roles"
> &
	Maybe<APIMessage, "nonce" | "application_id" | "webhook_id" | "sticker_items"> & {
		author: User;
		mentions: readonly User[];
		attachments: readonly Attachment[];
		embeds: readonly SentEmbed[];
		components: readonly unknown[];
		pinned_at: string | null;
		reactions: readonly Reaction[];
		flags: number;
		message_reference?: APIMessageReference;
		message_snapshots?: readonly { message: Snapshot }[];
		poll?: Poll;
		interaction_metadata?: Sent<APIMessageInteractionMetadata>;
		interaction?: Sent<APIMessageInteraction>;
	};

export type Webhook = Stored<APIWebhook, "id" | "avatar" | "application_id"> &
	Maybe<APIWebhook, "token"> & {
		type: WebhookType;
		guild_id: string;
		channel_id: string;
		user: User | null;
		name: string;
		source_guild?: APIWebhookSourceGuild;
		source_channel?: APIWebhookSourceChannel;
	};

export type Invite = Pick<APIExtendedInvite, "code" | "uses" | "max_uses" | "max_age" | "temporary" | "created_at"> & {
	guild_id: string;
	channel_id: string;
	inviter: User;
	role_ids: readonly string[];
};

export type CommandType = Exclude<ApplicationCommandType, ApplicationCommandType.PrimaryEntryPoint>;

/** Global, or of one guild if `guild_id` is set. In a context menu it has no description and no options. */
export type Command = Stored<
	APIApplicationCommand,
	"id" | "application_id" | "version" | "name" | "description" | "default_member_permissions" | "nsfw"
> &
	Maybe<APIApplicationCommand, "guild_id" | "dm_permission"> & {
		type: CommandType;
		name_localizations: Localizations;
		description_localizations: Localizations;
		options: readonly CommandOption[];
		contexts?: readonly number[] | null;
		integration_types?: readonly number[];
	};

/** By locale, such as "de". */
export type Localizations = Readonly<Record<string, string>> | null | undefined;

export interface CommandOption {
	type: ApplicationCommandOptionType;
	name: string;
	name_localizations?: Localizations;
	description: string;
	description_localizations?: Localizations;
	required?: boolean;
	choices?: readonly { name: string; name_localizations?: Localizations; value: string | number }[];
	channel_types?: readonly number[];
	min_value?: number;
	max_value?: number;
	min_length?: number;
	max_length?: number;
	autocomplete?: boolean;
	options?: readonly CommandOption[];
}

export function holdsPosts({ type }: { type: ChannelType }): boolean {
	return type === ChannelType.GuildForum || type === ChannelType.GuildMedia;
}

export function isText(type: Channel["type"]): type is Channel["type"] & TextChannelType {
	return type !== ChannelType.GuildCategory && !holdsPosts({ type });
}

export function isVoice({ type }: { type: ChannelType }): boolean {
	return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice;
}

export function inGuild(channel: Channel): channel is GuildPlace {
	return "guild_id" in channel;
}

export function isGuildChannel(channel: Channel): channel is GuildChannel {
	return inGuild(channel) && !isThread(channel);
}

export function isThread(channel: Channel): channel is Thread {
	return "archive_timestamp" in channel;
}

/** Undefined unless the text is exactly one Unicode emoji. */
export function parseUnicodeEmoji(text: string): Emoji | undefined {
	// Some can be written with and without the variation selector.
	const plain = text.replaceAll("\ufe0f", "");
	const known = [text, plain, `${plain}\ufe0f`].some((form) => /^\p{RGI_Emoji}$/v.test(form));
	return known ? { id: null, name: text } : undefined;
}
