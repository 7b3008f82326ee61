// Stored marks of audit logs, on both databases.

import { expect, test } from "bun:test";
import { saveCaseMark, selectCaseMark } from "../../../../src/bot/store/tables/case-marks.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

onBoth((databases) => {
	test("a guild has one mark, which the next one replaces", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		await saveCaseMark(sql, "1", "18446744073709551614");
		await saveCaseMark(sql, "1", "18446744073709551615");
		expect(await selectCaseMark(sql, "1")).toBe("18446744073709551615");
		expect(await selectCaseMark(sql, "2")).toBeUndefined();
	});
});

test("a mark that cannot be stored is an error", async () => {
	const refuse = async () => {
		throw new Error("refused");
	};
	await expect(saveCaseMark(refuse, "1", "2")).rejects.toThrow("refused");
});
