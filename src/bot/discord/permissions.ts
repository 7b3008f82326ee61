// Permissions: their names and bits, and what the bot must be allowed before Discord is asked.
// https://discord.com/developers/docs/topics/permissions

import {
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	type GuildTextBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { channelName, roleName, time } from "./describe.ts";
import { oneLine } from "./text.ts";

/** discord.js's name of a permission, as tools declare it. */
export type Permission = keyof typeof PermissionFlagsBits;

/** A permission that a tool needs with some of its arguments only. */
export interface NeededWith<Args> {
	permission: Permission;
	/** The argument that it is needed with. */
	with: keyof Args & string;
	/** A permission in the guild as a whole that will do instead, in channels that the bot does not see as well. */
	orInGuild?: Permission;
	/** When it is; without this, when the argument is given and neither false nor empty. */
	when?(args: Args, botId: string, guild: Guild): boolean;
	/** What of the arguments needs it, for whoever is refused; undefined where that needs no words. */
	why?(args: Args, guild: Guild): string | undefined;
}

/** A permission that a tool needs, always or with some of its arguments. */
export type Needed<Args> = Permission | NeededWith<Args>;

/** Those of `needed` that a call with these arguments in this guild cannot do without, each with why, if that is said. */
export function neededBy<Args extends object>(
	needed: readonly Needed<Args>[],
	args: Args,
	guild: Guild,
): { permission: Permission; why?: string | undefined }[] {
	const { id } = guild.client.user;
	return needed.flatMap((one) => {
		if (typeof one === "string") return [{ permission: one }];
		if (isHeldInGuild(one, guild)) return [];
		const isNeeded = one.when?.(args, id, guild) ?? isGiven(args[one.with]);
		return isNeeded
			? [{ permission: one.permission, why: one.why?.(args, guild) }]
			: [];
	});
}

/** Whether the bot holds, in the guild as a whole, what does instead of this one. */
export function isHeldInGuild<Args>(
	needed: Needed<Args>,
	guild: Guild,
): boolean {
	if (typeof needed === "string" || !needed.orInGuild) return false;
	const bit = PermissionFlagsBits[needed.orInGuild];
	return (botPermissions(guild, undefined) & bit) !== 0n;
}

function isGiven(value: unknown): boolean {
	const isEmpty = Array.isArray(value) && value.length === 0;
	return value !== undefined && value !== false && !isEmpty;
}

/** Bit by Discord's own name, such as VIEW_CHANNEL. Where discord.js has two names for a bit, its newer one. */
export const bitsByName: ReadonlyMap<string, bigint> = new Map(
	[
		...new Map(
			Object.entries(PermissionFlagsBits).map(([name, bit]) => [
				bit,
				officialName(name),
			]),
		),
	].map(([bit, name]) => [name, bit]),
);

export const allBits = [...bitsByName.values()].reduce(
	(all, bit) => all | bit,
	0n,
);

/** discord.js's name of a thing as Discord writes it: "SendTTSMessages" → "SEND_TTS_MESSAGES". */
export function officialName(name: string): string {
	return name
		.replace(/([a-z])([A-Z])/g, "$1_$2")
		.replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
		.toUpperCase();
}

/** Discord's names of the permissions in `bits`. */
export function permissionNames(bits: bigint): string[] {
	return [...bitsByName]
		.filter(([, bit]) => (bits & bit) !== 0n)
		.map(([name]) => name);
}

/** The same as text, "none" for no bits. */
export function describeBits(bits: bigint): string {
	return permissionNames(bits).join(", ") || "none";
}

/**
 * The bits that two arguments give together, called in `fields`: `decimal`, the bit field as a decimal string, and
 * `names`. Undefined where neither is given. Throws an RpcError that names the argument for bits and names that Discord
 * does not have.
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
		const bit = bitsByName.get(name.trim().toUpperCase());
		if (bit === undefined)
			throw invalidParameters([
				`${fields[1]}: Discord has no permission ${oneLine(JSON.stringify(name))}; names are such as VIEW_CHANNEL`,
			]);
		bits |= bit;
	}
	return bits;
}

/** The bot as a member. It is in the cache from the moment that its guild is. */
export function botMember(guild: Guild): GuildMember {
	const me = guild.members.me;
	if (me) return me;
	throw new ToolError(
		`Discord has not yet told the bot of its own roles in the guild ${guild.id}. Nothing was done; try again in a few seconds.`,
	);
}

/** What the bot may do in a channel, or in the guild as a whole. */
export function botPermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): bigint {
	const me = botMember(guild);
	const { bitfield } = channel?.permissionsFor(me) ?? me.permissions;
	// discord.js leaves time-outs out of its reckoning. An administrator is not bound by one.
	return isTimedOut(me, bitfield) ? bitfield & leftInTimeout : bitfield;
}

