// Look-ups that succeed or throw the ToolError to show. What they find belongs to the guild.

import {
	type AnyThreadChannel,
	type CategoryChannel,
	ChannelType,
	DiscordAPIError,
	type DMChannel,
	type ForumChannel,
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	type GuildTextBasedChannel,
	type MediaChannel,
	type NewsChannel,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	type Role,
	type TextChannel,
	type User,
	type VoiceBasedChannel,
	type VoiceState,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName, memberName, userName } from "./describe.ts";
import { requirePermissions } from "./permissions.ts";

/** Whether the cache of a guild's members is complete. */
export interface MemberState {
	knowsMembers(guild: Guild): boolean;
}

/** Finds what an id names in a guild, or throws the ToolError to show. */
export type Finder<Thing> = (
	guild: Guild,
	id: string,
	connection: MemberState,
) => Thing | Promise<Thing>;

/** Someone, whether or not they are a member of the guild. */
export interface Person {
	user: User;
	member: GuildMember | undefined;
}

/** A member who is in a voice channel. */
export interface Speaker {
	member: GuildMember;
	heardIn: VoiceBasedChannel;
	/** How they are there, as it is now. */
	voice: VoiceState;
}

/** A channel or thread that holds messages. */
export async function textChannel(
	guild: Guild,
	id: string,
): Promise<GuildTextBasedChannel> {
	const found = await anyChannel(guild, id);
	if (found.isTextBased()) return found;
	if (isForum(found))
		throw new ToolError(
			`${channelName(found)} is a forum: its messages are in its posts. list_forum_posts shows them.`,
		);
	throw new ToolError(
		`${channelName(found)} holds no messages. list_channels shows which channels do.`,
	);
}

/** A channel of any kind, categories included, that is no thread. */
export type Channel = Exclude<GuildBasedChannel, AnyThreadChannel>;

/** A channel of any kind, as Discord's Gateway told of it. */
export async function channel(guild: Guild, id: string): Promise<Channel> {
	const known = await anyChannel(guild, id);
	if (!known.isThread()) return known;
	throw new ToolError(
		`${channelName(known)} is a thread, and this is for channels, such as ${known.parentId}, which it is in; edit_thread and delete_thread are for threads. Nothing was done.`,
	);
}

/** A thread or forum post, archived or not. */
export async function thread(
	guild: Guild,
	id: string,
): Promise<AnyThreadChannel> {
	const found = await anyChannel(guild, id);
	if (found.isThread()) return found;
	throw new ToolError(
		`${channelName(found)} is no thread. list_threads shows those that there are.`,
	);
}

/** The same as it is now, asked for. */
export async function currentThread(
	guild: Guild,
	id: string,
): Promise<AnyThreadChannel> {
	const known = await thread(guild, id);
	requirePermissions(guild, known, PermissionFlagsBits.ViewChannel);
	const current = await guild.channels.fetch(id, { force: true });
	return (current as AnyThreadChannel | null) ?? known;
}

export type Forum = ForumChannel | MediaChannel;

/** A channel that has threads, a forum included. */
export type ThreadedChannel = TextChannel | NewsChannel | Forum;

export function isForum(channel: GuildBasedChannel): channel is Forum {
	const { GuildForum, GuildMedia } = ChannelType;
	return channel.type === GuildForum || channel.type === GuildMedia;
}

/** Whether people speak in it: discord.js goes by its bitrate, which not every server of Discord's API tells. */
export function isVoice(
	channel: GuildBasedChannel,
): channel is VoiceBasedChannel {
	const { GuildVoice, GuildStageVoice } = ChannelType;
	return channel.type === GuildVoice || channel.type === GuildStageVoice;
}

/** A forum or media channel. */
export async function forum(guild: Guild, id: string): Promise<Forum> {
	const found = await anyChannel(guild, id);
	if (isForum(found)) return found;
	throw new ToolError(
		`${channelName(found)} is no forum. list_channels shows which channels are.`,
	);
}

