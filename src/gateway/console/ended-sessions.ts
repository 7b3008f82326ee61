// Sessions of the console whose owners have signed out. They are kept in memory and, if the gateway has a database,
// also there, so that they stay ended after a restart and at every replica.

import type { Store } from "../../lib/store/store.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const maxEnded = 10_000;

interface Ended {
	id: string;
	since: number;
	expiresAt: number;
}

/** What the record needs of the database. */
export type EndedSessionsStore = Pick<Store, "sql" | "reason">;

/** `now`: milliseconds since 1970. Without `store`, the record is in memory only. */
export function createEndedSessions(now: () => number, store: EndedSessionsStore | undefined) {
	const ended = new Map<string, Ended>();
	/** Sessions that began until then count as ended, because `ended` no longer has all of them. */
	let endedUntil = Number.NEGATIVE_INFINITY;

	function remember(session: Ended): void {
		const { id, since, expiresAt } = session;
		ended.set(id, { id, since, expiresAt });
		for (const oldest of ended.values()) {
			const isExpired = oldest.expiresAt <= now();
			if (!isExpired && ended.size <= maxEnded) return;
			ended.delete(oldest.id);
			// The removed session must not be accepted again.
			if (!isExpired) endedUntil = Math.max(endedUntil, oldest.since);
		}
	}

	return {
		has: ({ id, since }: Ended): boolean => since <= endedUntil || ended.has(id),
		async add(session: Ended): Promise<void> {
			remember(session);
			const { id, expiresAt } = session;
			if (!store) return;
			await store.sql`DELETE FROM console_ended_sessions WHERE expires_at <= ${now()}`;
			await store.sql`INSERT INTO console_ended_sessions (id, expires_at) VALUES (${id}, ${expiresAt})
				ON CONFLICT (id) DO NOTHING`;
		},
		/** So that `has` knows it. Rejects with StoreUnavailable. */
		async look(session: Ended): Promise<void> {
			if (!store || this.has(session)) return;
			const rows = await store.sql`SELECT id FROM console_ended_sessions WHERE id = ${session.id}`;
			if (rows.length > 0) remember(session);
		},
		async tryToLook(session: Ended): Promise<void> {
			if (store?.reason !== undefined) return;
			await this.look(session).catch((error) => {
				if (!(error instanceof StoreUnavailable)) throw error;
			});
		},
	};
}
