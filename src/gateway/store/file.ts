// The gateway's SQLite file: whether it is there, and can be used. It is apart from the settings, because most gateways have
// no such file, and `node:fs` takes 3 MiB.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { directoryIssue } from "../../lib/store/sqlite.ts";
import { isPostgresUrl, type StoreSettings } from "./settings.ts";

/** Creates a missing directory. An error text if the file is not writable; undefined for PostgreSQL. */
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

/** An error text if the file does not exist; undefined for PostgreSQL. */
export function missingFileIssue({ database }: StoreSettings): string | undefined {
	const file = resolve(database);
	return isPostgresUrl(database) || existsSync(file)
		? undefined
		: `GATEWAY_DATABASE: there is no file ${JSON.stringify(file)}; the gateway creates its database when it starts`;
}