/** What an administrator may do. */
export const everything = ~0n;

/** What the bot may do in a channel, or in the guild as a whole; an administrator, everything. */
export function allowed(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): bigint {
	const bits = botPermissions(guild, channel);
	return (bits & PermissionFlagsBits.Administrator) === 0n ? bits : everything;
}

/** What a member who is timed out is left with. */
export const leftInTimeout =
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

/** The bits of these permissions, as the channel asks for them: writing takes another one in threads. */
export function bitsIn(
	channel: Pick<GuildBasedChannel, "isThread"> | undefined,
	permissions: readonly Permission[],
): bigint {
	const inThread = channel?.isThread() ?? false;
	return permissions.reduce((bits, name) => {
		const asked =
			inThread && name === "SendMessages" ? "SendMessagesInThreads" : name;
		return bits | PermissionFlagsBits[asked];
	}, 0n);
}

/** Those of `needed` that the bot lacks in a channel, or in the guild as a whole; whoever holds ADMINISTRATOR lacks none. */
export function missingPermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
): bigint {
	return needed & ~allowed(guild, channel);
}

/** What the bot lacks to write in a channel. What it asks of Discord all the same, and is refused, counts against it. */
export function missingToWrite(channel: GuildTextBasedChannel): bigint {
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages"]);
	return missingPermissions(channel.guild, channel, needed);
}

/**
 * Throws the ToolError to show unless the bot has these permissions; whoever holds ADMINISTRATOR has all. `why` says what
 * needs those that are missing.
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
			`The bot is timed out in the guild ${guild.id} until ${time(me.communicationDisabledUntil)}, and may only read. Someone who may time members out has to lift that. Nothing was done.`,
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
 * Throws the ToolError to show unless the bot may hand out, or take away, these permissions: to a role, those that it
 * has itself; in a channel, those that it has in the guild or the category, unless the channel lets it manage permissions;
 * in a new one, those that it has in the guild.
 */
export function requireGrantable(
	guild: Guild,
	channel: GuildBasedChannel | "new" | undefined,
	bits: bigint,
): void {
	const { Administrator, ManageRoles } = PermissionFlagsBits;
	const inGuild = botPermissions(guild, undefined);
	if ((inGuild & Administrator) !== 0n) return;
	if (channel !== "new" && letsBotManage(guild, channel)) return;
	const inCategory =
		channel !== "new" && channel?.parent
			? botPermissions(guild, channel.parent)
			: 0n;
	// Whoever has it in a channel can give themselves everything there.
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

/** Whether the channel's own permissions allow MANAGE_ROLES to the bot or one of its roles. */
function letsBotManage(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
): boolean {
	if (!channel || channel.isThread()) return false;
	const me = botMember(guild);
	return channel.permissionOverwrites.cache.some(
		({ id, allow }) =>
			(id === me.id || (id !== guild.id && me.roles.cache.has(id))) &&
			(allow.bitfield & PermissionFlagsBits.ManageRoles) !== 0n,
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
