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
	type VoiceBasedChannel,
} from "discord.js";
import { type Overwrites, withOverwrites } from "../guild-document/names/overwrites.ts";
import { officialName } from "../guild-document/names/permission-names.ts";
import { permissionNames } from "../guild-document/read/from-api.ts";
import { SaidError } from "../texts/said-error.ts";
import { inList, joined, render, type Said, said, type Text } from "../texts/texts.ts";
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
} from "../guild-document/names/permission-names.ts";
export { permissionNames };

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
	why?(args: Args, guild: Guild): Text | undefined;
}

/** Needed through roles, whatever the overwrites of channels say. */
interface NeededInGuild {
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
): { permission: Permission; why?: Text | undefined }[] {
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
	return (permissionsOf(person ?? botMember(guild), undefined) & PermissionFlagsBits[needed.orInGuild]) !== 0n;
}

function isPresent(value: unknown): boolean {
	const isEmpty = Array.isArray(value) && value.length === 0;
	return value !== undefined && value !== false && !isEmpty;
}

/** Separated by commas; "none" for 0. For models and logs; `withTitles` is what people read. */
export function describeBits(bits: bigint): string {
	return permissionNames(bits).join(", ") || "none";
}

const keyByName = new Map(
	(Object.keys(PermissionFlagsBits) as Permission[]).map((name) => [officialName(name), `permission.${name}` as const]),
);

/** What people read instead of a name such as BAN_MEMBERS. */
export function titleOf(name: string): Text {
	const key = keyByName.get(name);
	return key ? said(key) : name;
}

/** The message with `permissions`, which `describeBits` wrote, as Discord's settings show them. */
export function withTitles<One extends Text>(one: One): One {
	if (typeof one === "string" || typeof one.values.permissions !== "string") return one;
	const permissions = inList(one.values.permissions.split(", ").map(titleOf));
	return { key: one.key, values: { ...one.values, permissions } } as Text as One;
}

/** Throws a ToolError if Discord has not sent the member yet. */
export function botMember(guild: Guild): GuildMember {
	const me = guild.members.me;
	if (me) return me;
	throw new SaidError(said("refusal.offline"), {
		isFailure: true,
		models: `The bot's own roles in the guild ${guild.id} are not loaded yet. Nothing was done; try again in a few seconds.`,
	});
}

/** An administrator's: all bits are set. */
export const everything = ~0n;

/**
 * Without a channel, guild-wide; `everything` for an administrator; fewer for members who can only read. A person has
 * none in a channel that they cannot see. `granted`: of the guild besides, as by a role.
 */
export function permissionsOf(member: GuildMember, channel: GuildBasedChannel | undefined, granted = 0n): bigint {
	const known = standingOf(member);
	const standing = granted === 0n ? known : { ...known, bits: known.bits | granted };
	const bits = channel ? bitsInChannel(standing, channel) : standing.bits;
	return standing.readOnly ? bits & permissionsInTimeout : bits;
}

/** As `permissionsOf`. */
export function botPermissions(guild: Guild, channel: GuildBasedChannel | undefined): bigint {
	return permissionsOf(botMember(guild), channel);
}

function standingOf(member: GuildMember): Standing {
	const acting = currentPerson();
	const { guild } = member;
	const known = acting?.standings.get(guild.id);
	if (known?.member === member) return known;
	const isActing = acting?.id === member.id;
	const granted = isActing ? acting.granted(member) : 0n;
	const standing = {
		member,
		bits: isAdministrator(member) ? everything : member.permissions.bitfield | granted,
		roleIds: new Set(member.roles.cache.keys()),
		readOnly: whyReadOnly(member) !== undefined,
	};
	if (isActing) acting.standings.set(guild.id, standing);
	return standing;
}

function bitsInChannel({ member, bits, roleIds }: Standing, channel: GuildBasedChannel): bigint {
	const source = channel.isThread() ? channel.parent : channel;
	if (bits === everything || !source) return source ? bits : 0n;
	const holder = { guildId: member.guild.id, roleIds, memberId: member.id };
	const inChannel = withOverwrites(bits, holder, overwritesOf(source));
	return isBot(member) || isVisibleWith(inChannel, channel) ? inChannel : 0n;
}

function isBot({ id, client }: GuildMember): boolean {
	return id === client.user.id;
}

/** With these overwrites, and without removing those that depend on others. */
export function botBitsWith(
	guild: Guild,
	overwrites: Overwrites,
	inGuild = botMember(guild).permissions.bitfield,
): bigint {
	const { id: memberId, roles } = botMember(guild);
	const roleIds = new Set(roles.cache.keys());
	return withOverwrites(inGuild, { guildId: guild.id, roleIds, memberId }, overwrites);
}

