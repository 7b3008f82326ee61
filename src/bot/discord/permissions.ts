// Permissions: names and bits, and checks of the bot's own permissions before a request.
// https://discord.com/developers/docs/topics/permissions

import {
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	type GuildTextBasedChannel,
	type NonThreadGuildBasedChannel,
	PermissionFlagsBits,
	PermissionsBitField,
} from "discord.js";
import {
	allBits,
	bitOf,
	permissionNames,
} from "../../guild-document/names/permission-names.ts";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName, roleName, time } from "./describe.ts";
import { oneLine } from "./text.ts";

export {
	allBits,
	bitsByName,
	officialName,
	permissionNames,
} from "../../guild-document/names/permission-names.ts";

/** discord.js's name of a Discord permission, such as "ViewChannel". */
export type Permission = keyof typeof PermissionFlagsBits;

/** A permission that a tool needs only for calls with a certain argument. */
export interface NeededWith<Args> {
	permission: Permission;
	/** Name of the tool argument that requires the permission. */
	with: keyof Args & string;
	/** A guild-wide permission of the bot that suffices instead of the needed permission in the channel. */
	orInGuild?: Permission;
	/**
	 * Whether a tool call with `args` needs the permission. Default: if the argument is present and neither false nor an
	 * empty list.
	 */
	when?(args: Args, botId: string, guild: Guild): boolean;
	/** Explains for the error message which argument requires the permission; undefined if that is obvious. */
	why?(args: Args, guild: Guild): string | undefined;
}

/** A permission that a tool needs for every call, or only for calls with a certain argument. */
export type Needed<Args> = Permission | NeededWith<Args>;

/** Returns the permissions among `needed` that a tool call with the arguments `args` requires in this guild. */
export function neededBy<Args extends object>(
	needed: readonly Needed<Args>[],
	args: Args,
	guild: Guild,
): { permission: Permission; why?: string | undefined }[] {
	const { id } = guild.client.user;
	return needed.flatMap((entry) => {
		if (typeof entry === "string") return [{ permission: entry }];
		if (isHeldInGuild(entry, guild)) return [];
		const isNeeded =
			entry.when?.(args, id, guild) ?? isPresent(args[entry.with]);
		return isNeeded
			? [{ permission: entry.permission, why: entry.why?.(args, guild) }]
			: [];
	});
}

/**
 * Whether the bot has the guild-wide permission `needed.orInGuild`. If so, the bot does not need `needed.permission` in
 * the channel.
 */
export function isHeldInGuild<Args>(
	needed: Needed<Args>,
	guild: Guild,
): boolean {
	if (typeof needed === "string" || !needed.orInGuild) return false;
	const bit = PermissionFlagsBits[needed.orInGuild];
	return (botPermissions(guild, undefined) & bit) !== 0n;
}

function isPresent(value: unknown): boolean {
	const isEmpty = Array.isArray(value) && value.length === 0;
	return value !== undefined && value !== false && !isEmpty;
}

/** The permissions of administrators and moderators, as a bit field. */
export const notablePermissions = PermissionsBitField.resolve([
	"Administrator",
	"BanMembers",
	"KickMembers",
	"ModerateMembers",
	"ManageGuild",
	"ManageRoles",
	"ManageChannels",
	"ManageMessages",
	"ManageThreads",
	"ManageWebhooks",
	"ManageNicknames",
	"ManageEvents",
	"ManageGuildExpressions",
	"ViewAuditLog",
	"MentionEveryone",
	"MuteMembers",
	"DeafenMembers",
	"MoveMembers",
]);

/** Returns Discord's names of the permissions in a bit field, separated by commas; "none" for 0. */
export function describeBits(bits: bigint): string {
	return permissionNames(bits).join(", ") || "none";
}

/**
 * Combines two tool arguments that set permissions: a bit field as a decimal string, and a list of permission names.
 * `fields` are the names of the two arguments, for errors. Returns undefined if both arguments are undefined. Throws an
 * RpcError for unknown bits or names.
 */
