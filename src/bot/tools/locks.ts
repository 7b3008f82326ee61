// Locking channels: @everyone can for a while do there no more than read. What was before is kept in the bot's database.

import {
	ChannelType,
	type Guild,
	OverwriteType,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { type Bits, overwriteOf } from "../channels/overwrites.ts";
import { channelName, time } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import {
	botMember,
	botPermissions,
	describeBits,
	requireGrantable,
} from "../discord/permissions.ts";
import type { ChannelLockRow } from "../store/channel-locks.ts";
import { found, guild_id, reason } from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

/** What @everyone may not do in a locked channel, and in one to speak in. */
const written =
	PermissionFlagsBits.SendMessages |
	PermissionFlagsBits.SendMessagesInThreads |
	PermissionFlagsBits.CreatePublicThreads |
	PermissionFlagsBits.CreatePrivateThreads |
	PermissionFlagsBits.AddReactions;
const spoken = PermissionFlagsBits.Connect | PermissionFlagsBits.Speak;

const locked = {
	guild_id,
	channel_id: found(find.currentChannel, "channel"),
	reason,
};

export const lockChannel = tool({
	name: "lock_channel",
	toolset: "channels",
	extra: true,
	title: "Lock a channel",
	description:
		"Deny @everyone to write, react and open threads in a channel, and in voice to connect and speak, until unlock_channel. Whom the channel itself allows it, administrators and the bot still may.",
	effect: "write",
	idempotent: true,
	lock: "channel_id",
	permissions: ["ManageRoles"],
	input: v.strictObject(locked),
	async run(_, { guild, channel, locks }) {
		if (channel.type === ChannelType.GuildCategory)
			throw new ToolError(
				`${channelName(channel)} is a category: lock the channels in it, which list_channels shows. Nothing was done.`,
			);
		const bits = find.isVoice(channel) ? written | spoken : written;
		const name = channelName(channel);
		const earlier = await locks.of(channel.id);
		if (earlier.length > 0) throw lockedAlready(channel, earlier);
		const { deny } = overwriteOf(channel, guild.id);
		const denies = bits & ~deny;
		if (denies === 0n)
			throw new ToolError(
				`Nothing would change: ${name} denies @everyone all that a lock would, and unlock_channel undoes only what lock_channel has done. Nothing was done.`,
			);
		const own = lostByBot(guild, channel, denies);
		requireGrantable(guild, channel, denies);
		// As it is before: the writes change what is known of the channel.
		const kept = channel.permissionOverwrites.cache.filter(
			({ id, allow }) => id !== guild.id && (allow.bitfield & bits) !== 0n,
		);
		await locks.begin(rowsFor(guild, channel, denies, own), (row) =>
			writeBits(channel, row, lockedBits(channel, row)),
		);
		const inside = find.isVoice(channel) ? channel.members.size : 0;
		return [
			`Locked ${name}: @everyone may no longer ${describeBits(denies)}.`,
			...((bits & deny) === 0n
				? []
				: [`Denied before: ${describeBits(bits & deny)}`]),
			...(own === 0n
				? []
				: [`The bot is now allowed by name: ${describeBits(own)}`]),
			...(kept.size === 0
				? []
				: [
						`The channel itself had allowed some of it to ${kept.size} role(s) and member(s), who still may; list_channel_permissions shows them.`,
					]),
			...(inside === 0 ? [] : [`${inside} member(s) are in it, and stay.`]),
		];
	},
});

/** What the channel says of someone once it is locked. */
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

/** What lock of a channel is noted, and what has become of it, as an error to show. */
function lockedAlready(
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
			? `${name} is locked already, since ${since}. unlock_channel undoes it. Nothing was done.`
			: `${name} is noted as locked at ${since}, and of that ${describeBits(ended)} is not in force: somebody has changed it, or it never took effect. unlock_channel undoes the rest; then it can be locked again. Nothing was done.`,
	);
}

