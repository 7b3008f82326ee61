// Entities as Discord sends them. Only this file leaves out what a reader may not see.

import { ApplicationFlags, ChannelType, MessageFlags } from "discord.js";
import { newGuildSettings } from "./defaults.ts";
import type {
	Account,
	Channel,
	Guild,
	GuildChannel,
	GuildEmoji,
	GuildSettings,
	Member,
	Message,
	Poll,
	Reaction,
	Thread,
	User,
} from "./entities.ts";
import { inGuild, isThread } from "./entities.ts";

type Json = Record<string, unknown>;

const flagOf = {
	GuildPresences: ApplicationFlags.GatewayPresence,
	GuildMembers: ApplicationFlags.GatewayGuildMembers,
	MessageContent: ApplicationFlags.GatewayMessageContent,
} as const;

/** The flags of a bot's application: its privileged intents. */
export function applicationFlags(bot: Account): number {
	return bot.privilegedIntents.reduce(
		(flags, intent) => flags | flagOf[intent],
		0,
	);
}

/** A user's own account. */
export function ownUser(account: Account): Json {
	return {
		...account.user,
		bot: account.user.bot === true,
		verified: true,
		mfa_enabled: account.user.bot === true,
		flags: 0,
		locale: "en-US",
		email: null,
	};
}

export function guildChannel(channel: GuildChannel): Json {
	const { topic, bitrate, user_limit, rtc_region, ...rest } = channel;
	const { available_tags, default_reaction_emoji, ...others } = rest;
	const { default_sort_order, default_forum_layout, ...threaded } = others;
	const {
		default_auto_archive_duration,
		default_thread_rate_limit_per_user,
		...common
	} = threaded;
	const { last_message_id, rate_limit_per_user, ...bare } = common;
	switch (channel.type) {
		case ChannelType.GuildCategory:
			return bare;
		case ChannelType.GuildVoice:
		case ChannelType.GuildStageVoice:
			return { ...common, topic, bitrate, user_limit, rtc_region };
		case ChannelType.GuildForum:
		case ChannelType.GuildMedia:
			return {
				...threaded,
				topic,
				available_tags,
				default_reaction_emoji,
				default_sort_order,
				default_forum_layout,
			};
		default:
			return { ...threaded, topic };
	}
}

/** A thread, with the viewer's thread member if there is one. */
export function thread(of: Thread, viewerId: string): Json {
	const { members, archived, locked, invitable, ...rest } = of;
	const { archive_timestamp, create_timestamp, ...others } = rest;
	const { auto_archive_duration, ...common } = others;
	const member = threadMember(of, viewerId);
	return {
		...common,
		// Discord counts up to 50.
		member_count: Math.min(50, members.size),
		thread_metadata: {
			archived,
			archive_timestamp,
			auto_archive_duration,
			locked,
			create_timestamp,
			...(of.type === ChannelType.PrivateThread ? { invitable } : {}),
		},
		...(member ? { member } : {}),
	};
}

/** A thread member, or undefined. */
export function threadMember(
	{ id, members }: Thread,
	user_id: string,
): Json | undefined {
	const join_timestamp = members.get(user_id);
	return join_timestamp === undefined
		? undefined
		: { id, user_id, join_timestamp, flags: 0 };
}

/** A thread member with the guild member; empty if there is none. */
export function threadMemberWith(
	guild: Guild,
	of: Thread,
	userId: string,
): Json[] {
	const place = threadMember(of, userId);
	const known = guild.members.get(userId);
	return place && known
		? [{ ...place, member: member(known), presence: null }]
		: [];
}

/** A channel. A DM channel lists the other user. */
export function channel(any: Channel, viewer: Account): Json {
	if (isThread(any)) return thread(any, viewer.user.id);
	if (inGuild(any)) return guildChannel(any);
	const { recipients, ...rest } = any;
	const others = recipients.filter((user) => user.id !== viewer.user.id);
	return { ...rest, recipients: others, flags: 0 };
}

/** A member without `user`. */
export function bareMember({ user: _, ...member }: Member): Json {
	return {
		...member,
		avatar: null,
		banner: null,
		premium_since: null,
		flags: 0,
	};
}

export function member(of: Member): Json {
	return { user: of.user, ...bareMember(of) };
}

/** The voice state of a member. Without a channel if they are not connected. */
export function voiceState(guild: Guild, { user, deaf, mute }: Member): Json {
	return {
		channel_id: null,
		user_id: user.id,
		session_id: "",
		self_deaf: false,
		self_mute: false,
		self_video: false,
		suppress: false,
		request_to_speak_timestamp: null,
		...guild.voiceStates.get(user.id),
		deaf,
		mute,
	};
}

