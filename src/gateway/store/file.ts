// The gateway's SQLite file: whether it is there, and can be used. It is apart from the settings, because most gateways have
// no such file, and `node:fs` takes 3 MiB.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { directoryIssue } from "../../lib/store/sqlite.ts";
import { isPostgresUrl, type StoreSettings } from "./settings.ts";

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
	if (!statSync(file).isFile()) return `GATEWAY_DATABASE: expected the path of a file, but ${shown} is none`;
	try {
		accessSync(file, constants.R_OK | constants.W_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return `GATEWAY_DATABASE: cannot write the file ${shown} (${code})`;
	}
}

/** Returns an error text if the gateway's SQLite file does not exist; undefined if it does, and for PostgreSQL. */
export function missingFileIssue({ database }: StoreSettings): string | undefined {
	const file = resolve(database);
	return isPostgresUrl(database) || existsSync(file)
		? undefined
		: `GATEWAY_DATABASE: there is no file ${JSON.stringify(file)}; the gateway creates its database when it starts`;
}