export function readBits(
	fields: readonly [decimal: string, names: string],
	decimal: string | undefined,
	names: readonly string[] | undefined,
): bigint | undefined {
	if (decimal === undefined && names === undefined) return undefined;
	let bits = BigInt(decimal ?? 0);
	const unknown = bits & ~allBits;
	if (unknown !== 0n)
		throw invalidParameters([
			`${fields[0]}: Discord has no permission for the bits ${unknown}`,
		]);
	for (const name of names ?? []) {
		const bit = bitOf(name);
		if (bit === undefined)
			throw invalidParameters([
				`${fields[1]}: Discord has no permission ${oneLine(JSON.stringify(name))}; expected a name such as VIEW_CHANNEL`,
			]);
		bits |= bit;
	}
	return bits;
}

/**
 * Converts a tool argument that lists permissions to a bit field. Its items are names such as VIEW_CHANNEL, or bit
 * fields as decimal strings. Throws an RpcError for unknown permissions; the error names the argument `field`.
 */
export function readPermissions(
	field: string,
	permissions: readonly string[],
): bigint {
	const decimal = permissions.filter((item) => /^\d{1,20}$/.test(item));
	const bits = decimal.reduce((all, item) => all | BigInt(item), 0n);
	const names = permissions.filter((item) => !decimal.includes(item));
	return readBits([field, field], String(bits), names) ?? 0n;
}

/** Returns the bot's own member in a guild. Throws a ToolError if Discord has not sent the member yet. */
export function botMember(guild: Guild): GuildMember {
	const me = guild.members.me;
	if (me) return me;
	throw new ToolError(
		`The bot's own roles in the guild ${guild.id} are not loaded yet. Nothing was done; try again in a few seconds.`,
	);
}

/**
 * Returns the bit field of the bot's permissions in a channel, or guild-wide without a channel. While the bot is timed
 * out in the guild, it has fewer permissions.
 */
export function botPermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): bigint {
	const me = botMember(guild);
	const { bitfield } = channel?.permissionsFor(me) ?? me.permissions;
	// discord.js ignores timeouts. They do not limit administrators.
	return isTimedOut(me, bitfield) ? bitfield & permissionsInTimeout : bitfield;
}

/**
 * The permissions of an administrator, as a bit field: all bits are set, because administrators have every permission.
 */
export const everything = ~0n;

/**
 * Returns the bot's permissions in a channel, or guild-wide without a channel. If the bot is an administrator, all bits
 * are set.
 */
export function allowed(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): bigint {
	const bits = botPermissions(guild, channel);
	return (bits & PermissionFlagsBits.Administrator) === 0n ? bits : everything;
}

/** The permissions that a member keeps during a timeout. */
export const permissionsInTimeout =
	PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

function isTimedOut(member: GuildMember, bits: bigint): boolean {
	return (
		member.isCommunicationDisabled() &&
		(bits & PermissionFlagsBits.Administrator) === 0n
	);
}

export function isAdministrator(member: GuildMember): boolean {
	return member.permissions.has(PermissionFlagsBits.Administrator);
}

/**
 * Converts permission names to a bit field for a channel. If the channel is a thread, SendMessages becomes
 * SendMessagesInThreads.
 */
export function bitsIn(
	channel: Pick<GuildBasedChannel, "isThread"> | undefined,
	permissions: readonly Permission[],
): bigint {
	const inThread = channel?.isThread() ?? false;
	return permissions.reduce((bits, name) => {
		const permission =
			inThread && name === "SendMessages" ? "SendMessagesInThreads" : name;
		return bits | PermissionFlagsBits[permission];
	}, 0n);
}

/**
 * Returns the needed permissions that the bot does not have in a channel, or guild-wide without a channel, as a bit
 * field; 0 if the bot is an administrator.
 */
export function missingPermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
): bigint {
	return needed & ~allowed(guild, channel);
}

/** The permission bits that a channel's permission overwrite allows and denies. */
export interface Bits {
	allow: bigint;
	deny: bigint;
}

