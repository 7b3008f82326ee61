// The changes in audit log entries.
// https://discord.com/developers/docs/resources/audit-log

import type { AuditLogChange, Guild, Overwrite } from "./entities.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * The changes from `before` to `after` by key. An empty `before` means created, an empty `after` deleted; otherwise only
 * the keys of `after` are compared.
 */
export function changesBetween(
	before: Values,
	after: object,
): AuditLogChange[] {
	const given = Object.entries(after).filter(
		([, value]) => value !== undefined,
	);
	const keys =
		given.length > 0 ? given.map(([key]) => key) : Object.keys(before);
	const now: Values = Object.fromEntries(given);
	return keys
		.filter((key) => !Bun.deepEquals(before[key], now[key]))
		.map((key) => ({
			key,
			...(before[key] === undefined ? {} : { old_value: before[key] }),
			...(now[key] === undefined ? {} : { new_value: now[key] }),
		}));
}

/** The added and removed roles of a member, in Discord's format. */
export function roleChanges(
	guild: Guild,
	before: readonly string[],
	after: readonly string[],
): AuditLogChange[] {
	const named = (ids: readonly string[]) =>
		ids.map((id) => ({ id, name: guild.roles.get(id)?.name ?? id }));
	const added = named(after.filter((id) => !before.includes(id)));
	const removed = named(before.filter((id) => !after.includes(id)));
	return [
		...(added.length > 0 ? [{ key: "$add", new_value: added }] : []),
		...(removed.length > 0 ? [{ key: "$remove", new_value: removed }] : []),
	];
}

/** The audit log options of an overwrite. */
export function overwriteOptions(
	guild: Guild,
	overwrite: Overwrite,
): Record<string, string> {
	return {
		id: overwrite.id,
		type: String(overwrite.type),
		...(overwrite.type === 0
			? { role_name: guild.roles.get(overwrite.id)?.name ?? "" }
			: {}),
	};
}
