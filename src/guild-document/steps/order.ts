// The order of roles and channels: where new ones and those that a document moves belong among the others.

import { isPlaceholder } from "../match/match.ts";

interface Chain {
	weight: number;
	place: number;
	id: string;
	before?: Chain;
}

/** As few as possible, and only `listed` ones. */
export function movedIn(current: readonly string[], wanted: readonly string[], listed: readonly string[]): string[] {
	const placeOf = new Map(wanted.map((id, index) => [id, index]));
	const mayMove = new Set(listed);
	const known = current.filter((id) => placeOf.has(id));
	// Those that stay are the heaviest chain whose places increase.
	const chains: Chain[] = [{ weight: 0, place: -1, id: "" }];
	const heaviest = (below = Infinity) =>
		chains.reduce((best, one) => (one.place < below && one.weight >= best.weight ? one : best));
	for (const id of known) {
		const place = placeOf.get(id) ?? 0;
		const before = heaviest(place);
		chains.push({ weight: before.weight + (mayMove.has(id) ? 1 : known.length), place, id, before });
	}
	const stays = new Set<string>();
	for (let at: Chain | undefined = heaviest(); at; at = at.before) stays.add(at.id);
	return known.filter((id) => !stays.has(id));
}

/** Otherwise new ones need no reordering, because Discord puts them last. */
export function isNewAmong(order: readonly string[]): boolean {
	return order.slice(0, order.findLastIndex((id) => !isPlaceholder(id)) + 1).some(isPlaceholder);
}
