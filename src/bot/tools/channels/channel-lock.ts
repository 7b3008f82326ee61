// Locking a channel: which permission overwrites change, and how unlocking restores them. The rows of the database table
// channel_locks describe a lock.

import { type Guild, OverwriteType, PermissionFlagsBits, Routes } from "discord.js";
import { actingPerson } from "../../../discord/acting-person.ts";
import { memberName, roleName } from "../../../discord/describe.ts";
import * as find from "../../../discord/find.ts";
import { overwriteName, overwriteOf, sortedOverwrites } from "../../../discord/overwrites.ts";
import { type Bits, botMember, botPermissions, describeBits, personHas } from "../../../discord/permissions.ts";
import { isForStaffOrBot, isStaffOrBotRole } from "../../../discord/staff.ts";
import { resultLines } from "../../../discord/text.ts";
import type { ChannelLockRow } from "../../store/tables/channel-locks.ts";

const textPermissions =
	PermissionFlagsBits.SendMessages |
	PermissionFlagsBits.SendMessagesInThreads |
	PermissionFlagsBits.CreatePublicThreads |
	PermissionFlagsBits.CreatePrivateThreads |
	PermissionFlagsBits.AddReactions;
const voicePermissions = PermissionFlagsBits.Connect | PermissionFlagsBits.Speak;

/** What a lock denies at most, as a bit field. */
export function lockPermissions(channel: find.Channel): bigint {
	return find.isVoice(channel) ? textPermissions | voicePermissions : textPermissions;
}

export function lockedBits(channel: find.Channel, { target_id, allows, denies }: ChannelLockRow): Bits {
	const { allow, deny } = overwriteOf(channel, target_id);
	return { allow: (allow & ~BigInt(denies)) | BigInt(allows), deny: deny | BigInt(denies) };
}

/** Without them, nobody can write or speak. A lock that cannot deny them is none. */
export const essentialPermissions = PermissionFlagsBits.SendMessages | PermissionFlagsBits.Connect;

/** Those of `bits` that people other than staff have by a role or @everyone's overwrite. */
export function heldByMembers(channel: find.Channel, bits: bigint): bigint {
	const { guild } = channel;
	const { allow, deny } = overwriteOf(channel, guild.id);
	const held = guild.roles.cache
		.filter((role) => role.id === guild.id || !isStaffOrBotRole(role))
		.reduce((all, { permissions }) => all | permissions.bitfield, allow);
	return bits & held & ~deny;
}

/** Without @everyone and this bot. */
export function allowedByOverwrites(channel: find.Channel, bits: bigint) {
	const { guild } = channel;
	const own = [guild.id, botMember(guild).id];
	return sortedOverwrites(channel)
		.filter(
			({ id, allow, type }) =>
				!own.includes(id) &&
				(allow.bitfield & bits) !== 0n &&
				(type === OverwriteType.Member || guild.roles.cache.has(id)),
		)
		.map((one) => ({
			id: one.id,
			type: one.type,
			name: overwriteName(guild, one),
			/** What the overwrite allows of it. */
			bits: one.allow.bitfield & bits,
			/** Staff, bots, and the person in whose name the call acts. */
			isExempt: isForStaffOrBot(guild, one) || one.id === actingPerson(guild)?.id,
		}));
}

/** What the bot would lose, as a bit field, if `denies` were denied to @everyone and to the targets `locked`. */
export function lostByBot(guild: Guild, channel: find.Channel, denies: bigint, locked: ReadonlySet<string>): bigint {
	const { Administrator } = PermissionFlagsBits;
	const has = botPermissions(guild, channel);
	if ((has & Administrator) !== 0n) return 0n;
	const me = botMember(guild);
	return channel.permissionOverwrites.cache
		.filter(({ id }) => id === me.id || (id !== guild.id && !locked.has(id) && me.roles.cache.has(id)))
		.reduce((bits, { allow }) => bits & ~allow.bitfield, has & denies);
}

/** What a lock denies to @everyone, a role or a member. */
export type Denied = Omit<ReturnType<typeof allowedByOverwrites>[number], "isExempt">;
export type Connecting = Omit<Denied, "bits">;

