// Which channels the running tool call may know of. In a call that acts in a person's name these are the channels that the
// person sees in Discord; otherwise all channels of the guild.

import {
	ChannelType,
	type Collection,
	DiscordAPIError,
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import { actingPerson, currentPerson } from "./acting-person.ts";
import { personPermissions } from "./permissions.ts";

const { ManageThreads, ViewChannel } = PermissionFlagsBits;

/**
 * Returns the cached channels and threads of a guild that the running tool call may know of, by id. Leaves out private
 * threads that only their members see, unless `canSee` has found the person among the members.
 */
export function visibleChannels(
	guild: Guild,
): Collection<string, GuildBasedChannel> {
	const { cache } = guild.channels;
	const person = actingPerson(guild);
	if (!person) return cache;
	const visible = cache.filter((channel) => sees(person, channel));
	const categories = new Set(visible.map(({ parentId }) => parentId));
	return cache.filter(({ id }) => visible.has(id) || categories.has(id));
}

/**
 * Returns the cached channel or thread with this id if the running tool call may know of it. See `visibleChannels`.
 */
export function visibleChannel(
	guild: Guild,
	id: string,
): GuildBasedChannel | undefined {
	const channel = guild.channels.cache.get(id);
	return channel && isVisible(channel) ? channel : undefined;
}

/**
 * Whether this is the id of a cached channel or thread of which the running tool call may not know. False for ids of
 * deleted channels, and of anything else. See `visibleChannels`.
 */
export function isHidden(guild: Guild, id: string): boolean {
	const channel = guild.channels.cache.get(id);
	return channel !== undefined && !isVisible(channel);
}

/** Whether the running tool call may know of a channel or thread. See `visibleChannels`. */
export function isVisible(channel: GuildBasedChannel): boolean {
	const { guild, id, type } = channel;
	const person = actingPerson(guild);
	if (!person || sees(person, channel)) return true;
	// Discord shows a category above the channels in it that a person sees.
	return (
		type === ChannelType.GuildCategory &&
		guild.channels.cache.some((one) => one.parentId === id && sees(person, one))
	);
}

/**
 * Whether the running tool call may know of a channel or thread. For a private thread, asks Discord whether the person
 * in whose name the call acts is a member of it.
 */
export function canSee(channel: GuildBasedChannel): boolean | Promise<boolean> {
	if (!channel.isThread()) return isVisible(channel);
	const { id, type, parentId } = channel;
	return canSeeThread(channel.guild, { id, type, parent_id: parentId });
}

/**
 * Whether the running tool call may know of a thread, which need not be cached. See `canSee`.
 * https://discord.com/developers/docs/topics/threads#private-threads
 */
export function canSeeThread(
	guild: Guild,
	thread: {
		id: string;
		type: ChannelType;
		parent_id?: string | null | undefined;
	},
): boolean | Promise<boolean> {
	const person = actingPerson(guild);
	if (!person) return true;
	const parent = guild.channels.cache.get(thread.parent_id ?? "");
	if (!parent) return false;
	const bits = personPermissions(person, parent);
	if ((bits & ViewChannel) === 0n) return false;
	if (thread.type !== ChannelType.PrivateThread) return true;
	return (bits & ManageThreads) !== 0n || isInThread(guild, thread.id, person);
}

function sees(person: GuildMember, channel: GuildBasedChannel): boolean {
	return (personPermissions(person, channel) & ViewChannel) !== 0n;
}

async function isInThread(
	{ client }: Guild,
	threadId: string,
	{ id }: GuildMember,
): Promise<boolean> {
	const known = currentPerson()?.threads;
	const isMember =
		known?.get(threadId) ??
		(await succeeds(client.rest.get(Routes.threadMembers(threadId, id))));
	known?.set(threadId, isMember);
	return isMember;
}

/** Whether a request succeeds; false if Discord answers 403 or 404. */
async function succeeds(request: Promise<unknown>): Promise<boolean> {
	try {
		await request;
		return true;
	} catch (error) {
		const { status } = error instanceof DiscordAPIError ? error : {};
		if (status === 403 || status === 404) return false;
		throw error;
	}
}
