// Permissions: names and bits, and checks before a request: of the bot's own permissions, and of those of the person in
// whose name a tool call acts.
// https://discord.com/developers/docs/topics/permissions

import {
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	type GuildMember,
	GuildMemberFlags,
	type GuildTextBasedChannel,
	type NonThreadGuildBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { type Overwrites, withOverwrites } from "../guild-document/names/overwrites.ts";
import { officialName, permissionNames } from "../guild-document/names/permission-names.ts";
import { ToolError } from "../lib/tool-error.ts";
import { actingPerson, currentPerson, isForPeople, isKnownInThread, type Standing } from "./acting-person.ts";
import { channelName, roleName, time } from "./describe.ts";

export type {
	Bits,
	Overwrites,
} from "../guild-document/names/overwrites.ts";
export {
	allBits,
	bitOf,
	bitsByName,
	officialName,
	permissionNames,
} from "../guild-document/names/permission-names.ts";

/** discord.js's name, such as "ViewChannel". */
export type Permission = keyof typeof PermissionFlagsBits;

export interface NeededWith<Args> {
	permission: Permission;
	/** The argument that requires the permission. */
	with: keyof Args & string;
	/** Suffices guild-wide instead. */
	orInGuild?: Permission;
	/** `memberId` is who needs it. Default: if the argument is present and neither false nor an empty list. */
	when?(args: Args, memberId: string, guild: Guild): boolean;
	/** Which argument requires the permission; undefined if that is obvious. */
	why?(args: Args, guild: Guild): string | undefined;
}

/** Needed through roles, whatever the overwrites of channels say. */
export interface NeededInGuild {
	permission: Permission;
	inGuild: true;
}

export type Needed<Args> = Permission | NeededWith<Args> | NeededInGuild;

/** Those that the bot, or `person`, needs for a call with these arguments. */
export function neededBy<Args extends object>(
	needed: readonly Needed<Args>[],
	args: Args,
	guild: Guild,
	person?: GuildMember,
): { permission: Permission; why?: string | undefined }[] {
	const { id } = person ?? guild.client.user;
	return needed.flatMap((entry) => {
		if (typeof entry === "string") return [{ permission: entry }];
		if ("inGuild" in entry) return [];
		if (isHeldInGuild(entry, guild, person)) return [];
		const isNeeded = entry.when?.(args, id, guild) ?? isPresent(args[entry.with]);
		return isNeeded ? [{ permission: entry.permission, why: entry.why?.(args, guild) }] : [];
	});
}

/** Whether `needed.orInGuild` is held, so that `needed.permission` in the channel is not needed. */
export function isHeldInGuild<Args>(needed: Needed<Args>, guild: Guild, person?: GuildMember): boolean {
	if (typeof needed === "string" || "inGuild" in needed || !needed.orInGuild) return false;
	const bit = PermissionFlagsBits[needed.orInGuild];
	const held = person ? personPermissions(person, undefined) : botPermissions(guild, undefined);
	return (held & bit) !== 0n;
}

function isPresent(value: unknown): boolean {
	const isEmpty = Array.isArray(value) && value.length === 0;
	return value !== undefined && value !== false && !isEmpty;
}

/** Separated by commas; "none" for 0. For people on Discord, as its settings show them. */
export function describeBits(bits: bigint): string {
	const names = permissionNames(bits);
	return (isForPeople() ? names.map(titleOf) : names).join(", ") || "none";
}

/** Where Discord's settings do not show the name as discord.js has it. */
const titles: Partial<Record<Permission, string>> = {
	ManageGuild: "Manage Server",
	ModerateMembers: "Timeout Members",
	ViewChannel: "View Channels",
	ManageGuildExpressions: "Manage Expressions",
	CreateGuildExpressions: "Create Expressions",
	UseExternalEmojis: "Use External Emoji",
	MentionEveryone: "Mention @everyone, @here, and All Roles",
	SendTTSMessages: "Send Text-to-Speech Messages",
	Stream: "Video",
	UseVAD: "Use Voice Activity",
	UseEmbeddedActivities: "Use Activities",
};

function permissionTitle(name: Permission): string {
	return titles[name] ?? name.replace(/([a-z])([A-Z])/g, "$1 $2");
}

const titleByName = new Map(
	(Object.keys(PermissionFlagsBits) as Permission[]).map((name) => [officialName(name), permissionTitle(name)]),
);

/** "Ban Members" for "BAN_MEMBERS". */
export function titleOf(name: string): string {
	return titleByName.get(name) ?? name;
}

/** Throws a ToolError if Discord has not sent the member yet. */
export function botMember(guild: Guild): GuildMember {
	const me = guild.members.me;
	if (me) return me;
	throw new ToolError(
		`The bot's own roles in the guild ${guild.id} are not loaded yet. Nothing was done; try again in a few seconds.`,
	);
}

/** Without a channel, guild-wide. Fewer during a timeout. */
export function botPermissions(guild: Guild, channel: GuildBasedChannel | undefined): bigint {
	const me = botMember(guild);
	const { bitfield } = channel?.permissionsFor(me) ?? me.permissions;
	// discord.js ignores timeouts. They do not limit administrators.
	return isTimedOut(me, bitfield) ? bitfield & permissionsInTimeout : bitfield;
}

/** An administrator's: all bits are set. */
export const everything = ~0n;

/** Like `botPermissions`, with all bits for an administrator. */
export function allowedToBot(guild: Guild, channel: GuildBasedChannel | undefined): bigint {
	return withEverything(botPermissions(guild, channel));
}

function withEverything(bits: bigint): bigint {
	return (bits & PermissionFlagsBits.Administrator) === 0n ? bits : everything;
}

/** Without a channel, guild-wide; all bits for an administrator; none in a channel that the person cannot see. */
export function personPermissions(person: GuildMember, channel: GuildBasedChannel | undefined): bigint {
	const standing = standingOf(person);
	const { readOnly } = standing;
	if (!channel) return readOnly ? standing.bits & permissionsInTimeout : standing.bits;
	if (standing.bits === everything) return everything;
	const bits = bitsInChannel(standing, channel);
	if (!isVisibleWith(bits, channel)) return 0n;
	return readOnly ? bits & permissionsInTimeout : bits;
}

function standingOf(member: GuildMember): Standing {
	const acting = currentPerson();
	const { guild } = member;
	const known = acting?.standings.get(guild.id);
	if (known?.member === member) return known;
	const standing = {
		member,
		bits: withEverything(member.permissions.bitfield),
		roleIds: new Set(member.roles.cache.keys()),
		readOnly: whyReadOnly(member),
	};
	if (acting?.id === member.id) acting.standings.set(guild.id, standing);
	return standing;
}

function bitsInChannel({ member, bits, roleIds }: Standing, channel: GuildBasedChannel): bigint {
	const source = channel.isThread() ? channel.parent : channel;
	if (!source) return 0n;
	const holder = { guildId: member.guild.id, roleIds, memberId: member.id };
	return withOverwrites(bits, holder, overwritesOf(source));
}

/** With these overwrites, and without removing those that depend on others. */
export function botBitsWith(
	guild: Guild,
	overwrites: Overwrites,
	inGuild = botMember(guild).permissions.bitfield,
): bigint {
	const { id: memberId, roles } = botMember(guild);
	const roleIds = new Set(roles.cache.keys());
	const holder = { guildId: guild.id, roleIds, memberId };
	return withOverwrites(inGuild, holder, overwrites);
}

function isVisibleWith(bits: bigint, channel: GuildBasedChannel): boolean {
	const { ManageThreads, ViewChannel } = PermissionFlagsBits;
	if ((bits & ViewChannel) === 0n) return false;
	return channel.type !== ChannelType.PrivateThread || (bits & ManageThreads) !== 0n || isKnownInThread(channel.id);
}

/** Those of the bot that the acting person has as well. */
export function allowed(guild: Guild, channel: GuildBasedChannel | undefined): bigint {
	const person = actingPerson(guild);
	const bits = allowedToBot(guild, channel);
	return person ? bits & personPermissions(person, channel) : bits;
}

export const permissionsInTimeout = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

function isTimedOut(member: GuildMember, bits: bigint): boolean {
	return member.isCommunicationDisabled() && (bits & PermissionFlagsBits.Administrator) === 0n;
}

const quarantined = [
	GuildMemberFlags.AutomodQuarantinedUsernameOrGuildNickname,
	GuildMemberFlags.AutoModQuarantinedGuildTag,
];

/**
 * Undefined if the person may do more, as the owner and administrators may.
 * https://discord.com/developers/docs/topics/permissions#permissions-for-timed-out-members
 */
export function whyReadOnly(person: GuildMember): string | undefined {
	if (isAdministrator(person)) return undefined;
	const { guild, flags } = person;
	if (person.isCommunicationDisabled())
		return `You are timed out in the guild ${guild.id} until ${time(person.communicationDisabledUntil)}, and can only read until then.`;
	if (person.pending)
		return `You have not completed the membership screening of the guild ${guild.id}, and can only read until then.`;
	if (flags.any(quarantined))
		return `You are quarantined by AutoMod in the guild ${guild.id}, and can only read until that ends.`;
	return undefined;
}

export function isAdministrator(member: GuildMember): boolean {
	return member.permissions.has(PermissionFlagsBits.Administrator);
}

/** In a thread, SendMessages becomes SendMessagesInThreads. */
export function bitsIn(
	channel: Pick<GuildBasedChannel, "isThread"> | undefined,
	permissions: readonly Permission[],
): bigint {
	const inThread = channel?.isThread() ?? false;
	return permissions.reduce((bits, name) => {
		const permission = inThread && name === "SendMessages" ? "SendMessagesInThreads" : name;
		return bits | PermissionFlagsBits[permission];
	}, 0n);
}

/** Of the needed permissions, as a bit field. */
export function missingForBot(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): bigint {
	return needed & ~allowedToBot(guild, channel);
}

/** Of the needed permissions, as a bit field. */
export function missingPermissions(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): bigint {
	return needed & ~allowed(guild, channel);
}

export function overwritesOf({ permissionOverwrites: { cache } }: NonThreadGuildBasedChannel): Overwrites {
	return new Map(cache.map(({ id, allow, deny }) => [id, { allow: allow.bitfield, deny: deny.bitfield }]));
}

/** To check before sending: Discord blocks bots that send many forbidden requests. */
export function missingToWrite(channel: GuildTextBasedChannel): bigint {
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages"]);
	return missingPermissions(channel.guild, channel, needed);
}

/**
 * Throws a ToolError unless bot and acting person have them all. `why` returns sentences that say what they are for.
 */
export function requirePermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why?: (missing: bigint) => readonly string[],
): void {
	const person = actingPerson(guild);
	if (person) requireOf(person, channel, needed, why);
	requireOfBot(guild, channel, needed, why);
}

