// Computes the effective permissions of a member or role, with the reason for each. Discord's steps in order; later ones win.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

import {
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	PermissionFlagsBits,
	type Role,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName, roleName, time } from "./describe.ts";
import { isVoice } from "./find.ts";
import {
	allBits,
	bitsByName,
	type Overwrites,
	overwritesOf,
	permissionsInTimeout,
} from "./permissions.ts";

const {
	Administrator,
	AttachFiles,
	Connect,
	EmbedLinks,
	MentionEveryone,
	SendMessages,
	SendMessagesInThreads,
	SendTTSMessages,
	ViewChannel,
} = PermissionFlagsBits;

/** Whether a member or role has a certain permission, and why. */
export interface Decision {
	name: string;
	allowed: boolean;
	/** Why the permission is allowed or denied; undefined if nothing allows or denies it. */
	why: string | undefined;
}

export interface Effective {
	bits: bigint;
	decisions: readonly Decision[];
	/** Why the member or role has all permissions in every channel; undefined if some may be missing. */
	reasonForEverything: string | undefined;
}

/**
 * One step of Discord's algorithm that computes permissions. It removes the bits in `deny`, then adds the bits in
 * `allow`.
 */
interface Step {
	allow: bigint;
	deny: bigint;
	why(bit: bigint): string;
}

/**
 * Computes the permissions of `subject` in a channel; guild-wide if `channel` is undefined. For a role, they are those
 * of a member who has only this role and @everyone. A thread has the permissions of its parent channel. `overwrites`
 * replaces the channel's own permission overwrites.
 */
export function effectivePermissions(
	guild: Guild,
	subject: GuildMember | Role,
	channel: GuildBasedChannel | undefined,
	overwrites?: Overwrites,
): Effective {
	const roles = rolesOf(guild, subject);
	const fromRoles = roleStep(roles);
	const reasonForEverything = reasonForAll(guild, subject, fromRoles);
	if (reasonForEverything !== undefined) {
		const why = () => reasonForEverything;
		const everything = { allow: allBits, deny: 0n, why };
		return { ...applySteps([everything]), reasonForEverything };
	}
	const steps: Step[] = [fromRoles];
	if (channel) {
		steps.push(...overwriteSteps(guild, subject, roles, channel, overwrites));
		// Depends on the result so far.
		steps.push(impliedStep(applySteps(steps).bits, channel));
	}
	steps.push(timeoutStep(subject, applySteps(steps).bits));
	return { ...applySteps(steps), reasonForEverything: undefined };
}

function applySteps(
	steps: readonly Step[],
): Omit<Effective, "reasonForEverything"> {
	let bits = 0n;
	for (const { allow, deny } of steps) bits = (bits & ~deny) | allow;
	const decisions = [...bitsByName].map(([name, bit]) => {
		const last = steps.findLast(
			({ allow, deny }) => ((allow | deny) & bit) !== 0n,
		);
		return { name, allowed: (bits & bit) !== 0n, why: last?.why(bit) };
	});
	return { bits, decisions };
}

/** Returns the roles of a member, or the given role, together with @everyone, highest role first. */
function rolesOf(guild: Guild, subject: GuildMember | Role): Role[] {
	const held =
		subject instanceof GuildMember
			? [...subject.roles.cache.values()]
			: [guild.roles.everyone, subject];
	return [...new Set(held)].sort((a, b) => b.comparePositionTo(a));
}

function roleStep(roles: readonly Role[]): Step {
	return {
		allow: roles.reduce((bits, entry) => bits | entry.permissions.bitfield, 0n),
		deny: 0n,
		why: (bit) =>
			`by ${nameRoles(roles.filter((entry) => (entry.permissions.bitfield & bit) !== 0n))}`,
	};
}

function reasonForAll(
	guild: Guild,
	subject: GuildMember | Role,
	fromRoles: Step,
): string | undefined {
	if (subject.id === guild.ownerId)
		return "as the owner of the guild, who has all permissions";
	if ((fromRoles.allow & Administrator) === 0n) return undefined;
	return `by ADMINISTRATOR, which bypasses channel permissions and timeouts, ${fromRoles.why(Administrator)}`;
}

