// Starts many tasks a few at a time: the lists of many bots, read all at once, would delay calls.

import { Semaphore } from "./semaphore.ts";

const never = new AbortController().signal;

/** In order; the first `max` start at once. A task that runs longer than `slowMs` no longer delays the next ones. */
export function stagger<Item, Result>(
	items: readonly Item[],
	run: (item: Item) => Promise<Result>,
	{ max = 4, slowMs = 25 } = {},
): Promise<Result>[] {
	const places = new Semaphore({ max });
	return items.map(async (item) => {
		const place = places.acquire(never);
		if (place) await place;
		let isHolding = true;
		const release = () => {
			if (isHolding) places.release();
			isHolding = false;
		};
		const timer = setTimeout(release, slowMs);
		try {
			return await run(item);
		} finally {
			clearTimeout(timer);
			release();
		}
	});
}

/** Resolves when `isFound` after one of them has. */
export function whenFound(rounds: readonly Promise<void>[], isFound: () => boolean): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	for (const round of rounds) void round.then(() => isFound() && resolve());
	return promise;
}
