// Which permission overwrites a channel has after it moves into another category. Discord keeps a channel's own, unless the
// request has `lock_permissions` or `permission_overwrites`.
// https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions-json-params

import { PermissionFlagsBits } from "discord.js";
import { permissionNamesOf } from "../read/from-api.ts";
import type { RawOverwrite } from "../steps.ts";

const { Administrator, ReadMessageHistory, ViewChannel } = PermissionFlagsBits;

type Bits = Pick<RawOverwrite, "allow" | "deny">;

/** A member, or all members who have certain roles. `roleIds` may contain the id of the guild, which is @everyone's. */
interface Holder {
	guildId: string;
	roleIds: readonly string[];
	memberId?: string;
}

/**
 * Applies a channel's permission overwrites to the permissions `bits` that a member has guild-wide. Does not remove
 * permissions that depend on others. https://discord.com/developers/docs/topics/permissions#permission-overwrites
 */
export function withOverwrites(
	bits: bigint,
	{ guildId, roleIds, memberId }: Holder,
	overwrites: ReadonlyMap<string, Bits>,
): bigint {
	const steps = [
		[guildId],
		roleIds.filter((id) => id !== guildId),
		memberId === undefined ? [] : [memberId],
	];
	return steps.reduce((result, ids) => {
		const of = (kind: keyof Bits) =>
			ids.reduce((all, id) => all | (overwrites.get(id)?.[kind] ?? 0n), 0n);
		return (result & ~of("deny")) | of("allow");
	}, bits);
}

/** What decides who sees the channels of a guild, beside the channels' overwrites. */
export interface GuildAccess {
	guildId: string;
	ownerId: string;
	/** Guild-wide permissions of all roles, by id or placeholder. @everyone has the guild's id. */
	roles: ReadonlyMap<string, bigint>;
	/** Returns the ids of a member's roles; undefined if they are not known. */
	rolesOf(memberId: string): readonly string[] | undefined;
}

/** A channel that moves into another category. */
export interface MovedChannel {
	own: readonly RawOverwrite[];
	/** Whether these are the overwrites of its old category. */
	isSynced: boolean;
	/** The overwrites of its new category; undefined if it has none then. */
	to: readonly RawOverwrite[] | undefined;
	/** What the caller asks for: true, to take the access of the new category; false, to keep the channel's own. */
	lock: boolean | undefined;
}

/** Who gains access: the id of a role or member, or two roles whose members must have both. */
export interface Gain {
	ids: readonly string[];
	bits: bigint;
}

export interface MovedAccess {
	/**
	 * "follows": the request gives the channel the overwrites of its new category. "keeps": the channel keeps its own.
	 * "same": they are equal.
	 */
	access: "follows" | "keeps" | "same";
	/** Who gains VIEW_CHANNEL or READ_MESSAGE_HISTORY if the channel follows its category. */
	gains: readonly Gain[];
}

/**
 * Decides whether a moved channel follows its new category: if that was asked for, or if the channel has no overwrites or
 * those of its old category, and nobody gains access.
 */
export function movedAccess(
	{ own, isSynced, to, lock }: MovedChannel,
	guild: GuildAccess,
): MovedAccess {
	if (!to) return { access: own.some(isSet) ? "keeps" : "same", gains: [] };
	if (isSame(own, to)) return { access: "same", gains: [] };
	const gains = lock === false ? [] : gainsOf(own, to, guild);
	const isCandidate = isSynced || !own.some(isSet);
	const follows = lock ?? (isCandidate && gains.length === 0);
	return {
		access: follows ? "follows" : "keeps",
		gains: follows || isCandidate ? gains : [],
	};
}

const maxGains = 10;

/** Describes who gains which access: '"Mods" (VIEW_CHANNEL)'. `nameOf` returns the name of a role or member. */
export function gainsText(
	gains: readonly Gain[],
	nameOf: (id: string) => string,
): string {
	const more = gains.length - maxGains;
	return [
		...gains
			.slice(0, maxGains)
			.map(
				({ ids, bits }) =>
					`${ids.map(nameOf).join(" together with ")} (${permissionNamesOf(bits).join(", ")})`,
			),
		...(more > 0 ? [`${more} more`] : []),
	].join(", ");
}

/** Whether an overwrite allows or denies anything. */
const isSet = ({ allow, deny }: Bits) => (allow | deny) !== 0n;

/** Whether two lists of overwrites allow and deny the same. */
export function isSame(
	some: readonly RawOverwrite[],
	others: readonly RawOverwrite[],
): boolean {
	const text = (list: readonly RawOverwrite[]) =>
		list
			.filter(isSet)
			.map(({ id, allow, deny }) => `${id} ${allow} ${deny}`)
			.sort()
			.join();
	return text(some) === text(others);
}

/**
 * Returns who sees more with the overwrites `after` than with `before`. Two roles are enough for each case: one that
 * decided before, and one that decides now.
 */
function gainsOf(
	before: readonly RawOverwrite[],
	after: readonly RawOverwrite[],
	{ guildId, ownerId, roles, rolesOf }: GuildAccess,
): Gain[] {
	const [old, now] = [before, after].map(
		(list) => new Map(list.map((one) => [one.id, one])),
	) as [Map<string, RawOverwrite>, Map<string, RawOverwrite>];
	const gainOf = (roleIds: readonly string[], memberId?: string): bigint => {
		const inGuild = [guildId, ...roleIds].reduce(
			(bits, id) => bits | (roles.get(id) ?? 0n),
			0n,
		);
		if ((inGuild & Administrator) !== 0n) return 0n;
		const holder = { guildId, roleIds, ...(memberId && { memberId }) };
		const [had, has] = [old, now].map((overwrites) => {
			const bits = withOverwrites(inGuild, holder, overwrites);
			return (bits & ViewChannel) === 0n ? 0n : bits;
		}) as [bigint, bigint];
		return has & ~had & (ViewChannel | ReadMessageHistory);
	};
	const gains: Gain[] = [];
	/** Adds a gain of the holder of `held`, unless a gain of some of these roles is known. */
	const add = (ids: readonly string[], bits: bigint, held = ids) => {
		const known = gains
			.filter((one) =>
				one.ids.every((id) => id === guildId || held.includes(id)),
			)
			.reduce((all, one) => all | one.bits, 0n);
		if ((bits & ~known) !== 0n) gains.push({ ids, bits: bits & ~known });
	};
	add([guildId], gainOf([]));
	for (const id of roles.keys()) if (id !== guildId) add([id], gainOf([id]));
	const listed = [...old.values(), ...now.values()];
	// Of the roles without overwrites, those with equal permissions are alike.
	const alike = new Map(
		[...roles].map(([id, bits]) => [
			bits & (Administrator | ViewChannel | ReadMessageHistory),
			id,
		]),
	);
	const deciding = [
		...new Set([...listed.map(({ id }) => id), ...alike.values()]),
	].filter((id) => id !== guildId && roles.has(id));
	for (const [index, one] of deciding.entries())
		for (const other of deciding.slice(index + 1))
			add([one, other], gainOf([one, other]));
	const members = listed.filter(({ id, type }) => type === 1 && id !== ownerId);
	for (const id of new Set(members.map(({ id }) => id))) {
		const own = rolesOf(id);
		const allows = (now.get(id)?.allow ?? 0n) & ~(old.get(id)?.allow ?? 0n);
		const frees = (old.get(id)?.deny ?? 0n) & ~(now.get(id)?.deny ?? 0n);
		const possible = (allows | frees) & (ViewChannel | ReadMessageHistory);
		add([id], own ? gainOf(own, id) : possible, own);
	}
	return gains;
}