/** As `requirePermissions`, for the bot alone. */
export function requireOfBot(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why: (missing: bigint) => readonly string[] = () => [],
): void {
	const missing = missingForBot(guild, channel, needed);
	if (missing === 0n) return;
	const me = botMember(guild);
	if (isTimedOut(me, botPermissions(guild, channel)))
		throw new ToolError(
			`The bot is timed out in the guild ${guild.id} until ${time(me.communicationDisabledUntil)}, and can only read until then. A moderator with MODERATE_MEMBERS can remove the timeout. Nothing was done.`,
		);
	throw new ToolError(
		[
			`The bot lacks ${describeBits(missing)} in ${nameOf(guild, channel)}.`,
			...why(missing),
			`${whoCanGrant(guild, channel)} Nothing was done.`,
		].join(" "),
	);
}

/** As `requirePermissions`, for a person alone. */
export function requireOf(
	person: GuildMember,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why: (missing: bigint) => readonly string[] = () => [],
): void {
	const missing = needed & ~personPermissions(person, channel);
	if (missing === 0n) return;
	const limit = whyReadOnly(person);
	if (limit && (missing & ~permissionsInTimeout) !== 0n) throw new ToolError(`${limit} Nothing was done.`);
	throw new ToolError(
		[
			`You lack ${describeBits(missing)} in ${nameOf(person.guild, channel)}.`,
			...why(missing),
			"Nothing was done.",
		].join(" "),
	);
}

