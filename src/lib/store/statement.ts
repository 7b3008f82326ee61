// Statements as tagged templates, in the SQL that PostgreSQL and SQLite share. Values never become part of the SQL text.
// Both databases return the same rows.

import type { Session } from "./database.ts";

type Scalar = string | number | bigint | null;

/** Without booleans, dates and objects, because PostgreSQL and SQLite treat them differently. */
export type Value = Scalar | Many;

/** Several rows for INSERT or values for IN; at least one. */
class Many {
	constructor(readonly items: readonly object[] | readonly Scalar[]) {
		if (items.length === 0) throw new TypeError("the SQL helper many() needs at least one item");
	}
}

/** `INSERT INTO t ${many([{ id, name }])}` or `WHERE id IN ${many(ids)}`. TypeError if `items` is empty. */
export function many<Item extends Columns<Item>>(items: readonly Item[]): Many {
	return new Many(items as Many["items"]);
}

type Columns<Item> = { readonly [Column in keyof Item]: Scalar };

const upsertBatch = 500;

/** Rows stored with the same `key` get all values of `rows`. No transaction. Only `rows` may contain user input. */
export async function upsert<Row extends Columns<Row>>(
	sql: Sql,
	table: string,
	key: readonly (keyof Row & string)[],
	rows: readonly Row[],
): Promise<void> {
	for (const batch of inBatches(rows, upsertBatch)) {
		const others = Object.keys(batch[0] ?? {}).filter((column) => !key.some((one) => one === column));
		const values = others.map((column) => `${column} = excluded.${column}`).join(", ");
		const text = `INSERT INTO ${table} $rows ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${values}`;
		await runNamed(sql, text, { rows: many(batch) });
	}
}

type Named = Readonly<Record<string, Value>>;

/** A statement that code has put together, with `$name` for each value. `text` must not contain user input. */
export function runNamed<Row extends object>(sql: Sql, text: string, values: Named): Promise<Row[]> {
	const parts = text.split(/\$\w+/);
	const names = text.matchAll(/\$(\w+)/g).map(([, name = ""]) => values[name] ?? null);
	return sql(Object.defineProperty(parts, "raw", { value: parts }) as typeof parts & { raw: string[] }, ...names);
}

type Given<Row> = { readonly [Column in keyof Row]?: NonNullable<Row[Column]> & Scalar };

/** Whole rows of a table. `key`: its primary key, of which the methods that take a `Key` read no other columns. */
export function rowsOf<Row extends Columns<Row>, Key extends keyof Row & string>(table: string, key: readonly Key[]) {
	const conditions = (columns: readonly string[]) => columns.map((one) => `${one} = $${one}`).join(" AND ");
	const isRow = conditions(key);
	const select = (sql: Sql, where: string, given: object) =>
		runNamed<Row>(sql, `SELECT * FROM ${table} WHERE ${where}`, given as Named);
	return {
		async insert(sql: Sql, rows: readonly Row[]): Promise<void> {
			await runNamed(sql, `INSERT INTO ${table} $rows`, { rows: many(rows) });
		},
		/** Inserts or replaces them. */
		save: (sql: Sql, rows: readonly Row[]) => upsert(sql, table, key, rows),
		first: (sql: Sql, one: Pick<Row, Key>) => firstRow(select(sql, isRow, one)),
		/** `order`: columns. Default: the key. */
		all: (sql: Sql, given: Given<Row>, order: string = key.join()) =>
			select(sql, `${conditions(Object.keys(given)) || "1 = 1"} ORDER BY ${order}`, given),
		async change(sql: Sql, one: Pick<Row, Key>, values: Partial<Row>): Promise<void> {
			const given = { ...one, values: many([values as Record<string, Scalar>]) };
			await runNamed(sql, `UPDATE ${table} SET $values WHERE ${isRow}`, given as Named);
		},
		/** False if there was none. */
		delete: (sql: Sql, one: Pick<Row, Key>) =>
			hasRow(runNamed(sql, `DELETE FROM ${table} WHERE ${isRow} RETURNING 1`, one as Named)),
	};
}

export function* inBatches<T>(items: readonly T[], size: number): Iterable<T[]> {
	for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** A tagged template; returns the rows of SELECT or RETURNING. Integers beyond 2^53 are bigints. */
export type Sql = <Row extends object = Record<string, unknown>>(
	strings: TemplateStringsArray,
	...values: Value[]
) => Promise<Row[]>;

export async function firstRow<Row>(rows: Promise<readonly Row[]>): Promise<Row | undefined> {
	return (await rows)[0];
}

export async function hasRow(rows: Promise<readonly unknown[]>): Promise<boolean> {
	return (await rows).length > 0;
}

export function statementsOf(session: Pick<Session, "run">): Sql {
	return async <Row extends object>(strings: TemplateStringsArray, ...values: Value[]) => {
		const rows = await session.run((sql) =>
			sql<Record<string, unknown>[]>(
				strings,
				...values.map((value) => (value instanceof Many ? sql(value.items as Record<string, Scalar>[]) : value)),
			),
		);
		return [...rows].map((row) =>
			Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toNumber(value)])),
		) as Row[];
	};
}

function toNumber(value: unknown): unknown {
	if (typeof value !== "bigint") return value;
	const number = Number(value);
	return Number.isSafeInteger(number) ? number : value;
}

/** Must not contain user input. */
export function runText(session: Session, text: string): Promise<unknown> {
	return session.run((sql) => sql.unsafe(text));
}

/** Rolls back if `work` rejects; drops the connection if that fails. Calls `onCommit` before COMMIT. */
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
