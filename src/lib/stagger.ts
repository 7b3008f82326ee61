// Starts many tasks a few at a time, so that their responses do not arrive all at once.

import { Semaphore } from "./semaphore.ts";

export interface StaggerOptions {
	/** Without slow ones. */
	max: number;
	/** A task that runs longer no longer delays the next ones. */
	slowMs: number;
}

const never = new AbortController().signal;

/** In order; the first `max` start at once. */
export function stagger<Item, Result>(
	items: readonly Item[],
	run: (item: Item) => Promise<Result>,
	{ max, slowMs }: StaggerOptions,
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