function isVisibleWith(bits: bigint, channel: GuildBasedChannel): boolean {
	const { ManageThreads, ViewChannel } = PermissionFlagsBits;
	if ((bits & ViewChannel) === 0n) return false;
	return channel.type !== ChannelType.PrivateThread || (bits & ManageThreads) !== 0n || isKnownInThread(channel.id);
}

/** By whose permissions the running call acts: the acting person, if there is one, and the bot. */
export function actingMembers(guild: Guild): GuildMember[] {
	return [actingPerson(guild) ?? [], botMember(guild)].flat();
}

/** Those of the bot that the acting person has as well. */
export function allowed(guild: Guild, channel: GuildBasedChannel | undefined): bigint {
	return actingMembers(guild).reduce((bits, member) => bits & permissionsOf(member, channel), everything);
}

export const permissionsInTimeout = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.ReadMessageHistory;

const quarantined = [
	GuildMemberFlags.AutomodQuarantinedUsernameOrGuildNickname,
	GuildMemberFlags.AutoModQuarantinedGuildTag,
];

/**
 * Undefined if the member may do more, as the owner and administrators may.
 * https://discord.com/developers/docs/topics/permissions#permissions-for-timed-out-members
 */
export function whyReadOnly(member: GuildMember): SaidError | undefined {
	if (isAdministrator(member)) return undefined;
	const { guild, flags } = member;
	const because = (people: Said, why: string) => new SaidError(people, { models: `${why} Nothing was done.` });
	if (member.isCommunicationDisabled()) {
		const timedOut = `timed out in the guild ${guild.id} until ${time(member.communicationDisabledUntil)}, and can only read until then.`;
		const until = `<t:${Math.floor(member.communicationDisabledUntilTimestamp / 1_000)}:f>`;
		return isBot(member)
			? because(
					said("refusal.bot_timed_out", { until }),
					`The bot is ${timedOut} A moderator with MODERATE_MEMBERS can remove the timeout.`,
				)
			: because(said("refusal.timed_out", { until }), `You are ${timedOut}`);
	}
	if (member.pending)
		return because(
			said("refusal.screening"),
			`You have not completed the membership screening of the guild ${guild.id}, and can only read until then.`,
		);
	if (flags.any(quarantined))
		return because(
			said("refusal.quarantined"),
			`You are quarantined by AutoMod in the guild ${guild.id}, and can only read until that ends.`,
		);
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

/** By the type alone; discord.js's own check also needs a bitrate. */
export function isVoice(channel: GuildBasedChannel): channel is VoiceBasedChannel {
	return channel.type === ChannelType.GuildVoice || channel.type === ChannelType.GuildStageVoice;
}

/** Without these (VIEW_CHANNEL, in voice CONNECT) nothing is allowed in the channel; 0 without a channel. */
export function impliedIn(channel: GuildBasedChannel | undefined): bigint {
	if (!channel) return 0n;
	const { Connect, ViewChannel } = PermissionFlagsBits;
	return isVoice(channel) ? ViewChannel | Connect : ViewChannel;
}

/** Of the needed permissions, as a bit field. */
export function missingForBot(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): bigint {
	return needed & ~botPermissions(guild, channel);
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
	return missingPermissions(channel.guild, channel, bitsIn(channel, ["ViewChannel", "SendMessages"]));
}

/**
 * Throws a ToolError unless bot and acting person have them all. `why` returns sentences that say what they are for.
 */
export function requirePermissions(
	guild: Guild,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why?: (missing: bigint) => readonly Text[],
): void {
	for (const member of actingMembers(guild)) requireOf(member, channel, needed, why);
}

/** As `requirePermissions`, for one of the two. */
export function requireOf(
	member: GuildMember,
	channel: GuildBasedChannel | undefined,
	needed: bigint,
	why: (missing: bigint) => readonly Text[] = () => [],
): void {
	const missing = needed & ~permissionsOf(member, channel);
	if (missing === 0n) return;
	const { guild } = member;
	const limit = whyReadOnly(member);
	if (limit && (missing & ~permissionsInTimeout) !== 0n) throw limit;
	const place = channel ? channelName(channel) : `the guild ${guild.id} as a whole`;
	const reasons = why(missing);
	const models = [
		`${isBot(member) ? "The bot lacks" : "You lack"} ${describeBits(missing)} in ${place}.`,
		...reasons.map((text) => render(text, "en")),
		...(isBot(member) ? [whoCanGrant(guild, channel)] : []),
		...(isBot(member) && channel ? grantingTool(guild, channel, missing) : []),
		"Nothing was done.",
	].join(" ");
	const values = { permissions: describeBits(missing), where: channel ? `<#${channel.id}>` : said("refusal.server") };
	const people = joined([
		withTitles(said(isBot(member) ? "refusal.bot_lacks" : "refusal.you_lack", values)),
		...reasons.map((text) => said("refusal.reason", { text: withTitles(text) })),
		...(isBot(member) ? [saidWhoCanGrant(guild, channel)] : []),
	]);
	throw new SaidError(said("refusal.nothing_done", { why: people ?? "" }), { models });
}

/** As `requirePermissions`, for what the bot can do without, such as editing its own messages. */
export function requireOfPerson(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): void {
	const person = actingPerson(guild);
	if (person) requireOf(person, channel, needed);
}

/** True in calls by the bot's own rights. */
export function personHas(guild: Guild, channel: GuildBasedChannel | undefined, needed: bigint): boolean {
	const person = actingPerson(guild);
	return !person || (needed & ~permissionsOf(person, channel)) === 0n;
}

const onlyAdministrators = said("refusal.only_administrators", {
	permissions: describeBits(PermissionFlagsBits.ManageRoles),
});

/**
 * Throws a ToolError unless bot and acting person may allow or deny these: they need them themselves, or MANAGE_ROLES
 * by an overwrite of the channel.
 */
export function requireGrantable(guild: Guild, channel: GuildBasedChannel | "new" | undefined, bits: bigint): void {
	const { Administrator, ManageRoles } = PermissionFlagsBits;
	for (const member of actingMembers(guild)) {
		if (!isBot(member) && channel && (bits & ManageRoles) !== 0n)
			requireOf(member, undefined, Administrator, () => [onlyAdministrators]);
		const missing = missingToGrant(member, channel, bits);
		if (missing === 0n) continue;
		const permissions = describeBits(missing);
		const isAdministrators = channel && (missing & ManageRoles) !== 0n;
		const people = isAdministrators
			? onlyAdministrators
			: said(isBot(member) ? "refusal.bot_cannot_grant" : "refusal.cannot_grant", { permissions });
		const problem = isBot(member)
			? `The bot can only give and deny permissions that it has itself, and it lacks ${describeBits(missing)}. ${whoCanGrant(guild, undefined)}`
			: `You can only give and deny permissions that you have yourself, and you lack ${describeBits(missing)}.`;
		const models = `${isAdministrators ? render(onlyAdministrators, "en") : problem} Nothing was done.`;
		throw new SaidError(said("refusal.nothing_done", { why: withTitles(people) }), { models });
	}
}

/** Those that bot and acting person may allow or deny in a channel's overwrites. */
export function grantableBits(guild: Guild, channel: GuildBasedChannel, bits: bigint): bigint {
	return actingMembers(guild).reduce((kept, member) => kept & ~missingToGrant(member, channel, bits), bits);
}

function missingToGrant(member: GuildMember, channel: GuildBasedChannel | "new" | undefined, bits: bigint): bigint {
	const inGuild = permissionsOf(member, undefined);
	const place = channel === "new" ? undefined : channel;
	if (inGuild === everything) return 0n;
	if (place && !place.isThread() && canManageOverwrites(member.guild, overwritesOf(place), member)) return 0n;
	const inCategory = place?.parent ? permissionsOf(member, place.parent) : 0n;
	// A member with it in a channel can grant themselves everything there.
	const everywhere = channel ? bits & PermissionFlagsBits.ManageRoles : 0n;
	return everywhere | (bits & ~(inGuild | inCategory));
}

/** Whether overwrites allow MANAGE_ROLES to a member, by default the bot, or a role of theirs except @everyone. */
export function canManageOverwrites(guild: Guild, overwrites: Overwrites, member = botMember(guild)): boolean {
	return [...overwrites].some(
		([id, { allow }]) =>
			(id === member.id || (id !== guild.id && member.roles.cache.has(id))) &&
			(allow & PermissionFlagsBits.ManageRoles) !== 0n,
	);
}

/** How the bot can allow itself what it lacks in a channel. */
function grantingTool(guild: Guild, channel: GuildBasedChannel, missing: bigint): string[] {
	const place = channel.isThread() ? channel.parent : channel;
	const needed = PermissionFlagsBits.ManageRoles | impliedIn(place ?? undefined);
	if (!place || isForPeople() || missingPermissions(guild, place, needed) !== 0n) return [];
	if (grantableBits(guild, place, missing) !== missing) return [];
	return [
		`set_channel_permissions does that: channel_ids ${place.id}, target_ids ${botMember(guild).id}, allow ${describeBits(missing)}.`,
	];
}

function saidWhoCanGrant(guild: Guild, channel: GuildBasedChannel | undefined): Said {
	const { roles } = botMember(guild);
	const role = `<@&${(roles.botRole ?? roles.highest).id}>`;
	return said(channel ? "refusal.grant_here" : "refusal.grant", { role });
}

function whoCanGrant(guild: Guild, channel: GuildBasedChannel | undefined): string {
	const { roles } = botMember(guild);
	const role = roleName(roles.botRole ?? roles.highest);
	const here = channel ? ", or allow it to that role in the channel's own permissions" : "";
	return `The owner, or anyone with ${describeBits(PermissionFlagsBits.ManageRoles)} who ranks above ${role}, can give it to that role${here}.`;
}
