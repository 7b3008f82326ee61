// Role hierarchy: the bot, and the person in whose name a call acts, can only act on roles and members that rank below
// their own highest role.
// https://discord.com/developers/docs/topics/permissions#permission-hierarchy

import { type Guild, type GuildMember, PermissionFlagsBits, type Role } from "discord.js";
import { SaidError } from "../texts/said-error.ts";
import { joined, type Said, said } from "../texts/texts.ts";
import { actingPerson } from "./acting-person.ts";
import { memberName, roleName } from "./describe.ts";
import { botMember, missingForBot } from "./permissions.ts";

const sampleSize = 10;
const remedy =
	"The bot can only act on roles and members that rank below it; a member with a higher role can move the bot's role up.";

const remedyForPerson = "You can only act on roles and members that rank below you.";

/** Throws a ToolError that names the roles not below bot and acting person. */
export function requireRolesBelow(guild: Guild, roles: readonly Role[]): void {
	const person = actingPerson(guild);
	if (person) requireRolesBelowPerson(person, roles);
	requireRolesBelowBot(guild, roles);
}

/** As `requireRolesBelow`, for the bot alone. */
export function requireRolesBelowBot(guild: Guild, roles: readonly Role[]): void {
	const me = botMember(guild);
	refuseAny("role(s) out of the bot's reach", roles, (role) => {
		if (isAbove(me, role)) return undefined;
		return {
			problem: `${roleName(role)} does not rank below the bot's highest role, ${roleName(me.roles.highest)}`,
			people: said("refusal.role_above_bot", { role: mentionOf(role), own: mentionOf(me.roles.highest) }),
			remedy,
			saidRemedy: said("refusal.remedy_bot"),
		};
	});
}

/** As `requireRolesBelow`, for a person alone. */
export function requireRolesBelowPerson(person: GuildMember, roles: readonly Role[]): void {
	refuseAny("role(s) out of your reach", roles, (role) => {
		if (isAbove(person, role)) return undefined;
		return {
			problem: `${roleName(role)} does not rank below your highest role, ${roleName(person.roles.highest)}`,
			people: said("refusal.role_above_you", { role: mentionOf(role), own: mentionOf(person.roles.highest) }),
			remedy: remedyForPerson,
			saidRemedy: said("refusal.remedy_you"),
		};
	});
}

/** Throws a ToolError that names the members not below bot and acting person. The guild's owner never is. */
export function requireMembersBelow(guild: Guild, members: readonly GuildMember[]): void {
	const person = actingPerson(guild);
	if (person) requireBelowPerson(person, members);
	requireBelowBot(guild, members);
}

/** As `requireMembersBelow`, for the bot alone. */
export function requireBelowBot(guild: Guild, members: readonly GuildMember[]): void {
	const me = botMember(guild);
	refuseAny("member(s) out of the bot's reach", members, (member) => {
		const name = memberName(member);
		const who = `<@${member.id}>`;
		if (member.id === me.id)
			return {
				problem: `${name} is the bot itself: the bot cannot act on itself`,
				people: said("refusal.is_bot", { who }),
			};
		if (member.id === guild.ownerId)
			return {
				problem: `${name} owns the guild: the bot cannot act on the owner`,
				people: said("refusal.owner_bot", { who }),
			};
		const { highest } = member.roles;
		if (isAbove(me, highest)) return undefined;
		return {
			problem: `${name} does not rank below the bot: ${roleName(highest)} is not below ${roleName(me.roles.highest)}`,
			people: said("refusal.above_bot", { who, role: mentionOf(highest), own: mentionOf(me.roles.highest) }),
			remedy,
			saidRemedy: said("refusal.remedy_bot"),
		};
	});
}

/** As `requireMembersBelow`, for a person alone. */
export function requireBelowPerson(person: GuildMember, members: readonly GuildMember[]): void {
	refuseAny("member(s) out of your reach", members, (member) => {
		const name = memberName(member);
		const who = `<@${member.id}>`;
		if (member.id === person.id)
			return { problem: `${name} is you: you cannot act on yourself`, people: said("refusal.is_you", { who }) };
		if (member.id === person.guild.ownerId)
			return {
				problem: `${name} owns the guild: you cannot act on the owner`,
				people: said("refusal.owner_you", { who }),
			};
		const { highest } = member.roles;
		if (isAbove(person, highest)) return undefined;
		return {
			problem: `${name} does not rank below you: ${roleName(highest)} is not below ${roleName(person.roles.highest)}`,
			people: said("refusal.above_you", { who, role: mentionOf(highest), own: mentionOf(person.roles.highest) }),
			remedy: remedyForPerson,
			saidRemedy: said("refusal.remedy_you"),
		};
	});
}

/** Below bot and acting person. */
export function isBelow(guild: Guild, role: Role): boolean {
	const person = actingPerson(guild);
	return isBelowBot(guild, role) && (!person || isAbove(person, role));
}

export function isBelowBot(guild: Guild, role: Role): boolean {
	return isAbove(botMember(guild), role);
}

/** The guild's owner is above all roles. */
export function isAbove({ guild, id, roles }: GuildMember, role: Role) {
	return guild.ownerId === id || roles.highest.comparePositionTo(role) > 0;
}

/** Undefined if the bot has MANAGE_ROLES. */
export function cannotGiveRoles(guild: Guild): string | undefined {
	const { ManageRoles } = PermissionFlagsBits;
	if (missingForBot(guild, undefined, ManageRoles) === 0n) return undefined;
	return `the bot lacks MANAGE_ROLES in the guild ${guild.id}`;
}

/** Undefined if a bot with MANAGE_ROLES can assign and remove the role. */
export function roleProblem(guild: Guild, role: Role): string | undefined {
	if (role.id === guild.id) return `${roleName(role)} is the role of everyone`;
	if (role.managed) return `${roleName(role)} belongs to an integration, and cannot be given by hand`;
	if (isBelowBot(guild, role)) return undefined;
	return `${roleName(role)} does not rank below the bot's highest role`;
}

interface Refusal {
	problem: string;
	people: Said;
	remedy?: string;
	saidRemedy?: Said;
}

function mentionOf({ id, guild }: Role): string {
	return id === guild.id ? "@everyone" : `<@&${id}>`;
}

function refuseAny<Thing>(
	noun: string,
	things: readonly Thing[],
	refusalFor: (thing: Thing) => Refusal | undefined,
): void {
	const refusals = things.flatMap((thing) => refusalFor(thing) ?? []);
	if (refusals.length === 0) return;
	const problems = refusals.slice(0, sampleSize).map(({ problem }) => problem);
	if (refusals.length > sampleSize) problems.push(`and ${refusals.length - sampleSize} more`);
	const count = things.length > 1 ? `${refusals.length} of ${things.length} ${noun}: ` : "";
	const remedies = new Set(refusals.flatMap(({ remedy }) => remedy ?? []));
	const models = [`${count}${problems.join("; ")}.`, ...remedies, "Nothing was done."].join(" ");
	const saidRemedies = refusals.flatMap(({ saidRemedy }) => saidRemedy ?? []);
	const more = refusals.length - sampleSize;
	const why = joined([
		...refusals.slice(0, sampleSize).map(({ people }) => people),
		...(more > 0 ? [said("refusal.more", { count: more })] : []),
		...saidRemedies.slice(0, 1),
	]);
	throw new SaidError(said("refusal.nothing_done", { why: why ?? "" }), { models });
}
