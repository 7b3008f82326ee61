// Checks what settings refer to: whether a channel or role exists, and whether the bot can use it. Changes nothing.

import { ChannelType, type Guild, type Role } from "discord.js";
import { channelName, guildName, roleName } from "../../discord/describe.ts";
import { bitsIn, describeBits, missingForBot, type Permission } from "../../discord/permissions.ts";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { isPublic, isVisible } from "../../discord/visible-channels.ts";
import { CheckFailed, type Found } from "../../lib/program/check.ts";

export interface Reference {
	key: string;
	to: "channel" | "role" | "given role";
	id: string;
	/** What the bot needs in the channel, besides VIEW_CHANNEL and SEND_MESSAGES. */
	needs: readonly Permission[];
	/** Where the id is set, such as "config.toml". */
	place: string;
}

const openLogWarning = "everyone can see it, so notes and the reasons of warnings are left out of the log there";

// Members must not see these channels.
const staffOnly: ReadonlySet<string> = new Set(["moderation.reports"]);

/** It must be in one of the guilds. Throws a CheckFailed. */
export function checkReference(reference: Reference, guilds: readonly Guild[]): Found {
	if (reference.to === "channel") return checkChannel(reference, guilds);
	return reference.to === "given role" ? checkRole(reference, guilds) : roleName(findRole(reference, guilds));
}

function checkRole(reference: Reference, guilds: readonly Guild[]): string {
	const role = findRole(reference, guilds);
	const problem = cannotGiveRoles(role.guild) ?? roleProblem(role.guild, role);
	if (problem === undefined) return roleName(role);
	throw new CheckFailed(
		problem,
		`Name another role in ${reference.place}, or in the guild's settings give the bot's role Manage Roles and drag it above ${roleName(role)}.`,
	);
}

function findRole({ id, place }: Reference, guilds: readonly Guild[]): Role {
	const role = guilds.map(({ roles }) => roles.cache.get(id)).find(Boolean);
	if (!role) throw notFound("role", id, guilds, place);
	return role;
}

function checkChannel({ key, id, needs, place }: Reference, guilds: readonly Guild[]) {
	const channel = guilds.map(({ channels }) => channels.cache.get(id)).find(Boolean);
	if (!channel) throw notFound("channel", id, guilds, place);
	// The name of a hidden channel is not for the person in whose name a tool checks the setup.
	const name = isVisible(channel) ? channelName(channel) : `channel ${id}`;
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (channel.type !== GuildText && channel.type !== GuildAnnouncement)
		throw new CheckFailed(`${name} is not a text channel`, `Name another channel in ${place}.`);
	const needed = bitsIn(channel, ["ViewChannel", "SendMessages", ...needs]);
	const missing = missingForBot(channel.guild, channel, needed);
	if (missing !== 0n)
		throw new CheckFailed(
			`the bot lacks ${describeBits(missing)} in ${name}`,
			"Allow the bot's role these permissions in the channel's settings (Permissions).",
		);
	if (staffOnly.has(key) && isPublic(channel))
		throw new CheckFailed(
			`@everyone can see ${name}, so reports are refused: its messages name those who report`,
			"In the channel's settings (Permissions), make it private for staff.",
		);
	if (key === "moderation.log_channel" && isPublic(channel)) return { warning: `${name}: ${openLogWarning}` };
	return name;
}

function notFound(what: string, id: string, guilds: readonly Guild[], place: string) {
	return new CheckFailed(
		`there is no ${what} ${id} in ${guilds.map(guildName).join(", ")}`,
		`In Discord with Developer Mode on, right-click the ${what}, copy its id, and put the id into ${place}.`,
	);
}
