// Compares an edit with the current state.

import { ToolError } from "../../mcp/tool.ts";
import { compareIds } from "../discord/ids.ts";
import { requireOneOf } from "./arguments.ts";

/**
 * Returns the fields of `current` that differ in `requested`, with their requested values. Throws an RpcError if none is
 * requested, and a ToolError if none differs. Ignores other properties of `requested`.
 */
export function changesOf<Fields extends object>(
	current: Fields,
	requested: { [Key in keyof Fields]?: NoInfer<Fields[Key]> | undefined },
	subject: string,
): Partial<Fields> {
	const names = Object.keys(current) as (keyof Fields & string)[];
	requireOneOf(requested, names);
	const present = names.filter((name) => requested[name] !== undefined);
	const changed = present.filter(
		(name) => !Bun.deepEquals(current[name], requested[name]),
	);
	if (changed.length === 0)
		throw new ToolError(
			`Nothing would change: ${subject} already has this ${present.join(", ")}. Nothing was done.`,
		);
	return Object.fromEntries(
		changed.map((name) => [name, requested[name]]),
	) as Partial<Fields>;
}

/** Joins ids in sorted order, so that changesOf ignores their order. */
export function sortedIds(ids: readonly string[]): string {
	return ids.toSorted(compareIds).join(" ");
}
