// Who may read an answer that came from tools. It is shown in a channel only if all who see the channel could have looked it up.

import {
	ChannelType,
	type GuildBasedChannel,
	type GuildMember,
	type GuildTextBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { permissionsOf } from "../../../discord/permissions.ts";
import { inSlices } from "../../../lib/slices.ts";
import { allGrantedBits, type Grants } from "../../settings/grants.ts";

const { ViewChannel, ManageThreads } = PermissionFlagsBits;
const sliceMs = 5;

/**
 * Whether everybody who sees the channel sees all channels that `asker` sees, and has all rights that they have, also in each
 * channel. Bots do not count. False if not all members are known, or if the asker may be in a private thread that others are not in.
 */
export async function mayAllKnow(
	channel: GuildTextBasedChannel,
	asker: GuildMember,
	{ hasAllMembers, grants }: { hasAllMembers: boolean; grants: Grants },
): Promise<boolean> {
	const { guild } = asker;
	if (!hasAllMembers) return false;
	const rightsOf = (member: GuildMember) => permissionsOf(member, undefined) | allGrantedBits(grants, member);
	const rights = rightsOf(asker);
	const channels = [...guild.channels.cache.values()].filter((one) => !one.isThread());
	const readable = channels.flatMap((one) => {
		const bits = permissionsOf(asker, one);
		return (bits & ViewChannel) === 0n ? [] : [{ one, bits }];
	});
	const manages = new Set(readable.flatMap(({ one, bits }) => ((bits & ManageThreads) === 0n ? [] : [one.id])));
	const isPrivateThread = ({ type, parentId }: GuildBasedChannel) =>
		type === ChannelType.PrivateThread && !manages.has(parentId ?? "");
	if (guild.channels.cache.some(isPrivateThread)) return false;
	const place = channel.isThread() ? channel.parent : channel;
	if (!place) return false;
	/** Members with the same roles see the same, but for overwrites of their own. */
	const known = new Set<string>();
	const own = new Set(channels.flatMap((one) => [...(one.permissionOverwrites?.cache.keys() ?? [])]));

	function* check(): Generator<undefined, boolean> {
		for (const member of guild.members.cache.values()) {
			yield;
			if (member.user.bot || member.id === asker.id) continue;
			const key =
				own.has(member.id) || member.id === guild.ownerId ? member.id : [...member.roles.cache.keys()].sort().join();
			if (known.has(key)) continue;
			known.add(key);
			if ((permissionsOf(member, place ?? undefined) & ViewChannel) === 0n) continue;
			if ((rightsOf(member) & rights) !== rights) return false;
			if (readable.some(({ one, bits }) => (permissionsOf(member, one) & bits) !== bits)) return false;
		}
		return true;
	}
	return inSlices(check(), sliceMs);
}
