// Computes the effective permissions of a member or role, with the cause of each. Discord's steps in order; later ones win.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

import {
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	PermissionFlagsBits,
	type Role,
} from "discord.js";
import { type Bits, type Overwrites, withOverwrites } from "../guild-document/names/overwrites.ts";
import { ToolError } from "../lib/tool-error.ts";
import { channelName, roleName, time } from "./describe.ts";
import type { Channel } from "./find.ts";
import { allBits, isVoice, overwritesOf, permissionsInTimeout } from "./permissions.ts";

const {
	Administrator,
	AttachFiles,
	Connect,
	EmbedLinks,
	ManageThreads,
	MentionEveryone,
	SendMessages,
	SendMessagesInThreads,
	SendTTSMessages,
	ViewChannel,
} = PermissionFlagsBits;

export type Cause =
	| { kind: "owner" }
	/** Roles with ADMINISTRATOR. */
	| { kind: "administrator"; roles: readonly Role[] }
	/** Roles that grant the permission in the guild. */
	| { kind: "roles"; roles: readonly Role[] }
	| { kind: "role_overwrites"; roles: readonly Role[]; channel: Channel }
	| { kind: "member_overwrite"; memberId: string; channel: Channel }
	/** The permission has no effect without the one named `missing`. */
	| { kind: "implied"; missing: string }
	| { kind: "private_thread" }
	| { kind: "timeout"; until: Date | null };

/** For a role: a member who has only this role and @everyone. */
export interface Holder {
	/** Undefined for a role. */
	memberId: string | undefined;
	isOwner: boolean;
	/** With @everyone, highest first. */
	roles: readonly Role[];
	/** Undefined if the member is not timed out. */
	timedOutUntil: Date | null | undefined;
}

export interface Place {
	/** Undefined: guild-wide. */
	channel: GuildBasedChannel | undefined;
	/** Whose overwrites apply: of a thread, its parent. */
	source: Channel | undefined;
	overwrites: Overwrites;
	/** Of a private thread; undefined for others and if they are unknown. */
	threadMembers: ReadonlySet<string> | undefined;
}

interface Step {
	allow: bigint;
	deny: bigint;
	cause(bit: bigint): Cause;
}

export interface Computed {
	bits: bigint;
	/** Undefined if nothing allows or denies it. */
	causeOf(bit: bigint): Cause | undefined;
	/** Undefined if some permission may be missing. */
	everything: Cause | undefined;
}

export function holderOf(guild: Guild, subject: GuildMember | Role): Holder {
	if (!(subject instanceof GuildMember)) {
		const roles = highestFirst([guild.roles.everyone, subject]);
		return { memberId: undefined, isOwner: false, timedOutUntil: undefined, roles };
	}
	return {
		memberId: subject.id,
		isOwner: subject.id === guild.ownerId,
		roles: highestFirst([...subject.roles.cache.values()]),
		timedOutUntil: subject.isCommunicationDisabled() ? subject.communicationDisabledUntil : undefined,
	};
}

export function highestFirst(roles: readonly Role[]): Role[] {
	return [...new Set(roles)].sort((a, b) => b.comparePositionTo(a));
}

/** Throws a ToolError for a thread whose parent channel is not cached. */
export function placeOf(channel: GuildBasedChannel | undefined, threadMembers?: ReadonlySet<string>): Place {
	if (!channel) return { channel, source: undefined, overwrites: new Map(), threadMembers };
	const source = channel.isThread() ? channel.parent : channel;
	if (!source)
		throw new ToolError(
			`The bot cannot see the parent channel of the thread ${channelName(channel)}. Use list_channels to find the channels that the bot can see.`,
		);
	return { channel, source, overwrites: overwritesOf(source), threadMembers };
}

/** By Discord's algorithm. */
export function computePermissions(holder: Holder, place: Place): Computed {
	const { roles, timedOutUntil: until } = holder;
	const fromRoles: Step = {
		allow: roles.reduce((bits, entry) => bits | entry.permissions.bitfield, 0n),
		deny: 0n,
		cause: (bit) => ({ kind: "roles", roles: rolesWith(roles, bit) }),
	};
	const everything = causeOfAll(holder, fromRoles);
	if (everything) return { ...applySteps([{ allow: allBits, deny: 0n, cause: () => everything }]), everything };
	const steps: Step[] = [fromRoles];
	if (place.channel) {
		steps.push(...overwriteStep(fromRoles.allow, holder, place));
		// The following steps depend on the result so far.
		steps.push(privateThreadStep(holder, place, applySteps(steps).bits));
		steps.push(impliedStep(applySteps(steps).bits, place.channel));
	}
	if (until !== undefined)
		steps.push({
			allow: 0n,
			deny: applySteps(steps).bits & ~permissionsInTimeout,
			cause: () => ({ kind: "timeout", until }),
		});
	return { ...applySteps(steps), everything: undefined };
}

