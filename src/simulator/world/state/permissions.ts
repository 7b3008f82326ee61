// Permissions and role hierarchy, computed as Discord documents it.
// https://discord.com/developers/docs/topics/permissions

import { ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import { compareIds } from "../../../guild-document/names/ids.ts";
import {
	type Guild,
	type GuildChannel,
	type GuildPlace,
	isThread,
	isVoice,
	type Member,
	type Role,
	type Thread,
} from "./entities.ts";

export const allPermissions = Object.values(Permission).reduce((all, bit) => all | bit, 0n);

const needSendMessages =
	Permission.MentionEveryone | Permission.SendTTSMessages | Permission.AttachFiles | Permission.EmbedLinks;

const leftInTimeout = Permission.ViewChannel | Permission.ReadMessageHistory;

/** https://discord.com/developers/docs/topics/permissions#permissions-bitwise-permission-flags */
export const elevatedPermissions = bitsOf([
	"KickMembers",
	"BanMembers",
	"Administrator",
	"ManageChannels",
	"ManageGuild",
	"ManageMessages",
	"ManageRoles",
	"ManageWebhooks",
	"ManageGuildExpressions",
	"ManageThreads",
	"ViewCreatorMonetizationAnalytics",
]);

type PermissionName = keyof typeof Permission;
export type Needed = PermissionName | readonly PermissionName[] | bigint;

export function bitsOf(needed: Needed): bigint {
	if (typeof needed === "bigint") return needed;
	return typeof needed === "string" ? Permission[needed] : needed.reduce((bits, name) => bits | Permission[name], 0n);
}

export function has(permissions: bigint, needed: Needed): boolean {
	const bits = bitsOf(needed);
	return (permissions & bits) === bits;
}

export function guildPermissions(guild: Guild, userId: string): bigint {
	const member = guild.members.get(userId);
	if (!member) return 0n;
	return limitInTimeout(member, rolePermissions(guild, member));
}

function rolePermissions(guild: Guild, member: Member): bigint {
	if (guild.owner_id === member.user.id) return allPermissions;
	const granted = [guild.id, ...member.roles].reduce(
		(bits, id) => bits | BigInt(guild.roles.get(id)?.permissions ?? 0),
		0n,
	);
	return has(granted, "Administrator") ? allPermissions : granted;
}

function limitInTimeout({ communication_disabled_until: until }: Member, granted: bigint): bigint {
	const isTimedOut = until !== null && Date.parse(until) > Date.now();
	return isTimedOut && granted !== allPermissions ? granted & leftInTimeout : granted;
}

/** After overwrites. Threads use their parent's, with SEND_MESSAGES_IN_THREADS to send. 0n for non-members. */
export function channelPermissions(guild: Guild, place: GuildPlace, userId: string): bigint {
	const member = guild.members.get(userId);
	if (!member) return 0n;
	const base = rolePermissions(guild, member);
	if (base === allPermissions) return allPermissions;

	const channel = isThread(place) ? guild.channels.get(place.parent_id) : place;
	if (!channel) return 0n;
	const granted = applyOverwrites(base, guild, channel, member);
	const here = isThread(place) ? inThread(granted, place, userId) : granted;
	return limitInTimeout(member, withoutImplied(here, channel));
}

/** https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels */
export function isShown(guild: Guild, channel: GuildChannel, userId: string): boolean {
	if (has(channelPermissions(guild, channel, userId), "ViewChannel")) return true;
	if (guild.voiceStates.get(userId)?.channel_id === channel.id) return true;
	return (
		channel.type === ChannelType.GuildCategory &&
		guild.channels.values().some((one) => one.parent_id === channel.id && isShown(guild, one, userId))
	);
}

export function permissionsOfEveryone(guild: Guild, channel: GuildChannel): bigint {
	const base = BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
	if (has(base, "Administrator")) return allPermissions;
	const own = channel.permission_overwrites.find(({ id }) => id === guild.id);
	return withoutImplied((base & ~BigInt(own?.deny ?? 0)) | BigInt(own?.allow ?? 0), channel);
}

function inThread(granted: bigint, thread: Thread, userId: string): bigint {
	const hidden =
		thread.type === ChannelType.PrivateThread && !thread.members.has(userId) && !has(granted, "ManageThreads");
	if (hidden) return 0n;
	return has(granted, "SendMessagesInThreads") ? granted | Permission.SendMessages : granted & ~Permission.SendMessages;
}

// Overwrites apply in this order: @everyone, all roles together, the member.
function applyOverwrites(base: bigint, guild: Guild, channel: GuildChannel, member: Member): bigint {
	let granted = base;
	const apply = (applies: (id: string) => boolean) => {
		let allow = 0n;
		let deny = 0n;
		for (const overwrite of channel.permission_overwrites) {
			if (!applies(overwrite.id)) continue;
			allow |= BigInt(overwrite.allow);
			deny |= BigInt(overwrite.deny);
		}
		granted = (granted & ~deny) | allow;
	};
	apply((id) => id === guild.id);
	apply((id) => id !== guild.id && member.roles.includes(id));
	apply((id) => id === member.user.id);
	return granted;
}

function withoutImplied(granted: bigint, channel: GuildChannel): bigint {
	if (!has(granted, "ViewChannel")) return 0n;
	if (isVoice(channel) && !has(granted, "Connect")) return granted & Permission.ViewChannel;
	return has(granted, "SendMessages") ? granted : granted & ~needSendMessages;
}

export function compareRoles(a: Role, b: Role): number {
	return b.position - a.position || compareIds(a.id, b.id);
}

function highestRole(guild: Guild, member: Member): Role | undefined {
	return [guild.id, ...member.roles].flatMap((id) => guild.roles.get(id) ?? []).sort(compareRoles)[0];
}

export function isAboveRole(guild: Guild, actorId: string, role: Role): boolean {
	if (guild.owner_id === actorId) return true;
	const actor = guild.members.get(actorId);
	const highest = actor && highestRole(guild, actor);
	return highest !== undefined && compareRoles(highest, role) < 0;
}

/** As the guild's owner, or because of a higher highest role. Nobody ranks above the owner. */
export function isAboveMember(guild: Guild, actorId: string, target: Member): boolean {
	if (guild.owner_id === target.user.id) return false;
	const highest = highestRole(guild, target);
	return highest === undefined || isAboveRole(guild, actorId, highest);
}

/**
 * Whether a user may change permission bits in a channel's overwrites. Administrators, and users with an overwrite
 * of the channel that allows MANAGE_ROLES, may change all bits. All other users may change only bits that they have in the
 * guild or the channel's category, and never MANAGE_ROLES.
 */
export function mayOverwrite(guild: Guild, channel: GuildChannel | undefined, actorId: string, bits: bigint): boolean {
	const inGuild = guildPermissions(guild, actorId);
	if (has(inGuild, "Administrator")) return true;
	const member = guild.members.get(actorId);
	if (!member) return false;
	const grantedHere = channel?.permission_overwrites.some(
		(overwrite) =>
			(overwrite.id === actorId || member.roles.includes(overwrite.id)) && has(BigInt(overwrite.allow), "ManageRoles"),
	);
	if (grantedHere) return true;
	if ((bits & Permission.ManageRoles) !== 0n) return false;
	const parent = guild.channels.get(channel?.parent_id ?? "");
	return has(inGuild | (parent ? channelPermissions(guild, parent, actorId) : 0n), bits);
}
