// Compares an edit with the current state.

import { invalidParameters, ToolError } from "../../mcp/tool.ts";

/**
 * Returns the fields of `requested` that differ from `current`. Throws an RpcError if all are undefined, and a ToolError
 * if none differs.
 */
export function changesOf<Fields extends object>(
	current: Fields,
	requested: { [Key in keyof Fields]: Fields[Key] | undefined },
	subject: string,
): Partial<Fields> {
	const present = Object.entries(requested).filter(
		([, value]) => value !== undefined,
	) as [keyof Fields, Fields[keyof Fields]][];
	if (present.length === 0)
		throw invalidParameters([
			`${Object.keys(requested).join(", ")}: expected at least one of these`,
		]);
	const changed = present.filter(
		([key, value]) => !Bun.deepEquals(current[key], value),
	);
	if (changed.length === 0)
		throw new ToolError(
			`Nothing would change: ${subject} already has this ${present.map(([key]) => String(key)).join(", ")}. Nothing was done.`,
		);
	return Object.fromEntries(changed) as Partial<Fields>;
}
