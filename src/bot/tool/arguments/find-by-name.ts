// Finds members, roles and channels by their exact names. Similar names of other things never match.

import { ChannelType, type Guild, type GuildBasedChannel, GuildMember, Role } from "discord.js";
import { channelLabel, channelName, memberName, roleName } from "../../../discord/describe.ts";
import type { MemberState } from "../../../discord/find.ts";
import { findByName } from "../../../discord/members/name-search.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { fold } from "../../../discord/text.ts";
import { visibleChannels } from "../../../discord/visible-channels.ts";
import { ToolError } from "../../../lib/tool-error.ts";

export type NamedKind = "user" | "role" | "user or role" | "channel" | "category" | "thread";

export type Named = GuildMember | Role | GuildBasedChannel;

export interface Name {
	kind: NamedKind;
	/** With "@" or "#" in front. */
	text: string;
}

interface MembersOfName {
	usernames: GuildMember[];
	displayNames: GuildMember[];
}

/** By names in lower case. */
type NamedMembers = ReadonlyMap<string, MembersOfName>;

const maxSearches = 10;

const lower = (name: string) => name.toLowerCase();
/** Asks Discord while not all members are known. */
export async function membersNamed(
	guild: Guild,
	names: readonly Name[],
	connection: MemberState,
): Promise<NamedMembers> {
	const users = names.filter(({ kind, text }) => kind.startsWith("user") && text.startsWith("@"));
	const wanted = users.map(({ text }) => lower(text.slice(1)));
	// They ping everybody, so nobody is meant by them.
	const unknown = new Set(wanted.filter((name) => name !== "" && name !== "everyone" && name !== "here"));
	const byName = new Map(
		[...unknown].map((name): [string, MembersOfName] => [name, { usernames: [], displayNames: [] }]),
	);
	const add = (member: GuildMember) => {
		byName.get(lower(member.user.username))?.usernames.push(member);
		if (lower(member.displayName) !== lower(member.user.username))
			byName.get(lower(member.displayName))?.displayNames.push(member);
	};
	if (connection.hasAllMembers(guild)) {
		if (byName.size > 0) guild.members.cache.forEach(add);
		return byName;
	}
	const queries = [...unknown].filter(({ length }) => length <= 100);
	if (queries.length > maxSearches)
		throw new ToolError(
			`${queries.length} names of users, of which at most ${maxSearches} can be looked up now: give ids: the members are still loading. Nothing was done.`,
		);
	const found = await Promise.all(queries.map((query) => guild.members.search({ query, limit: 1000 })));
	new Map(found.flatMap((members) => [...members])).forEach(add);
	return byName;
}

interface Matches {
	/** Undefined if the name is ambiguous or unknown. */
	only?: Named | undefined;
	all: readonly Named[];
}

/**
 * Among roles and channels, the same case goes before another one; among threads, which any member may name, it does not.
 * Members choose their display names, so one counts only in a call that reads, and if it is no username.
 */
export function thingsNamed(guild: Guild, name: Name, members: NamedMembers, reads: boolean): Matches {
	const { kind, text } = name;
	const exact = text.slice(1);
	const same = lower(exact);
	const sameCase = <Thing extends Role | GuildBasedChannel>(things: readonly Thing[]) => {
		const best = things.filter((thing) => thing.name === exact);
		return best.length > 0 ? best : things;
	};
	if (text.startsWith("#")) {
		const all = channelsFor(guild, kind).filter((channel) => lower(channel.name) === same);
		const channels = all.filter((channel) => !channel.isThread());
		return matches(channels.length > 0 ? sameCase(channels) : all);
	}
	const everyone = guild.roles.everyone;
	if (kind.endsWith("role") && text === "@everyone") return matches([everyone]);
	const named = kind.startsWith("user") ? members.get(same) : undefined;
	const { usernames, displayNames } = named ?? { usernames: [], displayNames: [] };
	const roles = sameCase(rolesFor(guild, kind).filter((role) => lower(role.name) === same));
	if (reads) return matches([...(usernames.length > 0 ? usernames : displayNames), ...roles]);
	const all = [...usernames, ...displayNames, ...roles];
	return usernames.length + roles.length > 0 ? matches(all) : { all };
}

function matches(all: readonly Named[]): Matches {
	return { only: all.length === 1 ? all[0] : undefined, all };
}

/** Those that have a part of the name, or begin like it, but not it. At most `limit`. */
export function thingsNamedLike(guild: Guild, { kind, text }: Name, limit: number): readonly Named[] {
	const name = fold(text.slice(1));
	if (name === "") return [];
	const things: (Role | GuildBasedChannel)[] = [...rolesFor(guild, kind), ...channelsFor(guild, kind)];
	const like = (part: string) => [
		...(kind.startsWith("user") ? findByName(guild, part, limit).members : []),
		...things.filter((thing) => fold(thing.name).includes(part)),
	];
	const found = like(name);
	return (found.length > 0 ? found : like(name.slice(0, 3))).slice(0, limit);
}

/** With its id and, of a channel, its place. */
export function describeNamed(thing: Named): string {
	if (thing instanceof GuildMember) return memberName(thing);
	if (thing instanceof Role) return roleName(thing);
	if (thing.type === ChannelType.GuildCategory) return `category ${channelName(thing)}`;
	return `${channelName(thing)}${thing.parent ? ` in ${channelLabel(thing.parent)}` : ""}`;
}

function rolesFor(guild: Guild, kind: NamedKind): Role[] {
	return kind.endsWith("role") ? [...guild.roles.cache.values()] : [];
}

function channelsFor(guild: Guild, kind: NamedKind): GuildBasedChannel[] {
	if (kind !== "channel" && kind !== "category" && kind !== "thread") return [];
	return [...visibleChannels(guild).values()].filter((channel) => {
		if (isObfuscated(channel)) return false;
		if (kind === "thread") return channel.isThread();
		return kind === "channel" || channel.type === ChannelType.GuildCategory;
	});
}