/** As `requirePermissions`, for what the bot can do without, such as editing its own messages. */
export function requireOfPerson(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): void {
	const person = actingPerson(guild);
	if (person) requireOf(person, channel, needed);
}

/** True in calls by the bot's own rights. */
export function personHas(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): boolean {
	const person = actingPerson(guild);
	return !person || (needed & ~personPermissions(person, channel)) === 0n;
}

function nameOf(guild: Guild, channel: GuildBasedChannel | undefined): string {
	return channel ? channelName(channel) : `the guild ${guild.id} as a whole`;
}

/**
 * Throws a ToolError unless bot and acting person may allow or deny these: they need them themselves, or MANAGE_ROLES
 * by an overwrite of the channel.
 */
export function requireGrantable(guild: Guild, channel: GuildBasedChannel | "new" | undefined, bits: bigint): void {
	const person = actingPerson(guild);
	const { Administrator, ManageRoles } = PermissionFlagsBits;
	if (person && channel && (bits & ManageRoles) !== 0n)
		requireOf(person, undefined, Administrator, () => [
			"Only an administrator can allow or deny MANAGE_ROLES in a channel.",
		]);
	if (person)
		requireGrantableBy(person, personPermissions, channel, bits, (missing) => [
			`You can only give and deny permissions that you have yourself, and you lack ${missing}.`,
		]);
	const bot = botMember(guild);
	const ofBot = (_: GuildMember, place: GuildBasedChannel | undefined) => botPermissions(guild, place);
	requireGrantableBy(bot, ofBot, channel, bits, (missing) => [
		`The bot can only give and deny permissions that it has itself, and it lacks ${missing}.`,
		whoCanGrant(guild, undefined),
	]);
}

