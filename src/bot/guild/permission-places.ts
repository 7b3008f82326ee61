// The places in which check_permissions checks permissions, and which it checks there unless a call says otherwise.

import { ChannelType, type GuildBasedChannel } from "discord.js";
import { channelName } from "../discord/describe.ts";
import type { Place } from "../discord/effective-permissions.ts";

type Kind =
	| "guild"
	| "text"
	| "forum"
	| "voice"
	| "stage"
	| "category"
	| "thread";

/**
 * The most important permissions in the guild and in each kind of channel. In the guild these are permissions that can
 * do harm; in channels seeing and using come first, then managing.
 * https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags
 */
const telling: Record<Kind, readonly string[]> = {
	guild: [
		"ADMINISTRATOR",
		"MANAGE_GUILD",
		"MANAGE_ROLES",
		"MANAGE_CHANNELS",
		"MANAGE_WEBHOOKS",
		"BAN_MEMBERS",
		"KICK_MEMBERS",
		"MODERATE_MEMBERS",
		"MANAGE_MESSAGES",
		"MENTION_EVERYONE",
		"VIEW_AUDIT_LOG",
	],
	text: [
		"VIEW_CHANNEL",
		"SEND_MESSAGES",
		"SEND_MESSAGES_IN_THREADS",
		"MENTION_EVERYONE",
		"MANAGE_MESSAGES",
		"MANAGE_CHANNELS",
		"MANAGE_ROLES",
	],
	forum: [
		"VIEW_CHANNEL",
		"SEND_MESSAGES",
		"SEND_MESSAGES_IN_THREADS",
		"MANAGE_MESSAGES",
		"MANAGE_THREADS",
		"MANAGE_CHANNELS",
		"MANAGE_ROLES",
	],
	voice: [
		"VIEW_CHANNEL",
		"CONNECT",
		"SPEAK",
		"SEND_MESSAGES",
		"MUTE_MEMBERS",
		"MOVE_MEMBERS",
		"MANAGE_CHANNELS",
		"MANAGE_ROLES",
	],
	stage: [
		"VIEW_CHANNEL",
		"CONNECT",
		"REQUEST_TO_SPEAK",
		"MUTE_MEMBERS",
		"MANAGE_CHANNELS",
		"MANAGE_ROLES",
	],
	category: [
		"VIEW_CHANNEL",
		"SEND_MESSAGES",
		"CONNECT",
		"MANAGE_CHANNELS",
		"MANAGE_ROLES",
	],
	thread: [
		"VIEW_CHANNEL",
		"SEND_MESSAGES_IN_THREADS",
		"MANAGE_MESSAGES",
		"MANAGE_THREADS",
	],
};

export function kindOf(channel: GuildBasedChannel | undefined): Kind {
	if (!channel) return "guild";
	if (channel.isThread()) return "thread";
	switch (channel.type) {
		case ChannelType.GuildVoice:
			return "voice";
		case ChannelType.GuildStageVoice:
			return "stage";
		case ChannelType.GuildForum:
		case ChannelType.GuildMedia:
			return "forum";
		case ChannelType.GuildCategory:
			return "category";
		default:
			return "text";
	}
}

/** Channels of the same kind with the same permission overwrites, in which everybody has the same permissions. */
export interface Places {
	kind: Kind;
	/** Any one of the channels, as an example. */
	place: Place;
	all: Place[];
}

export function groupPlaces(places: readonly Place[]): Places[] {
	const groups = new Map<string, Places>();
	for (const place of places) {
		const kind = kindOf(place.channel);
		const overwrites = [...place.overwrites]
			.filter(([, { allow, deny }]) => (allow | deny) !== 0n)
			.map(([id, { allow, deny }]) => `${id} ${allow} ${deny}`)
			.sort();
		const members = place.threadMembers && [...place.threadMembers].sort();
		const key = [
			kind,
			...overwrites,
			"members",
			...(members ?? ["all"]),
		].join();
		const group = groups.get(key);
		if (group) group.all.push(place);
		else groups.set(key, { kind, place, all: [place] });
	}
	return [...groups.values()];
}

/** Returns the names of channels, separated by commas; "the guild" for a place that is no channel. */
export function placeNames(places: readonly Place[]): string {
	return places
		.map(({ channel }) => (channel ? channelName(channel) : "the guild"))
		.join(", ");
}

/**
 * Returns the names of the permissions to check in a kind of channel: `asked`, or by default the first `count` of the
 * most important ones. In threads, SEND_MESSAGES_IN_THREADS replaces SEND_MESSAGES.
 * https://discord.com/developers/docs/topics/permissions#inherited-permissions-threads
 */
export function checkedIn(
	kind: Kind,
	asked: readonly string[] | undefined,
	count?: number,
): readonly string[] {
	if (!asked)
		return kind === "guild" ? telling.guild : telling[kind].slice(0, count);
	if (kind !== "thread") return asked;
	const inThread = asked.map((name) =>
		name === "SEND_MESSAGES" ? "SEND_MESSAGES_IN_THREADS" : name,
	);
	return [...new Set(inThread)];
}
