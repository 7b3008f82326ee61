// A store for requests that need no token: a flood of them must not keep the holders of keys from the database.

import type { Statements } from "../../lib/store/store.ts";
import { StoreUnavailable } from "./unavailable.ts";

/** Of requests without a valid token, running or queued. The store itself takes about 1,000. */
const maxAtOnce = 200;

/** Above the limit, rejects with StoreUnavailable. */
export function limitStore(store: Statements): Statements {
	let running = 0;

	async function limited<T>(work: () => Promise<T>): Promise<T> {
		if (running === maxAtOnce)
			throw new StoreUnavailable("too many requests without a token are waiting for the database");
		running++;
		try {
			return await work();
		} finally {
			running--;
		}
	}

	return {
		sql: (...statement) => limited(() => store.sql(...statement)),
		transaction: (work) => limited(() => store.transaction(work)),
	};
}
