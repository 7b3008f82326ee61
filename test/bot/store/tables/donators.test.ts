// The lists of supporters that are remembered, on both databases.

import { expect, test } from "bun:test";
import {
	forgetDoubted,
	type ListEntry,
	saveAccepted,
	saveDoubted,
	selectDonatorLists,
} from "../../../../src/bot/store/tables/donators.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const list: ListEntry[] = [
	["123456789012345678", "gold"],
	["123456789012345678", "quoted ' \" \\ \0 \ud83d 👍\n"],
	["223456789012345678", ""],
];
const other: ListEntry[] = [["323456789012345678", "silver"]];

onBoth((databases) => {
	test("lists are read as stored, and an accepted list deletes the doubted one", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		const lists = () => selectDonatorLists(store.sql, "7");
		expect(await lists()).toEqual({ accepted: undefined, doubted: undefined });
		await saveDoubted(store.sql, "7", list);
		expect(await lists()).toEqual({ accepted: undefined, doubted: list });
		await saveAccepted(store, "7", other);
		expect(await lists()).toEqual({ accepted: other, doubted: undefined });
		await saveDoubted(store.sql, "7", other);
		await saveDoubted(store.sql, "7", list);
		await forgetDoubted(store.sql, "7");
		expect(await lists()).toEqual({ accepted: other, doubted: undefined });
		await saveAccepted(store, "7", list);
		await saveAccepted(store, "8", other);
		expect(await lists()).toEqual({ accepted: list, doubted: undefined });
	});

	test("a list can hold 50,000 entries", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { store } = opened;
		const many = Array.from({ length: 50_000 }, (_, index): ListEntry => [String(10n ** 17n + BigInt(index)), "gold"]);
		await saveAccepted(store, "7", many);
		const { accepted } = await selectDonatorLists(store.sql, "7");
		expect(accepted).toHaveLength(50_000);
		expect(accepted?.at(-1)).toEqual(many.at(-1) ?? ["", ""]);
	});
});
