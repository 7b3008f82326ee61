// The settings of the gateway's database: GATEWAY_DATABASE and GATEWAY_DB_SCHEMA.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { optional } from "../../lib/config.ts";
import {
	databaseUrlIssue,
	schemaIssue,
} from "../../lib/sql/postgres-schema.ts";
import { directoryIssue } from "../../lib/sql/sqlite-file.ts";

export interface StoreSettings {
	/** URL of a PostgreSQL database, or path of an SQLite file. */
	database: string;
	/** Name of the PostgreSQL schema that contains the gateway's tables. Ignored for SQLite. */
	schema: string;
}

/** Valibot schemas of the environment variables for the gateway's database. */
export const storeVariables = {
	GATEWAY_DATABASE: v.pipe(
		optional(
			v.pipe(
				v.string(),
				v.rawCheck(({ dataset, addIssue }) => {
					const message = dataset.typed && databaseIssue(dataset.value);
					if (message) addIssue({ message });
				}),
			),
			"Where keys and sign-ins are kept: path of an SQLite file, or postgres://user:password@host:5432/database, which several gateways can share",
		),
		v.metadata({ default: "none: neither keys nor sign-ins" }),
	),
	GATEWAY_DB_SCHEMA: optional(
		v.pipe(
			v.string(),
			v.rawCheck(({ dataset, addIssue }) => {
				const message = dataset.typed && schemaIssue(dataset.value);
				if (message) addIssue({ message });
			}),
		),
		"Schema of these tables in PostgreSQL, created if it is missing",
		"guildhall_gateway",
	),
};

/** Returns the settings of the gateway's database; undefined if the gateway has no database. */
export function readStoreSettings({
	GATEWAY_DATABASE: database,
	GATEWAY_DB_SCHEMA: schema,
}: {
	GATEWAY_DATABASE?: string | undefined;
	GATEWAY_DB_SCHEMA: string;
}): StoreSettings | undefined {
	return database === undefined ? undefined : { database, schema };
}

export function isPostgresUrl(database: string): boolean {
	return /^postgres(ql)?:\/\//i.test(database);
}

/**
 * Returns why the value of GATEWAY_DATABASE is invalid; undefined if it is valid. The text does not contain the URL,
 * which has a password.
 */
function databaseIssue(database: string): string | undefined {
	if (isPostgresUrl(database)) return databaseUrlIssue(database);
	if (!/^[a-z][a-z0-9+.-]*:/i.test(database)) return undefined;
	return "expected the path of a file, or a URL such as postgres://user:password@host:5432/database";
}

/**
 * Creates the directory of the gateway's SQLite file if it is missing. Returns an error text if the gateway cannot
 * write to the file; undefined if it can, and for PostgreSQL.
 */
export function fileIssue({ database }: StoreSettings): string | undefined {
	if (isPostgresUrl(database)) return undefined;
	const file = resolve(database);
	const issue = directoryIssue(dirname(file), "GATEWAY_DATABASE");
	if (issue || !existsSync(file)) return issue;
	const shown = JSON.stringify(file);
	if (!statSync(file).isFile())
		return `GATEWAY_DATABASE: expected the path of a file, but ${shown} is none`;
	try {
		accessSync(file, constants.R_OK | constants.W_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `GATEWAY_DATABASE: cannot write the file ${shown} (${code})`;
	}
}

/** Returns an error text if the gateway's SQLite file does not exist; undefined if it does, and for PostgreSQL. */
export function missingFileIssue({
	database,
}: StoreSettings): string | undefined {
	const file = resolve(database);
	return isPostgresUrl(database) || existsSync(file)
		? undefined
		: `GATEWAY_DATABASE: there is no file ${JSON.stringify(file)}; the gateway creates its database when it starts`;
}
