// Ranks: the bot can act on roles and people that stand below its own highest role, and on no others.
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
const remedy = "Someone who ranks above both can move the bot's role up.";

/** Throws one ToolError that names the roles that do not rank below the bot's highest, if there are any. */
export function requireRolesBelow(guild: Guild, roles: readonly Role[]): void {
	refuseAny("role(s)", roles, (role) => {
		if (isBelow(guild, role)) return undefined;
		const { highest } = botMember(guild).roles;
		return {
			fault: `${roleName(role)} does not rank below the bot's highest role, ${roleName(highest)}`,
			remedy,
		};
	});
}

/** Throws one ToolError that names the members who do not rank below the bot, if there are any; the owner ranks below nobody. */
export function requireMembersBelow(
	guild: Guild,
	members: readonly GuildMember[],
): void {
	const me = botMember(guild);
	refuseAny("member(s)", members, (member) => {
		const name = memberName(member);
		if (member.id === me.id) return { fault: `${name} is the bot itself` };
		if (member.id === guild.ownerId)
			return {
				fault: `${name} owns the guild: nobody can do this to its owner`,
			};
		const { highest } = member.roles;
		if (isBelow(guild, highest)) return undefined;
		return {
			fault: `${name} does not rank below the bot: ${roleName(highest)} is not below ${roleName(me.roles.highest)}`,
			remedy,
		};
	});
}

/** Whether the bot stands above this role. */
export function isBelow(guild: Guild, role: Role): boolean {
	return isAbove(botMember(guild), role);
}

/** Whether a member stands above this role; the owner stands above all. */
export function isAbove({ guild, id, roles }: GuildMember, role: Role) {
	return guild.ownerId === id || roles.highest.comparePositionTo(role) > 0;
}

/** Why the bot can give no role to anybody; undefined where it may. */
export function cannotGiveRoles(guild: Guild): string | undefined {
	const { ManageRoles } = PermissionFlagsBits;
	if (missingPermissions(guild, undefined, ManageRoles) === 0n)
		return undefined;
	return `the bot lacks MANAGE_ROLES in the guild ${guild.id}`;
}

/** Why the bot can neither give nor take this role; undefined where it can, if it may give any. */
export function roleFault(guild: Guild, role: Role): string | undefined {
	if (role.id === guild.id) return `${roleName(role)} is everyone's`;
	if (role.managed)
		return `${roleName(role)} belongs to an integration, and cannot be given by hand`;
	if (isBelow(guild, role)) return undefined;
	return `${roleName(role)} does not rank below the bot's highest role`;
}

interface Refusal {
	fault: string;
	remedy?: string;
}

function refuseAny<Thing>(
	what: string,
	things: readonly Thing[],
	refusalOf: (thing: Thing) => Refusal | undefined,
): void {
	const refusals = things.flatMap((thing) => refusalOf(thing) ?? []);
	if (refusals.length === 0) return;
	const said = refusals.slice(0, sampleSize).map(({ fault }) => fault);
	if (refusals.length > sampleSize)
		said.push(`and ${refusals.length - sampleSize} more`);
	const count =
		things.length > 1
			? `${refusals.length} of ${things.length} ${what} out of the bot's reach: `
			: "";
	const remedies = new Set(refusals.flatMap(({ remedy }) => remedy ?? []));
	throw new ToolError(
		[`${count}${said.join("; ")}.`, ...remedies, "Nothing was done."].join(" "),
	);
}
