// Stored jobs, on both databases.

import { expect, test } from "bun:test";
import {
	askToCancel,
	deleteGuildJobsBefore,
	endGuildJob,
	type GuildJobRow,
	insertGuildJob,
	saveGuildJobSteps,
	selectGuildJob,
	selectGuildJobSteps,
} from "../../../../src/bot/store/tables/guild-jobs.ts";
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

	test("a job keeps its steps for as long as it is kept itself", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		const endings = { early: at - 1, late: at };
		for (const [id, ended_at] of Object.entries(endings)) {
			await insertGuildJob(sql, job(id));
			await saveGuildJobSteps(sql, [
				{
					job_id: id,
					step_id: "create role/Mods",
					state: "done",
					action: "create",
					kind: "role",
					name: "Mods",
					mark: "1.1",
					after_id: "1",
					placeholder: null,
					target_id: "2",
					done_count: 1,
					error: null,
				},
			]);
			await endGuildJob(sql, { id, state: "done", note: null, ended_at });
		}
		expect(await deleteGuildJobsBefore(sql, at)).toBe(1);
		expect(await selectGuildJob(sql, "early")).toBeUndefined();
		expect(await selectGuildJobSteps(sql, "early")).toEqual([]);
		expect(await selectGuildJob(sql, "late")).toBeDefined();
		expect(await selectGuildJobSteps(sql, "late")).toHaveLength(1);
	});

	test("only a running job can be cancelled", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		await insertGuildJob(sql, job("one"));
		expect(await askToCancel(sql, "one")).toBe(true);
		await endGuildJob(sql, { id: "one", state: "cancelled", note: null, ended_at: at });
		expect(await askToCancel(sql, "one")).toBe(false);
		expect(await askToCancel(sql, "two")).toBe(false);
	});
});
