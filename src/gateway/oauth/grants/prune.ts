// Removes what has expired from the database, at most once a minute.

import type { Log } from "../../../lib/log.ts";
import type { StatementStore } from "../../store/store.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import type { Clocks } from "../protocol/clocks.ts";

const intervalMs = 60_000;
/**
 * Milliseconds for which an expired authorization code is kept in the database, so that a second use of the code is
 * detected.
 */
const keepCodesMs = 86_400_000;

/**
 * Returns a function that deletes expired sign-in attempts, codes, tokens and grants from the database. The function
 * works in the background, and does nothing if it did so within the last minute.
 */
export function createPruning(store: StatementStore, log: Log, { now, monotonicNow }: Clocks): () => void {
	let prunedAt = Number.NEGATIVE_INFINITY;

	async function prune(at: number): Promise<void> {
		await store.run((sql) => sql`DELETE FROM oauth_attempts WHERE expires_at <= ${at}`);
		await store.run((sql) => sql`DELETE FROM oauth_codes WHERE expires_at <= ${at - keepCodesMs}`);
		await store.run((sql) => sql`DELETE FROM oauth_tokens WHERE expires_at <= ${at}`);
		await store.run((sql) => sql`DELETE FROM oauth_grants WHERE expires_at <= ${at}`);
	}

	return () => {
		const time = monotonicNow();
		if (time - prunedAt < intervalMs) return;
		prunedAt = time;
		prune(now()).catch((error) => {
			// Requests report an unavailable database themselves.
			if (error instanceof StoreUnavailable) return;
			log.error("could not delete expired codes, tokens and sign-ins from the database", { error });
		});
	};
}
