// Checks what settings refer to: whether a channel or role exists, and whether the bot can use it. Changes nothing.

import { ChannelType, type Guild, PermissionFlagsBits, type Role } from "discord.js";
import { channelName, guildName, roleName } from "../../discord/describe.ts";
import { bitsIn, describeBits, missingForBot, type Permission } from "../../discord/permissions.ts";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { isPublic, isVisible } from "../../discord/visible-channels.ts";
import { CheckFailed, type Found } from "../../lib/program/check.ts";
import { serverLogs } from "./keys.ts";

export interface Reference {
	key: string;
	to: "channel" | "role" | "given role";
	id: string;
	/** What the bot needs in the channel, besides VIEW_CHANNEL and SEND_MESSAGES. */
	needs: readonly Permission[];
}

const openLogWarning = "everyone can see it, so notes and the reasons of warnings are left out of the log there";

const noLog = "nothing is logged there: its messages are for staff";

/** Members must not see these channels, and why. */
const staffOnly: ReadonlyMap<string, string> = new Map([
	["moderation.reports", "reports are refused: its messages name those who report"],
	...["messages", ...serverLogs].map((kind) => [`log.${kind}`, noLog] as const),
]);

/** Of any type, since the bot only looks at what is written there. */
const onlyRead: ReadonlySet<string> = new Set(["log.images", "log.ignored"]);

/** It must be in the guild. Throws a CheckFailed. */
export function checkReference(reference: Reference, guild: Guild): Found {
	if (reference.to === "channel") return checkChannel(reference, guild);
	if (reference.to === "given role") return checkRole(reference, guild);
	const role = findRole(reference, guild);
	const mayPing = role.mentionable || missingForBot(guild, undefined, PermissionFlagsBits.MentionEveryone) === 0n;
	if (reference.key === "night.ping_role" && !mayPing)
		return { warning: `the bot cannot ping ${roleName(role)}: let everyone mention it, or the bot Mention Everyone` };
	return roleName(role);
}

function checkRole(reference: Reference, guild: Guild): string {
	const role = findRole(reference, guild);
	const problem = cannotGiveRoles(role.guild) ?? roleProblem(role.guild, role);
	if (problem === undefined) return roleName(role);
	throw new CheckFailed(
		problem,
		`Name another role in the settings, or in the guild's settings give the bot's role Manage Roles and drag it above ${roleName(role)}.`,
	);
}

function findRole({ id }: Reference, guild: Guild): Role {
	const role = guild.roles.cache.get(id);
	if (!role) throw notFound("role", id, guild);
	return role;
}

function checkChannel({ key, id, needs }: Reference, guild: Guild) {
	const channel = guild.channels.cache.get(id);
	if (!channel) throw notFound("channel", id, guild);
	// The name of a hidden channel is not for the person in whose name a tool checks the setup.
	const name = isVisible(channel) ? channelName(channel) : `channel ${id}`;
	if (onlyRead.has(key)) return name;
	if (channel.type !== ChannelType.GuildText && channel.type !== ChannelType.GuildAnnouncement)
		throw new CheckFailed(`${name} is not a text channel`, "Name another channel in the settings.");
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages", ...needs]);
	const missing = missingForBot(channel.guild, channel, needed);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${name}`,
			"Allow the bot's role these permissions in the channel's settings (Permissions).",
		);
	const why = staffOnly.get(key);
	if (why !== undefined && isPublic(channel))
		throw new CheckFailed(
			`@everyone can see ${name}, so ${why}`,
			"In the channel's settings (Permissions), make it private for staff.",
		);
	if (key === "moderation.log_channel" && isPublic(channel)) return { warning: `${name}: ${openLogWarning}` };
	return name;
}

function notFound(what: string, id: string, guild: Guild) {
	return new CheckFailed(`there is no ${what} ${id} in ${guildName(guild)}`, `Name another ${what} in the settings.`);
}
