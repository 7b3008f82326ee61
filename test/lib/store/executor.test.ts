// Work is bound to the session that accepted it: it runs there at most once.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import type { Database, Session } from "../../../src/lib/store/database.ts";
import { DatabaseUnavailable } from "../../../src/lib/store/errors.ts";
import { Executor } from "../../../src/lib/store/executor.ts";
import { createSqlite } from "../../../src/lib/store/sqlite.ts";
import { Store } from "../../../src/lib/store/store.ts";
import { recordLog } from "../../support/log.ts";
import { thingsTable } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "guildhall-executor-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface RecordedSession extends Session {
	/** Number of statements. */
	runs: number;
}

/** SQLite, with access to the sessions that were opened. `beforeRun` can delay each statement. */
function recordSessions(beforeRun: () => Promise<void> = async () => {}) {
	const sqlite = createSqlite(
		{ file: join(directory, "store.sqlite"), variable: "DATA_DIR" },
		{ instance: "Alpha", claims: true },
	);
	const sessions: RecordedSession[] = [];
	const database: Database = {
		...sqlite,
		async open(signal) {
			const session = await sqlite.open(signal);
			const recorded: RecordedSession = {
				...session,
				runs: 0,
				async run(statement) {
					recorded.runs += 1;
					await beforeRun();
					return session.run(statement);
				},
			};
			sessions.push(recorded);
			return recorded;
		},
	};
	return { database, sessions };
}

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

test("work that waits for a lost session does not run on the next one", async () => {
	const { database, sessions } = recordSessions();
	await using store = new Store(database, {
		log: recordLog().log,
		migrations: [thingsTable],
		unavailable: (reason, mayHaveRun) => new DatabaseUnavailable("lost", reason, mayHaveRun),
		backOffMs: [1, 5],
	}).start();
	await store.opened;
	const begun = Promise.withResolvers<void>();
	const goOn = Promise.withResolvers<void>();
	const transaction = failure(
		store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"before"})`;
			begun.resolve();
			await goOn.promise;
			await sql`INSERT INTO things (id) VALUES (${"after"})`;
		}),
	);
	await begun.promise;
	const waiting = failure(store.sql`INSERT INTO things (id) VALUES (${"waiting"})`);

	sessions[0]?.lose("cut");
	expect(await waiting).toMatchObject({ reason: "cut", mayHaveRun: false });
	expect(store.state).toBe("degraded");
	await until("the next session is open", () => store.state === "ready");
	goOn.resolve();
	expect(await transaction).toBeInstanceOf(Error);

	expect(sessions).toHaveLength(2);
	expect(await store.sql`SELECT id FROM things`).toEqual([]);
	// Work on the new session does not wait for that of the old one.
	await store.sql`INSERT INTO things (id) VALUES (${"new"})`;
	expect(await store.sql`SELECT id FROM things`).toEqual([{ id: "new" }]);
});

test("a statement that times out is not sent again, and its outcome is unknown", async () => {
	const begun = Promise.withResolvers<void>();
	const goOn = Promise.withResolvers<void>();
	const { database, sessions } = recordSessions(() => {
		begun.resolve();
		return goOn.promise;
	});
	const session = await database.open(never);
	const executor = new Executor(session, database, 20);
	const outcome = failure(executor.statement`SELECT 1`);
	await begun.promise;
	expect(await outcome).toMatchObject({ kind: "lost", mayHaveRun: true });
	goOn.resolve();
	expect(await failure(executor.statement`SELECT 1`)).toMatchObject({ kind: "lost", mayHaveRun: false });
	expect(sessions[0]?.runs).toBe(1);
	await session.close();
});

test("after a statement that timed out nothing runs on its session, however late the session notices its loss", async () => {
	const goOn = Promise.withResolvers<void>();
	const { database, sessions } = recordSessions(() => goOn.promise);
	const session = await database.open(never);
	const unaware = { ...session, lose() {} };
	const executor = new Executor(unaware, database, 20);
	expect(await failure(executor.statement`SELECT 1`)).toMatchObject({ kind: "lost" });
	goOn.resolve();
	expect(await failure(executor.statement`SELECT 1`)).toMatchObject({ kind: "lost", mayHaveRun: false });
	expect(sessions[0]?.runs).toBe(1);
	await session.close();
});

test("at most 1,000 statements wait, and drain waits for accepted ones", async () => {
	const { database } = recordSessions();
	const session = await database.open(never);
	const executor = new Executor(session, database, 60_000);
	const begun = Promise.withResolvers<void>();
	const goOn = Promise.withResolvers<void>();
	const running = executor.transaction(async () => {
		begun.resolve();
		await goOn.promise;
	});
	await begun.promise;
	const waiting = Array.from({ length: 999 }, () => executor.statement`SELECT 1`);
	const drained = executor.drain();
	expect(await failure(executor.statement`SELECT 1`)).toMatchObject({
		kind: "transient",
		reason: "too many statements are waiting for the database",
	});
	goOn.resolve();
	await drained;
	await running;
	await Promise.all(waiting);
	expect(await failure(executor.statement`SELECT 1`)).toMatchObject({
		kind: "lost",
		reason: "the database is being closed",
	});
	await session.close();
});

test("after a rollback the session is usable", async () => {
	const { database } = recordSessions();
	const session = await database.open(never);
	const executor = new Executor(session, database, 60_000);
	const failed = executor.transaction(async (sql) => {
		await sql`SELECT nothing FROM nowhere`;
	});
	expect(await failure(failed)).toBeInstanceOf(SQL.SQLiteError);
	expect(await executor.statement`SELECT 1 AS one`).toEqual([{ one: 1 }]);
	await session.close();
});
