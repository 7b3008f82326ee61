// Who may use a command or button, for listing, rate limits and forms. Tools check it again.

import {
	GuildMember,
	type GuildTextBasedChannel,
	type Interaction,
	PermissionFlagsBits,
	type RepliableInteraction,
} from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { type Grants, isGranted, type ModeratorAction, moderatorActions } from "../settings/grants.ts";

const maxRoles = 5;

/** With neither, everyone may use it. Does not authorize: tools do that. */
export interface Restricted {
	/** To see the command on Discord and in `help`. */
	permission?: Permission | undefined;
	/** In place of `permission`: the action's permission, or a grant of the guild. */
	may?: ModeratorAction | undefined;
}

export function permissionOf({ permission, may }: Restricted): Permission | undefined {
	return may ? moderatorActions[may][0] : permission;
}

/** In the guild, or the channel where the command is used. */
export type Holds = (command: Restricted) => boolean;

function holdsWith(grants: Grants, member: unknown, has: (bit: bigint) => boolean | undefined): Holds {
	return (command) => {
		const permission = permissionOf(command);
		if (permission === undefined || isGranted(grants, member, command.may)) return true;
		return has(PermissionFlagsBits[permission]) === true;
	};
}

export function holdsOf(
	grants: Grants,
	member: GuildMember,
	channel: Pick<GuildTextBasedChannel, "permissionsFor"> | null,
): Holds {
	// null for a thread whose parent is not cached.
	return holdsWith(grants, member, (bit) => member.permissions.has(bit) || channel?.permissionsFor(member)?.has(bit));
}

export function holdsIn(
	grants: Grants,
	{ memberPermissions, member }: Pick<Interaction, "memberPermissions" | "member">,
): Holds {
	const inGuild = member instanceof GuildMember ? member.permissions : undefined;
	return holdsWith(grants, member, (bit) => memberPermissions?.has(bit) || inGuild?.has(bit));
}

/** Throws a SaidError if the person lacks the permission and the grant. It names roles that have one. */
export function requireHeld(grants: Grants, interaction: RepliableInteraction, command: Restricted): void {
	const permission = permissionOf(command);
	if (permission === undefined || holdsIn(grants, interaction)(command)) return;
	const { guild } = interaction;
	const granted = guild && command.may ? grants.of(guild.id)[`may.${command.may}`] : [];
	const roles = guild?.roles.cache.filter(({ id, managed, permissions }) => {
		return id !== guild.id && !managed && (permissions.has(permission) || granted.includes(id));
	});
	const top = [...(roles?.values() ?? [])].sort((a, b) => b.comparePositionTo(a)).slice(0, maxRoles);
	const people = [...top.map(({ id }) => `<@&${id}>`), `<@${guild?.ownerId}>`].join(", ");
	throw new SaidError(said("answer.refused", { permission: said(`permission.${permission}`), people }));
}
