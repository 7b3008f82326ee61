// Statements as tagged templates, in the SQL that PostgreSQL and SQLite share. Values never become part of the SQL text.
// Both databases return the same rows.

import type { Session } from "./database.ts";

type Scalar = string | number | bigint | null;

/**
 * A value in an SQL statement. Booleans, dates and objects are excluded, because PostgreSQL and SQLite treat them
 * differently.
 */
export type Value = Scalar | Many;

/**
 * A value in an SQL statement that consists of several rows for INSERT or several values for IN. It has at least one
 * item.
 */
export class Many {
	constructor(readonly items: readonly Record<string, Scalar>[] | readonly Scalar[]) {
		if (items.length === 0) throw new TypeError("the SQL helper many() needs at least one item");
	}
}

/**
 * Puts several rows or values into an SQL statement: `INSERT INTO t ${many([{ id, name }])}` or `WHERE id IN
 * ${many(ids)}`. Throws a TypeError if `items` is empty.
 */
export function many(items: Many["items"]): Many {
	return new Many(items);
}

/** Splits items into batches of at most `size`, one for each SQL statement. */
export function* inBatches<T>(items: readonly T[], size: number): Iterable<T[]> {
	for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/**
 * Runs one SQL statement, a tagged template, and returns the rows of SELECT or RETURNING. Integers are numbers, or
 * bigints if beyond 2^53.
 */
export type Sql = <Row extends object = Record<string, unknown>>(
	strings: TemplateStringsArray,
	...values: Value[]
) => Promise<Row[]>;

/** Returns a function that runs SQL statements, written as tagged templates, on a database connection. */
export function statementsOf(session: Pick<Session, "run">): Sql {
	return async <Row extends object>(strings: TemplateStringsArray, ...values: Value[]) => {
		const rows = await session.run((sql) =>
			sql<Record<string, unknown>[]>(
				strings,
				...values.map((value) => (value instanceof Many ? sql(value.items as Record<string, Scalar>[]) : value)),
			),
		);
		return [...rows].map(withNumbers) as Row[];
	};
}

function withNumbers(row: Record<string, unknown>) {
	return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toNumber(value)]));
}

function toNumber(value: unknown): unknown {
	if (typeof value !== "bigint") return value;
	const number = Number(value);
	return Number.isSafeInteger(number) ? number : value;
}

/** Runs SQL text without parameters. The text must not contain user input. */
export function runText(session: Session, text: string): Promise<unknown> {
	return session.run((sql) => sql.unsafe(text));
}

/**
 * Runs `work` in a transaction, which is rolled back if `work` rejects. Calls `onCommit` before COMMIT. If the rollback
 * fails, drops the connection, which ends the transaction as well.
 */
export async function inTransaction<T>(session: Session, work: () => Promise<T>, onCommit = () => {}): Promise<T> {
	await runText(session, session.begin);
	try {
		const result = await work();
		onCommit();
		await runText(session, "COMMIT");
		return result;
	} catch (error) {
		await runText(session, "ROLLBACK").catch((failure) => {
			// After a full disk SQLite has already rolled back.
			if (!String(failure).includes("no transaction is active")) session.lose("a transaction could not be rolled back");
		});
		throw error;
	}
}
