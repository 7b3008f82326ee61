// Who has permissions in channels or the guild, as lines of a tool result.

import { type Guild, type GuildMember, PermissionFlagsBits, type Role } from "discord.js";
import { listFirst } from "../../lib/text.ts";
import { channelName, memberName, nowIs, roleName } from "../describe.ts";
import {
	type Cause,
	type Computed,
	computePermissions,
	type Holder,
	highestFirst,
	holderOf,
	type Place,
} from "../effective-permissions.ts";
import { isObfuscated } from "../obfuscation.ts";
import { bitsByName, impliedIn, overwritesOf } from "../permissions.ts";
import { fieldLine, resultLines } from "../text.ts";
import { visibleChannels } from "../visible-channels.ts";
import {
	checkedIn,
	groupPlaces,
	inapplicableLine,
	isGuildWide,
	kindsOf,
	type Places,
	placeNames,
	unlimitedLine,
} from "./places.ts";

const defaultCount = 2;

/**
 * Lists which members have the permissions `asked` in the guild or in channels (`places`), and which role or overwrite
 * gives them the permission. Default of `asked`: the most important permissions. Permissions and channels with the same
 * result share lines.
 */
export function permissionHolders(
	guild: Guild,
	places: readonly Place[],
	asked: readonly string[] | undefined,
): string[] {
	const groups = groupPlaces(places);
	const kinds = kindsOf(groups);
	const namesIn = ({ kind }: Places) => checkedIn(kind, asked, kinds, defaultCount);
	const bits = groups.flatMap(namesIn).reduce((all, name) => all | bitOf(name), 0n);
	const alike = groupAlike(
		guild,
		groups.map(({ place }) => place),
		bits,
	);
	const members = [...guild.members.cache.values()];
	const unlimited = alike.flatMap(({ holder, members }) =>
		members.map((member) => ({ name: labelOf(member), holder })),
	);
	const inGuild = places.every(({ channel }) => !channel);
	const blocks = mergeBlocks(
		groups.filter((group) => namesIn(group).length > 0),
		(group) => linesOf(alike, group, namesIn(group)),
	);
	return resultLines(
		`Who of ${members.length} member(s)${countBots(members)} has permissions${inGuild ? " in the guild" : ""}; ${nowIs()}`,
		unlimitedLine(unlimited),
		nameOnce(blocks),
		inapplicableLine(groups, asked),
		blocks.some((line) => line.includes(countedOnly)) &&
			`Groups of more than ${maxNamed} are only counted: list_members with where="role:ID" lists the members of a role.`,
		inGuild && channelLines(guild, groups.flatMap(namesIn)),
	);
}

function bitOf(name: string): bigint {
	return bitsByName.get(name) ?? 0n;
}

function mergeBlocks(groups: readonly Places[], linesFor: (group: Places) => string[]): string[] {
	const merged = Map.groupBy(groups, (group) => linesFor(group).join("\n"));
	return [...merged].flatMap(([key, alike]) => {
		const isGuildOnly = groups.every(({ kind }) => kind === "guild");
		return [...(isGuildOnly ? [] : [`${placeNames(alike.flatMap(({ all }) => all))}:`]), ...key.split("\n")];
	});
}

function linesOf(alike: readonly Alike[], { place }: Places, names: readonly string[]): string[] {
	const found = holdersOf(alike, place, names.map(bitOf));
	const merged = Map.groupBy(names, (_, index) => groupLine(found[index] ?? []));
	return [...merged].map(([text, names]) => `${names.join(", ")}: ${text}`);
}

function groupLine(groups: readonly Group[]): string {
	const has = groups.filter(({ allowed }) => allowed);
	const members = has.flatMap(({ members }) => members);
	if (members.length === 0) return "nobody";
	const isUnlimited = ({ source }: Group) => source.kind === "owner" || source.kind === "administrator";
	const unlimited = has.filter(isUnlimited).flatMap(({ members }) => members);
	return fieldLine(
		`${members.length}${countBots(members)}`,
		unlimited.length > 0 && `${unlimited.length} owner or administrator(s)`,
		...groups
			.filter((group) => !isUnlimited(group))
			.map(({ allowed, source, members }) => {
				const text = `${allowed ? "" : "not "}${members.length} ${sourceText(source)}`;
				const roleId = source.role?.id ?? "";
				if (roleId !== "" && members.length > maxNamed) return text + countedOnly;
				return source.kind === "everyone"
					? text
					: [text, roleId, listFirst(members.map(labelOf), maxNamed, ", ")].join(separator);
			}),
	);
}

function sourceText({ kind, role }: Source): string {
	const name = role ? roleName(role) : "";
	switch (kind) {
		case "everyone":
			return "as @everyone";
		case "roles":
			return `by ${name}`;
		case "role_overwrites":
			return `by channel permissions of ${name}`;
		case "member_overwrite":
			return "by channel permissions of their own";
		case "timeout":
			return "by a timeout";
		default:
			return "owner or administrator(s)";
	}
}

const maxNamed = 15;

const countedOnly = ": only counted";

const separator = "\t";

function nameOnce(lines: readonly string[]): string[] {
	const given = new Set<string>();
	const named = (field: string) => {
		const [text = "", roleId, names] = field.split(separator);
		if (roleId === undefined || names === undefined) return field;
		const key = `${roleId} ${names}`;
		const isKnown = roleId !== "" && given.has(key);
		given.add(key);
		return `${text}: ${isKnown ? "as above" : names}`;
	};
	return lines.map((line) => line.split(" | ").map(named).join(" | "));
}

function labelOf(member: GuildMember): string {
	return `${memberName(member)}${member.user.bot ? " (bot)" : ""}`;
}

