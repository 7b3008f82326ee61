// Locking channels: denies @everyone to write and speak. The database keeps what unlock_channel restores.

import {
	ChannelType,
	type Guild,
	OverwriteType,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { overwriteOf, requireUndoable } from "../channels/overwrites.ts";
import { channelName, time } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import {
	type Bits,
	botMember,
	botPermissions,
	describeBits,
	overwritesOf,
	requireGrantable,
} from "../discord/permissions.ts";
import { resultLines } from "../discord/text.ts";
import type { ChannelLockRow } from "../store/channel-locks.ts";
import { found, guild_id, reason } from "../tool/arguments.ts";
import { editTool } from "../tool/define.ts";

/** Permissions that locking a channel denies to @everyone. In voice channels, Connect and Speak are denied too. */
const textPermissions =
	PermissionFlagsBits.SendMessages |
	PermissionFlagsBits.SendMessagesInThreads |
	PermissionFlagsBits.CreatePublicThreads |
	PermissionFlagsBits.CreatePrivateThreads |
	PermissionFlagsBits.AddReactions;
const voicePermissions =
	PermissionFlagsBits.Connect | PermissionFlagsBits.Speak;

const input = v.strictObject({
	guild_id,
	channel_id: found(find.currentChannel, "channel"),
	reason,
});

export const lockChannel = editTool({
	name: "lock_channel",
	toolset: "channels",
	extra: true,
	title: "Lock a channel",
	description:
		"Deny @everyone to write, react and create threads in a channel, and in voice to connect and speak, until unlock_channel. Exempt: the bot, administrators, and those allowed by overwrites.",
	lock: "channel_id",
	permissions: ["ManageRoles"],
	input,
	async run(_, { guild, channel, locks }) {
		if (channel.type === ChannelType.GuildCategory)
			throw new ToolError(
				`${channelName(channel)} is a category: lock its channels instead; list_channels shows them. Nothing was done.`,
			);
		const bits = find.isVoice(channel)
			? textPermissions | voicePermissions
			: textPermissions;
		const name = channelName(channel);
		const rows = await locks.of(channel.id);
		if (rows.length > 0) throw alreadyLocked(channel, rows);
		const { deny } = overwriteOf(channel, guild.id);
		const denies = bits & ~deny;
		if (denies === 0n)
			throw new ToolError(
				`Nothing would change: ${name} already denies @everyone all that a lock would, and unlock_channel would not undo that. Nothing was done.`,
			);
		const own = lostByBot(guild, channel, denies);
		requireGrantable(guild, channel, denies);
		// Read before the writes, which change the cached overwrites.
		const exempt = channel.permissionOverwrites.cache.filter(
			({ id, allow }) => id !== guild.id && (allow.bitfield & bits) !== 0n,
		);
		await locks.begin(rowsFor(guild, channel, denies, own), (row) =>
			writeBits(channel, row, lockedBits(channel, row)),
		);
		const inside = find.isVoice(channel) ? channel.members.size : 0;
		return resultLines(
			`Locked ${name}: @everyone may no longer ${describeBits(denies)}.`,
			(bits & deny) !== 0n && `Denied before: ${describeBits(bits & deny)}`,
			own !== 0n && `The bot is now explicitly allowed: ${describeBits(own)}`,
			exempt.size > 0 &&
				`The channel itself allows some of it to ${exempt.size} role(s) and member(s), who are exempt; list_channel_permissions shows them.`,
			inside > 0 && `${inside} member(s) are in it and stay connected.`,
		);
	},
});

/** Returns the permission overwrite that a role or member gets in a channel when the channel is locked. */
function lockedBits(
	channel: find.Channel,
	{ target_id, allows, denies }: ChannelLockRow,
): Bits {
	const { allow, deny } = overwriteOf(channel, target_id);
	return {
		allow: (allow & ~BigInt(denies)) | BigInt(allows),
		deny: deny | BigInt(denies),
	};
}

/**
 * Returns the error for a call that locks a channel which is already locked. It lists the permission changes of the
 * lock that are not set any more.
 */
function alreadyLocked(
	channel: find.Channel,
	rows: readonly ChannelLockRow[],
): ToolError {
	const name = channelName(channel);
	const ended = rows.reduce(
		(bits, row) => bits | (bitsOf(row) & ~inForce(channel, row)),
		0n,
	);
	const since = time(rows[0]?.locked_at ?? null);
	return new ToolError(
		ended === 0n
			? `${name} has been locked since ${since}. unlock_channel unlocks it. Nothing was done.`
			: `${name} was locked at ${since}, but ${describeBits(ended)} is not in force: it was changed since, or never took effect. unlock_channel undoes the rest; then it can be locked again. Nothing was done.`,
	);
}

/**
 * Returns the permissions that the bot would lose in a channel if `denies` were denied to @everyone: those that no
 * permission overwrite allows for the bot itself or its roles.
 */
function lostByBot(
	guild: Guild,
	channel: find.Channel,
	denies: bigint,
): bigint {
	const { Administrator } = PermissionFlagsBits;
	const has = botPermissions(guild, channel);
	if ((has & Administrator) !== 0n) return 0n;
	const me = botMember(guild);
	return channel.permissionOverwrites.cache
		.filter(
			({ id }) => id === me.id || (id !== guild.id && me.roles.cache.has(id)),
		)
		.reduce((bits, { allow }) => bits & ~allow.bitfield, has & denies);
}

/**
 * Returns the changes of permission overwrites that lock a channel. The bot's own overwrite comes first: without
 * CONNECT the bot could no longer edit the channel.
 */
function rowsFor(
	guild: Guild,
	channel: find.Channel,
	denies: bigint,
	own: bigint,
): ChannelLockRow[] {
	const me = botMember(guild).id;
	const row = (target_id: string, target_type: OverwriteType) => ({
		channel_id: channel.id,
		target_id,
		target_type,
		locked_at: Date.now(),
		allows: "0",
		denies: "0",
		allowed: "0",
		existed: channel.permissionOverwrites.cache.has(target_id)
			? (1 as const)
			: (0 as const),
	});
	const { allow } = overwriteOf(channel, guild.id);
	return [
		...(own === 0n
			? []
			: [{ ...row(me, OverwriteType.Member), allows: String(own) }]),
		{
			...row(guild.id, OverwriteType.Role),
			denies: String(denies),
			allowed: String(allow & denies),
		},
	];
}

export const unlockChannel = editTool({
	name: "unlock_channel",
	toolset: "channels",
	extra: true,
	title: "Unlock a channel",
	description:
		"Undo lock_channel: restore what it changed. Changes that others made since then stay, and are listed.",
	lock: "channel_id",
	permissions: ["ManageRoles"],
	input,
	async run(_, { guild, channel, locks }) {
		const name = channelName(channel);
		const rows = await locks.of(channel.id);
		if (rows.length === 0)
			throw new ToolError(
				`${name} was not locked by lock_channel. set_channel_permissions changes its permissions. Nothing was done.`,
			);
		const restored = rows.map((row) => ({
			row,
			active: inForce(channel, row),
			owner: row.target_id === guild.id ? "@everyone" : "the bot",
		}));
		const active = restored.reduce((bits, { active }) => bits | active, 0n);
		requireGrantable(guild, channel, active);
		const after = restored.map(
			({ row, active }) =>
				[row.target_id, restoredBits(channel, row, active)] as const,
		);
		requireUndoable(channel, new Map([...overwritesOf(channel), ...after]));
		// Read before the writes, which change the cached overwrites.
		const left = restored.flatMap(({ row, active, owner }) => {
			const changed = bitsOf(row) & ~active;
			if (changed === 0n) return [];
			const state = stateOf(channel, row, changed);
			return `Changed since the lock for ${owner}, and left as it is: ${state}`;
		});
		for (const { row, active } of restored) await restore(channel, row, active);
		const forgotten = await locks.forget(channel.id);
		return resultLines(
			`Unlocked ${name}.`,
			restored.map(
				({ active, owner }) => `Restored for ${owner}: ${describeBits(active)}`,
			),
			left,
			!forgotten &&
				"The database is unavailable and still has the lock: call unlock_channel again in a minute.",
		);
	},
});

/** Returns all permissions that locking a channel changes for a role or member, as a bit field. */
function bitsOf({ allows, denies }: ChannelLockRow): bigint {
	return BigInt(allows) | BigInt(denies);
}

/**
 * Returns, as a bit field, the permissions that locking a channel allowed or denied for a role or member and that are
 * still set so.
 */
function inForce(channel: find.Channel, row: ChannelLockRow): bigint {
	const { allow, deny } = overwriteOf(channel, row.target_id);
	return (BigInt(row.allows) & allow) | (BigInt(row.denies) & deny);
}

/** Describes for each of the permissions `bits` whether a channel's overwrite allows it, denies it or does neither. */
function stateOf(
	channel: find.Channel,
	{ target_id }: ChannelLockRow,
	bits: bigint,
): string {
	const { allow, deny } = overwriteOf(channel, target_id);
	const describe = (group: bigint, state: string) =>
		group !== 0n && `${describeBits(group)} (${state})`;
	return resultLines(
		describe(bits & allow, "allowed"),
		describe(bits & deny, "denied"),
		describe(bits & ~(allow | deny), "neither allowed nor denied"),
	).join(", ");
}

/**
 * Returns the permission overwrite that a role or member gets when a channel is unlocked. Only the permissions `active`
 * are restored: those that are still set as locking the channel set them.
 */
function restoredBits(
	channel: find.Channel,
	row: ChannelLockRow,
	active: bigint,
): Bits {
	const { allow, deny } = overwriteOf(channel, row.target_id);
	return {
		allow: (allow & ~active) | (BigInt(row.allowed) & active),
		deny: deny & ~active,
	};
}

/**
 * Unlocks a channel for a role or member. Only the permissions `active` are restored: those that are still set as
 * locking the channel set them. Deletes the permission overwrite if locking created it and nothing else is left in it.
 */
async function restore(
	channel: find.Channel,
	row: ChannelLockRow,
	active: bigint,
): Promise<void> {
	if (active === 0n) return;
	const after = restoredBits(channel, row, active);
	if (row.existed === 0 && (after.allow | after.deny) === 0n)
		await channel.client.rest.delete(
			Routes.channelPermission(channel.id, row.target_id),
		);
	else await writeBits(channel, row, after);
}

function writeBits(
	channel: find.Channel,
	{ target_id, target_type }: ChannelLockRow,
	{ allow, deny }: Bits,
): Promise<unknown> {
	return channel.client.rest.put(
		Routes.channelPermission(channel.id, target_id),
		{ body: { type: target_type, allow: String(allow), deny: String(deny) } },
	);
}
