// Which permission overwrites a channel has after it moves into another category. Discord keeps a channel's own, unless the
// request has `lock_permissions` or `permission_overwrites`.
// https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions-json-params

import { PermissionFlagsBits } from "discord.js";
import { listFirst } from "../../lib/text.ts";
import { changedBits, type Overwrites, withOverwrites } from "../names/overwrites.ts";
import { permissionNames } from "../read/from-api.ts";

const { Administrator, ReadMessageHistory, ViewChannel } = PermissionFlagsBits;
const watched = ViewChannel | ReadMessageHistory;

/** Beside the overwrites of channels. */
export interface GuildAccess {
	guildId: string;
	ownerId: string;
	/** Guild-wide, by id or placeholder; @everyone has the guild's id. */
	roles: ReadonlyMap<string, bigint>;
	/** Undefined if not known. */
	rolesOf(memberId: string): readonly string[] | undefined;
}

interface MovedChannel {
	own: Overwrites;
	/** Its overwrites are those of its old category. */
	isSynced: boolean;
	/** Undefined outside of categories. */
	to: Overwrites | undefined;
	/** The caller asks for the access of the new category (true) or the channel's own (false). */
	lock: boolean | undefined;
}

interface Gain {
	ids: readonly string[];
	bits: bigint;
}

export interface MovedAccess {
	/** Whether the channel gets the new category's overwrites. "same": it has them already. */
	access: "follows" | "keeps" | "same";
	/** Who gains VIEW_CHANNEL or READ_MESSAGE_HISTORY by following. */
	gains: readonly Gain[];
}

/** Follows if asked for, or without overwrites of its own or with the old category's, if nobody gains access. */
export function movedAccess({ own, isSynced, to, lock }: MovedChannel, guild: GuildAccess): MovedAccess {
	if (changedBits(own, to ?? new Map()) === 0n) return { access: "same", gains: [] };
	if (!to) return { access: "keeps", gains: [] };
	const isCandidate = isSynced || changedBits(own, new Map()) === 0n;
	const isPossible = lock ?? isCandidate;
	const gains = isPossible ? gainsOf(own, to, guild) : [];
	const follows = lock ?? (isCandidate && gains.length === 0);
	return { access: follows ? "follows" : "keeps", gains };
}

const maxGains = 10;

/** '"Mods" (VIEW_CHANNEL)'. */
export function gainsText(gains: readonly Gain[], nameOf: (id: string) => string): string {
	const texts = gains.map(
		({ ids, bits }) => `${ids.map(nameOf).join(" together with ")} (${permissionNames(bits).join(", ")})`,
	);
	return listFirst(texts, maxGains, ", ");
}

function gainsOf(before: Overwrites, after: Overwrites, { guildId, ownerId, roles, rolesOf }: GuildAccess): Gain[] {
	const gains: Gain[] = [];
	const look = (held: readonly string[], memberId?: string) => {
		const roleIds = new Set([guildId, ...held]);
		let inGuild = 0n;
		for (const id of roleIds) inGuild |= roles.get(id) ?? 0n;
		if ((inGuild & Administrator) !== 0n) return;
		const holder = { guildId, roleIds, memberId };
		const [had = 0n, has = 0n] = [before, after].map((overwrites) => {
			const bits = withOverwrites(inGuild, holder, overwrites);
			return (bits & ViewChannel) === 0n ? 0n : bits;
		});
		const bits = gains
			.filter(({ ids }) => ids.every((id) => id === memberId || roleIds.has(id)))
			.reduce((left, known) => left & ~known.bits, has & ~had & watched);
		if (bits !== 0n) gains.push({ ids: memberId ? [memberId] : held, bits });
	};
	look([guildId]);
	for (const id of roles.keys()) look([id]);
	const listed = new Set([...before.keys(), ...after.keys()]);
	// Of the roles without overwrites, those with equal permissions are alike.
	const alike = new Map([...roles].map(([id, bits]) => [bits & (Administrator | watched), id]));
	const deciding = [...listed.union(new Set(alike.values()))].filter((id) => roles.has(id));
	for (const [index, one] of deciding.entries()) for (const other of deciding.slice(index + 1)) look([one, other]);
	for (const id of listed) {
		if (roles.has(id) || id === ownerId) continue;
		const held = rolesOf(id);
		const possible = held ? [held] : Array.from(roles.keys(), (role) => [role]);
		for (const one of possible) look(one, id);
	}
	return gains;
}
