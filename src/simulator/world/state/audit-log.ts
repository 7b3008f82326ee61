// The changes in audit log entries.
// https://discord.com/developers/docs/resources/audit-log

import type { AuditLogChange } from "./api-types.ts";
import type { Guild, Overwrite } from "./entities.ts";

/**
 * The changed fields of an object for the audit log. A new object is undefined before, a deleted one after. Only the
 * fields that `after` defines are looked at, those of `before` if the object is deleted. A value of null is left out:
 * https://docs.discord.com/developers/resources/audit-log#audit-log-change-object-audit-log-change-structure
 */
export function changesBetween(before: object | undefined, after: object | undefined): AuditLogChange[] {
	const old: Readonly<Record<string, unknown>> = { ...before };
	const now: Readonly<Record<string, unknown>> = { ...after };
	return Object.entries(after ?? old)
		.filter(([key, value]) => value !== undefined && !Bun.deepEquals(old[key], now[key]))
		.map(([key]) => ({ key, old_value: old[key] ?? undefined, new_value: now[key] ?? undefined }));
}

/** `$add` lists the added roles, `$remove` the removed ones. */
export function roleChanges(guild: Guild, before: readonly string[], after: readonly string[]): AuditLogChange[] {
	const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: guild.roles.get(id)?.name ?? id }));
	const added = named(after.filter((id) => !before.includes(id)));
	const removed = named(before.filter((id) => !after.includes(id)));
	return [
		...(added.length > 0 ? [{ key: "$add", new_value: added }] : []),
		...(removed.length > 0 ? [{ key: "$remove", new_value: removed }] : []),
	];
}

export function overwriteOptions(guild: Guild, overwrite: Overwrite): Record<string, string> {
	return {
		id: overwrite.id,
		type: String(overwrite.type),
		...(overwrite.type === 0 && { role_name: guild.roles.get(overwrite.id)?.name ?? "" }),
	};
}