/** Who has to keep CONNECT, without which no other permission counts, so that the person of the call can unlock it. */
export function connectingFor(
	guild: Guild,
	channel: find.Channel,
	denies: bigint,
	locked: ReadonlySet<string>,
): Connecting[] {
	const { Administrator, Connect, ManageRoles } = PermissionFlagsBits;
	const person = actingPerson(guild);
	if (!person || (denies & Connect) === 0n) return [];
	if (personHas(guild, undefined, Administrator)) return [];
	const overwrites = channel.permissionOverwrites.cache;
	const roles = person.roles.cache.filter(({ id }) => id !== guild.id);
	const own = overwrites.filter(({ id }) => !locked.has(id) && (id === person.id || roles.has(id)));
	if (own.some(({ allow }) => allow.has(Connect))) return [];
	const managing = roles.filter(
		({ id, permissions }) => permissions.has(ManageRoles) || overwrites.get(id)?.allow.has(ManageRoles),
	);
	if (managing.size === 0) return [{ id: person.id, type: OverwriteType.Member, name: memberName(person) }];
	return managing.map((role) => ({ id: role.id, type: OverwriteType.Role, name: roleName(role) }));
}

/** The bot's comes first, because without CONNECT it could not make the others. */
export function rowsFor(
	guild: Guild,
	channel: find.Channel,
	denied: readonly Denied[],
	{ own, connecting }: { own: bigint; connecting: readonly Connecting[] },
): ChannelLockRow[] {
	const me = botMember(guild).id;
	const row = (target_id: string, target_type: OverwriteType) => ({
		guild_id: guild.id,
		channel_id: channel.id,
		target_id,
		target_type,
		locked_at: Date.now(),
		allows: "0",
		denies: "0",
		allowed: "0",
		existed: channel.permissionOverwrites.cache.has(target_id) ? (1 as const) : (0 as const),
	});
	return [
		...(own === 0n ? [] : [{ ...row(me, OverwriteType.Member), allows: String(own) }]),
		...connecting.map(({ id, type }) => ({ ...row(id, type), allows: String(PermissionFlagsBits.Connect) })),
		...denied.map(({ id, type, bits }) => ({
			...row(id, type),
			denies: String(bits),
			allowed: String(overwriteOf(channel, id).allow & bits),
		})),
	];
}

/** As a bit field. */
export function bitsOf({ allows, denies }: ChannelLockRow): bigint {
	return BigInt(allows) | BigInt(denies);
}

/** What the lock changed and nobody has changed since, as a bit field. */
export function inForce(channel: find.Channel, row: ChannelLockRow): bigint {
	const { allow, deny } = overwriteOf(channel, row.target_id);
	return (BigInt(row.allows) & allow) | (BigInt(row.denies) & deny);
}

/** For each of `bits`: allowed, denied or neither. */
export function stateOf(channel: find.Channel, { target_id }: ChannelLockRow, bits: bigint): string {
	const { allow, deny } = overwriteOf(channel, target_id);
	const describe = (group: bigint, state: string) => group !== 0n && `${describeBits(group)} (${state})`;
	return resultLines(
		describe(bits & allow, "allowed"),
		describe(bits & deny, "denied"),
		describe(bits & ~(allow | deny), "neither allowed nor denied"),
	).join(", ");
}

/** Restores only `active`, which nobody has changed since the lock. */
export function restoredBits(channel: find.Channel, row: ChannelLockRow, active: bigint): Bits {
	const { allow, deny } = overwriteOf(channel, row.target_id);
	return { allow: (allow & ~active) | (BigInt(row.allowed) & active), deny: deny & ~active };
}

/** Restores only `active`, which nobody has changed since. Deletes an empty overwrite that the lock created. */
export async function restore(channel: find.Channel, row: ChannelLockRow, active: bigint): Promise<void> {
	if (active === 0n) return;
	const after = restoredBits(channel, row, active);
	if (row.existed === 0 && (after.allow | after.deny) === 0n)
		await channel.client.rest.delete(Routes.channelPermission(channel.id, row.target_id));
	else await writeBits(channel, row, after);
}

export function writeBits(
	channel: find.Channel,
	{ target_id, target_type }: ChannelLockRow,
	{ allow, deny }: Bits,
): Promise<unknown> {
	return channel.client.rest.put(Routes.channelPermission(channel.id, target_id), {
		body: { type: target_type, allow: String(allow), deny: String(deny) },
	});
}
