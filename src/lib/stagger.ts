// Starts many tasks a few at a time, so that their responses do not arrive all at once.

import { Semaphore } from "./semaphore.ts";

export interface StaggerOptions {
	/** Maximum number of tasks that run at the same time, not counting slow ones. */
	max: number;
	/** Milliseconds after which a task that still runs counts as slow, so that it no longer delays the next ones. */
	slowMs: number;
}

const never = new AbortController().signal;

/** Runs a task for each item, in order. Returns the tasks' promises. The first `max` tasks start at once. */
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
