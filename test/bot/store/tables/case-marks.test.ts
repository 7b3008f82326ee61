// Stored marks of audit logs, on both databases.

import { expect, test } from "bun:test";
import { caseMarkRows } from "../../../../src/bot/store/tables/case-marks.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

onBoth((databases) => {
	test("a guild has one mark, which the next one replaces", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		await caseMarkRows.save(sql, [{ guild_id: "1", entry_id: "18446744073709551614" }]);
		await caseMarkRows.save(sql, [{ guild_id: "1", entry_id: "18446744073709551615" }]);
		expect((await caseMarkRows.first(sql, { guild_id: "1" }))?.entry_id).toBe("18446744073709551615");
		expect(await caseMarkRows.first(sql, { guild_id: "2" })).toBeUndefined();
	});
});

test("a mark that cannot be stored is an error", async () => {
	const refuse = async () => {
		throw new Error("refused");
	};
	await expect(caseMarkRows.save(refuse, [{ guild_id: "1", entry_id: "2" }])).rejects.toThrow("refused");
});
