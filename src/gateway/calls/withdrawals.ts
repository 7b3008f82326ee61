// Has bots withdraw the calls that wait for the approval of a person, once the key or connection that made them has ended:
// revoked on this gateway, another one or the command line, expired, or ended because its refresh token was used twice. The
// database is asked only while such calls wait, once a second for all bots together.

import type { Log } from "../../lib/log.ts";
import type { Backend } from "../backends/backend.ts";
import { keyExists } from "../keys/keys.ts";
import { createGrants } from "../oauth/grants/grants.ts";
import type { GatewayStore } from "../store/store.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { RecentCalls } from "./recent-calls.ts";

const requestTimeoutMs = 5_000;

export interface WithdrawalsOptions {
	backends: readonly (Pick<
		Backend,
		"name" | "waiting" | "withdraw" | "reasonOf"
	> & { state: { online: boolean } })[];
	store: GatewayStore;
	recent: Pick<RecentCalls, "approvalChanges">;
	log: Log;
	/** Returns the wall-clock time in milliseconds since 1970. */
	now: () => number;
	/** Milliseconds between two looks at the database. Default: 1,000. */
	intervalMs?: number;
}

export interface Withdrawals {
	/** Begins to look after the waiting calls. Call it when a bot that is online may have some. */
	wake(): void;
	close(): void;
}

export function createWithdrawals({
	backends,
	store,
	recent,
	log,
	now,
	intervalMs = 1_000,
}: WithdrawalsOptions): Withdrawals {
	const grants = createGrants(store, now);
	let isRunning = false;
	let isClosed = false;
	let timer: Timer | undefined;

	/** Whether a principal (caller) has ended. Principals that are neither keys nor connections never end. */
	async function hasEnded(id: string): Promise<boolean> {
		const [kind, rest = ""] = id.split(":");
		if (kind === "key") return !(await keyExists(store, id, now()));
		return kind === "grant" && !(await grants.exists(rest));
	}

	async function round(): Promise<void> {
		const online = backends.filter(({ state }) => state.online);
		const waiting = new Set(online.flatMap((one) => [...one.waiting]));
		const ended: string[] = [];
		for (const id of waiting) if (await hasEnded(id)) ended.push(id);
		// None waits for another bot.
		for (const backend of online) {
			const own = ended.filter((id) => backend.waiting.has(id));
			if (own.length > 0) void withdraw(backend, own);
		}
	}

	async function withdraw(
		backend: (typeof backends)[number],
		ids: readonly string[],
	): Promise<void> {
		const fields = { instance: backend.name, callers: ids.join(", ") };
		try {
			await backend.withdraw(ids, AbortSignal.timeout(requestTimeoutMs));
			recent.approvalChanges++;
			log.info("withdrew waiting calls of ended keys and connections", fields);
		} catch (error) {
			const reason = backend.reasonOf(error);
			log.warn("could not withdraw waiting calls, will retry", {
				...fields,
				reason,
			});
		}
	}

	function wake(): void {
		if (isRunning || isClosed) return;
		if (!backends.some(({ state, waiting }) => state.online && waiting.size))
			return;
		isRunning = true;
		void round()
			.catch((error) => {
				// While the database does not say who has ended, nothing is withdrawn.
				if (error instanceof StoreUnavailable) return;
				log.error("could not look for ended keys and connections", { error });
			})
			.finally(() => {
				if (isClosed) return;
				timer = setTimeout(() => {
					isRunning = false;
					wake();
				}, intervalMs);
			});
	}

	return {
		wake,
		close() {
			isClosed = true;
			clearTimeout(timer);
		},
	};
}
