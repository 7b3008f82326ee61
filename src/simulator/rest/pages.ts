// Pages of lists that are ordered by id.

import { compareIds } from "../../guild-document/names/ids.ts";

interface Page {
	limit?: number | undefined;
	before?: string | undefined;
	after?: string | undefined;
}

/** The last items before the id `before` or, if that is missing, the first items after the id `after`. */
export function pageById<T>(
	items: Iterable<T>,
	idOf: (item: T) => string,
	{ before, after = "0", ...page }: Page,
	defaultLimit: number,
): T[] {
	const { limit = defaultLimit } = page;
	const isOnPage = (one: T) =>
		before === undefined ? compareIds(idOf(one), after) > 0 : compareIds(idOf(one), before) < 0;
	const fitting = [...items].filter(isOnPage);
	fitting.sort((a, b) => compareIds(idOf(a), idOf(b)));
	return before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
}
