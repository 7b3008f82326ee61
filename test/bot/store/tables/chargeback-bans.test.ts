// Which other chargebacks of a person keep the person banned.

import { expect, test } from "bun:test";
import {
	type ChargebackEvent,
	hasBanBeside,
	insertChargeback,
	selectChargeback,
	updateChargebacks,
} from "../../../../src/bot/store/tables/chargebacks.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const at = 1_790_000_000_000;

onBoth((databases) => {
	test.each([
		["is still open", "7", "ban", at - 1, 0, true],
		["was decided as this one arrived", "7", "ban", at, 1, true],
		["was decided before this one arrived", "7", "ban", at - 1, 1, false],
		["is another person's", "8", "ban", at, 0, false],
		["was dismissed", "7", "dismiss", at, 0, false],
	] as const)("another chargeback that %s", async (_, chat_id, decision, decided_at, closed, isKept) => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		const event = (id: string, chat_id: string): ChargebackEvent => ({
			id,
			guild_id: "1",
			chat_id,
			uuid: "5",
			username: "zoe",
			tier: "gold",
			happened_at: "2026-01-01T00:00:00Z",
		});
		await insertChargeback(sql, event("this", "7"), new Date(at));
		await insertChargeback(sql, event("other", chat_id), new Date(at - 9));
		await updateChargebacks(sql, ["other"], { decision, decided_at, closed });
		const one = await selectChargeback(sql, "this");
		if (!one) throw new Error("it is stored");
		expect(await hasBanBeside(sql, one)).toBe(isKept);
	});
});
