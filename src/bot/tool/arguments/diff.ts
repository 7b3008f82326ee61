// Compares an edit with the current state.

import { compareIds } from "../../../guild-document/names/ids.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { requireOneOf } from "./arguments.ts";

/** Throws an RpcError if `requested` sets no field, and a SaidError if no value differs. */
export function changesOf<Fields extends object>(
	current: Fields,
	requested: { [Key in keyof Fields]?: NoInfer<Fields[Key]> | undefined },
	subject: string,
	people = said("refusal.nothing_to_change"),
): Partial<Fields> {
	const names = Object.keys(current) as (keyof Fields & string)[];
	requireOneOf(requested, names);
	const present = names.filter((name) => requested[name] !== undefined);
	const changed = present.filter((name) => !Bun.deepEquals(current[name], requested[name]));
	if (changed.length === 0)
		throw new SaidError(people, {
			models: `Nothing would change: ${subject} already has the given ${present.join(", ")}. Nothing was done.`,
		});
	return Object.fromEntries(changed.map((name) => [name, requested[name]])) as Partial<Fields>;
}

/** So that lists of the same ids in different order are equal. */
export function sortedIds(ids: readonly string[]): string {
	return ids.toSorted(compareIds).join(" ");
}
