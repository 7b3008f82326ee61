// Statements as the store's users write them: tagged templates, whose values never become SQL text, in the dialect that
// PostgreSQL and SQLite share. Rows come back the same from both.

import type { SQL } from "bun";
import type { Session } from "./database.ts";

type Scalar = string | number | bigint | null;

/** What may stand in a statement. Booleans, dates and objects do not: the two databases disagree on them. */
export type Value = Scalar | Many;

/** Rows to insert, or the values of an IN. */
export class Many {
	constructor(
		readonly items: readonly Record<string, Scalar>[] | readonly Scalar[],
	) {
		if (items.length === 0) throw new TypeError("expected at least one");
	}
}

/** `INSERT INTO t ${many([{ id, name }])}`, or `WHERE id IN ${many(ids)}`; at least one. */
export function many(items: Many["items"]): Many {
	return new Many(items);
}

/**
 * Runs one statement and gives its rows: those that it selects, or names with RETURNING. Whole numbers come as numbers
 * where they are exact, and as bigints beyond 2^53. Ids are TEXT, instants are epoch milliseconds in BIGINT.
 */
export type Sql = <Row extends object = Record<string, unknown>>(
	strings: TemplateStringsArray,
	...values: Value[]
) => Promise<Row[]>;

/** Statements of a session. */
export function statementsOf(session: Pick<Session, "run">): Sql {
	return async <Row extends object>(
		strings: TemplateStringsArray,
		...values: Value[]
	) => {
		const rows = await session.run((sql) =>
			sql<Record<string, unknown>[]>(
				strings,
				...values.map((value) =>
					value instanceof Many ? helper(sql, value) : value,
				),
			),
		);
		return [...rows].map(withNumbers) as Row[];
	};
}

function helper(sql: SQL, { items }: Many): unknown {
	return sql(items as Record<string, Scalar>[]);
}

function withNumbers(row: Record<string, unknown>) {
	return Object.fromEntries(
		Object.entries(row).map(([name, value]) => [name, toNumber(value)]),
	);
}

/** What PostgreSQL gives as a number and SQLite as a bigint, or the other way around. */
function toNumber(value: unknown): unknown {
	if (typeof value !== "bigint") return value;
	const number = Number(value);
	return Number.isSafeInteger(number) ? number : value;
}