/**
 * Returns the steps of Discord's permission algorithm that apply a channel's permission overwrites: for @everyone, then
 * for all other roles together, then for the member.
 */
function overwriteSteps(
	guild: Guild,
	subject: GuildMember | Role,
	roles: readonly Role[],
	channel: GuildBasedChannel,
	given: Overwrites | undefined,
): Step[] {
	const overwriteChannel = channel.isThread() ? channel.parent : channel;
	if (!overwriteChannel)
		throw new ToolError(
			`The parent channel of ${channelName(channel)} is not in the cache. Use list_channels to find the channels that the bot can see.`,
		);
	const all = given ?? overwritesOf(overwriteChannel);
	const where = `in ${channelName(overwriteChannel)}`;
	const step = (ids: readonly string[], whose: (ids: string[]) => string) => {
		const bitsOf = (kind: "allow" | "deny") =>
			ids.reduce((bits, id) => bits | (all.get(id)?.[kind] ?? 0n), 0n);
		const [allow, deny] = [bitsOf("allow"), bitsOf("deny")];
		return {
			allow,
			deny,
			why(bit: bigint) {
				// Among roles, allow wins over deny.
				const kind = (allow & bit) !== 0n ? "allow" : "deny";
				const deciding = ids.filter(
					(id) => ((all.get(id)?.[kind] ?? 0n) & bit) !== 0n,
				);
				return `by the permissions of ${whose(deciding)} ${where}`;
			},
		};
	};
	const byRole = (ids: string[]) =>
		nameRoles(roles.filter(({ id }) => ids.includes(id)));
	const others = roles.map(({ id }) => id).filter((id) => id !== guild.id);
	return [
		step([guild.id], byRole),
		step(others, byRole),
		...(subject instanceof GuildMember
			? [step([subject.id], () => `the member (ID: ${subject.id})`)]
			: []),
	];
}

/**
 * Returns the permissions without which a member can do nothing in the channel: VIEW_CHANNEL, and CONNECT in a voice
 * channel; 0 if `channel` is undefined.
 */
export function impliedIn(channel: GuildBasedChannel | undefined): bigint {
	if (!channel) return 0n;
	return isVoice(channel) ? ViewChannel | Connect : ViewChannel;
}

/**
 * Returns the step of the permission algorithm that removes permissions which depend on a missing one, such as
 * ATTACH_FILES without SEND_MESSAGES.
 */
function impliedStep(bits: bigint, channel: GuildBasedChannel): Step {
	const without = (deny: bigint, missing: string): Step => ({
		allow: 0n,
		deny: bits & deny,
		why: () => `because it has no effect without ${missing}`,
	});
	if ((bits & ViewChannel) === 0n) return without(allBits, "VIEW_CHANNEL");
	if (isVoice(channel) && (bits & Connect) === 0n)
		return without(allBits & ~ViewChannel, "CONNECT");
	const [write, name] = channel.isThread()
		? [SendMessagesInThreads, "SEND_MESSAGES_IN_THREADS"]
		: [SendMessages, "SEND_MESSAGES"];
	if ((bits & write) !== 0n) return without(0n, name);
	return without(
		MentionEveryone | SendTTSMessages | AttachFiles | EmbedLinks,
		name,
	);
}

function timeoutStep(subject: GuildMember | Role, bits: bigint): Step {
	const timedOut =
		subject instanceof GuildMember && subject.isCommunicationDisabled();
	return {
		allow: 0n,
		deny: timedOut ? bits & ~permissionsInTimeout : 0n,
		why: () =>
			`by a timeout until ${time(timedOut ? subject.communicationDisabledUntil : null)}`,
	};
}

const maxNamed = 3;

function nameRoles(roles: readonly Role[]): string {
	const names = roles.slice(0, maxNamed).map(roleName);
	const more = roles.length - names.length;
	return [...names, ...(more > 0 ? [`${more} more role(s)`] : [])].join(", ");
}
