// What the list of supporters asks for, against the roles that members have: who gets a role, who loses one, and what
// stands in the way. Nothing is changed here.

import type { Guild, GuildMember, Role } from "discord.js";
import { cannotGiveRoles, roleFault } from "../discord/role-hierarchy.ts";
import { oneLine } from "../discord/text.ts";
import type { Standing } from "../store/donators.ts";
import type { Donator } from "./client.ts";

const maxShown = 10;

export interface Change {
	kind: "give" | "take";
	member: GuildMember;
	role: Role;
	/** For the guild's audit log. */
	reason: string;
}

export interface RolePlan {
	/** All that the list asks for, the members who are restricted left out. */
	changes: readonly Change[];
	/** The members with something to change who are restricted, by id. */
	restricted: ReadonlySet<string>;
	/** Ids on the list that are no member's. */
	absent: ReadonlySet<string>;
	/** What the operator has to see to. */
	faults: readonly string[];
}

export interface RolePlanOptions {
	guild: Guild;
	donators: readonly Donator[];
	/** The id of its role by tier. */
	tiers: ReadonlyMap<string, string>;
	isRestricted(member: GuildMember): boolean;
}

/** How the list differs from the roles that are there. Only roles of tiers are ever in it. */
export function planRoles({
	guild,
	donators,
	tiers,
	isRestricted,
}: RolePlanOptions): RolePlan {
	const { roles, faults } = usableRoles(guild, tiers);
	const entitled = rolesByPerson(donators, tiers);
	const changes: Change[] = [];
	for (const member of guild.members.cache.values()) {
		const due = entitled.get(member.id);
		for (const [role, names] of roles) {
			const because = due?.get(role.id);
			const has = member.roles.cache.has(role.id);
			if (because && !has)
				changes.push({
					...{ kind: "give", member, role },
					reason: reasonOf("supporter of tier", because),
				});
			else if (has && !because)
				changes.push({
					...{ kind: "take", member, role },
					reason: reasonOf("no longer supporter of tier", names),
				});
		}
	}
	const restricted = new Set<string>();
	for (const member of new Set(changes.map((one) => one.member)))
		if (isRestricted(member)) restricted.add(member.id);
	const unknown = new Set(donators.map(({ tier }) => tier));
	for (const tier of tiers.keys()) unknown.delete(tier);
	return {
		changes: changes.filter(({ member }) => !restricted.has(member.id)),
		restricted,
		absent: new Set(
			[...entitled.keys()].filter((id) => !guild.members.cache.has(id)),
		),
		faults: [
			...faults,
			...(unknown.size > 0
				? [`[game.donators.tiers] has no role for ${shortened([...unknown])}`]
				: []),
		],
	};
}

/** Who would have a role, by tier: what a list comes down to. */
export function standingsOf(
	donators: readonly Donator[],
	tiers: ReadonlyMap<string, string>,
): Standing[] {
	const known = donators.filter(({ tier }) => tiers.has(tier));
	const standings = known.flatMap(({ chatId, tier }) =>
		chatId === undefined ? [] : [[chatId, tier] as const],
	);
	return [...new Map(standings.map((one) => [keyOf(one), one])).values()];
}

/** One text for each standing; no id has a space in it. */
export function keyOf([userId, tier]: Standing): string {
	return `${userId} ${tier}`;
}

/** By person, the ids of the roles that they are entitled to, each with the tiers that bring it. */
function rolesByPerson(
	donators: readonly Donator[],
	tiers: ReadonlyMap<string, string>,
): Map<string, Map<string, string[]>> {
	const people = new Map<string, Map<string, string[]>>();
	for (const [userId, tier] of standingsOf(donators, tiers)) {
		const roleId = tiers.get(tier);
		if (roleId === undefined) continue;
		const roles = people.get(userId) ?? new Map<string, string[]>();
		people.set(userId, roles);
		roles.set(roleId, [...(roles.get(roleId) ?? []), tier]);
	}
	return people;
}

/** The roles that the bot can give and take, each with its tiers, and what is wrong with the others. */
function usableRoles(guild: Guild, tiers: ReadonlyMap<string, string>) {
	const byRole = new Map<string, string[]>();
	for (const [tier, id] of tiers)
		byRole.set(id, [...(byRole.get(id) ?? []), tier]);
	const roles = new Map<Role, string[]>();
	const faults: string[] = [];
	const lack = cannotGiveRoles(guild);
	if (lack !== undefined) return { roles, faults: [lack] };
	for (const [id, names] of byRole) {
		const role = guild.roles.cache.get(id);
		const fault = role
			? roleFault(guild, role)
			: `there is no role ${id} in the guild ${guild.id}`;
		if (role && fault === undefined) roles.set(role, names);
		else faults.push(`${listed(names)}: ${fault}`);
	}
	return { roles, faults };
}

function listed(tiers: readonly string[]): string {
	return `tier ${tiers.map(oneLine).join(", ")}`;
}

/** The list is someone else's, and may hold anything. */
function shortened(tiers: readonly string[]): string {
	const shown = tiers
		.slice(0, maxShown)
		.map((tier) => `"${oneLine(tier.slice(0, 100))}"`);
	const more = tiers.length - shown.length;
	return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Discord takes 512 characters after URL-encoding. */
const maxReasonLength = 512;

function reasonOf(what: string, tiers: readonly string[]): string {
	const characters = [...`${what} ${tiers.map(oneLine).join(", ")}`];
	while (encodeURIComponent(characters.join("")).length > maxReasonLength)
		characters.pop();
	return characters.join("");
}
