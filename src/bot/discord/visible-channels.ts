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

/** Whether @everyone sees a channel; false if the bot cannot see it. */
export function isPublic(channel: GuildBasedChannel): boolean {
	const { everyone } = channel.guild.roles;
	return channel.permissionsFor(everyone)?.has(ViewChannel) ?? false;
}

/**
 * Returns, by id, the cached channels and threads of a guild that the person in whose name the running call acts can
 * see; all of them if the call acts by the bot's own rights. Contains a private thread of the person only with
 * MANAGE_THREADS, or after `canSee` was called for the thread.
 */
export function visibleChannels(guild: Guild): Collection<string, GuildBasedChannel> {
	const { cache } = guild.channels;
	const person = actingPerson(guild);
	if (!person) return cache;
	const visible = cache.filter((channel) => sees(person, channel));
	const categories = new Set(visible.map(({ parentId }) => parentId));
	return cache.filter(({ id }) => visible.has(id) || categories.has(id));
}

/**
 * Returns the cached channel or thread with this id; undefined if there is none, or if the person in whose name the
 * running call acts cannot see it. See `visibleChannels`.
 */
export function visibleChannel(guild: Guild, id: string): GuildBasedChannel | undefined {
	const channel = guild.channels.cache.get(id);
	return channel && isVisible(channel) ? channel : undefined;
}

/**
 * Whether this is the id of a cached channel or thread that the person in whose name the running call acts cannot see.
 * False for ids of deleted channels, and of anything else. See `visibleChannels`.
 */
export function isHidden(guild: Guild, id: string): boolean {
	const channel = guild.channels.cache.get(id);
	return channel !== undefined && !isVisible(channel);
}

/**
 * Whether the person in whose name the running call acts can see a channel or thread. True in calls that act by the
 * bot's own rights. See `visibleChannels`.
 */
export function isVisible(channel: GuildBasedChannel): boolean {
	const { guild, id, type } = channel;
	const person = actingPerson(guild);
	if (!person || sees(person, channel)) return true;
	// Discord shows a category above the channels in it that a person sees.
	return (
		type === ChannelType.GuildCategory && guild.channels.cache.some((one) => one.parentId === id && sees(person, one))
	);
}

/**
 * Whether the person in whose name the running call acts can see a channel or thread. For a private thread, asks
 * Discord whether the person is a member of it. True in calls that act by the bot's own rights.
 */
export function canSee(channel: GuildBasedChannel): boolean | Promise<boolean> {
	if (!channel.isThread()) return isVisible(channel);
	const { id, type, parentId } = channel;
	return canSeeThread(channel.guild, { id, type, parent_id: parentId });
}

/**
 * Whether the person in whose name the running call acts can see a thread, which need not be cached. See `canSee`.
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

async function isInThread({ client }: Guild, threadId: string, { id }: GuildMember): Promise<boolean> {
	const known = currentPerson()?.threads;
	const isMember = known?.get(threadId) ?? (await succeeds(client.rest.get(Routes.threadMembers(threadId, id))));
	known?.set(threadId, isMember);
	return isMember;
}

/** Whether a request to Discord succeeds: false if Discord answers 403 or 404. Other errors are rethrown. */
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
