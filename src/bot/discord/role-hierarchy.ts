// Role hierarchy: the bot can only act on roles and members ranked below its own highest role.
// https://discord.com/developers/docs/topics/permissions#permission-hierarchy

import {
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	type Role,
} from "discord.js";
import { ToolError } from "../../mcp/tool.ts";
import { memberName, roleName } from "./describe.ts";
import { botMember, missingPermissions } from "./permissions.ts";

const sampleSize = 10;
const remedy =
	"The bot can only act on roles and members that rank below it; a member with a higher role can move the bot's role up.";

/**
 * Throws a ToolError unless all of `roles` rank below the bot's highest role. The error names the roles that do not.
 */
export function requireRolesBelow(guild: Guild, roles: readonly Role[]): void {
	refuseAny("role(s)", roles, (role) => {
		if (isBelow(guild, role)) return undefined;
		const { highest } = botMember(guild).roles;
		return {
			problem: `${roleName(role)} does not rank below the bot's highest role, ${roleName(highest)}`,
			remedy,
		};
	});
}

/**
 * Throws a ToolError unless all of the members rank below the bot. The error names those who do not. The guild's owner
 * never ranks below the bot.
 */
export function requireMembersBelow(
	guild: Guild,
	members: readonly GuildMember[],
): void {
	const me = botMember(guild);
	refuseAny("member(s)", members, (member) => {
		const name = memberName(member);
		if (member.id === me.id)
			return {
				problem: `${name} is the bot itself: the bot cannot act on itself`,
			};
		if (member.id === guild.ownerId)
			return {
				problem: `${name} owns the guild: the bot cannot act on the owner`,
			};
		const { highest } = member.roles;
		if (isBelow(guild, highest)) return undefined;
		return {
			problem: `${name} does not rank below the bot: ${roleName(highest)} is not below ${roleName(me.roles.highest)}`,
			remedy,
		};
	});
}

/** Whether a role ranks below the bot's highest role in the guild. */
export function isBelow(guild: Guild, role: Role): boolean {
	return isAbove(botMember(guild), role);
}

/** Whether a member ranks above a role in the guild's role hierarchy. The guild's owner ranks above all roles. */
export function isAbove({ guild, id, roles }: GuildMember, role: Role) {
	return guild.ownerId === id || roles.highest.comparePositionTo(role) > 0;
}

/** Returns why the bot cannot assign any roles in the guild; undefined if the bot has MANAGE_ROLES. */
export function cannotGiveRoles(guild: Guild): string | undefined {
	const { ManageRoles } = PermissionFlagsBits;
	if (missingPermissions(guild, undefined, ManageRoles) === 0n)
		return undefined;
	return `the bot lacks MANAGE_ROLES in the guild ${guild.id}`;
}

/** Returns why the bot cannot assign or remove this role; undefined if a bot with MANAGE_ROLES can do so. */
export function roleProblem(guild: Guild, role: Role): string | undefined {
	if (role.id === guild.id) return `${roleName(role)} is the role of everyone`;
	if (role.managed)
		return `${roleName(role)} belongs to an integration, and cannot be given by hand`;
	if (isBelow(guild, role)) return undefined;
	return `${roleName(role)} does not rank below the bot's highest role`;
}

interface Refusal {
	problem: string;
	remedy?: string;
}

function refuseAny<Thing>(
	noun: string,
	things: readonly Thing[],
	refusalFor: (thing: Thing) => Refusal | undefined,
): void {
	const refusals = things.flatMap((thing) => refusalFor(thing) ?? []);
	if (refusals.length === 0) return;
	const problems = refusals.slice(0, sampleSize).map(({ problem }) => problem);
	if (refusals.length > sampleSize)
		problems.push(`and ${refusals.length - sampleSize} more`);
	const count =
		things.length > 1
			? `${refusals.length} of ${things.length} ${noun} out of the bot's reach: `
			: "";
	const remedies = new Set(refusals.flatMap(({ remedy }) => remedy ?? []));
	throw new ToolError(
		[`${count}${problems.join("; ")}.`, ...remedies, "Nothing was done."].join(
			" ",
		),
	);
}
