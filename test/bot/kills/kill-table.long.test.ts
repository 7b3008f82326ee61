// All durable work, killed after each of its writes, on both databases in one process. The next life ends it, and the end is
// that of a run without a kill. What a kill is: test/support/kills.ts. With a real SIGKILL: test/end-to-end/killed.test.ts.
//
// A kill before a write, or before or after a read, leaves the database and Discord as the write before has left them.
// So there is one kill after each write, and one before the first operation.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Store, startStore } from "../../../src/bot/store/store.ts";
import type { Trouble } from "../../support/kills.ts";
import { recordLog } from "../../support/log.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { approvals } from "./approvals.ts";
import { holdOrders } from "./held-orders.ts";
import { run } from "./life.ts";
import { scenarios } from "./scenarios.ts";

onBoth((databases, kind) => {
	let place: Place;
	let store: Store;
	beforeAll(async () => {
		place = await databases.place();
		store = startStore({ ...place.settings, instance: "Alpha", log: recordLog().log });
		await store.opened;
	});
	afterAll(() => store.close());

	// Both store the same rows, so PostgreSQL, which is slower, gets every second kill.
	const every = kind === "SQLite" ? 1 : 2;
	// What approvals store is the same on both: on PostgreSQL, one stands for all.
	const tried = Object.entries({ ...scenarios, ...approvals }).filter(
		([name]) => kind === "SQLite" || !(name in approvals) || name === "a call that is approved",
	);
	describe.each(tried)("%s", (name, scenario) => {
		const tryAt = async (at: Trouble, expected: unknown) => {
			await place.clear();
			const { outcome } = await run(scenario, store, at);
			expect([at, outcome]).toEqual([at, expected]);
		};

		test("killed anywhere ends as without a kill", async () => {
			await place.clear();
			const { kill, outcome } = await run(scenario, store);
			expect(kill.writes).toBeGreaterThan(0);
			for (let writes = 0; writes <= kill.writes; writes += every) await tryAt({ kind: "kill", writes }, outcome);
		}, 300_000);

		// The test makes the outage, so it is the same on both databases.
		if (kind === "SQLite" && name in approvals)
			test("with its database lost at any statement runs at most once", async () => {
				await place.clear();
				const { kill, outcome } = await run(scenario, store);
				for (const [index, isWrite] of kill.statements.entries())
					for (const hasRun of isWrite ? [false, true] : [false])
						await tryAt({ kind: "outage", statement: index + 1, hasRun }, outcome);
			});
	});

	test.each([
		["before Discord acts", false],
		["after Discord has acted", true],
	])("killed %s, each order of a moderator is carried out at most once and has one true case", async (_, after) => {
		await place.clear();
		await holdOrders(store, after);
	});
});
