// Names in place of ids in the arguments of tool calls: "@username", "@Role", "#channel", and mentions. They become ids
// before anything else reads the call, so that approval, audit log and locks see ids only.

import { BaseChannel, ChannelType, type Guild, type GuildBasedChannel, GuildMember, Role, User } from "discord.js";
import { channelLabel, channelName, guildName, memberName, roleName, userName } from "../../../discord/describe.ts";
import type { MemberState } from "../../../discord/find.ts";
import { findByName } from "../../../discord/members/name-search.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { fold, oneLine } from "../../../discord/text.ts";
import { visibleChannel, visibleChannels } from "../../../discord/visible-channels.ts";
import { isObject, type JsonObject } from "../../../lib/json.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { JsonSchema } from "../../../mcp/json-schema.ts";

// By the end of the argument's name.
const kinds: readonly [path: RegExp, kind: NamedKind][] = [
	[/(^|_)user_ids?$|^moderator_id$|^mentions$|^(members|bans)\.id$|(^|\.)overwrites\.member$/, "user"],
	[/(^|_)role_ids?$/, "role"],
	[/(^|_)channel_ids?$/, "channel"],
	[/^category_id$/, "category"],
	[/^thread_id$/, "thread"],
	[/^target_ids?$|^permission_overwrites\.id$/, "user or role"],
];

const idPattern = "\\d{17,20}";
const mention = /^<(?:@[!&]?|#)(\d{17,20})>$/;
const maxCandidates = 10;
const maxNames = 100;
const maxProblems = 10;

function kindOf({ pattern }: JsonSchema, path: string) {
	return String(pattern).includes(idPattern) ? kinds.find(([end]) => end.test(path))?.[1] : undefined;
}

/** The JSON Schema of arguments, with names where ids of users, roles and channels are expected. */
export function allowNames(schema: JsonSchema, path = ""): JsonSchema {
	const { properties, items, pattern } = schema;
	if (properties) {
		const changed = Object.entries(properties).map(([key, one]) => [key, allowNames(one, within(path, key))]);
		return { ...schema, properties: Object.fromEntries(changed) };
	}
	if (items) return { ...schema, items: allowNames(items as JsonSchema, path) };
	if (!kindOf(schema, path)) return schema;
	return { ...schema, pattern: String(pattern).replace(idPattern, `([@#<].+|${idPattern})`) };
}

export function namesIn(schema: JsonSchema, args: JsonObject): Name[] {
	const names: Name[] = [];
	mapNames(schema, args, (name) => {
		names.push(name);
		return name.text;
	});
	return names;
}

/** Throws a ToolError for more names than one call may have. Mentions need no look-up. */
export function requireFewNames(names: readonly Name[]): void {
	const { length } = names.filter(({ text }) => !mention.test(text));
	if (length > maxNames)
		throw new ToolError(`${length} names in one call: at most ${maxNames}. Give ids. Nothing was done.`);
}

/** `args` with ids instead of `names`, which are in them. Throws a ToolError for unknown and ambiguous ones. */
export async function replaceNames(
	{ schema, args, names, reads }: { schema: JsonSchema; args: JsonObject; names: readonly Name[]; reads: boolean },
	guild: Guild,
	connection: MemberState,
): Promise<JsonObject> {
	const members = await membersNamed(guild, names, connection);
	const problems = new Map<string, () => string>();
	const replaced = mapNames(schema, args, (name, path) => {
		const id = mention.exec(name.text)?.[1];
		if (id !== undefined) return id;
		const { only, all } = thingsNamed(guild, name, members, reads);
		if (only) return only.id;
		problems.set(`${path}: ${name.text}`, () => `${path}: ${problemOf(guild, name, all)}`);
		return name.text;
	});
	if (problems.size === 0) return replaced as JsonObject;
	const lines = [...problems.values()].slice(0, maxProblems).map((describe) => describe());
	const more = problems.size - lines.length;
	if (more > 0) lines.push(`and ${more} more unknown names`);
	throw new ToolError([...lines, "Nothing was done."].join("\n"));
}

function problemOf(guild: Guild, name: Name, found: readonly Named[]): string {
	const shown = oneLine(JSON.stringify(name.text));
	const candidates = found.length > 0 ? found.slice(0, maxCandidates) : thingsNamedLike(guild, name, maxCandidates);
	const list = candidates.map(describeNamed).join("; ");
	if (found.length > 1) return `${found.length} have the name ${shown}. Give an id: ${list}.`;
	if (found.length === 1) return `${shown} is a display name, but a change needs a username. Give an id: ${list}.`;
	const hint = name.kind === "user" ? " Give the id of someone who is not a member." : "";
	return `${guildName(guild)} has no ${name.kind} ${shown}.${hint}${list && ` Similar: ${list}.`}`;
}

/** Replaces each name, at any depth. */
function mapNames(
	schema: JsonSchema | undefined,
	value: unknown,
	replace: (name: Name, path: string) => string,
	path = "",
): unknown {
	if (!schema) return value;
	if (Array.isArray(value))
		return value.map((item) => mapNames((schema.items ?? schema) as JsonSchema, item, replace, path));
	const { properties } = schema as { properties?: Record<string, JsonSchema> };
	if (properties && isObject(value))
		return Object.fromEntries(
			Object.entries(value).map(([key, one]) => {
				const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
				return [key, mapNames(property, one, replace, within(path, key))];
			}),
		);
	if (typeof value !== "string" || value === "" || /^\d{17,20}$/.test(value)) return value;
	// A list may be given as its only item.
	const kind = kindOf((schema.items ?? schema) as JsonSchema, path);
	return kind && (/^[@#]./s.test(value) || mention.test(value)) ? replace({ kind, text: value }, path) : value;
}

function within(path: string, key: string): string {
	return path === "" ? key : `${path}.${key}`;
}

type NamedKind = "user" | "role" | "user or role" | "channel" | "category" | "thread";

type Named = GuildMember | Role | GuildBasedChannel;

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
function thingsNamedLike(guild: Guild, { kind, text }: Name, limit: number): readonly Named[] {
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
function describeNamed(thing: Named): string {
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

/** Of an object that an argument's id stands for, such as "@Staff (ID: …)". */
export function nameIn(thing: unknown): string | undefined {
	if (thing instanceof GuildMember) return memberName(thing);
	if (thing instanceof Role) return roleName(thing);
	if (thing instanceof User) return userName(thing);
	if (thing instanceof BaseChannel) return "guild" in thing ? channelName(thing as GuildBasedChannel) : undefined;
	const { member, user } = Object(thing) as Record<string, unknown>;
	return member instanceof GuildMember || user instanceof User ? nameIn(member ?? user) : undefined;
}

/** Of a role, channel or member. */
export function nameOfId(guild: Guild, id: string): string {
	const known = guild.roles.cache.get(id) ?? visibleChannel(guild, id) ?? guild.members.cache.get(id);
	return nameIn(known) ?? `ID: ${id}`;
}
