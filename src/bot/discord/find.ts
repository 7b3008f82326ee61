// Look-ups by id that return an object of the guild or throw a ToolError.

import {
	type AnyThreadChannel,
	ChannelType,
	DiscordAPIError,
	type DMChannel,
	type ForumChannel,
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
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

const {
	MissingAccess,
	UnknownChannel,
	UnknownMember,
	UnknownUser,
	UnknownVoiceState,
} = RESTJSONErrorCodes;

/** State of the member caches. */
export interface MemberState {
	hasAllMembers(guild: Guild): boolean;
}

/** Finds an object of a guild by id, or throws a ToolError. */
export type Finder<Thing> = (
	guild: Guild,
	id: string,
	connection: MemberState,
) => Thing | Promise<Thing>;

/** A user, who may be a member of the guild. */
export interface Person {
	user: User;
	member: GuildMember | undefined;
}

/** A member in a voice channel. */
export interface VoiceMember {
	member: GuildMember;
	connectedTo: VoiceBasedChannel;
	/** Their current voice state, freshly fetched. */
	voice: VoiceState;
}

/** Finds a channel or thread of one kind. The error for another kind is its name, then `problem`. */
function channelOfKind<Kind extends GuildBasedChannel>(
	isOfKind: (found: GuildBasedChannel) => found is Kind,
	problem: string | ((found: GuildBasedChannel) => string),
) {
	return async (guild: Guild, id: string): Promise<Kind> => {
		const found = await anyChannel(guild, id);
		if (isOfKind(found)) return found;
		const text = typeof problem === "string" ? problem : problem(found);
		throw new ToolError(`${channelName(found)} ${text}`);
	};
}

/**
 * Like `find`, freshly fetched. An edit must not build on a cached state: the event of the previous edit may not have
 * arrived yet.
 */
function freshlyFetched<Kind extends GuildBasedChannel>(
	find: (guild: Guild, id: string) => Promise<Kind>,
) {
	return async (guild: Guild, id: string): Promise<Kind> => {
		const known = await find(guild, id);
		requirePermissions(guild, known, PermissionFlagsBits.ViewChannel);
		const current = await guild.channels.fetch(id, { force: true });
		// A channel never becomes one of another kind.
		return (current as Kind | null) ?? known;
	};
}

/** A channel or thread that holds messages. */
export const textChannel = channelOfKind(
	(found) => found.isTextBased(),
	(found) =>
		isForum(found)
			? "is a forum: its messages are in its posts. Use list_forum_posts to find them."
			: "holds no messages. Use list_channels to find channels that do.",
);

/** A channel of any type, including categories, except threads. */
export type Channel = Exclude<GuildBasedChannel, AnyThreadChannel>;

/** A channel of any type except threads, from the cache. */
export const channel = channelOfKind(
	(found): found is Channel => !found.isThread(),
	({ parentId }) =>
		`is a thread, not a channel. Its channel is ${parentId}. Use edit_thread or delete_thread for threads. Nothing was done.`,
);

export const currentChannel = freshlyFetched(channel);

/** A thread or forum post, active or archived. */
export const thread = channelOfKind(
	(found) => found.isThread(),
	"is not a thread. Use list_threads to find threads.",
);

export const currentThread = freshlyFetched(thread);

export type Forum = ForumChannel | MediaChannel;

/** A channel that has threads, including forums. */
export type ThreadedChannel = TextChannel | NewsChannel | Forum;

export function isForum(channel: GuildBasedChannel): channel is Forum {
	const { GuildForum, GuildMedia } = ChannelType;
	return channel.type === GuildForum || channel.type === GuildMedia;
}

/** Whether it is a voice or stage channel. discord.js checks its bitrate, which other servers of Discord's API may omit. */
export function isVoice(
	channel: GuildBasedChannel,
): channel is VoiceBasedChannel {
	const { GuildVoice, GuildStageVoice } = ChannelType;
	return channel.type === GuildVoice || channel.type === GuildStageVoice;
}

/** Whether it is a text or announcement channel. */
function isTextOrNews(
	channel: GuildBasedChannel,
): channel is TextChannel | NewsChannel {
	const { GuildText, GuildAnnouncement } = ChannelType;
	return channel.type === GuildText || channel.type === GuildAnnouncement;
}

/** A forum or media channel. */
export const forum = channelOfKind(
	isForum,
	"is not a forum. Use list_channels to find forums.",
);

export const currentForum = freshlyFetched(forum);

const noThreads =
	"cannot have threads. Use list_channels to find text, announcement or forum channels.";

/** A channel that has threads. */
export const threadedChannel = channelOfKind(
	(found): found is ThreadedChannel => isTextOrNews(found) || isForum(found),
	noThreads,
);

/** A text or announcement channel: threads start with or without a message. */
export const threadableChannel = channelOfKind(isTextOrNews, (found) =>
	isForum(found)
		? "is a forum. Use create_forum_post to start a thread in it."
		: noThreads,
);

/** A voice or stage channel. */
export const voiceChannel = channelOfKind(
	isVoice,
	"is not a voice or stage channel. Use list_channels to find one.",
);

export const currentVoiceChannel = freshlyFetched(voiceChannel);

/** A category. */
export const category = channelOfKind(
	(found) => found.type === ChannelType.GuildCategory,
	"is not a category. Use list_channels to find categories.",
);

/** A category; null for the empty id. */
export const categoryOrNone = orNone(category);

/** A channel of any type; null for the empty id. */
export const channelOrNone = orNone(channel);

function orNone<Thing>(find: Finder<Thing>): Finder<Thing | null> {
	return (guild, id, connection) =>
		id === "" ? null : find(guild, id, connection);
}

export function role(guild: Guild, id: string): Role {
	const found = guild.roles.cache.get(id);
	if (found) return found;
	throw new ToolError(
		`There is no role ${id} in the guild ${guild.id}. Use list_roles to find its roles.`,
	);
}

/** A role, freshly fetched, for the same reason as `currentChannel`. */
export async function currentRole(guild: Guild, id: string): Promise<Role> {
	const known = role(guild, id);
	return (await guild.roles.fetch(id, { force: true })) ?? known;
}

/** A member; fetched while the member cache is incomplete. */
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
		`User ${id} is not a member of the guild ${guild.id}. Use lookup_user_by_name to find members.`,
	);
}

