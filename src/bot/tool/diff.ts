// An edit: what is asked for, against what is there.

import { invalidParameters, ToolError } from "../../mcp/tool.ts";

/**
 * Of the fields in `given`, those that differ from `current`. Throws an RpcError where none is given, and a ToolError
 * where none differs: a model that thinks it has changed something is told so.
 */
export function changesOf<Fields extends object>(
	current: Fields,
	given: { [Key in keyof Fields]: Fields[Key] | undefined },
	what: string,
): Partial<Fields> {
	const asked = Object.entries(given).filter(
		([, value]) => value !== undefined,
	) as [keyof Fields, Fields[keyof Fields]][];
	if (asked.length === 0)
		throw invalidParameters([
			`${Object.keys(given).join(", ")}: expected at least one of these`,
		]);
	const changed = asked.filter(
		([key, value]) => !Bun.deepEquals(current[key], value),
	);
	if (changed.length === 0)
		throw new ToolError(
			`Nothing would change: ${what} has ${asked.map(([key]) => String(key)).join(", ")} as given already. Nothing was done.`,
		);
	return Object.fromEntries(changed) as Partial<Fields>;
}
