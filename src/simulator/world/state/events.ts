// Events of Discord's Gateway: their types, intents and recipients.

import { GatewayIntentBits } from "discord.js";
import type { MessageReader } from "./serialize.ts";

/** An event. It is sent to each connected bot that all conditions apply to. */
export interface WorldEvent {
	readonly type: EventType;
	/** Only to members of this guild. */
	readonly guildId?: string;
	/** Only to these users. */
	readonly only?: readonly string[];
	/** Not to this user. */
	readonly except?: string;
	/** To this user even without the intent. */
	readonly always?: string;
	/** Only to users with these permissions, in this channel or else in the guild. */
	readonly permission?: { readonly bits: bigint; readonly channelId?: string };
	/** The data for one reader. Called during the dispatch or never. */
	data(reader: MessageReader): Record<string, unknown>;
}

const {
	AutoModerationConfiguration,
	AutoModerationExecution,
	DirectMessagePolls,
	DirectMessageReactions,
	DirectMessages,
	DirectMessageTyping,
	GuildExpressions,
	GuildMembers,
	GuildMessagePolls,
	GuildMessageReactions,
	GuildMessageTyping,
	GuildMessages,
	GuildModeration,
	GuildScheduledEvents,
	Guilds,
	GuildInvites,
	GuildVoiceStates,
	GuildWebhooks,
} = GatewayIntentBits;

/**
 * Every event that the simulator sends, with the intent that it requires in a guild and in direct messages. 0 means no
 * intent: such an event is addressed to a bot.
 */
export const events = {
	GUILD_CREATE: { guild: Guilds, direct: 0 },
	GUILD_UPDATE: { guild: Guilds, direct: 0 },
	GUILD_DELETE: { guild: Guilds, direct: 0 },
	GUILD_ROLE_CREATE: { guild: Guilds, direct: 0 },
	GUILD_ROLE_UPDATE: { guild: Guilds, direct: 0 },
	GUILD_ROLE_DELETE: { guild: Guilds, direct: 0 },
	CHANNEL_CREATE: { guild: Guilds, direct: 0 },
	CHANNEL_UPDATE: { guild: Guilds, direct: 0 },
	CHANNEL_DELETE: { guild: Guilds, direct: 0 },
	THREAD_CREATE: { guild: Guilds, direct: 0 },
	THREAD_UPDATE: { guild: Guilds, direct: 0 },
	THREAD_DELETE: { guild: Guilds, direct: 0 },
	THREAD_LIST_SYNC: { guild: Guilds, direct: 0 },
	// Bots receive it about themselves without the intent.
	THREAD_MEMBERS_UPDATE: { guild: GuildMembers, direct: 0 },
	GUILD_MEMBER_ADD: { guild: GuildMembers, direct: 0 },
	GUILD_MEMBER_UPDATE: { guild: GuildMembers, direct: 0 },
	GUILD_MEMBER_REMOVE: { guild: GuildMembers, direct: 0 },
	STAGE_INSTANCE_CREATE: { guild: Guilds, direct: 0 },
	STAGE_INSTANCE_UPDATE: { guild: Guilds, direct: 0 },
	STAGE_INSTANCE_DELETE: { guild: Guilds, direct: 0 },
	VOICE_CHANNEL_STATUS_UPDATE: { guild: Guilds, direct: 0 },
	VOICE_STATE_UPDATE: { guild: GuildVoiceStates, direct: 0 },
	GUILD_BAN_ADD: { guild: GuildModeration, direct: 0 },
	GUILD_BAN_REMOVE: { guild: GuildModeration, direct: 0 },
	GUILD_EMOJIS_UPDATE: { guild: GuildExpressions, direct: 0 },
	GUILD_AUDIT_LOG_ENTRY_CREATE: { guild: GuildModeration, direct: 0 },
	MESSAGE_CREATE: { guild: GuildMessages, direct: DirectMessages },
	MESSAGE_UPDATE: { guild: GuildMessages, direct: DirectMessages },
	MESSAGE_DELETE: { guild: GuildMessages, direct: DirectMessages },
	MESSAGE_DELETE_BULK: { guild: GuildMessages, direct: 0 },
	MESSAGE_REACTION_ADD: {
		guild: GuildMessageReactions,
		direct: DirectMessageReactions,
	},
	MESSAGE_REACTION_REMOVE: {
		guild: GuildMessageReactions,
		direct: DirectMessageReactions,
	},
	MESSAGE_REACTION_REMOVE_ALL: {
		guild: GuildMessageReactions,
		direct: DirectMessageReactions,
	},
	MESSAGE_REACTION_REMOVE_EMOJI: {
		guild: GuildMessageReactions,
		direct: DirectMessageReactions,
	},
	MESSAGE_POLL_VOTE_ADD: {
		guild: GuildMessagePolls,
		direct: DirectMessagePolls,
	},
	MESSAGE_POLL_VOTE_REMOVE: {
		guild: GuildMessagePolls,
		direct: DirectMessagePolls,
	},
	CHANNEL_PINS_UPDATE: { guild: Guilds, direct: DirectMessages },
	WEBHOOKS_UPDATE: { guild: GuildWebhooks, direct: 0 },
	INVITE_CREATE: { guild: GuildInvites, direct: 0 },
	INVITE_DELETE: { guild: GuildInvites, direct: 0 },
	GUILD_SCHEDULED_EVENT_CREATE: { guild: GuildScheduledEvents, direct: 0 },
	GUILD_SCHEDULED_EVENT_UPDATE: { guild: GuildScheduledEvents, direct: 0 },
	GUILD_SCHEDULED_EVENT_DELETE: { guild: GuildScheduledEvents, direct: 0 },
	GUILD_SCHEDULED_EVENT_USER_ADD: { guild: GuildScheduledEvents, direct: 0 },
	GUILD_SCHEDULED_EVENT_USER_REMOVE: {
		guild: GuildScheduledEvents,
		direct: 0,
	},
	AUTO_MODERATION_RULE_CREATE: {
		guild: AutoModerationConfiguration,
		direct: 0,
	},
	AUTO_MODERATION_RULE_UPDATE: {
		guild: AutoModerationConfiguration,
		direct: 0,
	},
	AUTO_MODERATION_RULE_DELETE: {
		guild: AutoModerationConfiguration,
		direct: 0,
	},
	AUTO_MODERATION_ACTION_EXECUTION: {
		guild: AutoModerationExecution,
		direct: 0,
	},
	READY: { guild: 0, direct: 0 },
	RESUMED: { guild: 0, direct: 0 },
	GUILD_MEMBERS_CHUNK: { guild: 0, direct: 0 },
	INTERACTION_CREATE: { guild: 0, direct: 0 },
	TYPING_START: { guild: GuildMessageTyping, direct: DirectMessageTyping },
} as const;

export type EventType = keyof typeof events;