/** A member, freshly fetched, for the same reason as `currentChannel`. */
export async function currentMember(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember> {
	const known = await member(guild, id, connection);
	return guild.members.fetch({ user: known.id, force: true });
}

/** A member for bulk look-ups: from the cache only. */
export function knownMember(
	guild: Guild,
	id: string,
	connection: MemberState,
): GuildMember {
	const { member } = knownPerson(guild, id, connection);
	return member ?? throwNoMember(guild, id);
}

/** A user for bulk look-ups, with their member if cached. Does not check that the user exists. */
export function knownPerson(
	guild: Guild,
	id: string,
	connection: MemberState,
): { id: string; member: GuildMember | undefined } {
	requireKnownMembers(guild, connection);
	return { id, member: guild.members.cache.get(id) };
}

/** Throws a ToolError while the member cache is incomplete. */
export function requireKnownMembers(
	guild: Guild,
	connection: MemberState,
): void {
	if (connection.hasAllMembers(guild)) return;
	throw new ToolError(
		`The members of the guild ${guild.id} are still being loaded (${guild.members.cache.size} of ${guild.memberCount}). Nothing was done; call again in a moment.`,
	);
}

/** The DM channel with a member. Throws a ToolError for bots, which cannot have one. */
export async function directChannel({ user }: GuildMember): Promise<DMChannel> {
	if (user.bot)
		throw new ToolError(
			`${userName(user)} is a bot: bots cannot send each other direct messages. Nothing was done.`,
		);
	return user.createDM();
}

/** A member in a voice channel, with their current voice state. */
export async function voiceMember(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<VoiceMember> {
	const found = await member(guild, id, connection);
	const voice = await absentIf([UnknownVoiceState], () =>
		guild.voiceStates.fetch(id, { force: true }),
	);
	if (!voice?.channelId)
		throw new ToolError(
			`${memberName(found)} is not in a voice channel. Use list_voice_members to find members who are.`,
		);
	const connectedTo = await voiceChannel(guild, voice.channelId);
	return { member: found, connectedTo, voice };
}

/** Any Discord user, member of the guild or not. */
export async function person(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<Person> {
	const found = await memberOrNone(guild, id, connection);
	const user =
		found?.user ??
		(await absentIf([UnknownUser], () => guild.client.users.fetch(id)));
	if (user) return { user, member: found };
	throw new ToolError(`Discord has no user ${id}. Check user_id.`);
}

async function memberOrNone(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember | undefined> {
	const known = guild.members.cache.get(id);
	if (known || connection.hasAllMembers(guild)) return known;
	return absentIf([UnknownMember], () => guild.members.fetch(id));
}

/** A channel or thread of the guild. Fetches what is not in the cache, such as archived threads. */
export async function anyChannel(
	guild: Guild,
	id: string,
): Promise<GuildBasedChannel> {
	const found =
		guild.channels.cache.get(id) ??
		(await absentIf([UnknownChannel, MissingAccess], () =>
			guild.client.channels.fetch(id),
		));
	if (found && "guild" in found && found.guild.id === guild.id) return found;
	throw new ToolError(
		`There is no channel ${id} in the guild ${guild.id} that the bot can see. Use list_channels to find its channels.`,
	);
}

/** The result of `request`; undefined if it is null or Discord answers with one of these error codes. */
export async function absentIf<T>(
	codes: readonly number[],
	request: () => Promise<T>,
): Promise<NonNullable<T> | undefined> {
	try {
		return (await request()) ?? undefined;
	} catch (error) {
		if (error instanceof DiscordAPIError && codes.includes(Number(error.code)))
			return undefined;
		throw error;
	}
}

/** The result of `read`; undefined if Discord answers 404. */
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
