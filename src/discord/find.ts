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
import { ToolError } from "../lib/tool-error.ts";
import { SaidError } from "../texts/said-error.ts";
import { type Said, said } from "../texts/texts.ts";
import { forClients } from "./acting-person.ts";
import { channelName, memberName, userName } from "./describe.ts";
import { privilegedIntents, usesIntent } from "./intents.ts";
import { isVoice, requirePermissions } from "./permissions.ts";
import { canSee, isVisible } from "./visible-channels.ts";

export { isVoice };

const { MissingAccess, UnknownChannel, UnknownMember, UnknownUser, UnknownVoiceState } = RESTJSONErrorCodes;

export interface MemberState {
	hasAllMembers(guild: Guild): boolean;
}

/** Throws a ToolError if there is no such object. */
export type Finder<Thing> = (guild: Guild, id: string, connection: MemberState) => Thing | Promise<Thing>;

/** Without `member`: not a member of the guild. */
export interface Person {
	user: User;
	member: GuildMember | undefined;
}

export interface VoiceMember {
	member: GuildMember;
	connectedTo: VoiceBasedChannel;
	/** Freshly fetched. */
	voice: VoiceState;
}

function channelOfKind<Kind extends GuildBasedChannel>(
	isOfKind: (found: GuildBasedChannel) => found is Kind,
	problem: (name: string, found: GuildBasedChannel) => string,
	forPeople: (found: GuildBasedChannel) => Said | undefined = () => undefined,
) {
	return async (guild: Guild, id: string): Promise<Kind> => {
		const found = await anyChannel(guild, id);
		if (isOfKind(found)) return found;
		const [models, people] = [problem(channelName(found), found), forPeople(found)];
		throw people ? new SaidError(people, { models }) : new ToolError(models);
	};
}

function freshlyFetched<Kind extends GuildBasedChannel>(find: (guild: Guild, id: string) => Promise<Kind>) {
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
	(name, found) =>
		isForum(found)
			? `${name} is a forum: its messages are in its posts.${forClients(" Use list_threads to find them.")}`
			: `${name} holds no messages.${forClients(" Use list_channels to find channels that do.")}`,
);

/** Not threads. */
export type Channel = Exclude<GuildBasedChannel, AnyThreadChannel>;

export const channel = channelOfKind(
	(found): found is Channel => !found.isThread(),
	(name, { parentId }) =>
		`${name} is a thread, not a channel. Its channel is ${parentId}. Use edit_thread or delete_thread for threads. Nothing was done.`,
	({ id, parentId }) => said("refusal.thread", { thread: `<#${id}>`, where: `<#${parentId}>` }),
);

export const currentChannel = freshlyFetched(channel);

/** Active or archived. */
export const thread = channelOfKind(
	(found) => found.isThread(),
	(name) => `${name} is not a thread.${forClients(" Use list_threads to find threads.")}`,
);

export const currentThread = freshlyFetched(thread);

export type Forum = ForumChannel | MediaChannel;

export type ThreadedChannel = TextChannel | NewsChannel | Forum;

export function isForum(channel: GuildBasedChannel): channel is Forum {
	return channel.type === ChannelType.GuildForum || channel.type === ChannelType.GuildMedia;
}

export const forum = channelOfKind(
	isForum,
	(name) => `${name} is not a forum.${forClients(" Use list_channels to find forums.")}`,
);

export const currentForum = freshlyFetched(forum);

const noThreads = (name: string) =>
	`${name} cannot have threads.${forClients(" Use list_channels to find text, announcement or forum channels.")}`;

export const threadedChannel = channelOfKind(
	(found): found is ThreadedChannel =>
		found.type === ChannelType.GuildText || found.type === ChannelType.GuildAnnouncement || isForum(found),
	noThreads,
);

export const voiceChannel = channelOfKind(
	isVoice,
	(name) => `${name} is not a voice or stage channel. Use list_channels to find one.`,
	({ id }) => said("refusal.not_voice", { where: `<#${id}>` }),
);

export const category = channelOfKind(
	(found) => found.type === ChannelType.GuildCategory,
	(name) => `${name} is not a category.${forClients(" Use list_channels to find categories.")}`,
);

/** Null for an empty id. */
export const categoryOrNone = orNone(category);

/** Null for an empty id. */
export const channelOrNone = orNone(channel);

function orNone<Thing>(find: Finder<Thing>): Finder<Thing | null> {
	return (guild, id, connection) => (id === "" ? null : find(guild, id, connection));
}

export function role(guild: Guild, id: string): Role {
	const found = guild.roles.cache.get(id);
	if (found) return found;
	const models = `There is no role ${id} in the guild ${guild.id}. Use list_roles to find its roles.`;
	throw new SaidError(said("refusal.no_role"), { models });
}

/** Fetched: the cached one may be older than the latest edit. Throws a ToolError if there is none. */
export async function currentRole(guild: Guild, id: string): Promise<Role> {
	const known = role(guild, id);
	return (await guild.roles.fetch(id, { force: true })) ?? known;
}

/** Fetched if the cache is incomplete. Throws a ToolError if the user is not a member. */
export async function member(guild: Guild, id: string, connection: MemberState): Promise<GuildMember> {
	return (await memberOrNone(guild, id, connection)) ?? throwNoMember(guild, id);
}

function throwNoMember(guild: Guild, id: string): never {
	const models = `User ${id} is not a member of the guild ${guild.id}. Use lookup_user_by_name to find members.`;
	throw new SaidError(said("result.absent", { who: `<@${id}>` }), { models });
}

