// Statements as tagged templates, in the SQL that PostgreSQL and SQLite share. Values never become part of the SQL text.
// Both databases return the same rows.

import type { Session } from "./database.ts";

type Scalar = string | number | bigint | null;

/** A value in a statement. Booleans, dates and objects are excluded: the two databases treat them differently. */
export type Value = Scalar | Many;

/** Rows to insert, or values of an IN; at least one. */
export class Many {
	constructor(
		readonly items: readonly Record<string, Scalar>[] | readonly Scalar[],
	) {
		if (items.length === 0) throw new TypeError("expected an item in many()");
	}
}

/** For `INSERT INTO t ${many([{ id, name }])}` and `WHERE id IN ${many(ids)}`. Throws a TypeError for no items. */
export function many(items: Many["items"]): Many {
	return new Many(items);
}

/** Splits items into batches for one statement each. */
export function* inBatches<T>(
	items: readonly T[],
	size: number,
): Iterable<T[]> {
	for (let at = 0; at < items.length; at += size)
		yield items.slice(at, at + size);
}

/**
 * Runs one statement and returns its rows, of SELECT or RETURNING. Integers are numbers if exact, and bigints beyond 2^53.
 * Ids are TEXT, times are epoch milliseconds in BIGINT.
 */
export type Sql = <Row extends object = Record<string, unknown>>(
	strings: TemplateStringsArray,
	...values: Value[]
) => Promise<Row[]>;

/** Returns a function that runs statements on the session. */
export function statementsOf(session: Pick<Session, "run">): Sql {
	return async <Row extends object>(
		strings: TemplateStringsArray,
		...values: Value[]
	) => {
		const rows = await session.run((sql) =>
			sql<Record<string, unknown>[]>(
				strings,
				...values.map((value) =>
					value instanceof Many
						? sql(value.items as Record<string, Scalar>[])
						: value,
				),
			),
		);
		return [...rows].map(withNumbers) as Row[];
	};
}

function withNumbers(row: Record<string, unknown>) {
	return Object.fromEntries(
		Object.entries(row).map(([name, value]) => [name, toNumber(value)]),
	);
}

/** Converts a bigint to a number if exact: for some integers only one of the databases returns a bigint. */
function toNumber(value: unknown): unknown {
	if (typeof value !== "bigint") return value;
	const number = Number(value);
	return Number.isSafeInteger(number) ? number : value;
}
