// The settings of the gateway's database: GATEWAY_DATABASE and GATEWAY_DB_SCHEMA.

import * as v from "valibot";
import { checkedText, optional } from "../../lib/config.ts";
import { databaseUrlIssue, schemaIssue } from "../../lib/store/postgres-schema.ts";

export interface StoreSettings {
	/** A URL of PostgreSQL, or a path of an SQLite file. */
	database: string;
	/** Ignored for SQLite. */
	schema: string;
}

export const storeVariables = {
	GATEWAY_DATABASE: v.pipe(
		optional(
			checkedText(databaseIssue),
			"Where keys and sign-ins are kept: path of an SQLite file, or postgres://user:password@host:5432/database, which several gateways can share",
		),
		v.metadata({ default: "none: neither keys nor sign-ins" }),
	),
	GATEWAY_DB_SCHEMA: optional(
		checkedText(schemaIssue),
		"Schema of these tables in PostgreSQL, created if it is missing",
		"guildhall_gateway",
	),
};

/** Undefined without a database. */
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

function databaseIssue(database: string): string | undefined {
	if (isPostgresUrl(database)) return databaseUrlIssue(database);
	if (!/^[a-z][a-z0-9+.-]*:/i.test(database)) return undefined;
	return "expected the path of a file, or a URL such as postgres://user:password@host:5432/database";
}
