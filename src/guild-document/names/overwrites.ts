// Permission overwrites as bit fields: applying and comparing them.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

export interface Bits {
	allow: bigint;
	deny: bigint;
}

/** By the id of the role or member. */
export type Overwrites = ReadonlyMap<string, Bits>;

/** A member, or all with certain roles. `roleIds` may contain the guild's id, which is @everyone's. */
export interface Holder {
	guildId: string;
	roleIds: ReadonlySet<string>;
	memberId?: string | undefined;
}

/** To the guild-wide `bits`. Does not remove permissions that depend on others. */
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

export function changedBits(before: Overwrites, after: Overwrites): bigint {
	let bits = 0n;
	for (const id of new Set([...before.keys(), ...after.keys()])) {
		const [old, now] = [before.get(id), after.get(id)];
		bits |= (old?.allow ?? 0n) ^ (now?.allow ?? 0n);
		bits |= (old?.deny ?? 0n) ^ (now?.deny ?? 0n);
	}
	return bits;
}
