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

/** What columns hold: a value, null, or one of several values. */
type Where<Row> = { readonly [Column in keyof Row]?: (Row[Column] & Scalar) | readonly (Row[Column] & Scalar)[] };

/** Whole rows of a table. `key`: its primary key, of which the methods that take a `Key` read no other columns. */
export function rowsOf<Row extends Columns<Row>, Key extends keyof Row & string>(table: string, key: readonly Key[]) {
	const ofKey = (one: Pick<Row, Key>) => Object.fromEntries(key.map((column) => [column, one[column]]));
	/** `text` goes on with the conditions `where`, then with `rest`. */
	const run = (sql: Sql, text: string, where: object, rest = "", more: Named = {}) => {
		const given = Object.entries(where).map(([name, value]) => [name, Array.isArray(value) ? many(value) : value]);
		const conditions = given.map(([name, value]) =>
			value === null ? `${name} IS NULL` : `${name} ${value instanceof Many ? "IN" : "="} $${name}`,
		);
		const whole = `${text} WHERE ${conditions.join(" AND ") || "1 = 1"}${rest}`;
		return runNamed<Row>(sql, whole, { ...Object.fromEntries(given), ...more });
	};
	return {
		async insert(sql: Sql, rows: readonly Row[]): Promise<void> {
			await runNamed(sql, `INSERT INTO ${table} $rows`, { rows: many(rows) });
		},
		/** Without those that are there. False if all are. */
		add: (sql: Sql, rows: readonly Row[]) =>
			hasRow(runNamed(sql, `INSERT INTO ${table} $rows ON CONFLICT DO NOTHING RETURNING 1`, { rows: many(rows) })),
		/** Inserts or replaces them. */
		save: (sql: Sql, rows: readonly Row[]) => upsert(sql, table, key, rows),
		first: (sql: Sql, one: Pick<Row, Key>) => firstRow(run(sql, `SELECT * FROM ${table}`, ofKey(one))),
		/** `order`: columns. Default: the key. */
		all: (sql: Sql, where: Where<Row>, order: string = key.join(), limit = Number.MAX_SAFE_INTEGER) =>
			run(sql, `SELECT * FROM ${table}`, where, ` ORDER BY ${order} LIMIT ${limit}`),
		async count(sql: Sql, where: Where<Row>): Promise<number> {
			const [row] = await run(sql, `SELECT COUNT(*) AS count FROM ${table}`, where);
			return Object(row).count;
		},
		/** Only if it is as `where` says. The row as it is then; undefined if there is none. */
		change: (sql: Sql, one: Pick<Row, Key>, values: Partial<Row>, where: Where<Row> = {}) => {
			const row = { values: many([values as Record<string, Scalar>]) };
			return firstRow(run(sql, `UPDATE ${table} SET $values`, { ...where, ...ofKey(one) }, " RETURNING *", row));
		},
		/** False if there was none. */
		delete: (sql: Sql, one: Pick<Row, Key>) => hasRow(run(sql, `DELETE FROM ${table}`, ofKey(one), " RETURNING 1")),
		async deleteAll(sql: Sql, where: Where<Row>): Promise<void> {
			await run(sql, `DELETE FROM ${table}`, where);
		},
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
