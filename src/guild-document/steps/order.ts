// The order of roles and channels: where new ones and those that a document moves belong among the others.

import { isPlaceholder } from "../match/match.ts";

/** As few as possible. */
export function movedIn(current: readonly string[], wanted: readonly string[]): string[] {
	const placeOf = new Map(wanted.map((id, index) => [id, index]));
	const places = current.flatMap((id) => placeOf.get(id) ?? []);
	const stays = new Set(longestIncreasing(places));
	return current.filter((id) => {
		const place = placeOf.get(id);
		return place !== undefined && !stays.has(place);
	});
}

function longestIncreasing(numbers: readonly number[]): number[] {
	const ends: number[] = [];
	const before: (number | undefined)[] = [];
	for (const [index, number] of numbers.entries()) {
		let at = 0;
		while (at < ends.length && (numbers[ends[at] ?? 0] ?? 0) < number) at += 1;
		before[index] = ends[at - 1];
		ends[at] = index;
	}
	const found: number[] = [];
	for (let at = ends.at(-1); at !== undefined; at = before[at]) found.unshift(numbers[at] ?? 0);
	return found;
}

/** Otherwise new ones need no reordering, because Discord puts them last. */
export function isNewAmong(order: readonly string[]): boolean {
	const lastExisting = order.findLastIndex((id) => !isPlaceholder(id));
	return order.slice(0, lastExisting + 1).some(isPlaceholder);
}