/** A channel's permission overwrites, by the id of the role or member to which they apply. */
export type Overwrites = ReadonlyMap<string, Bits>;

export function overwritesOf({
	permissionOverwrites: { cache },
}: NonThreadGuildBasedChannel): Overwrites {
	return new Map(
		cache.map(({ id, allow, deny }) => [
			id,
			{ allow: allow.bitfield, deny: deny.bitfield },
		]),
	);
}

/**
 * Returns the permissions that the bot needs to send messages in a channel but does not have there, as a bit field.
 * Check this before sending, because Discord blocks bots that send many forbidden requests.
 */
export function missingToWrite(channel: GuildTextBasedChannel): bigint {
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages"]);
	return missingPermissions(channel.guild, channel, needed);
}

/**
 * Throws a ToolError unless the bot has all needed permissions in a channel, or guild-wide without a channel. `why`
 * returns sentences for the error text that explain why the missing permissions are needed.
 */
export function requirePermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why: (missing: bigint) => readonly string[] = () => [],
): void {
	const missing = missingPermissions(guild, channel, needed);
	if (missing === 0n) return;
	const me = botMember(guild);
	if (isTimedOut(me, botPermissions(guild, channel)))
		throw new ToolError(
			`The bot is timed out in the guild ${guild.id} until ${time(me.communicationDisabledUntil)}, and can only read until then. A moderator with MODERATE_MEMBERS can remove the timeout. Nothing was done.`,
		);
	const where = channel
		? channelName(channel)
		: `the guild ${guild.id} as a whole`;
	throw new ToolError(
		[
			`The bot lacks ${describeBits(missing)} in ${where}.`,
			...why(missing),
			`${whoCanGrant(guild, channel)} Nothing was done.`,
		].join(" "),
	);
}

/**
 * Throws a ToolError unless the bot may allow or deny certain permissions in a role or in a channel's overwrites. For
 * that, the bot needs the same permissions in the guild or the channel's category, or an overwrite of the channel that
 * allows the bot MANAGE_ROLES.
 */
export function requireGrantable(
	guild: Guild,
	channel: GuildBasedChannel | "new" | undefined,
	bits: bigint,
): void {
	const { Administrator, ManageRoles } = PermissionFlagsBits;
	const inGuild = botPermissions(guild, undefined);
	if ((inGuild & Administrator) !== 0n) return;
	if (
		channel &&
		channel !== "new" &&
		!channel.isThread() &&
		canManageOverwrites(guild, overwritesOf(channel))
	)
		return;
	const inCategory =
		channel !== "new" && channel?.parent
			? botPermissions(guild, channel.parent)
			: 0n;
	// A member with it in a channel can grant themselves everything there.
	if (channel && (bits & ManageRoles) !== 0n)
		throw new ToolError(
			"Only an administrator can allow or deny MANAGE_ROLES in a channel. Nothing was done.",
		);
	const missing = bits & ~(inGuild | inCategory);
	if (missing === 0n) return;
	throw new ToolError(
		`The bot can only give and deny permissions that it has itself, and it lacks ${describeBits(missing)}. ${whoCanGrant(guild, undefined)} Nothing was done.`,
	);
}

/**
 * Whether a channel's permission overwrites allow MANAGE_ROLES to the bot or to one of the bot's roles, except
 * @everyone.
 */
export function canManageOverwrites(
	guild: Guild,
	overwrites: Overwrites,
): boolean {
	const me = botMember(guild);
	return [...overwrites].some(
		([id, { allow }]) =>
			(id === me.id || (id !== guild.id && me.roles.cache.has(id))) &&
			(allow & PermissionFlagsBits.ManageRoles) !== 0n,
	);
}

function whoCanGrant(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): string {
	const { roles } = botMember(guild);
	const role = roleName(roles.botRole ?? roles.highest);
	const here = channel
		? ", or allow it to that role in the channel's own permissions"
		: "";
	return `The owner, or anyone with MANAGE_ROLES who ranks above ${role}, can give it to that role${here}.`;
}
