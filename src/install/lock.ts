// Lets only one install, uninstall or upgrade run on a system at a time. The lock is one of SQLite's: the operating system
// releases it when the process ends for any reason.

import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { InstallError } from "./step.ts";
import type { System } from "./system.ts";

/** Disposing releases it. InstallError if another process has the lock. */
export function lockSystem({ image }: System): Disposable {
	const path = image === undefined ? "/run/guildhall-install.lock" : join(image, ".guildhall-install.lock");
	const database = new Database(path);
	try {
		database.run("BEGIN EXCLUSIVE");
	} catch (error) {
		database.close();
		if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
		throw new InstallError(
			"Another guildhall install, uninstall or upgrade is running. Wait until it has ended, then run this command again.",
		);
	}
	return {
		[Symbol.dispose]() {
			// On a running machine, /run is emptied at each start. In an image, the file would stay.
			if (image !== undefined) rmSync(path, { force: true });
			database.close();
		},
	};
}
