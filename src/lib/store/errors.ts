// What the errors of PostgreSQL and SQLite mean for a program that keeps its data there.

import { SQL } from "bun";
import { describePlace, type PostgresPlace } from "./postgres-schema.ts";

/** The database is unusable and another attempt would not help. The message is for the operator. */
export class StoreFailure extends Error {
	override name = "StoreFailure";
}

/** `variable` sets the `target` (schema or file); `holder` and `self` are names of processes. */
export function claimHeld(variable: string, target: string, holder: string, self: string): StoreFailure {
	return new StoreFailure(
		`${variable}: ${target} is in use by ${holder}, and this program is ${self}. Stop one of the two, or give each a ${variable} of its own.`,
	);
}

/** "lost": no connection, no claim. "missing": no tables. "refused": no writes now. "transient": try the next one. */
export interface DbError {
	kind: "lost" | "missing" | "refused" | "transient";
	/** For the operator; starts with the variable to check, if there is one. */
	reason: string;
}

/** A statement or transaction did not run to its end, other than by its own error. */
export class DatabaseUnavailable extends Error {
	override name = "DatabaseUnavailable";
	/** `mayHaveRun`: unknown whether it took effect. */
	constructor(
		readonly kind: Exclude<DbError["kind"], "missing">,
		readonly reason: string,
		readonly mayHaveRun = false,
		options?: ErrorOptions,
	) {
		super(reason, options);
	}
}

type Meaning = readonly [RegExp, DbError["kind"], reason: string];

function meaningOf(code: string, meanings: readonly Meaning[]): DbError | undefined {
	const found = meanings.find(([codes]) => codes.test(code));
	return found && { kind: found[1], reason: found[2] };
}

const connectionCodes = /CONNECTION|TIMEOUT|TLS|AUTH|SASL|PASSWORD|MESSAGE/;

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function explainPostgres(place: PostgresPlace) {
	const { schema, variables } = place;
	const { server, database } = describePlace(place);
	const at = `PostgreSQL at ${server}`;
	return (error: unknown): DbError | undefined => {
		if (!(error instanceof SQL.PostgresError)) return undefined;
		const { code, errno, message } = error;
		if (code !== "ERR_POSTGRES_SERVER_ERROR")
			return meaningOf(code, [
				[/REFUSED/, "lost", `${variables.url}: nothing answers at ${server}`],
				[/CONNECTION_CLOSED/, "lost", `the connection to ${at} was lost`],
				[connectionCodes, "lost", `${variables.url}: ${server}: ${message}`],
			]);
		const detail = `(${message})`;
		return meaningOf(`${errno} ${message}`, [
			[/^28/, "lost", `${variables.url}: ${at} refuses the user name or the password ${detail}`],
			[/^3D000/, "lost", `${variables.url}: ${at} has no database "${database}"`],
			[
				/^42501/,
				"lost",
				`${variables.schema}: the user of ${variables.url} may not create or use the schema "${schema}" ${detail}`,
			],
			[
				/^(3F000|42P01)/,
				"missing",
				`${variables.schema}: the schema "${schema}" or a table in it does not exist ${detail}`,
			],
			// Exceeding a quota or a limit of the file system is reported as an internal error.
			[/^(53100|\w+ could not (extend|write))/, "refused", `the disk of ${at} is full ${detail}`],
			[/^25006/, "refused", `${at} is read-only`],
			[/^(57014|55P03|40|53200)/, "transient", message],
			// Connection, resource, operator and system errors: 57P01 is a server that stops, 57P03 one that starts. 25P03 and
			// 25P04 end the connection of a transaction that takes too long.
			[/^(08|25P0[34]|53|57|58)/, "lost", `${at}: ${message}`],
		]);
	};
}

/** `variable` names the file or its directory. https://www.sqlite.org/rescode.html */
export function explainSqlite(file: string, variable: string) {
	const meanings: readonly Meaning[] = [
		[/^BUSY/, "transient", `another program holds a lock on ${file}`],
		[/^(FULL|IOERR_WRITE)$/, "refused", `the disk of ${file} is full`],
		[/^READONLY/, "refused", `${file} cannot be written`],
		[/^(CORRUPT|NOTADB)/, "lost", `${file} is damaged or not a database`],
		[/^(IOERR|CANTOPEN|PERM|AUTH|PROTOCOL)/, "lost", `${file} cannot be used`],
	];
	return (error: unknown): DbError | undefined => {
		const { code, message } = Object(error) as NodeJS.ErrnoException;
		// The file could not be created.
		if (/^E[A-Z]+$/.test(code ?? ""))
			return { kind: "lost", reason: `${variable}: ${file} cannot be created (${code})` };
		if (!(error instanceof SQL.SQLiteError)) return undefined;
		const found = meaningOf(error.code.replace("SQLITE_", ""), meanings);
		return found && { ...found, reason: `${variable}: ${found?.reason} (${code}: ${message})` };
	};
}
