// Entities as Discord sends them. Only this file leaves out what a reader may not see.

import type {
	APIBaseVoiceState,
	APIDMChannel,
	APIEmoji,
	APIGuildMember,
	APIMessage,
	APIPoll,
	APIReaction,
	APIThreadChannel,
	APIUser,
	APIUserWithMember,
	GatewayGuildMembersChunkPresence,
} from "discord.js";
import {
	ApplicationFlags,
	ChannelFlags,
	ChannelType,
	MessageFlags,
	OverwriteType,
	PermissionFlagsBits,
} from "discord.js";
import type { EventPayloads, Sent, SentGuild, SentThreadMember } from "./api-types.ts";
import { newChannel, newVoice } from "./defaults.ts";
import type {
	Account,
	Channel,
	Guild,
	GuildChannel,
	GuildEmoji,
	Member,
	Message,
	Poll,
	Reaction,
	Thread,
	User,
} from "./entities.ts";
import { inGuild, isThread } from "./entities.ts";
import { isShown } from "./permissions.ts";

const flagOf = {
	GuildPresences: ApplicationFlags.GatewayPresence,
	GuildMembers: ApplicationFlags.GatewayGuildMembers,
	MessageContent: ApplicationFlags.GatewayMessageContent,
} as const;

export function applicationFlags(bot: Account): number {
	return bot.privilegedIntents.reduce((bits, name) => bits | flagOf[name], 0);
}

/** As Discord sends it to the account itself, with private fields such as `verified`. */
export function ownUser(account: Account, mfa_enabled: boolean): Sent<APIUser> {
	return { ...account.user, bot: account.user.bot === true, verified: true, mfa_enabled, locale: "en-US", email: null };
}

export function guildChannel(channel: GuildChannel): EventPayloads["CHANNEL_CREATE"] {
	const { id, type, guild_id, name, position, flags, nsfw, permission_overwrites, parent_id } = channel;
	const { topic, last_message_id, rate_limit_per_user } = channel;
	const common = { id, guild_id, name, position, flags, nsfw, permission_overwrites };
	if (type === ChannelType.GuildCategory) return { ...common, type, parent_id: null };
	const messageable = { ...common, parent_id, topic, last_message_id, rate_limit_per_user };
	if (type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice) {
		const { bitrate, user_limit, rtc_region, video_quality_mode } = channel;
		return {
			...messageable,
			type,
			bitrate,
			user_limit,
			rtc_region,
			// "1 when not present": https://discord.com/developers/docs/resources/channel#channel-object
			video_quality_mode: video_quality_mode === 1 ? undefined : video_quality_mode,
		};
	}
	const withThreads = {
		...messageable,
		default_thread_rate_limit_per_user: channel.default_thread_rate_limit_per_user,
		default_auto_archive_duration: channel.default_auto_archive_duration ?? undefined,
	};
	if (type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement) return { ...withThreads, type };
	return {
		...withThreads,
		type,
		available_tags: channel.available_tags,
		default_reaction_emoji: channel.default_reaction_emoji,
		default_sort_order: channel.default_sort_order,
		default_forum_layout: channel.default_forum_layout,
	};
}

/**
 * Converts a guild channel to what Discord's Gateway sends a member: obfuscated if the member may not view it. Others
 * watch the simulator and see everything.
 * https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels
 * A guess (channel-obfuscated-events): all other fields are sent, with the values of a new channel.
 */
export function guildChannelFor(
	guild: Guild,
	channel: GuildChannel,
	viewerId: string,
): EventPayloads["CHANNEL_CREATE"] {
	if (!guild.members.has(viewerId) || isShown(guild, channel, viewerId)) return guildChannel(channel);
	const { id, type, guild_id, position, parent_id } = channel;
	const deny = String(PermissionFlagsBits.ViewChannel);
	return guildChannel({
		...newChannel(),
		id,
		type,
		guild_id,
		position,
		parent_id,
		name: "___hidden___",
		flags: ChannelFlags.ChannelObfuscated,
		permission_overwrites: [{ id: guild_id, type: OverwriteType.Role, allow: "0", deny }],
	});
}

/** With the viewer's thread member object if the viewer is a member. */
export function thread(of: Thread, viewerId: string): Sent<APIThreadChannel> {
	const { members, archived, locked, invitable, ...rest } = of;
	const { archive_timestamp, create_timestamp, ...others } = rest;
	const { auto_archive_duration, ...common } = others;
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
			invitable: of.type === ChannelType.PrivateThread ? invitable : undefined,
		},
		member: threadMember(of, viewerId),
	};
}

/** Threads in a list, and beside them the viewer's thread member objects. */
export function threads(all: readonly Thread[], viewerId: string) {
	return {
		threads: all.map((one) => thread(one, viewerId)),
		members: all.flatMap((one) => threadMember(one, viewerId) ?? []),
	};
}

/** With `guild`, the object has the guild member. Undefined if the user is in one of them no member. */
export function threadMember({ id, members }: Thread, user_id: string, guild?: Guild): SentThreadMember | undefined {
	const join_timestamp = members.get(user_id);
	const known = guild?.members.get(user_id);
	if (join_timestamp === undefined || (guild && !known)) return undefined;
	return { id, user_id, join_timestamp, flags: 0, ...(known && { member: member(known), presence: null }) };
}

/** For one user: a direct message channel lists only the other user as recipient. */
export function channel(
	any: Channel,
	viewer: Account,
): EventPayloads["CHANNEL_CREATE"] | Sent<APIThreadChannel | APIDMChannel> {
	if (isThread(any)) return thread(any, viewer.user.id);
	if (inGuild(any)) return guildChannel(any);
	const { recipients, ...rest } = any;
	return { ...rest, name: null, recipients: recipients.filter((user) => user.id !== viewer.user.id), flags: 0 };
}

