// Events of Discord's Gateway: their types, intents and recipients.

import { GatewayIntentBits as Intent } from "discord.js";
import type { EventPayloads } from "./api-types.ts";
import type { MessageReader } from "./serialize.ts";

/** The conditions for a connected bot to receive a Gateway event. All conditions that are set must apply. */
export interface Audience {
	/** If set, only the users with these ids receive a Gateway event. */
	only?: readonly string[];
	except?: string;
	/** The id of a user who receives a Gateway event even without the required Gateway intent. */
	always?: string;
	/** Only users with these bits receive the event: in the channel if `channelId` is set, otherwise in the guild. */
	permission?: { bits: bigint; channelId?: string };
}

export interface WorldEvent<T extends EventType = EventType> extends Audience {
	type: T;
	/** Only members of this guild receive the event. Undefined for events in direct messages. */
	guildId?: string;
	/** Returns the payload of a Gateway event for one recipient. Called only while the event is dispatched. */
	data(reader: MessageReader): EventPayloads[T];
}

const None = 0;
const verbs = ["CREATE", "UPDATE", "DELETE"] as const;

export type Verb = (typeof verbs)[number];

function changesOf<Noun extends string>(intent: number, ...nouns: readonly Noun[]) {
	const types = nouns.flatMap((noun) => verbs.map((verb) => [`${noun}_${verb}`, intent]));
	return Object.fromEntries(types) as Record<`${Noun}_${Verb}`, number>;
}

/** Needed to receive each type of event in guilds. Types with the value None are sent to a single bot. */
export const guildIntents = {
	...changesOf(Intent.Guilds, "GUILD", "GUILD_ROLE", "CHANNEL", "THREAD", "STAGE_INSTANCE"),
	...changesOf(Intent.GuildMessages, "MESSAGE"),
	...changesOf(Intent.GuildScheduledEvents, "GUILD_SCHEDULED_EVENT"),
	...changesOf(Intent.AutoModerationConfiguration, "AUTO_MODERATION_RULE"),
	THREAD_LIST_SYNC: Intent.Guilds,
	// Bots receive it about themselves without the intent.
	THREAD_MEMBERS_UPDATE: Intent.GuildMembers,
	GUILD_MEMBER_ADD: Intent.GuildMembers,
	GUILD_MEMBER_UPDATE: Intent.GuildMembers,
	GUILD_MEMBER_REMOVE: Intent.GuildMembers,
	VOICE_CHANNEL_STATUS_UPDATE: Intent.Guilds,
	VOICE_STATE_UPDATE: Intent.GuildVoiceStates,
	GUILD_BAN_ADD: Intent.GuildModeration,
	GUILD_BAN_REMOVE: Intent.GuildModeration,
	GUILD_EMOJIS_UPDATE: Intent.GuildExpressions,
	GUILD_AUDIT_LOG_ENTRY_CREATE: Intent.GuildModeration,
	MESSAGE_DELETE_BULK: Intent.GuildMessages,
	MESSAGE_REACTION_ADD: Intent.GuildMessageReactions,
	MESSAGE_REACTION_REMOVE: Intent.GuildMessageReactions,
	MESSAGE_REACTION_REMOVE_ALL: Intent.GuildMessageReactions,
	MESSAGE_REACTION_REMOVE_EMOJI: Intent.GuildMessageReactions,
	MESSAGE_POLL_VOTE_ADD: Intent.GuildMessagePolls,
	MESSAGE_POLL_VOTE_REMOVE: Intent.GuildMessagePolls,
	CHANNEL_PINS_UPDATE: Intent.Guilds,
	WEBHOOKS_UPDATE: Intent.GuildWebhooks,
	INVITE_CREATE: Intent.GuildInvites,
	INVITE_DELETE: Intent.GuildInvites,
	GUILD_SCHEDULED_EVENT_USER_ADD: Intent.GuildScheduledEvents,
	GUILD_SCHEDULED_EVENT_USER_REMOVE: Intent.GuildScheduledEvents,
	AUTO_MODERATION_ACTION_EXECUTION: Intent.AutoModerationExecution,
	READY: None,
	RESUMED: None,
	GUILD_MEMBERS_CHUNK: None,
	RATE_LIMITED: None,
	INTERACTION_CREATE: None,
	TYPING_START: Intent.GuildMessageTyping,
} as const;

export type EventType = keyof typeof guildIntents;

export function isEvent<T extends EventType>(event: WorldEvent, type: T): event is WorldEvent<T> {
	return event.type === type;
}

/** Needed for events in direct messages. Types not listed here need no intent and are sent to a single bot. */
export const directIntents: Readonly<Partial<Record<EventType, number>>> = {
	...changesOf(Intent.DirectMessages, "MESSAGE"),
	MESSAGE_REACTION_ADD: Intent.DirectMessageReactions,
	MESSAGE_REACTION_REMOVE: Intent.DirectMessageReactions,
	MESSAGE_REACTION_REMOVE_ALL: Intent.DirectMessageReactions,
	MESSAGE_REACTION_REMOVE_EMOJI: Intent.DirectMessageReactions,
	MESSAGE_POLL_VOTE_ADD: Intent.DirectMessagePolls,
	MESSAGE_POLL_VOTE_REMOVE: Intent.DirectMessagePolls,
	CHANNEL_PINS_UPDATE: Intent.DirectMessages,
	TYPING_START: Intent.DirectMessageTyping,
};

export class Subscribers<T> {
	readonly #all = new Set<(value: T) => void>();

	add(subscriber: (value: T) => void): void {
		this.#all.add(subscriber);
	}

	notify(value: T): void {
		for (const subscriber of this.#all) subscriber(value);
	}
}
