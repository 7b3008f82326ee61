// Table "donator_lists": for each guild the last accepted list of supporters, and a later one that shrank too much to be
// accepted yet.

import * as v from "valibot";
import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf, type Sql } from "../../../lib/store/statement.ts";
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

const listRows = rowsOf<RowOf<typeof donatorListsTable, "donator_lists">, "guild_id" | "kind">("donator_lists", [
	"guild_id",
	"kind",
]);

const standings = v.array(v.tuple([v.string(), v.string()]));

export async function selectDonatorLists(sql: Sql, guildId: string): Promise<DonatorLists> {
	const rows = await listRows.all(sql, { guild_id: guildId });
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

export function forgetDoubted(sql: Sql, guild_id: string): Promise<void> {
	return listRows.deleteAll(sql, { guild_id, kind: "doubted" });
}

function save(sql: Sql, guild_id: string, kind: "accepted" | "doubted", list: readonly ListEntry[]): Promise<void> {
	// JSON text escapes characters that a database rejects, such as NUL.
	return listRows.save(sql, [{ guild_id, kind, fetched_at: Date.now(), standings: JSON.stringify(list) }]);
}
