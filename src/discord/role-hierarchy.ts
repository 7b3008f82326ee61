// Role hierarchy: the bot, and the person in whose name a call acts, can only act on roles and members that rank below
// their own highest role.
// https://discord.com/developers/docs/topics/permissions#permission-hierarchy

import { type Guild, type GuildMember, PermissionFlagsBits, type Role } from "discord.js";
import { SaidError } from "../texts/said-error.ts";
import { joined, type Said, said } from "../texts/texts.ts";
import { memberName, roleName } from "./describe.ts";
import { actingMembers, botMember, missingForBot } from "./permissions.ts";

const sampleSize = 10;

/** What is said of the bot, and to a person, as the one who acts. */
const words = {
	bot: {
		name: "the bot",
		whose: "the bot's",
		itself: "the bot itself: the bot cannot act on itself",
		remedy:
			"The bot can only act on roles and members that rank below it; a member with a higher role can move the bot's role up.",
	},
	you: {
		name: "you",
		whose: "your",
		itself: "you: you cannot act on yourself",
		remedy: "You can only act on roles and members that rank below you.",
	},
};

/** Throws a ToolError that names the roles not below bot and acting person, or `actors`. */
export function requireRolesBelow(guild: Guild, roles: readonly Role[], actors = actingMembers(guild)): void {
	for (const actor of actors)
		refuseAny(actor, "role(s)", roles, (role, side) => {
			const own = actor.roles.highest;
			if (isAbove(actor, role)) return undefined;
			return {
				problem: `${roleName(role)} does not rank below ${words[side].whose} highest role, ${roleName(own)}`,
				people: said(`refusal.role_above_${side}`, { role: mentionOf(role), own: mentionOf(own) }),
				isOfRank: true,
			};
		});
}

/** Throws a ToolError that names the members not below bot and acting person, or `actors`. The guild's owner never is. */
export function requireMembersBelow(
	guild: Guild,
	members: readonly GuildMember[],
	actors = actingMembers(guild),
): void {
	for (const actor of actors)
		refuseAny(actor, "member(s)", members, (member, side) => {
			const { name, itself } = words[side];
			const [{ highest }, own] = [member.roles, actor.roles.highest];
			const [shown, who] = [memberName(member), `<@${member.id}>`];
			if (member.id === actor.id)
				return { problem: `${shown} is ${itself}`, people: said(`refusal.is_${side}`, { who }) };
			if (member.id === guild.ownerId)
				return {
					problem: `${shown} owns the guild: ${name} cannot act on the owner`,
					people: said(`refusal.owner_${side}`, { who }),
				};
			if (isAbove(actor, highest)) return undefined;
			return {
				problem: `${shown} does not rank below ${name}: ${roleName(highest)} is not below ${roleName(own)}`,
				people: said(`refusal.above_${side}`, { who, role: mentionOf(highest), own: mentionOf(own) }),
				isOfRank: true,
			};
		});
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
	if (missingForBot(guild, undefined, PermissionFlagsBits.ManageRoles) === 0n) return undefined;
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
	/** Another rank would help. */
	isOfRank?: boolean;
}

function mentionOf({ id, guild }: Role): string {
	return id === guild.id ? "@everyone" : `<@&${id}>`;
}

function refuseAny<Thing>(
	{ id, client }: GuildMember,
	noun: string,
	things: readonly Thing[],
	refusalFor: (thing: Thing, side: keyof typeof words) => Refusal | undefined,
): void {
	const side = id === client.user.id ? "bot" : "you";
	const refusals = things.flatMap((thing) => refusalFor(thing, side) ?? []);
	if (refusals.length === 0) return;
	const { whose, remedy } = words[side];
	const first = refusals.slice(0, sampleSize);
	const more = refusals.length - first.length;
	const isOfRank = refusals.some((one) => one.isOfRank);
	const count = things.length > 1 ? `${refusals.length} of ${things.length} ${noun} out of ${whose} reach: ` : "";
	const problems = [...first.map(({ problem }) => problem), ...(more > 0 ? [`and ${more} more`] : [])];
	const models = [`${count}${problems.join("; ")}.`, ...(isOfRank ? [remedy] : []), "Nothing was done."].join(" ");
	const why = joined([
		...first.map(({ people }) => people),
		...(more > 0 ? [said("refusal.more", { count: more })] : []),
		...(isOfRank ? [said(`refusal.remedy_${side}`)] : []),
	]);
	throw new SaidError(said("refusal.nothing_done", { why: why ?? "" }), { models });
}