function countBots(members: readonly GuildMember[]): string {
	const bots = members.filter(({ user }) => user.bot).length;
	return bots > 0 ? `, ${bots} of them bot(s)` : "";
}

const maxChannels = 5;

function channelLines(guild: Guild, asked: readonly string[]): string[] {
	const unseen = visibleChannels(guild).filter(isObfuscated).size;
	const lines = asked.flatMap((name) => {
		if (isGuildWide(name)) return [];
		const channelsById = new Map<string, string[]>();
		for (const channel of visibleChannels(guild).values()) {
			if (channel.isThread()) continue;
			for (const [id, { allow }] of overwritesOf(channel))
				if ((allow & bitOf(name)) !== 0n) channelsById.getOrInsert(id, []).push(channelName(channel));
		}
		if (channelsById.size === 0) return `Channel permissions do not allow ${name} to anybody else.`;
		const texts = [...channelsById].map(([id, channels]) => {
			const member = guild.members.cache.get(id);
			const role = guild.roles.cache.get(id);
			const who = role ? roleName(role) : member ? memberName(member) : `unknown (ID: ${id})`;
			return `${who} in ${listFirst(channels, maxChannels)}`;
		});
		return `Channel permissions also allow ${name}: ${listFirst(texts, maxNamed, " | ", " | ")}`;
	});
	return unseen > 0 ? [...lines, `Unknown in ${unseen} channel(s) that the bot cannot see.`] : lines;
}

const { Administrator, Connect, ManageThreads, SendMessages, SendMessagesInThreads, ViewChannel } = PermissionFlagsBits;

const implying = Administrator | Connect | ManageThreads | SendMessages | SendMessagesInThreads | ViewChannel;

interface Alike {
	holder: Holder;
	members: GuildMember[];
}

/**
 * Members of a group have the same permissions among `bits` in `places`, so that they are computed once for each
 * group.
 */
function groupAlike(guild: Guild, places: readonly Place[], bits: bigint): Alike[] {
	const { everyone } = guild.roles;
	const ownIds = new Set(
		places.flatMap(({ overwrites, threadMembers = [] }) => [...overwrites.keys(), ...threadMembers]),
	);
	const granted = (bits | implying) & ~everyone.permissions.bitfield;
	const decides = (role: Role) =>
		role.id === everyone.id || ownIds.has(role.id) || (role.permissions.bitfield & granted) !== 0n;
	const deciding = new Set(guild.roles.cache.filter((role) => decides(role)).keys());
	const groups = new Map<string, Alike>();
	for (const member of guild.members.cache.values()) {
		const roles = [...member.roles.cache.values()].filter(({ id }) => deciding.has(id));
		const isOnTheirOwn = member.id === guild.ownerId || ownIds.has(member.id) || member.isCommunicationDisabled();
		const key = isOnTheirOwn
			? member.id
			: roles
					.map(({ id }) => id)
					.sort()
					.join();
		const holder = () => ({ ...holderOf(guild, member), roles: highestFirst(roles) });
		groups.getOrInsertComputed(key, () => ({ holder: holder(), members: [] })).members.push(member);
	}
	return [...groups.values()];
}

interface Group {
	allowed: boolean;
	source: Source;
	members: GuildMember[];
}

/** `role`: of several that allow or deny, the highest one. */
interface Source {
	kind: Cause["kind"] | "everyone";
	role?: Role;
}

/** For each permission the groups who have it, and those who lack it for another reason than that @everyone does. */
function holdersOf(alike: readonly Alike[], place: Place, bits: readonly bigint[]): Group[][] {
	const groups = bits.map(() => new Map<string, Group>());
	for (const { holder, members } of alike) {
		const computed = computePermissions(holder, place);
		for (const [index, bit] of bits.entries()) {
			const allowed = (computed.bits & bit) !== 0n;
			const source = allowed ? entranceOf(computed, place, bit) : sourceOf(computed.causeOf(bit));
			if (!source || (!allowed && source.kind === "everyone")) continue;
			const key = `${allowed} ${source.kind} ${source.role?.id}`;
			groups[index]?.getOrInsert(key, { allowed, source, members: [] }).members.push(...members);
		}
	}
	return groups.map((found) => [...found.values()].sort(byRank));
}

/** If @everyone has the permission: what lets these members see or enter the channel. */
function entranceOf({ causeOf }: Computed, { channel }: Place, bit: bigint): Source | undefined {
	const isNeeded = (one: bigint) => one !== bit && (impliedIn(channel) & one) !== 0n;
	const sources = [bit, ...[ViewChannel, Connect].filter(isNeeded)].map((one) => sourceOf(causeOf(one)));
	return sources.find((source) => source?.kind !== "everyone") ?? sources[0];
}

function sourceOf(cause: Cause | undefined): Source | undefined {
	if (!cause || cause.kind === "implied" || cause.kind === "private_thread") return undefined;
	if (!("roles" in cause)) return { kind: cause.kind };
	const { kind, roles } = cause;
	const [role] = roles;
	if (kind !== "administrator" && roles.some(({ id, guild }) => id === guild.id)) return { kind: "everyone" };
	return role && { kind, role };
}

const order: readonly Source["kind"][] = [
	"owner",
	"administrator",
	"roles",
	"role_overwrites",
	"member_overwrite",
	"everyone",
	"timeout",
];

function byRank(a: Group, b: Group): number {
	if (a.allowed !== b.allowed) return a.allowed ? -1 : 1;
	const kinds = order.indexOf(a.source.kind) - order.indexOf(b.source.kind);
	if (kinds !== 0 || !a.source.role || !b.source.role) return kinds;
	return b.source.role.comparePositionTo(a.source.role);
}
