// The changes in audit log entries.
// https://discord.com/developers/docs/resources/audit-log

import { AuditLogEvent } from "discord.js";
import type { AuditLogChange } from "./api-types.ts";
import type { Guild, Overwrite } from "./entities.ts";
import type { Attribution, State } from "./state.ts";

type Action = keyof typeof AuditLogEvent;
type NounOf<A> = A extends `${infer N}Create` ? (`${N}Update` | `${N}Delete` extends Action ? N : never) : never;

/** Functions for created, updated and deleted objects of the kind `noun`, such as "Role". */
export function auditOf(noun: NounOf<Action>) {
	const log =
		(verb: "Create" | "Update" | "Delete") =>
		(
			state: State,
			guild: Guild,
			{ id }: { id: string | null },
			before: object,
			after: object,
			by: Attribution | undefined,
			options?: Record<string, string>,
		) => {
			const changes = changesBetween(before, after, verb === "Delete" ? before : after);
			const more = options ? { changes, options } : { changes };
			state.audit(guild, by, AuditLogEvent[`${noun}${verb}`], id, more);
		};
	return { create: log("Create"), update: log("Update"), delete: log("Delete") };
}

/**
 * The changed fields of an object for the audit log. A new object is {} before, a deleted one {} after. Only the fields
 * that are defined in `compared` are looked at. A value of null is left out:
 * https://docs.discord.com/developers/resources/audit-log#audit-log-change-object-audit-log-change-structure
 */
export function changesBetween(before: object, after: object, compared = after): AuditLogChange[] {
	const old: Readonly<Record<string, unknown>> = { ...before };
	const now: Readonly<Record<string, unknown>> = { ...after };
	return Object.entries(compared)
		.filter(([key, value]) => value !== undefined && !Bun.deepEquals(old[key], now[key]))
		.map(([key]) => key)
		.map((key) => ({
			key,
			...(isSet(old[key]) && { old_value: old[key] }),
			...(isSet(now[key]) && { new_value: now[key] }),
		}));
}

function isSet(value: unknown): boolean {
	return value !== undefined && value !== null;
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

/** The overwrite's id, its type and, for a role, its name. */
export function overwriteOptions(guild: Guild, overwrite: Overwrite): Record<string, string> {
	return {
		id: overwrite.id,
		type: String(overwrite.type),
		...(overwrite.type === 0 && { role_name: guild.roles.get(overwrite.id)?.name ?? "" }),
	};
}
