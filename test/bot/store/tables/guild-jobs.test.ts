// Stored jobs, on both databases.

import { expect, test } from "bun:test";
import { type GuildJobRow, guildJobRows } from "../../../../src/bot/store/tables/guild-jobs.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const at = 1_790_000_000_000;

const job = (id: string): GuildJobRow => ({
	id,
	guild_id: `guild of ${id}`,
	plan_hash: "5",
	content: "{}",
	reason: "",
	state: "running",
	cancel_asked: 0,
	note: null,
	started_at: at - 9,
	ended_at: null,
});

onBoth((databases) => {
	const open = async () => openStore(await databases.place(), { migrations });

	test("only a running job can be cancelled", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		await guildJobRows.add(sql, [job("one")]);
		const ask = (id: string) => guildJobRows.change(sql, { id }, { cancel_asked: 1 }, { ended_at: null });
		expect(await ask("one")).toMatchObject({ cancel_asked: 1 });
		await guildJobRows.change(sql, { id: "one" }, { state: "cancelled", ended_at: at });
		expect(await ask("one")).toBeUndefined();
		expect(await ask("two")).toBeUndefined();
	});
});
