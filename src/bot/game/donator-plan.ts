// Compares the list of supporters with the roles of members. Pure: changes nothing.

import type { Guild, GuildMember, Role } from "discord.js";
import { cannotGiveRoles, roleFault } from "../discord/role-hierarchy.ts";
import { oneLine } from "../discord/text.ts";
import type { Standing } from "../store/donators.ts";
import type { Donator } from "./client.ts";

const maxTiersListed = 10;

export interface Change {
	kind: "give" | "take";
	member: GuildMember;
	role: Role;
	/** For Discord's audit log. */
	reason: string;
}

export interface RolePlan {
	/** Without those of restricted members. */
	changes: readonly Change[];
	/** Ids of restricted members with differences. */
	restricted: ReadonlySet<string>;
	/** Listed ids that are not members. */
	absent: ReadonlySet<string>;
	/** For the operator to fix. */
	problems: readonly string[];
}

export interface RolePlanOptions {
	guild: Guild;
	donators: readonly Donator[];
	/** Tier to role id. */
	tiers: ReadonlyMap<string, string>;
	isRestricted(member: GuildMember): boolean;
}

/** The changes that make members' roles match the list. Covers only roles of tiers. */
export function planRoles({
	guild,
	donators,
	tiers,
	isRestricted,
}: RolePlanOptions): RolePlan {
	const { roles, problems } = usableRoles(guild, tiers);
	const entitlements = rolesByUser(donators, tiers);
	const changes: Change[] = [];
	for (const member of guild.members.cache.values()) {
		const entitled = entitlements.get(member.id);
		for (const [role, roleTiers] of roles) {
			const memberTiers = entitled?.get(role.id);
			const hasRole = member.roles.cache.has(role.id);
			if (memberTiers && !hasRole)
				changes.push({
					kind: "give",
					member,
					role,
					reason: auditReason("supporter of tier", memberTiers),
				});
			else if (hasRole && !memberTiers)
				changes.push({
					kind: "take",
					member,
					role,
					reason: auditReason("no longer supporter of tier", roleTiers),
				});
		}
	}
	const restricted = new Set<string>();
	for (const member of new Set(changes.map(({ member }) => member)))
		if (isRestricted(member)) restricted.add(member.id);
	const unknownTiers = new Set(donators.map(({ tier }) => tier));
	for (const tier of tiers.keys()) unknownTiers.delete(tier);
	return {
		changes: changes.filter(({ member }) => !restricted.has(member.id)),
		restricted,
		absent: new Set(
			[...entitlements.keys()].filter((id) => !guild.members.cache.has(id)),
		),
		problems: [
			...problems,
			...(unknownTiers.size > 0
				? [
						`[game.donators.tiers] has no role for ${listTiers([...unknownTiers])}`,
					]
				: []),
		],
	};
}

/** The distinct pairs of user and tier on the list that stand for a role. */
export function standingsOf(
	donators: readonly Donator[],
	tiers: ReadonlyMap<string, string>,
): Standing[] {
	const known = donators.filter(({ tier }) => tiers.has(tier));
	const standings = known.flatMap(({ chatId, tier }) =>
		chatId === undefined ? [] : [[chatId, tier] as const],
	);
	return [
		...new Map(
			standings.map((standing) => [keyOf(standing), standing]),
		).values(),
	];
}

/** Unique, because ids contain no space. */
export function keyOf([userId, tier]: Standing): string {
	return `${userId} ${tier}`;
}

/** User id to role ids, each with the tiers that grant it. */
function rolesByUser(
	donators: readonly Donator[],
	tiers: ReadonlyMap<string, string>,
): Map<string, Map<string, string[]>> {
	const users = new Map<string, Map<string, string[]>>();
	for (const [userId, tier] of standingsOf(donators, tiers)) {
		const roleId = tiers.get(tier);
		if (roleId === undefined) continue;
		const roles = users.get(userId) ?? new Map<string, string[]>();
		users.set(userId, roles);
		roles.set(roleId, [...(roles.get(roleId) ?? []), tier]);
	}
	return users;
}

/** The roles that the bot can give and remove, each with its tiers, and the problems with the others. */
function usableRoles(guild: Guild, tiers: ReadonlyMap<string, string>) {
	const byRole = new Map<string, string[]>();
	for (const [tier, id] of tiers)
		byRole.set(id, [...(byRole.get(id) ?? []), tier]);
	const roles = new Map<Role, string[]>();
	const problems: string[] = [];
	const missing = cannotGiveRoles(guild);
	if (missing !== undefined) return { roles, problems: [missing] };
	for (const [id, names] of byRole) {
		const role = guild.roles.cache.get(id);
		const problem = role
			? roleFault(guild, role)
			: `there is no role ${id} in the guild ${guild.id}`;
		if (role && problem === undefined) roles.set(role, names);
		else problems.push(`tier ${names.map(oneLine).join(", ")}: ${problem}`);
	}
	return { roles, problems };
}

/** Untrusted names from the game server, escaped and cut. */
function listTiers(tiers: readonly string[]): string {
	const names = tiers
		.slice(0, maxTiersListed)
		.map((tier) => `"${oneLine(tier.slice(0, 100))}"`);
	const more = tiers.length - names.length;
	return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Discord's limit, after URL encoding. */
const maxReasonLength = 512;

function auditReason(text: string, tiers: readonly string[]): string {
	const characters = [...`${text} ${tiers.map(oneLine).join(", ")}`];
	while (encodeURIComponent(characters.join("")).length > maxReasonLength)
		characters.pop();
	return characters.join("");
}
