// Finds members, roles and channels by their exact names. Similar names of other things never match.

import { ChannelType, type Guild, type GuildBasedChannel, GuildMember, Role } from "discord.js";
import { channelLabel, channelName, memberName, roleName } from "../../../discord/describe.ts";
import type { MemberState } from "../../../discord/find.ts";
import { findByName } from "../../../discord/members/name-search.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { fold } from "../../../discord/text.ts";
import { visibleChannels } from "../../../discord/visible-channels.ts";

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
export type NamedMembers = ReadonlyMap<string, MembersOfName>;

const lower = (name: string) => name.toLowerCase();
const isUserName = ({ kind, text }: Name) => kind.startsWith("user") && text.startsWith("@");

/**
 * Those whose username or display name is one of `names`. Asks Discord while not all members are known.
 * https://discord.com/developers/docs/resources/guild#search-guild-members
 */
export async function membersNamed(
	guild: Guild,
	names: readonly Name[],
	connection: MemberState,
): Promise<NamedMembers> {
	const wanted = names.filter(isUserName).map(({ text }) => lower(text.slice(1)));
	// They ping everybody, so nobody is meant by them.
	const unknown = new Set(wanted.filter((name) => name !== "" && name !== "everyone" && name !== "here"));
	const byName = new Map(
		[...unknown].map((name): [string, MembersOfName] => [name, { usernames: [], displayNames: [] }]),
	);
	const add = (member: GuildMember) => {
		byName.get(lower(member.user.username))?.usernames.push(member);
		byName.get(lower(member.displayName))?.displayNames.push(member);
	};
	if (connection.hasAllMembers(guild)) {
		if (byName.size > 0) guild.members.cache.forEach(add);
		return byName;
	}
	const queries = [...unknown].filter(({ length }) => length <= 100);
	const found = await Promise.all(queries.map((query) => guild.members.search({ query, limit: 1000 })));
	new Map(found.flatMap((members) => [...members])).forEach(add);
	return byName;
}

/** Several if the name is ambiguous. Usernames go before display names, and the same case before another one. */
export function thingsNamed(guild: Guild, name: Name, members: NamedMembers): readonly Named[] {
	const { kind, text } = name;
	const exact = text.slice(1);
	const same = lower(exact);
	if (text.startsWith("#")) {
		const channels = channelsFor(guild, kind);
		const best = channels.filter((channel) => channel.name === exact);
		return best.length > 0 ? best : channels.filter((channel) => lower(channel.name) === same);
	}
	const { usernames, displayNames } = members.get(same) ?? { usernames: [], displayNames: [] };
	const roles = rolesFor(guild, kind);
	const everyone = roles.filter(({ id }) => id === guild.id && text === "@everyone");
	if (everyone.length > 0) return everyone;
	const best = [...usernames, ...roles.filter((role) => role.name === exact)];
	return best.length > 0 ? best : [...displayNames, ...roles.filter((role) => lower(role.name) === same)];
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