function applySteps(steps: readonly Step[]): Pick<Computed, "bits" | "causeOf"> {
	let bits = 0n;
	for (const { allow, deny } of steps) bits = (bits & ~deny) | allow;
	return { bits, causeOf: (bit) => steps.findLast(({ allow, deny }) => ((allow | deny) & bit) !== 0n)?.cause(bit) };
}

function rolesWith(roles: readonly Role[], bit: bigint): Role[] {
	return roles.filter((entry) => (entry.permissions.bitfield & bit) !== 0n);
}

function causeOfAll({ isOwner, roles }: Holder, { allow }: Step): Cause | undefined {
	if (isOwner) return { kind: "owner" };
	if ((allow & Administrator) === 0n) return undefined;
	return { kind: "administrator", roles: rolesWith(roles, Administrator) };
}

/** The overwrites for @everyone, then those for all other roles together, then the one for the member. */
function overwriteStep(before: bigint, { roles, memberId }: Holder, { source: channel, overwrites }: Place): Step[] {
	if (!channel || overwrites.size === 0) return [];
	const guildId = channel.guild.id;
	const roleIds = new Set(roles.map(({ id }) => id));
	const after = withOverwrites(before, { guildId, roleIds, memberId }, overwrites);
	const touched = ({ allow, deny }: Bits = { allow: 0n, deny: 0n }) => allow | deny;
	const own = overwrites.get(memberId ?? "");
	const all = roles.reduce((bits, { id }) => bits | touched(overwrites.get(id)), touched(own));
	const cause = (bit: bigint): Cause => {
		if (memberId && (touched(own) & bit) !== 0n) return { kind: "member_overwrite", memberId, channel };
		const touching = roles.filter(({ id }) => (touched(overwrites.get(id)) & bit) !== 0n);
		const others = touching.filter(({ id }) => id !== guildId);
		const among = others.length > 0 ? others : touching;
		// Among roles, allow wins over deny.
		const allowing = among.filter(({ id }) => ((overwrites.get(id)?.allow ?? 0n) & bit) !== 0n);
		return { kind: "role_overwrites", roles: allowing.length > 0 ? allowing : among, channel };
	};
	return [{ allow: all & after, deny: all & ~after, cause }];
}

/** Unless the members are unknown. https://discord.com/developers/docs/topics/threads#private-threads */
function privateThreadStep({ memberId }: Holder, { channel, threadMembers }: Place, bits: bigint): Step {
	const isHidden =
		channel?.type === ChannelType.PrivateThread &&
		threadMembers !== undefined &&
		!threadMembers.has(memberId ?? "") &&
		(bits & ManageThreads) === 0n;
	return { allow: 0n, deny: isHidden ? bits : 0n, cause: () => ({ kind: "private_thread" }) };
}

function impliedStep(bits: bigint, channel: GuildBasedChannel): Step {
	const without = (deny: bigint, missing: string): Step => ({
		allow: 0n,
		deny: bits & deny,
		cause: () => ({ kind: "implied", missing }),
	});
	if ((bits & ViewChannel) === 0n) return without(allBits, "VIEW_CHANNEL");
	if (isVoice(channel) && (bits & Connect) === 0n) return without(allBits & ~ViewChannel, "CONNECT");
	const [write, name] = channel.isThread()
		? [SendMessagesInThreads, "SEND_MESSAGES_IN_THREADS"]
		: [SendMessages, "SEND_MESSAGES"];
	if ((bits & write) !== 0n) return without(0n, name);
	return without(MentionEveryone | SendTTSMessages | AttachFiles | EmbedLinks, name);
}

export function describeCause(cause: Cause): string {
	switch (cause.kind) {
		case "owner":
			return "as the owner of the guild, who has all permissions";
		case "administrator":
			return `by ADMINISTRATOR, which bypasses channel permissions and timeouts, by ${nameRoles(cause.roles)}`;
		case "roles":
			return `by ${nameRoles(cause.roles)}`;
		case "role_overwrites":
			return `by the permissions of ${nameRoles(cause.roles)} in ${channelName(cause.channel)}`;
		case "member_overwrite":
			return `by the permissions of the member (ID: ${cause.memberId}) in ${channelName(cause.channel)}`;
		case "implied":
			return `because it has no effect without ${cause.missing}`;
		case "private_thread":
			return "because the thread is private: only its members and those with MANAGE_THREADS see it";
		case "timeout":
			return `by a timeout until ${time(cause.until)}`;
	}
}

const maxNamed = 3;

function nameRoles(roles: readonly Role[]): string {
	const names = roles.slice(0, maxNamed).map(roleName);
	const more = roles.length - names.length;
	return [...names, ...(more > 0 ? [`${more} more role(s)`] : [])].join(", ");
}
