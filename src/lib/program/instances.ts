// Finds the directory of all instances, and lets root work there as the user who owns it.

import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "../config.ts";
import { build } from "./program.ts";

export const installedExecutable = "/usr/local/bin/guildhall";

export const installedInstances = "/var/lib/guildhall/instances";

/** GUILDHALL_INSTANCES; else `installedInstances` for the installed executable, if it exists; else "instances". */
export function defaultInstances(
	env: Readonly<Record<string, string | undefined>> = process.env,
	executable = build && process.execPath,
	exists = existsSync,
): string {
	if (env.GUILDHALL_INSTANCES) return env.GUILDHALL_INSTANCES;
	const isInstalled = executable === installedExecutable && exists(installedInstances);
	return isInstalled ? installedInstances : "instances";
}

interface Identity {
	uid: number | undefined;
	become(uid: number, gid: number): void;
}

const ownIdentity: Identity = {
	uid: process.getuid?.(),
	become(uid, gid) {
		// The types of Node.js lack this function.
		const { initgroups } = process as { initgroups?: (user: number, group: number) => void };
		initgroups?.(uid, gid);
		process.setgid?.(gid);
		process.setuid?.(uid);
	},
};

/**
 * As root, becomes the owner of `directory` (absolute) for good and changes into it, because the user may not enter
 * root's. Its files belong to that user, and links cannot lead it to others' files. Returns whether the user changed.
 */
export function becomeOwnerOf(directory: string, identity: Identity = ownIdentity): boolean {
	const stats = lstatSync(directory, { throwIfNoEntry: false });
	if (identity.uid !== 0 || !stats?.isDirectory() || stats.uid === 0) return false;
	process.chdir(directory);
	identity.become(stats.uid, stats.gid);
	return true;
}

/** The absolute path of what `--directory` says, whose owner root becomes (`becomeOwnerOf`). ConfigError without the right to it. */
export function enterInstances(given: string | undefined): string {
	const directory = resolve(given || defaultInstances());
	requireAccess(directory);
	becomeOwnerOf(directory);
	return directory;
}

/** ConfigError if this process may not use the directory; not if there is none. */
export function requireAccess(directory: string): void {
	try {
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EACCES")
			throw new ConfigError(directory, ["only root and its owner may use it. Run the command with sudo."]);
	}
}