/** Fetched: the cached one may be older than the latest edit. Throws a ToolError if there is none. */
export async function currentMember(guild: Guild, id: string, connection: MemberState): Promise<GuildMember> {
	return guild.members.fetch({ user: (await member(guild, id, connection)).id, force: true });
}

/** From the cache only, for tools that look up many. Throws a ToolError if the user is not a member. */
export function knownMember(guild: Guild, id: string, connection: MemberState): GuildMember {
	requireKnownMembers(guild, connection);
	return guild.members.cache.get(id) ?? throwNoMember(guild, id);
}

/** "6 of 7", or "7 so far" where Discord's count lags behind. */
export function loadedMembers({ members, memberCount }: Guild): string {
	const { size } = members.cache;
	return size < memberCount ? `${size} of ${memberCount}` : `${size} so far`;
}

function hearsOfMembers({ client }: Guild): boolean {
	return usesIntent(client, privilegedIntents.GuildMembers);
}

const withoutMembers =
	'The bot does not know all members of a guild, because Discord refuses it the "Server Members Intent". Its operator can switch it on in the developer portal (Bot) and restart the bot.';

/** Says why not all members of a guild are known; undefined if all are. */
export function unknownMembers(guild: Guild, connection: MemberState): string | undefined {
	if (connection.hasAllMembers(guild)) return undefined;
	return hearsOfMembers(guild)
		? `Members are still being loaded (${loadedMembers(guild)}), so some are missing. Call again in a moment.`
		: withoutMembers;
}

export function requireKnownMembers(guild: Guild, connection: MemberState): void {
	if (connection.hasAllMembers(guild)) return;
	if (!hearsOfMembers(guild))
		throw new SaidError(said("refusal.members_hidden"), { models: `${withoutMembers} Nothing was done.` });
	throw new MembersLoading(guild);
}

export class MembersLoading extends SaidError {
	constructor(readonly guild: Guild) {
		super(said("refusal.loading"), {
			models: `The members of the guild ${guild.id} are still being loaded (${loadedMembers(guild)}). Nothing was done; try again in a moment.`,
		});
	}
}

/** Throws a ToolError for a bot: bots cannot message each other. */
export async function directChannel({ user }: GuildMember): Promise<DMChannel> {
	if (user.bot)
		throw new ToolError(`${userName(user)} is a bot: bots cannot send each other direct messages. Nothing was done.`);
	return user.createDM();
}

/** Throws a ToolError if the member is not in a voice channel. */
export async function voiceMember(guild: Guild, id: string, connection: MemberState): Promise<VoiceMember> {
	const found = await member(guild, id, connection);
	const voice = await absentIf([UnknownVoiceState], () => guild.voiceStates.fetch(id, { force: true }));
	const place = guild.channels.cache.get(voice?.channelId ?? "");
	if (!voice?.channelId || (place && !isVisible(place)))
		throw new SaidError(said("refusal.not_in_voice", { who: `<@${id}>` }), {
			models: `${memberName(found)} is not in a voice channel. Use list_voice_members to find members who are.`,
		});
	return { member: found, connectedTo: await voiceChannel(guild, voice.channelId), voice };
}

/** Member or not. Throws a ToolError if there is no such user. */
export async function person(guild: Guild, id: string, connection: MemberState): Promise<Person> {
	const found = await memberOrNone(guild, id, connection);
	const user = found?.user ?? (await absentIf([UnknownUser], () => guild.client.users.fetch(id)));
	if (user) return { user, member: found };
	const models = `Discord has no user ${id}. Check user_id.`;
	throw new SaidError(said("refusal.no_such_user", { who: `<@${id}>` }), { models });
}

/** From the cache if that is up to date; undefined if the user is no member. */
export async function memberOrNone(
	guild: Guild,
	id: string,
	connection: MemberState,
): Promise<GuildMember | undefined> {
	const known = guild.members.cache.get(id);
	const isCurrent = known !== undefined && hearsOfMembers(guild);
	if (isCurrent || connection.hasAllMembers(guild)) return known;
	const request = { user: id, force: true };
	return absentIf([UnknownMember], () => guild.members.fetch(request));
}

/** Undefined if there is none. With `force`, the cache is not used. */
export function fetchMember(guild: Guild, id: string, force = false) {
	return absentIf([UnknownMember, UnknownUser], () => guild.members.fetch({ user: id, force }));
}

/** Fetched if it is not cached, such as an archived thread. */
export async function anyChannel(guild: Guild, id: string): Promise<GuildBasedChannel> {
	const found =
		guild.channels.cache.get(id) ??
		(await absentIf([UnknownChannel, MissingAccess], () => guild.client.channels.fetch(id)));
	const isHere = found && "guild" in found && found.guild.id === guild.id;
	if (isHere && (await canSee(found))) return found;
	const models = `There is no channel ${id} in the guild ${guild.id} that the bot can see. Use list_channels to find its channels.`;
	throw new SaidError(said("refusal.no_channel"), { models });
}

/** Undefined if the result is null or Discord answers with one of the error codes or HTTP statuses. */
export async function absentIf<T>(
	codes: readonly number[],
	request: () => Promise<T>,
): Promise<NonNullable<T> | undefined> {
	try {
		return (await request()) ?? undefined;
	} catch (error) {
		if (error instanceof DiscordAPIError && [Number(error.code), error.status].some((one) => codes.includes(one)))
			return undefined;
		throw error;
	}
}
