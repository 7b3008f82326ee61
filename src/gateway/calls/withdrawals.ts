// Has bots withdraw calls that wait for approval once their key or connection has ended: revoked anywhere, expired, or
// ended by a second use of its refresh token. The database is asked only while calls wait, once a second for all bots.

import type { Log } from "../../lib/log.ts";
import type { Statements } from "../../lib/store/store.ts";
import type { Backend } from "../backends/backend.ts";
import { listKeys } from "../keys/keys.ts";
import { Grants } from "../oauth/grants/grants.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { RecentCalls } from "./recent-calls.ts";

const requestTimeoutMs = 5_000;

interface WithdrawalsOptions {
	backends: readonly (Pick<Backend, "name" | "waiting" | "withdraw" | "reasonOf"> & { state: { online: boolean } })[];
	store: Statements;
	recent: Pick<RecentCalls, "approvalChanges"> | undefined;
	log: Log;
	/** Milliseconds since 1970. */
	now: () => number;
	/** Between two looks at the database. Default: 1,000. */
	intervalMs?: number;
}

export type Withdrawals = ReturnType<typeof createWithdrawals>;

export function createWithdrawals({ backends, store, recent, log, now, intervalMs = 1_000 }: WithdrawalsOptions) {
	const grants = new Grants(store, now);
	let timer: Timer | undefined;
	let isClosed = false;

	const waiting = () =>
		backends.flatMap((bot) => {
			const ids = [...bot.waiting].filter((id) => /^(key|grant):/.test(id));
			return bot.state.online && ids.length > 0 ? [{ bot, ids }] : [];
		});

	async function look(): Promise<void> {
		// Before the database is asked: what begins to wait meanwhile may be newer than its answer.
		const before = waiting();
		const keys = await listKeys(store);
		const alive = new Set([
			...keys.flatMap(({ id, expiresAt = Infinity }) => (expiresAt > now() ? id : [])),
			...(await grants.list()).map(({ id }) => `grant:${id}`),
		]);
		for (const { bot, ids } of before) {
			const gone = ids.filter((id) => !alive.has(id));
			if (gone.length === 0) continue;
			// No bot waits for another one.
			bot.withdraw(gone, AbortSignal.timeout(requestTimeoutMs)).then(
				() => recent && recent.approvalChanges++,
				(error) =>
					log.warn("could not withdraw waiting calls, will retry", { instance: bot.name, reason: bot.reasonOf(error) }),
			);
		}
	}

	function noteChange(): void {
		if (timer || isClosed || waiting().length === 0) return;
		timer = setTimeout(() => {
			timer = undefined;
			noteChange();
		}, intervalMs);
		look().catch((error) => {
			// While the database does not say who has ended, nothing is withdrawn.
			if (!(error instanceof StoreUnavailable)) log.error("could not look for ended keys and connections", { error });
		});
	}

	return {
		noteChange,
		close() {
			isClosed = true;
			clearTimeout(timer);
		},
	};
}
