// What someone may do in the end, and what decides it: Discord's steps one after the other, each beating those before it.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

import {
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	PermissionFlagsBits,
	type Role,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { channelName, time } from "./describe.ts";
import { isVoice } from "./find.ts";
import { allBits, bitsByName, leftInTimeout } from "./permissions.ts";
import { oneField } from "./text.ts";

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

/** What becomes of one permission. */
export interface Decision {
	name: string;
	allowed: boolean;
	/** What decides it; undefined where nothing allows it, and nothing denies it either. */
	why: string | undefined;
}

export interface Effective {
	bits: bigint;
	decisions: readonly Decision[];
	/** What allows everything at once, whatever a channel says. */
	all: string | undefined;
}

/** What one step does, of what the steps before it have left. */
interface Step {
	allow: bigint;
	deny: bigint;
	why(bit: bigint): string;
}

/**
 * What a member may do, or whoever has this role and no other; in a channel, or in the guild as a whole. In a thread its
 * parent's permissions count.
 */
export function effectivePermissions(
	guild: Guild,
	subject: GuildMember | Role,
	channel: GuildBasedChannel | undefined,
): Effective {
	const roles = rolesOf(guild, subject);
	const fromRoles = roleStep(roles);
	const all = whyAll(guild, subject, fromRoles);
	if (all !== undefined) {
		const everything: Step = { allow: allBits, deny: 0n, why: () => all };
		return { ...follow([everything]), all };
	}
	const steps: Step[] = [fromRoles];
	if (channel) {
		steps.push(...overwriteSteps(guild, subject, roles, channel));
		// What follows is no step where nothing is left to take.
		steps.push(impliedStep(follow(steps).bits, channel));
	}
	steps.push(timeoutStep(subject, follow(steps).bits));
	return { ...follow(steps), all: undefined };
}

function follow(steps: readonly Step[]): Omit<Effective, "all"> {
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

/** Everyone's role and the others, from the highest. */
function rolesOf(guild: Guild, subject: GuildMember | Role): Role[] {
	const held =
		subject instanceof GuildMember
			? [...subject.roles.cache.values()]
			: [guild.roles.everyone, subject];
	return [...new Set(held)].sort((a, b) => b.comparePositionTo(a));
}

function roleStep(roles: readonly Role[]): Step {
	return {
		allow: roles.reduce((bits, one) => bits | one.permissions.bitfield, 0n),
		deny: 0n,
		why: (bit) =>
			`by ${named(roles.filter((one) => (one.permissions.bitfield & bit) !== 0n))}`,
	};
}

function whyAll(
	guild: Guild,
	subject: GuildMember | Role,
	fromRoles: Step,
): string | undefined {
	if (subject.id === guild.ownerId)
		return "as the owner of the guild, whom nothing limits";
	if ((fromRoles.allow & Administrator) === 0n) return undefined;
	return `by ADMINISTRATOR, which no channel and no time-out limits, ${fromRoles.why(Administrator)}`;
}

/** The channel's own permissions: first everyone's, then those of all roles together, then the member's. */
function overwriteSteps(
	guild: Guild,
	subject: GuildMember | Role,
	roles: readonly Role[],
	channel: GuildBasedChannel,
): Step[] {
	const place = channel.isThread() ? channel.parent : channel;
	if (!place)
		throw new ToolError(
			`The bot does not know the channel that ${channelName(channel)} is in. list_channels shows those that it knows.`,
		);
	const { cache } = place.permissionOverwrites;
	const where = `in #${oneField(place.name)} (ID: ${place.id})`;
	const step = (ids: readonly string[], whose: (ids: string[]) => string) => {
		const given = ids.flatMap((id) => cache.get(id) ?? []);
		const bitsOf = (kind: "allow" | "deny") =>
			given.reduce((bits, one) => bits | one[kind].bitfield, 0n);
		const [allow, deny] = [bitsOf("allow"), bitsOf("deny")];
		return {
			allow,
			deny,
			why(bit: bigint) {
				// Among roles, one that allows beats those that deny.
				const kind = (allow & bit) !== 0n ? "allow" : "deny";
				const deciding = given.filter(
					(one) => (one[kind].bitfield & bit) !== 0n,
				);
				return `by the permissions of ${whose(deciding.map(({ id }) => id))} ${where}`;
			},
		};
	};
	const byRole = (ids: string[]) =>
		named(roles.filter(({ id }) => ids.includes(id)));
	const others = roles.filter(({ id }) => id !== guild.id);
	return [
		step([guild.id], byRole),
		step(
			others.map(({ id }) => id),
			byRole,
		),
		...(subject instanceof GuildMember
			? [step([subject.id], () => `the member (ID: ${subject.id})`)]
			: []),
	];
}

/** Without one of these, others count for nothing. */
function impliedStep(bits: bigint, channel: GuildBasedChannel): Step {
	const without = (deny: bigint, missing: string): Step => ({
		allow: 0n,
		deny: bits & deny,
		why: () => `because without ${missing} it counts for nothing there`,
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
		deny: timedOut ? bits & ~leftInTimeout : 0n,
		why: () =>
			`by a time-out until ${time(timedOut ? subject.communicationDisabledUntil : null)}`,
	};
}

const mostNamed = 3;

function named(roles: readonly Role[]): string {
	const shown = roles
		.slice(0, mostNamed)
		.map(({ name, id }) => `@${oneField(name).replace(/^@/, "")} (ID: ${id})`);
	const more = roles.length - shown.length;
	return [...shown, ...(more > 0 ? [`${more} more role(s)`] : [])].join(", ");
}
