// Table "donator_lists": for each guild the last accepted list of supporters, and a later one that shrank too much to be
// accepted yet.

import * as v from "valibot";
import { type Sql, upsert } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

export type ListEntry = readonly [userId: string, tier: string];

export interface DonatorLists {
	accepted: readonly ListEntry[] | undefined;
	/** Suspiciously short: the next list must confirm it. */
	doubted: readonly ListEntry[] | undefined;
}

export const donatorListsTable = `
	CREATE TABLE donator_lists (
		guild_id TEXT NOT NULL,
		kind TEXT NOT NULL,
		fetched_at BIGINT NOT NULL,
		standings TEXT NOT NULL,
		PRIMARY KEY (guild_id, kind)
	)`;

const standings = v.array(v.tuple([v.string(), v.string()]));

export async function selectDonatorLists(sql: Sql, guildId: string): Promise<DonatorLists> {
	const rows = await sql<{ kind: string; standings: string }>`
		SELECT kind, standings FROM donator_lists WHERE guild_id = ${guildId}`;
	const read = (kind: string) => {
		const row = rows.find((row) => row.kind === kind);
		return row && v.parse(standings, JSON.parse(row.standings));
	};
	return { accepted: read("accepted"), doubted: read("doubted") };
}

/** Deletes a list that waits for confirmation. */
export function saveAccepted(
	store: Pick<Store, "transaction">,
	guildId: string,
	list: readonly ListEntry[],
): Promise<void> {
	return store.transaction(async (sql) => {
		await save(sql, guildId, "accepted", list);
		await forgetDoubted(sql, guildId);
	});
}

export function saveDoubted(sql: Sql, guildId: string, list: readonly ListEntry[]): Promise<void> {
	return save(sql, guildId, "doubted", list);
}

export async function forgetDoubted(sql: Sql, guildId: string): Promise<void> {
	await sql`DELETE FROM donator_lists WHERE guild_id = ${guildId} AND kind = ${"doubted"}`;
}

function save(sql: Sql, guildId: string, kind: "accepted" | "doubted", list: readonly ListEntry[]): Promise<void> {
	// JSON text escapes characters that a database rejects, such as NUL.
	const row = { guild_id: guildId, kind, fetched_at: Date.now(), standings: JSON.stringify(list) };
	return upsert(sql, "donator_lists", ["guild_id", "kind"], [row]);
}