export function bareMember({ user: _, ...member }: Member): Sent<Omit<APIGuildMember, "user">> {
	return { ...member, avatar: null, banner: null, premium_since: null };
}

export function member(of: Member): Sent<APIGuildMember> {
	return { user: of.user, ...bareMember(of) };
}

export function presence({ user: { id } }: Member): Sent<GatewayGuildMembersChunkPresence> {
	return { user: { id }, status: "online", activities: [], client_status: { desktop: "online" } };
}

/** The voice state object of a guild member. Its `channel_id` is null if the member is not connected to voice. */
export function voiceState(guild: Guild, { user, deaf, mute }: Member): Sent<APIBaseVoiceState> {
	return {
		channel_id: null,
		user_id: user.id,
		session_id: "",
		...newVoice,
		suppress: false,
		request_to_speak_timestamp: null,
		...guild.voiceStates.get(user.id),
		deaf,
		mute,
	};
}

export function memberVoiceState(guild: Guild, of: Member) {
	return { ...voiceState(guild, of), guild_id: guild.id, member: member(of) };
}

export function emoji({ user: _, ...rest }: GuildEmoji): Sent<APIEmoji> {
	return rest;
}

export function emojis(of: Guild): Sent<APIEmoji[]> {
	return Array.from(of.emojis.values(), emoji);
}

export function guild(of: Guild): SentGuild {
	const { channels, threads, members, bans, voiceStates, auditLog, welcomeScreen, onboarding, ...rest } = of;
	return {
		...rest,
		roles: [...of.roles.values()],
		home_header: null,
		splash: null,
		discovery_splash: null,
		banner: null,
		emojis: emojis(of),
		stickers: [],
		application_id: null,
		hub_type: null,
		max_members: 500_000,
		max_presences: null,
		max_video_channel_users: 25,
		max_stage_video_channel_users: 50,
		nsfw: false,
		nsfw_level: 0,
		// As in discord-userdoccers, Guild. No longer used.
		region: "deprecated",
		premium_subscription_count: 0,
		vanity_url_code: null,
	};
}

export const memberCount = ({ members, countedMembers }: Guild) => members.size + countedMembers;

/** The approximate numbers of members and online members of a guild. In the simulator all members are online. */
export function guildCounts(of: Guild) {
	return { approximate_member_count: memberCount(of), approximate_presence_count: memberCount(of) };
}

/** Without access to content, sees it only in direct messages, own messages and those that mention the reader. */
export interface MessageReader {
	id: string;
	seesContent: boolean;
}

/** People see all message content, bots only with the privileged intent MessageContent. */
export function readerOf(account: Account): MessageReader {
	return {
		id: account.user.id,
		seesContent: !account.user.bot || account.privilegedIntents.includes("MessageContent"),
	};
}

export function isReadable(of: Message, reader: MessageReader, guildId: string | undefined): boolean {
	return (
		reader.seesContent ||
		guildId === undefined ||
		of.author.id === reader.id ||
		of.mentions.some((user) => user.id === reader.id)
	);
}

/** With the message to which it replies (null if that message was deleted). */
export function message(
	of: Message,
	reader: MessageReader,
	guildId: string | undefined,
	referenced?: Message | null,
): Sent<APIMessage> {
	const visible = isReadable(of, reader, guildId);
	const { pinned_at, reactions, poll: asked, ...stored } = of;
	const suppressed = (of.flags & MessageFlags.SuppressEmbeds) !== 0;
	return {
		...stored,
		pinned: pinned_at !== null,
		...(reactions.length > 0 && { reactions: reactions.map((one) => reaction(one, reader)) }),
		...(suppressed && { embeds: [] }),
		poll: visible && asked ? poll(asked, reader) : undefined,
		...(!visible && noContent),
		...(!visible &&
			of.message_snapshots && {
				message_snapshots: of.message_snapshots.map(({ message }) => ({ message: { ...message, ...noContent } })),
			}),
		referenced_message: referenced && message(referenced, reader, guildId),
	};
}

const noContent = { content: "", embeds: [], attachments: [], components: [] };

function poll({ votes, ended, ...asked }: Poll, reader: MessageReader): Sent<APIPoll> {
	return {
		...asked,
		results: {
			is_finalized: ended,
			answer_counts: [...votes]
				.filter(([, voters]) => voters.length > 0)
				.map(([id, voters]) => ({ id, count: voters.length, me_voted: voters.includes(reader.id) })),
		},
	};
}

/** The colors that the simulator sends for every super reaction. Discord itself derives them from the emoji. */
export const burstColors = ["#f0ca59", "#e07f45"];

function reaction({ emoji, userIds, burstUserIds = [] }: Reaction, reader: MessageReader): Sent<APIReaction> {
	const [normal, burst] = [userIds.length, burstUserIds.length];
	return {
		emoji,
		count: normal + burst,
		count_details: { burst, normal },
		me: userIds.includes(reader.id),
		me_burst: burstUserIds.includes(reader.id),
		burst_colors: burst > 0 ? burstColors : [],
	};
}

/** The object for a mentioned user in a message event, with their guild member object if they are in the guild. */
export function mention(user: User, guild: Guild | undefined): Sent<APIUserWithMember> {
	const member = guild?.members.get(user.id);
	return member ? { ...user, member: bareMember(member) } : { ...user };
}