/** The same as it is now, asked for. */
export async function currentForum(guild: Guild, id: string): Promise<Forum> {
	await forum(guild, id);
	return (await currentChannel(guild, id)) as Forum;
}

/** A channel in which threads are started by themselves or from messages. */
export async function threadableChannel(
	guild: Guild,
	id: string,
): Promise<TextChannel | NewsChannel> {
	const found = await threadedChannel(guild, id);
	if (!isForum(found)) return found;
	throw new ToolError(
		`${channelName(found)} is a forum: create_forum_post starts a thread in it.`,
	);
}

/** A channel that has threads. */
export async function threadedChannel(
	guild: Guild,
	id: string,
): Promise<ThreadedChannel> {
	const found = await anyChannel(guild, id);
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (found.type === GuildText || found.type === GuildAnnouncement)
		return found;
	if (isForum(found)) return found;
	throw new ToolError(
		`${channelName(found)} has no threads: text and announcement channels and forums do. list_channels shows them.`,
	);
}

/** A channel that people speak in. */
export async function voiceChannel(
	guild: Guild,
	id: string,
): Promise<VoiceBasedChannel> {
	return requireVoice(await anyChannel(guild, id));
}

/** The same as it is now, asked for. */
export async function currentVoiceChannel(
	guild: Guild,
	id: string,
): Promise<VoiceBasedChannel> {
	return requireVoice(await currentChannel(guild, id));
}

function requireVoice(found: GuildBasedChannel): VoiceBasedChannel {
	if (isVoice(found)) return found;
	throw new ToolError(
		`${channelName(found)} is no voice or stage channel. list_channels shows which ones are.`,
	);
}

/**
 * A channel as it is now, asked for: what an edit builds on must not be older than the edit before it, whose event may
 * still be on its way.
 */
export async function currentChannel(
	guild: Guild,
	id: string,
): Promise<Channel> {
	const known = await channel(guild, id);
	requirePermissions(guild, known, PermissionFlagsBits.ViewChannel);
	const current = await guild.channels.fetch(id, { force: true });
	return (current as Channel | null) ?? known; // No thread becomes a channel, nor the reverse.
}

/** A category. */
export async function category(
	guild: Guild,
	id: string,
): Promise<CategoryChannel> {
	const found = await anyChannel(guild, id);
	if (found.type === ChannelType.GuildCategory) return found;
	throw new ToolError(
		`${channelName(found)} is not a category. list_channels shows the categories.`,
	);
}

/** A category, or null for the empty id: no category. */
export const categoryOrNone = orNone(category);

/** A channel of any kind, or null for the empty id. */
export const channelOrNone = orNone(channel);

function orNone<Thing>(find: Finder<Thing>): Finder<Thing | null> {
	return (guild, id, connection) =>
		id === "" ? null : find(guild, id, connection);
}

export function role(guild: Guild, id: string): Role {
	const found = guild.roles.cache.get(id);
	if (found) return found;
	throw new ToolError(
		`There is no role ${id} in the guild ${guild.id}. list_roles shows its roles.`,
	);
}

/** A role as it is now, asked for, for the same reason as a channel. */
export async function currentRole(guild: Guild, id: string): Promise<Role> {
	const known = role(guild, id);
	return (await guild.roles.fetch(id, { force: true })) ?? known;
}

