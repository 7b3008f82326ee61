// A store for requests that need no token: a flood of them must not keep the holders of keys from the database.

import { type StatementStore, StoreUnavailable } from "./store.ts";

/** How many statements and transactions of such requests run or wait at once. The store itself takes 1,000. */
export const maxAtOnce = 200;

/** Returns `store` with a limit. Beyond it, `run` and `transaction` reject with StoreUnavailable. */
export function limitStore(store: StatementStore): StatementStore {
	let running = 0;

	async function limited<T>(work: () => Promise<T>): Promise<T> {
		if (running === maxAtOnce)
			throw new StoreUnavailable(
				"too many requests without a token are waiting for the database",
			);
		running++;
		try {
			return await work();
		} finally {
			running--;
		}
	}

	return {
		run: (work) => limited(() => store.run(work)),
		transaction: (work) => limited(() => store.transaction(work)),
	};
}
