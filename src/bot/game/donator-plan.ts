// Compares the list of supporters with the roles of members. Pure: changes nothing.

import type { Guild, GuildMember, Role } from "discord.js";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { auditReason, oneLine } from "../../discord/text.ts";
import { listFirst } from "../../lib/text.ts";
import type { ListEntry } from "../store/tables/donators.ts";
import type { Donator } from "./client.ts";

const maxTiersListed = 10;

export interface Change {
	kind: "give" | "take";
	member: GuildMember;
	role: Role;
	reason: string;
}

export interface RolePlan {
	/** Leaves out members whose roles must not be changed. */
	changes: readonly Change[];
	restricted: ReadonlySet<string>;
	absent: ReadonlySet<string>;
	/** Configuration problems for the operator to fix, such as a role that does not exist. */
	problems: readonly string[];
}

interface RolePlanOptions {
	guild: Guild;
	donators: readonly Donator[];
	tiers: ReadonlyMap<string, string>;
	isRestricted(member: GuildMember): boolean;
}

/** Supporters are paying players. Only the roles that are configured for their tiers change. */
export function planRoles({ guild, donators, tiers, isRestricted }: RolePlanOptions): RolePlan {
	const { roles, problems } = usableRoles(guild, tiers);
	const entries = Map.groupBy(listEntries(donators, tiers), ([id]) => id);
	const changes: Change[] = [];
	for (const member of guild.members.cache.values()) {
		const memberTiers = entries.get(member.id)?.map(([, tier]) => tier) ?? [];
		for (const [role, roleTiers] of roles) {
			const granting = memberTiers.filter((tier) => roleTiers.includes(tier));
			const hasRole = member.roles.cache.has(role.id);
			if (granting.length > 0 && !hasRole)
				changes.push({ kind: "give", member, role, reason: auditReason(`supporter of tier ${granting.join(", ")}`) });
			else if (hasRole && granting.length === 0)
				changes.push({
					kind: "take",
					member,
					role,
					reason: auditReason(`no longer supporter of tier ${roleTiers.join(", ")}`),
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
		absent: new Set([...entries.keys()].filter((id) => !guild.members.cache.has(id))),
		problems: [
			...problems,
			...(unknownTiers.size > 0 ? [`game.tiers has no role for ${listTiers([...unknownTiers])}`] : []),
		],
	};
}

/** The distinct pairs of Discord user id and tier. Omits tiers without a role. */
export function listEntries(donators: readonly Donator[], tiers: ReadonlyMap<string, string>): ListEntry[] {
	const entries = new Map<string, ListEntry>();
	for (const { chatId, tier } of donators)
		if (chatId !== undefined && tiers.has(tier)) entries.set(keyOf([chatId, tier]), [chatId, tier]);
	return [...entries.values()];
}

export function keyOf([userId, tier]: ListEntry): string {
	return `${userId} ${tier}`;
}

function usableRoles(guild: Guild, tiers: ReadonlyMap<string, string>) {
	const byRole = Map.groupBy(tiers.keys(), (tier) => tiers.get(tier) ?? "");
	const roles = new Map<Role, string[]>();
	const problems: string[] = [];
	const missing = cannotGiveRoles(guild);
	if (missing !== undefined) return { roles, problems: [missing] };
	for (const [id, names] of byRole) {
		const role = guild.roles.cache.get(id);
		const problem = role ? roleProblem(guild, role) : `there is no role ${id} in the guild ${guild.id}`;
		if (role && problem === undefined) roles.set(role, names);
		else problems.push(`tier ${names.map(oneLine).join(", ")}: ${problem}`);
	}
	return { roles, problems };
}

function listTiers(tiers: readonly string[]): string {
	return listFirst(
		tiers.map((tier) => `"${oneLine(tier.slice(0, 100))}"`),
		maxTiersListed,
	);
}
