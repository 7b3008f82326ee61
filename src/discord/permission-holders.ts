import { type Guild, type GuildMember, PermissionFlagsBits, type Role } from "discord.js";
import {
	type Cause,
	type Computed,
	computePermissions,
	type Holder,
	highestFirst,
	holderOf,
	type Place,
} from "./effective-permissions.ts";
import { impliedIn } from "./permissions.ts";

const { Administrator, Connect, ManageThreads, SendMessages, SendMessagesInThreads, ViewChannel } = PermissionFlagsBits;

const implying = Administrator | Connect | ManageThreads | SendMessages | SendMessagesInThreads | ViewChannel;

export interface Alike {
	holder: Holder;
	members: GuildMember[];
}

/**
 * Members of a group have the same permissions among `bits` in `places`, so that they are computed once for each
 * group.
 */
export function groupAlike(guild: Guild, places: readonly Place[], bits: bigint): Alike[] {
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
		const group = groups.get(key);
		if (group) group.members.push(member);
		else {
			const holder = { ...holderOf(guild, member), roles: highestFirst(roles) };
			groups.set(key, { holder, members: [member] });
		}
	}
	return [...groups.values()];
}

export interface Group {
	allowed: boolean;
	source: Source;
	members: GuildMember[];
}

/** If several roles allow or deny, the highest one. */
export type Source =
	| { kind: "owner" | "everyone" | "own_overwrite" | "timeout" }
	| { kind: "administrator" | "role" | "overwrite"; role: Role };

/** For each permission the groups who have it, and those who lack it for another reason than that @everyone does. */
export function holdersOf(alike: readonly Alike[], place: Place, bits: readonly bigint[]): Group[][] {
	const groups = bits.map(() => new Map<string, Group>());
	for (const { holder, members } of alike) {
		const computed = computePermissions(holder, place);
		for (const [index, bit] of bits.entries()) {
			const allowed = (computed.bits & bit) !== 0n;
			const source = allowed ? entranceOf(computed, place, bit) : sourceOf(computed.causeOf(bit));
			if (!source || (!allowed && source.kind === "everyone")) continue;
			const key = `${allowed} ${source.kind} ${"role" in source ? source.role.id : ""}`;
			const known = groups[index]?.get(key);
			if (known) known.members.push(...members);
			else groups[index]?.set(key, { allowed, source, members: [...members] });
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
	switch (cause?.kind) {
		case "owner":
		case "timeout":
			return { kind: cause.kind };
		case "member_overwrite":
			return { kind: "own_overwrite" };
		case "administrator":
			return ofRole("administrator", cause.roles);
		case "roles":
			return ofRole("role", cause.roles);
		case "role_overwrites":
			return ofRole("overwrite", cause.roles);
		default:
			return undefined;
	}
}

function ofRole(kind: "administrator" | "role" | "overwrite", roles: readonly Role[]): Source | undefined {
	const [role] = roles;
	if (!role) return undefined;
	if (roles.some(({ id, guild }) => id === guild.id) && kind !== "administrator") return { kind: "everyone" };
	return { kind, role };
}

const order: readonly Source["kind"][] = [
	"owner",
	"administrator",
	"role",
	"overwrite",
	"own_overwrite",
	"everyone",
	"timeout",
];

function byRank(a: Group, b: Group): number {
	if (a.allowed !== b.allowed) return a.allowed ? -1 : 1;
	const kinds = order.indexOf(a.source.kind) - order.indexOf(b.source.kind);
	if (kinds !== 0 || !("role" in a.source) || !("role" in b.source)) return kinds;
	return b.source.role.comparePositionTo(a.source.role);
}
