// Permission overwrites of channels: reading, describing and comparing them.

import {
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	OverwriteType,
	PermissionFlagsBits,
	type PermissionOverwrites,
} from "discord.js";
import { compareIds } from "../guild-document/names/ids.ts";
import { ToolError } from "../lib/tool-error.ts";
import { channelsFromTop } from "./channel-order.ts";
import { channelName, memberName, roleName } from "./describe.ts";
import type { Channel } from "./find.ts";
import { isObfuscated } from "./obfuscation.ts";
import {
	allBits,
	type Bits,
	botBitsWith,
	botMember,
	canManageOverwrites,
	describeBits,
	impliedIn,
	isAdministrator,
	type Overwrites,
	overwritesOf,
} from "./permissions.ts";
import { oneField } from "./text.ts";
import { isPublic, visibleChannel } from "./visible-channels.ts";

/** @everyone does not see its category. */
export function isInPrivateCategory({ parent }: Channel): boolean {
	return parent !== null && !isPublic(parent);
}

/** Zero bits if there is none. */
export function overwriteOf(channel: Channel, id: string): Bits {
	return overwritesOf(channel).get(id) ?? { allow: 0n, deny: 0n };
}

/**
 * Throws a ToolError if the bot could not undo a change of a channel's permission overwrites to `after`, because the
 * bot would lose a permission in the channel that it needs for that. `source` is the channel from which the overwrites
 * are taken. https://discord.com/developers/docs/topics/permissions#implicit-permissions
 */
export function requireUndoable(channel: Channel, after: Overwrites, source: GuildBasedChannel = channel): void {
	const { guild } = channel;
	const me = botMember(guild);
	if (isAdministrator(me)) return;
	const { ManageRoles } = PermissionFlagsBits;
	const missing = (overwrites: Overwrites) => (impliedIn(channel) | ManageRoles) & ~botBitsWith(guild, overwrites);
	const losesOverwrite = canManageOverwrites(guild, overwritesOf(channel)) && !canManageOverwrites(guild, after);
	if (missing(after) === 0n && !losesOverwrite) return;
	const lost = missing(after) || ManageRoles;
	const role = me.roles.botRole ?? me.roles.highest;
	// Whose overwrite keeps the access, and is not set by the change itself.
	const holder = [
		{ id: me.id, name: memberName(me) },
		{ id: role.id, name: roleName(role) },
	].find(({ id }) => {
		const { allow = 0n, deny = 0n } = after.get(id) ?? {};
		const before = overwriteOf(channel, id);
		const isSet = before.allow !== allow || before.deny !== deny;
		const isKept = missing(new Map([...after, [id, { allow: allow | lost, deny: deny & ~lost }]])) === 0n;
		return isKept && !(isSet && source === channel);
	});
	const what = missing(after) ? describeBits(lost) : "the overwrite with MANAGE_ROLES";
	const advice = holder
		? `First allow ${describeBits(lost)} in ${channelName(source)} to ${holder.name}, or let an administrator make the change in Discord.`
		: "An administrator can make the change in Discord.";
	throw new ToolError(
		`This change would take ${what} in ${channelName(channel)} from the bot, and the bot could not undo it. ${advice} Nothing was done.`,
	);
}

/** With one request, because the cache may be older than the latest edits. */
export async function fetchCurrent(guild: Guild, channels: readonly Channel[]): Promise<Channel[]> {
	const [first] = channels;
	const isAlone = channels.length === 1 && first?.type !== ChannelType.GuildCategory;
	if (isAlone && first) await guild.channels.fetch(first.id, { force: true });
	else await guild.channels.fetch();
	// Fetching updates the cached objects.
	return channels.map((channel) => (visibleChannel(guild, channel.id) as Channel) ?? channel);
}

/**
 * Returns the channels in a category that have the category's permission overwrites. Discord changes their overwrites
 * together with those of the category. https://discord.com/developers/docs/topics/permissions#permission-syncing
 */
export function syncedWith(category: Channel): Channel[] {
	return channelsFromTop(category.guild).filter(
		(channel) => channel.parentId === category.id && channel.permissionsLocked && !isObfuscated(channel),
	);
}

/** Without the id. The bot and its own role have similar names, so that they are told apart. */
export function overwriteName(guild: Guild, { id, type }: Pick<PermissionOverwrites, "id" | "type">): string {
	const { id: botId } = botMember(guild);
	if (type === OverwriteType.Role) {
		const role = guild.roles.cache.get(id);
		if (!role) return `deleted role ${id}`;
		return `${role.tags?.botId === botId ? "the bot's role " : ""}@${oneField(role.name).replace(/^@/, "")}`;
	}
	const member = guild.members.cache.get(id);
	if (!member) return `non-member ${id}`;
	return `${id === botId ? "the bot " : ""}${oneField(member.displayName)} (@${oneField(member.user.username)})`;
}

/** Roles from the highest down, then members. */
export function sortedOverwrites({ guild, permissionOverwrites }: Channel): PermissionOverwrites[] {
	const rankOf = ({ id }: PermissionOverwrites) => guild.roles.cache.get(id)?.position ?? -1;
	return [...permissionOverwrites.cache.values()].sort((a, b) => rankOf(b) - rankOf(a) || compareIds(a.id, b.id));
}

export function differingOverwrites(channel: Channel, other: Channel): PermissionOverwrites[] {
	const all = [...sortedOverwrites(channel), ...sortedOverwrites(other)];
	return [...new Map(all.map((one) => [one.id, one])).values()].filter(({ id }) => {
		const before = overwriteOf(channel, id);
		const after = overwriteOf(other, id);
		return before.allow !== after.allow || before.deny !== after.deny;
	});
}

/** Such as "SEND_MESSAGES neutral → denied, SPEAK denied → allowed"; "" if nothing changes. */
export function describeChange(before: Bits, after: Bits): string {
	const statesOf = ({ allow, deny }: Bits) =>
		[
			["allowed", allow],
			["neutral", ~(allow | deny)],
			["denied", deny],
		] as const;
	return statesOf(before)
		.flatMap(([from, had]) =>
			statesOf(after).map(([to, has]) => {
				const bits = from === to ? 0n : had & has & allBits;
				return bits !== 0n && `${describeBits(bits)} ${from} → ${to}`;
			}),
		)
		.filter(Boolean)
		.join(", ");
}

export function rawOverwrites({ permissionOverwrites }: Channel) {
	return {
		permission_overwrites: [...permissionOverwrites.cache.values()].map(({ id, type, allow, deny }) => ({
			id,
			type,
			allow: String(allow.bitfield),
			deny: String(deny.bitfield),
		})),
	};
}
