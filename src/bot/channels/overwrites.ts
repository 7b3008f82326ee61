// Overwrites as channels have them: what one says of a role or a member, in words, and against another channel.

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

/** What a channel says of a role or a member. */
export function overwriteOf(channel: Channel, id: string): Bits {
	const overwrite = channel.permissionOverwrites.cache.get(id);
	return {
		allow: overwrite?.allow.bitfield ?? 0n,
		deny: overwrite?.deny.bitfield ?? 0n,
	};
}

/** Whose it is, by name. */
export function nameOf(
	guild: Guild,
	{ id, type }: PermissionOverwrites,
): string {
	if (type === OverwriteType.Role) {
		const name = guild.roles.cache.get(id)?.name ?? "unknown";
		return `role @${oneField(name).replace(/^@/, "")}`;
	}
	const member = guild.members.cache.get(id);
	if (!member) return "someone who is no member";
	return `member ${oneField(member.displayName)} (@${oneField(member.user.username)})`;
}

/** For whom two channels do not say the same. */
export function differing(
	one: Channel,
	other: Channel,
): PermissionOverwrites[] {
	const mine = one.permissionOverwrites.cache;
	const theirs = other.permissionOverwrites.cache;
	return [...new Map([...mine, ...theirs]).values()].filter(({ id }) => {
		const before = overwriteOf(one, id);
		const after = overwriteOf(other, id);
		return before.allow !== after.allow || before.deny !== after.deny;
	});
}

/** What becomes of someone's permissions in a channel that is given those of another, as a line. */
export function changeLine(
	channel: Channel,
	source: Channel,
	overwrite: PermissionOverwrites,
): string {
	const { id } = overwrite;
	return `${nameOf(channel.guild, overwrite)} | ID: ${id} | before: ${described(channel, id)} | after: ${described(source, id)}`;
}

/** What a channel says of someone, in words. */
function described(channel: Channel, id: string): string {
	if (!channel.permissionOverwrites.cache.has(id)) return "nothing";
	const { allow, deny } = overwriteOf(channel, id);
	return `allow ${describeBits(allow)}, deny ${describeBits(deny)}`;
}

/** What a channel says of roles and members, as Discord sends it. */
interface Overwritten {
	permission_overwrites?:
		| readonly { id: string; allow: string; deny: string }[]
		| undefined;
}

export function rawOverwrites({ permissionOverwrites }: Channel) {
	return {
		permission_overwrites: [...permissionOverwrites.cache.values()].map(
			({ id, type, allow, deny }) => ({
				...{ id, type },
				allow: String(allow.bitfield),
				deny: String(deny.bitfield),
			}),
		),
	};
}

/** The permissions of which one of two channels says something else than the other. */
export function differenceOf(
	one: Overwritten,
	other: Overwritten | undefined,
): bigint {
	const mine = one.permission_overwrites ?? [];
	const theirs = other?.permission_overwrites ?? [];
	let bits = 0n;
	for (const id of new Set([...mine, ...theirs].map((each) => each.id))) {
		const a = mine.find((each) => each.id === id);
		const b = theirs.find((each) => each.id === id);
		bits |= BigInt(a?.allow ?? 0) ^ BigInt(b?.allow ?? 0);
		bits |= BigInt(a?.deny ?? 0) ^ BigInt(b?.deny ?? 0);
	}
	return bits;
}
