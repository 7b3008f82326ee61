// Permission overwrites as bit fields: applying and comparing them.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

/** The permission bits that a channel's permission overwrite allows and denies. */
export interface Bits {
	allow: bigint;
	deny: bigint;
}

/** A channel's permission overwrites, by the id of the role or member to which they apply. */
export type Overwrites = ReadonlyMap<string, Bits>;

/** A member, or all members who have certain roles. `roleIds` may contain the id of the guild, which is @everyone's. */
export interface Holder {
	guildId: string;
	roleIds: ReadonlySet<string>;
	memberId?: string | undefined;
}

/**
 * Applies a channel's permission overwrites to the permissions `bits` that a member has guild-wide. Does not remove
 * permissions that depend on others.
 */
export function withOverwrites(bits: bigint, { guildId, roleIds, memberId }: Holder, overwrites: Overwrites): bigint {
	const roles = { allow: 0n, deny: 0n };
	for (const [id, { allow, deny }] of overwrites) {
		if (id === guildId || !roleIds.has(id)) continue;
		roles.allow |= allow;
		roles.deny |= deny;
	}
	const own = memberId === undefined ? undefined : overwrites.get(memberId);
	return [overwrites.get(guildId), roles, own].reduce(
		(result, step) => (step ? (result & ~step.deny) | step.allow : result),
		bits,
	);
}

/** Returns the permissions, as a bit field, that differ between two sets of permission overwrites. */
export function changedBits(before: Overwrites, after: Overwrites): bigint {
	let bits = 0n;
	for (const id of new Set([...before.keys(), ...after.keys()])) {
		const [old, now] = [before.get(id), after.get(id)];
		bits |= (old?.allow ?? 0n) ^ (now?.allow ?? 0n);
		bits |= (old?.deny ?? 0n) ^ (now?.deny ?? 0n);
	}
	return bits;
}
