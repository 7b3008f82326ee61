// The order of roles and channels: where new ones and those that a document moves belong among the others.

import { isPlaceholder } from "../match/match.ts";

/**
 * Returns all of `current` and `wanted` in the wanted order. What the document does not list stays behind what it stands
 * behind now, and new things come directly behind what they are listed after.
 */
export function mergeOrder(
	current: readonly string[],
	wanted: readonly string[],
): string[] {
	const listed = new Set(wanted);
	const existing = new Set(current);
	/** What is not listed, by the listed thing that it stands behind; "" for the top. */
	const followers = new Map<string, string[]>();
	let last = "";
	for (const id of current)
		if (listed.has(id)) last = id;
		else followers.set(last, [...(followers.get(last) ?? []), id]);
	const order = [...(followers.get("") ?? [])];
	let waiting: readonly string[] = [];
	for (const id of listed) {
		if (existing.has(id)) {
			order.push(...waiting);
			waiting = followers.get(id) ?? [];
		}
		order.push(id);
	}
	return [...order, ...waiting];
}

/** Returns the things of `current` that must move to reach the order `wanted`: as few as possible. */
export function movedIn(
	current: readonly string[],
	wanted: readonly string[],
): string[] {
	const placeOf = new Map(wanted.map((id, index) => [id, index]));
	const places = current.flatMap((id) => placeOf.get(id) ?? []);
	const stays = new Set(longestIncreasing(places));
	return current.filter((id) => {
		const place = placeOf.get(id);
		return place !== undefined && !stays.has(place);
	});
}

/** Returns the longest increasing subsequence of different numbers. */
function longestIncreasing(numbers: readonly number[]): number[] {
	/** At index n the position of the smallest number that ends an increasing sequence of n + 1 numbers. */
	const ends: number[] = [];
	const before: (number | undefined)[] = [];
	for (const [index, number] of numbers.entries()) {
		let at = 0;
		while (at < ends.length && (numbers[ends[at] ?? 0] ?? 0) < number) at += 1;
		before[index] = ends[at - 1];
		ends[at] = index;
	}
	const found: number[] = [];
	for (let at = ends.at(-1); at !== undefined; at = before[at])
		found.unshift(numbers[at] ?? 0);
	return found;
}

/** Whether an order has a new thing above one that exists. New roles and channels come last by themselves. */
export function isNewAmong(order: readonly string[]): boolean {
	const lastExisting = order.findLastIndex((id) => !isPlaceholder(id));
	return order.slice(0, lastExisting + 1).some(isPlaceholder);
}
