// The members and roles that have all permissions in every channel: the owner of a guild, and those with ADMINISTRATOR.

import { PermissionFlagsBits } from "discord.js";
import { listFirst } from "../../lib/text.ts";
import { roleName } from "../describe.ts";
import type { Holder } from "../effective-permissions.ts";
import { fieldLine } from "../text.ts";

const maxNamed = 15;

/**
 * Returns a result line with the names of those of `holders` (members or roles) that have all permissions: the guild's
 * owner, and for each role with ADMINISTRATOR its members, the owner too. Returns undefined if there are none.
 */
export function unlimitedLine(holders: readonly { name: string; holder: Holder }[]): string | undefined {
	const owners = holders.filter(({ holder }) => holder.isOwner);
	const byRole = new Map<string, string[]>();
	for (const { name, holder } of holders) {
		const role = holder.roles.find(({ permissions }) => permissions.has(PermissionFlagsBits.Administrator, false));
		if (!role) continue;
		const label = roleName(role);
		byRole.set(label, [...(byRole.get(label) ?? []), name === label ? "the role" : name]);
	}
	if (owners.length === 0 && byRole.size === 0) return undefined;
	return fieldLine(
		...owners.map(({ name }) => `Owner: ${name}`),
		...[...byRole].map(([label, names]) => `ADMINISTRATOR by ${label}: ${listFirst(names, maxNamed, ", ")}`),
	);
}
