// Requests for approval that cannot be read, for another reason than a database that is away.

import { expect, test } from "bun:test";
import { Requests } from "../../../src/bot/approval/requests.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

test("the operator reads in the log why requests could not be loaded", async () => {
	const { log, entries } = recordLog();
	const sql = () => Promise.reject(new TypeError("no such column"));
	const requests = new Requests({
		rules: {} as never,
		settings: {} as never,
		connection: {} as never,
		store: { sql, transaction: (work) => work(sql) },
		log,
		select() {
			throw new Error("nothing is called");
		},
		record() {},
		backOffMs: [5, 50],
	});
	requests.start();
	const [entry] = await until("it is logged", () => {
		const found = entries("could not look for due work: internal error");
		return found.length > 0 && found;
	});
	expect(JSON.stringify(entry)).toContain("no such column");
	await requests.close();
});
