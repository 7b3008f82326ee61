// Which channels the running call may know of: those that the acting person sees, otherwise all of the guild.

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
import { permissionsOf } from "./permissions.ts";

const { ManageThreads, ViewChannel } = PermissionFlagsBits;

/** False if the bot cannot see it. */
export function isPublic(channel: GuildBasedChannel): boolean {
	return channel.permissionsFor(channel.guild.roles.everyone)?.has(ViewChannel) ?? false;
}

/** By id, threads too. A private thread of the person only with MANAGE_THREADS, or after `canSee`. */
export function visibleChannels(guild: Guild): Collection<string, GuildBasedChannel> {
	const { cache } = guild.channels;
	const person = actingPerson(guild);
	if (!person) return cache;
	const visible = cache.filter((channel) => sees(person, channel));
	const categories = new Set(visible.map(({ parentId }) => parentId));
	return cache.filter(({ id }) => visible.has(id) || categories.has(id));
}

/** See `visibleChannels`. */
export function visibleChannel(guild: Guild, id: string): GuildBasedChannel | undefined {
	const channel = guild.channels.cache.get(id);
	return channel && isVisible(channel) ? channel : undefined;
}

/** False for ids of deleted channels, and of anything else. See `visibleChannels`. */
export function isHidden(guild: Guild, id: string): boolean {
	const channel = guild.channels.cache.get(id);
	return channel !== undefined && !isVisible(channel);
}

/** See `visibleChannels`. */
export function isVisible(channel: GuildBasedChannel): boolean {
	const { guild, id, type } = channel;
	const person = actingPerson(guild);
	if (!person || sees(person, channel)) return true;
	// Discord shows a category above the channels in it that a person sees.
	return (
		type === ChannelType.GuildCategory && guild.channels.cache.some((one) => one.parentId === id && sees(person, one))
	);
}

/** Asks Discord about private threads. */
export function canSee(channel: GuildBasedChannel): boolean | Promise<boolean> {
	if (!channel.isThread()) return isVisible(channel);
	const { id, type, parentId } = channel;
	return canSeeThread(channel.guild, { id, type, parent_id: parentId });
}

/** The thread need not be cached. See `canSee`. https://discord.com/developers/docs/topics/threads#private-threads */
export function canSeeThread(
	guild: Guild,
	thread: { id: string; type: ChannelType; parent_id?: string | null | undefined },
): boolean | Promise<boolean> {
	const person = actingPerson(guild);
	if (!person) return true;
	const parent = guild.channels.cache.get(thread.parent_id ?? "");
	if (!parent) return false;
	const bits = permissionsOf(person, parent);
	if ((bits & ViewChannel) === 0n) return false;
	if (thread.type !== ChannelType.PrivateThread) return true;
	return (bits & ManageThreads) !== 0n || isInThread(guild, thread.id, person);
}

function sees(person: GuildMember, channel: GuildBasedChannel): boolean {
	return (permissionsOf(person, channel) & ViewChannel) !== 0n;
}

async function isInThread({ client }: Guild, threadId: string, { id }: GuildMember): Promise<boolean> {
	const known = currentPerson()?.threads;
	const isMember = known?.get(threadId) ?? (await succeeds(client.rest.get(Routes.threadMembers(threadId, id))));
	known?.set(threadId, isMember);
	return isMember;
}

/** False for 403 and 404. */
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