/** Of these permissions, those that the bot has in the channel by no permission that the channel itself gives it. */
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

/** The bot's own comes first: without CONNECT it could not change the channel any more. */
function rowsFor(
	guild: Guild,
	channel: find.Channel,
	denies: bigint,
	own: bigint,
): ChannelLockRow[] {
	const me = botMember(guild).id;
	const row = (target_id: string, target_type: OverwriteType) => ({
		...{ channel_id: channel.id, target_id, target_type },
		...{ locked_at: Date.now(), allows: "0", denies: "0", allowed: "0" },
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

export const unlockChannel = tool({
	name: "unlock_channel",
	toolset: "channels",
	extra: true,
	title: "Unlock a channel",
	description:
		"Undo lock_channel: what it has changed is as before again. What somebody has changed since then stays, and is named.",
	effect: "write",
	idempotent: true,
	lock: "channel_id",
	permissions: ["ManageRoles"],
	input: v.strictObject(locked),
	async run(_, { guild, channel, locks }) {
		const name = channelName(channel);
		const rows = await locks.of(channel.id);
		if (rows.length === 0)
			throw new ToolError(
				`${name} was not locked by lock_channel. set_channel_permissions changes what it denies. Nothing was done.`,
			);
		const restored = rows.map((row) => ({
			...{ row, still: inForce(channel, row) },
			whose: row.target_id === guild.id ? "@everyone" : "the bot",
		}));
		requireGrantable(
			guild,
			channel,
			restored.reduce((bits, { still }) => bits | still, 0n),
		);
		// As it is before: the writes change what is known of the channel.
		const left = restored.flatMap(({ row, still, whose }) => {
			const changed = bitsOf(row) & ~still;
			if (changed === 0n) return [];
			const state = stateOf(channel, row, changed);
			return `Not as the lock had set it for ${whose}, and left: ${state}`;
		});
		for (const { row, still } of restored) await restore(channel, row, still);
		const forgotten = await locks.forget(channel.id);
		return [
			`Unlocked ${name}.`,
			...restored.map(
				({ still, whose }) =>
					`As before again for ${whose}: ${describeBits(still)}`,
			),
			...left,
			...(forgotten
				? []
				: [
						"The bot's database is away, and still has the lock: call unlock_channel again in a minute.",
					]),
		];
	},
});

/** All that a lock changes for someone. */
function bitsOf({ allows, denies }: ChannelLockRow): bigint {
	return BigInt(allows) | BigInt(denies);
}

/** What of it is still as the lock set it. */
function inForce(channel: find.Channel, row: ChannelLockRow): bigint {
	const { allow, deny } = overwriteOf(channel, row.target_id);
	return (BigInt(row.allows) & allow) | (BigInt(row.denies) & deny);
}

/** These permissions, by whether the channel allows or denies them, or neither. */
function stateOf(
	channel: find.Channel,
	{ target_id }: ChannelLockRow,
	bits: bigint,
): string {
	const { allow, deny } = overwriteOf(channel, target_id);
	return [
		["allowed", bits & allow] as const,
		["denied", bits & deny] as const,
		["neither allowed nor denied", bits & ~(allow | deny)] as const,
	]
		.filter(([, some]) => some !== 0n)
		.map(([word, some]) => `${describeBits(some)} (${word})`)
		.join(", ");
}

/** Undoes what of a lock is still in force. What the channel says for nothing else any more is removed, if it is new. */
async function restore(
	channel: find.Channel,
	row: ChannelLockRow,
	still: bigint,
): Promise<void> {
	if (still === 0n) return;
	const { allow, deny } = overwriteOf(channel, row.target_id);
	const after = {
		allow: (allow & ~still) | (BigInt(row.allowed) & still),
		deny: deny & ~still,
	};
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
		{
			body: { type: target_type, allow: String(allow), deny: String(deny) },
		},
	);
}