/** Those that bot and acting person may allow or deny in a channel's overwrites. */
export function grantableBits(guild: Guild, channel: GuildBasedChannel, bits: bigint): bigint {
	const person = actingPerson(guild);
	const missing = person ? missingToGrant(person, personPermissions, channel, bits) : 0n;
	const ofBot = (_: GuildMember, place: GuildBasedChannel | undefined) => botPermissions(guild, place);
	return bits & ~missing & ~missingToGrant(botMember(guild), ofBot, channel, bits);
}

type PermissionsOf = (member: GuildMember, place: GuildBasedChannel | undefined) => bigint;

function missingToGrant(
	member: GuildMember,
	permissionsOf: PermissionsOf,
	channel: GuildBasedChannel | "new" | undefined,
	bits: bigint,
): bigint {
	const { Administrator, ManageRoles } = PermissionFlagsBits;
	const inGuild = permissionsOf(member, undefined);
	if ((inGuild & Administrator) !== 0n) return 0n;
	if (
		channel &&
		channel !== "new" &&
		!channel.isThread() &&
		canManageOverwrites(member.guild, overwritesOf(channel), member)
	)
		return 0n;
	const inCategory = channel !== "new" && channel?.parent ? permissionsOf(member, channel.parent) : 0n;
	// A member with it in a channel can grant themselves everything there.
	const everywhere = channel ? bits & ManageRoles : 0n;
	return everywhere | (bits & ~(inGuild | inCategory));
}

function requireGrantableBy(
	member: GuildMember,
	permissionsOf: PermissionsOf,
	channel: GuildBasedChannel | "new" | undefined,
	bits: bigint,
	problem: (missing: string) => readonly string[],
): void {
	const missing = missingToGrant(member, permissionsOf, channel, bits);
	if (missing === 0n) return;
	if (channel && (missing & PermissionFlagsBits.ManageRoles) !== 0n)
		throw new ToolError("Only an administrator can allow or deny MANAGE_ROLES in a channel. Nothing was done.");
	const sentences = [...problem(describeBits(missing)), "Nothing was done."];
	throw new ToolError(sentences.join(" "));
}

/** Whether overwrites allow MANAGE_ROLES to a member, by default the bot, or a role of theirs except @everyone. */
export function canManageOverwrites(guild: Guild, overwrites: Overwrites, member = botMember(guild)): boolean {
	return [...overwrites].some(
		([id, { allow }]) =>
			(id === member.id || (id !== guild.id && member.roles.cache.has(id))) &&
			(allow & PermissionFlagsBits.ManageRoles) !== 0n,
	);
}

function whoCanGrant(guild: Guild, channel: GuildBasedChannel | undefined): string {
	const { roles } = botMember(guild);
	const role = roleName(roles.botRole ?? roles.highest);
	const here = channel ? ", or allow it to that role in the channel's own permissions" : "";
	return `The owner, or anyone with ${describeBits(PermissionFlagsBits.ManageRoles)} who ranks above ${role}, can give it to that role${here}.`;
}
