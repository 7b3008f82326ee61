// Permission overwrites of channels: reading, describing and comparing them.

import {
	type Guild,
	OverwriteType,
	type PermissionOverwrites,
} from "discord.js";
import type { Channel } from "../discord/find.ts";
import { describeBits } from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";

export interface Bits {
	allow: bigint;
	deny: bigint;
}

/** A channel's overwrite for a role or member; zero bits if it has none. */
export function overwriteOf(channel: Channel, id: string): Bits {
	const overwrite = channel.permissionOverwrites.cache.get(id);
	return {
		allow: overwrite?.allow.bitfield ?? 0n,
		deny: overwrite?.deny.bitfield ?? 0n,
	};
}

/** The role or member of an overwrite. */
export function overwriteName(
	guild: Guild,
	{ id, type }: PermissionOverwrites,
): string {
	if (type === OverwriteType.Role) {
		const name = guild.roles.cache.get(id)?.name ?? "unknown";
		return `role @${oneField(name).replace(/^@/, "")}`;
	}
	const member = guild.members.cache.get(id);
	if (!member) return "someone who is not a member";
	return `member ${oneField(member.displayName)} (@${oneField(member.user.username)})`;
}

/** The overwrites in which two channels differ. */
export function differingOverwrites(
	channel: Channel,
	other: Channel,
): PermissionOverwrites[] {
	const mine = channel.permissionOverwrites.cache;
	const theirs = other.permissionOverwrites.cache;
	return [...new Map([...mine, ...theirs]).values()].filter(({ id }) => {
		const before = overwriteOf(channel, id);
		const after = overwriteOf(other, id);
		return before.allow !== after.allow || before.deny !== after.deny;
	});
}

/** A line with a role's or member's overwrite before and after `channel` takes over the overwrites of `source`. */
export function changeLine(
	channel: Channel,
	source: Channel,
	overwrite: PermissionOverwrites,
): string {
	const { id } = overwrite;
	return `${overwriteName(channel.guild, overwrite)} | ID: ${id} | before: ${describeOverwrite(channel, id)} | after: ${describeOverwrite(source, id)}`;
}

function describeOverwrite(channel: Channel, id: string): string {
	if (!channel.permissionOverwrites.cache.has(id)) return "none";
	const { allow, deny } = overwriteOf(channel, id);
	return `allow ${describeBits(allow)}, deny ${describeBits(deny)}`;
}

/** Overwrites in Discord's form. */
interface RawOverwrites {
	permission_overwrites?:
		| readonly { id: string; allow: string; deny: string }[]
		| undefined;
}

export function rawOverwrites({ permissionOverwrites }: Channel) {
	return {
		permission_overwrites: [...permissionOverwrites.cache.values()].map(
			({ id, type, allow, deny }) => ({
				id,
				type,
				allow: String(allow.bitfield),
				deny: String(deny.bitfield),
			}),
		),
	};
}

/** The permissions whose overwrites differ between two channels. */
export function differenceOf(
	channel: RawOverwrites,
	other: RawOverwrites | undefined,
): bigint {
	const mine = channel.permission_overwrites ?? [];
	const theirs = other?.permission_overwrites ?? [];
	let bits = 0n;
	for (const id of new Set([...mine, ...theirs].map(({ id }) => id))) {
		const a = mine.find((overwrite) => overwrite.id === id);
		const b = theirs.find((overwrite) => overwrite.id === id);
		bits |= BigInt(a?.allow ?? 0) ^ BigInt(b?.allow ?? 0);
		bits |= BigInt(a?.deny ?? 0) ^ BigInt(b?.deny ?? 0);
	}
	return bits;
}
