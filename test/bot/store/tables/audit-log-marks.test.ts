// Stored marks of audit logs, on both databases.

import { expect, test } from "bun:test";
import { auditLogMarkRows, raiseMark } from "../../../../src/bot/store/tables/incidents.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

onBoth((databases) => {
	test("a guild has one mark of each kind, which a higher one replaces", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		const key = { guild_id: "1", wanted: "cases" } as const;
		for (const entry_id of ["9", "18446744073709551614", "18446744073709551615", "18446744073709551614"])
			await raiseMark(sql, { ...key, entry_id });
		expect(await auditLogMarkRows.first(sql, key)).toEqual({ ...key, entry_id: "18446744073709551615" });
		expect(await auditLogMarkRows.first(sql, { ...key, wanted: "deletions" })).toBeUndefined();
		expect(await auditLogMarkRows.first(sql, { ...key, guild_id: "2" })).toBeUndefined();
	});
});

test("a mark that cannot be stored is an error", async () => {
	const refuse = async () => {
		throw new Error("refused");
	};
	await expect(raiseMark(refuse, { guild_id: "1", wanted: "cases", entry_id: "2" })).rejects.toThrow("refused");
});