function settings(of: Guild): Json {
	const names = Object.keys({ name: "", ...newGuildSettings });
	return Object.fromEntries(
		names.map((name) => [name, of[name as keyof GuildSettings]]),
	);
}

/** An emoji without its creator. */
export function emoji({ user: _, ...rest }: GuildEmoji): Json {
	return rest;
}

export function emojis(of: Guild): Json[] {
	return Array.from(of.emojis.values(), emoji);
}

/** A guild with its roles, without channels and members. */
export function guild(of: Guild): Json {
	return {
		id: of.id,
		owner_id: of.owner_id,
		features: of.features,
		incidents_data: of.incidents_data,
		...settings(of),
		roles: [...of.roles.values()],
		icon: null,
		splash: null,
		discovery_splash: null,
		banner: null,
		emojis: emojis(of),
		stickers: [],
		application_id: null,
		max_members: 500_000,
		max_presences: null,
		max_video_channel_users: 25,
		mfa_level: 0,
		nsfw: false,
		nsfw_level: 0,
		premium_subscription_count: 0,
		premium_tier: 0,
		vanity_url_code: null,
		widget_channel_id: null,
		widget_enabled: false,
	};
}

/** The approximate counts of a guild. All members count as online. */
export function guildCounts(of: Guild): Json {
	return {
		approximate_member_count: of.members.size,
		approximate_presence_count: of.members.size,
	};
}

/** Who reads messages. Without `seesContent` only own messages, mentions and DMs have content. */
export interface MessageReader {
	readonly id: string;
	readonly seesContent: boolean;
}

/** The reader of an account. Bots see content with the privileged intent. */
export function readerOf(account: Account): MessageReader {
	return {
		id: account.user.id,
		seesContent:
			!account.user.bot || account.privilegedIntents.includes("MessageContent"),
	};
}

/** Whether a reader may see the content of a message. */
export function isReadable(
	of: Message,
	reader: MessageReader,
	guildId: string | undefined,
): boolean {
	return (
		reader.seesContent ||
		guildId === undefined ||
		of.author.id === reader.id ||
		of.mentions.some((user) => user.id === reader.id)
	);
}

/** A message. `referenced` is the one it replies to, null if that was deleted. */
export function message(
	of: Message,
	reader: MessageReader,
	guildId: string | undefined,
	referenced?: Message | null,
): Json {
	const visible = isReadable(of, reader, guildId);
	const { pinned_at, reactions, poll: asked, ...stored } = of;
	const content = visible
		? asked
			? { poll: poll(asked, reader) }
			: {}
		: hidden(of);
	const suppressed = (of.flags & MessageFlags.SuppressEmbeds) !== 0;
	const reply =
		referenced === undefined
			? {}
			: {
					referenced_message:
						referenced && message(referenced, reader, guildId),
				};
	return {
		...stored,
		pinned: pinned_at !== null,
		...(reactions.length > 0
			? { reactions: reactions.map((one) => reaction(one, reader)) }
			: {}),
		...(suppressed ? { embeds: [] } : {}),
		...content,
		...reply,
	};
}

const noContent = { content: "", embeds: [], attachments: [], components: [] };

/** The empty content of a message for a reader who may not see it. */
function hidden({ message_snapshots }: Message): Json {
	return {
		...noContent,
		...(message_snapshots && {
			message_snapshots: message_snapshots.map(({ message }) => ({
				message: { ...message, ...noContent },
			})),
		}),
	};
}

function poll({ votes, ended, ...asked }: Poll, reader: MessageReader): Json {
	return {
		...asked,
		results: {
			is_finalized: ended,
			answer_counts: [...votes]
				.filter(([, voters]) => voters.length > 0)
				.map(([id, voters]) => ({
					id,
					count: voters.length,
					me_voted: voters.includes(reader.id),
				})),
		},
	};
}

function reaction({ emoji, userIds }: Reaction, reader: MessageReader): Json {
	return {
		emoji,
		count: userIds.length,
		count_details: { burst: 0, normal: userIds.length },
		me: userIds.includes(reader.id),
		me_burst: false,
		burst_colors: [],
	};
}

/** A mentioned user in an event, with their member. */
export function mention(user: User, guild: Guild | undefined): Json {
	const member = guild?.members.get(user.id);
	return member ? { ...user, member: bareMember(member) } : { ...user };
}
