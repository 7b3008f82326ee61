// What happens in the world, as the Gateway would tell it: the event's name, and who is told.

import { GatewayIntentBits } from "discord.js";
import type { MessageReader } from "./serialize.ts";

/** One change, told to every connected bot that all of these conditions fit. */
export interface WorldEvent {
	readonly type: EventType;
	/** In a guild: its members are told. */
	readonly guildId?: string;
	/** Only these users are told. */
	readonly only?: readonly string[];
	/** This user is not told: it has an event of its own. */
	readonly except?: string;
	/** This user is told even without the intent. */
	readonly always?: string;
	/** Who is told needs these permissions, in this channel if one is given. */
	readonly permission?: { readonly bits: bigint; readonly channelId?: string };
	/** The event's data for one reader. Called at once, or never. */
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
 * Every event the simulator sends, with the intent that a bot needs for it: in a guild, and in direct messages. 0 is none:
 * such an event is told to the bot that it is for.
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
	// Of themselves bots are told without it.
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
