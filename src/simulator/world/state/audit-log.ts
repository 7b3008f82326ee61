// What an audit log entry says was changed.
// https://discord.com/developers/docs/resources/audit-log

import type { AuditLogChange, Guild, Overwrite } from "./entities.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * The changes from `before` to `after`, key by key. An empty `before` is something created, an empty `after`
 * something deleted; otherwise only the keys that `after` gives are compared.
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

/** The roles that a member got and lost, as Discord writes them. */
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

/** Whom an overwrite is about. */
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