/** A member; asked for by id while the members are still being loaded. */
export async function member(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember> {
	const found = await memberOrNone(guild, id, connection);
	return found ?? throwNoMember(guild, id);
}

function throwNoMember(guild: Guild, id: string): never {
	throw new ToolError(
		`Nobody with the id ${id} is a member of the guild ${guild.id}. lookup_user_by_name finds members.`,
	);
}

/** A member as they are now, asked for, for the same reason as a channel. */
export async function currentMember(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember> {
	const known = await member(guild, id, connection);
	return guild.members.fetch({ user: known.id, force: true });
}

/** One of many members: there are as many look-ups, and none of them asks Discord. */
export function knownMember(
	guild: Guild,
	id: string,
	connection: MemberState,
): GuildMember {
	const { member } = knownPerson(guild, id, connection);
	return member ?? throwNoMember(guild, id);
}

/** One of many people, who may or may not be members; whether there is such a user is not looked up. */
export function knownPerson(
	guild: Guild,
	id: string,
	connection: MemberState,
): { id: string; member: GuildMember | undefined } {
	requireKnownMembers(guild, connection);
	return { id, member: guild.members.cache.get(id) };
}

/** Throws the ToolError to show while the bot does not know all members. */
export function requireKnownMembers(
	guild: Guild,
	connection: MemberState,
): void {
	if (connection.knowsMembers(guild)) return;
	throw new ToolError(
		`The members of the guild ${guild.id} are still being loaded (${guild.members.cache.size} of ${guild.memberCount}). Nothing was done; call again in a moment.`,
	);
}

/** The channel in which the bot and a member talk directly. Bots have none with each other. */
export async function directChannel({ user }: GuildMember): Promise<DMChannel> {
	if (user.bot)
		throw new ToolError(
			`${userName(user)} is a bot: bots do not talk to each other directly. Nothing was done.`,
		);
	return user.createDM();
}

/** A member in voice, with how they are there now. */
export async function speaker(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<Speaker> {
	const found = await member(guild, id, connection);
	const voice = await absentIf(RESTJSONErrorCodes.UnknownVoiceState, () =>
		guild.voiceStates.fetch(id, { force: true }),
	);
	if (!voice?.channelId)
		throw new ToolError(
			`${memberName(found)} is in no voice channel. list_voice_members shows who is in one.`,
		);
	const heardIn = await voiceChannel(guild, voice.channelId);
	return { member: found, heardIn, voice };
}

/** Anyone with an account, a member or not. */
export async function person(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<Person> {
	const found = await memberOrNone(guild, id, connection);
	const user =
		found?.user ??
		(await absentIf(RESTJSONErrorCodes.UnknownUser, () =>
			guild.client.users.fetch(id),
		));
	if (user) return { user, member: found };
	throw new ToolError(`Discord has no user ${id}. Check user_id.`);
}

async function memberOrNone(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember | undefined> {
	const known = guild.members.cache.get(id);
	if (known || connection.knowsMembers(guild)) return known;
	return absentIf(RESTJSONErrorCodes.UnknownMember, () =>
		guild.members.fetch(id),
	);
}

/** A channel or thread that the bot knows of. Archived threads are not in the cache, and another guild's channel is as good as none. */
export async function anyChannel(
	guild: Guild,
	id: string,
): Promise<GuildBasedChannel> {
	const found =
		guild.channels.cache.get(id) ??
		(await absentIf(RESTJSONErrorCodes.UnknownChannel, () =>
			absentIf(RESTJSONErrorCodes.MissingAccess, () =>
				guild.client.channels.fetch(id),
			),
		));
	if (found && "guild" in found && found.guild.id === guild.id) return found;
	throw new ToolError(
		`There is no channel ${id} in the guild ${guild.id} that the bot can see. list_channels shows its channels.`,
	);
}

/** What `read` gives; undefined where Discord refuses with this code, or there is nothing. */
export async function absentIf<T>(
	code: number,
	read: () => Promise<T>,
): Promise<NonNullable<T> | undefined> {
	try {
		return (await read()) ?? undefined;
	} catch (error) {
		if (error instanceof DiscordAPIError && error.code === code)
			return undefined;
		throw error;
	}
}

/** What `read` gives; undefined where Discord knows nothing of the kind, whatever its code for that is. */
export async function unlessUnknown<T>(
	read: () => Promise<T>,
): Promise<T | undefined> {
	try {
		return await read();
	} catch (error) {
		if (error instanceof DiscordAPIError && error.status === 404)
			return undefined;
		throw error;
	}
}
