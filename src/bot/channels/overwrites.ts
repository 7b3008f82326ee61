// Permission overwrites of channels: reading, describing and comparing them.

import {
	type Guild,
	OverwriteType,
	type PermissionOverwrites,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { effectivePermissions } from "../discord/effective-permissions.ts";
import type { Channel } from "../discord/find.ts";
import {
	type Bits,
	botMember,
	canManageOverwrites,
	describeBits,
	type Overwrites,
	overwritesOf,
} from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";
import type { RawChannel } from "./channel-order.ts";

/** Returns a channel's permission overwrite for a role or member; zero bits if there is none. */
export function overwriteOf(channel: Channel, id: string): Bits {
	return overwritesOf(channel).get(id) ?? { allow: 0n, deny: 0n };
}

/**
 * Throws a ToolError if the bot could not undo a change of a channel's permission overwrites to `after`. That is the
 * case if the bot would lose MANAGE_ROLES in the channel (also by losing VIEW_CHANNEL or CONNECT), or the overwrite
 * that lets it set permissions which it does not have itself. Administrators keep all permissions.
 * https://discord.com/developers/docs/topics/permissions#implicit-permissions
 */
export function requireUndoable(channel: Channel, after: Overwrites): void {
	const { guild } = channel;
	const me = botMember(guild);
	const { decisions, reasonForEverything } = effectivePermissions(
		guild,
		me,
		channel,
		after,
	);
	if (reasonForEverything) return;
	const { allowed, why } =
		decisions.find(({ name }) => name === "MANAGE_ROLES") ?? {};
	const keepsOverwrite =
		canManageOverwrites(guild, after) ||
		!canManageOverwrites(guild, overwritesOf(channel));
	if (allowed && keepsOverwrite) return;
	const lost = allowed
		? "the overwrite with MANAGE_ROLES"
		: `MANAGE_ROLES${why ? `, ${why},` : ""}`;
	throw new ToolError(
		`This would take ${lost} in ${channelName(channel)} from the bot, which could not undo it. First allow the bot what it would lack there (target_type member, target_id ${me.id}), or let an administrator do this in Discord. Nothing was done.`,
	);
}

/** Returns the name of the role or member that a permission overwrite is for. */
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

/** Returns the permission overwrites in which two channels differ. */
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

/**
 * Describes in one line how a role's or member's permission overwrite changes when `channel` copies the overwrites of
 * `source`.
 */
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

/** A channel's permission overwrites as in Discord's API. */
type RawOverwrites = Pick<RawChannel, "permission_overwrites">;

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

export function readOverwrites({
	permission_overwrites = [],
}: RawOverwrites): Overwrites {
	return new Map(
		permission_overwrites.map(({ id, allow, deny }) => [
			id,
			{ allow: BigInt(allow), deny: BigInt(deny) },
		]),
	);
}

/** Returns the permissions, as a bit field, that the permission overwrites of two channels set differently. */
export function differenceOf(
	channel: RawOverwrites,
	other: RawOverwrites | undefined,
): bigint {
	const mine = readOverwrites(channel);
	const theirs = readOverwrites(other ?? {});
	let bits = 0n;
	for (const id of [...mine.keys(), ...theirs.keys()]) {
		const [a, b] = [mine.get(id), theirs.get(id)];
		bits |= (a?.allow ?? 0n) ^ (b?.allow ?? 0n);
		bits |= (a?.deny ?? 0n) ^ (b?.deny ?? 0n);
	}
	return bits;
}
