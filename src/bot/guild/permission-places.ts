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
 * The permissions that say most about each kind of channel: seeing and using it first, then managing it. Those of the
 * guild are the ones that can harm it.
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

function kindOf(channel: GuildBasedChannel | undefined): Kind {
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

/** Places with the same kind of channel and the same permission overwrites: everybody has the same permissions in all. */
export interface Places {
	kind: Kind;
	/** One of the places. */
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

/** Names the channels of several places; the guild if they have none. */
export function placeNames(places: readonly Place[]): string {
	return places
		.map(({ channel }) => (channel ? channelName(channel) : "the guild"))
		.join(", ");
}

/**
 * Returns the names of the permissions to check in a kind of channel: the asked ones; if none are asked, the most
 * telling ones, or only the first `count` of them. In threads SEND_MESSAGES_IN_THREADS is in place of SEND_MESSAGES.
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
