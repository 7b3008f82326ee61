// Finds the directory of all instances, and lets root work there as the user who owns it.

import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { build } from "./program.ts";

/** Path to which `guildhall install` copies the executable. */
export const installedExecutable = "/usr/local/bin/guildhall";

/** Path of the directory of all instances that `guildhall install` creates. */
export const installedInstances = "/var/lib/guildhall/instances";

/**
 * Returns the default directory of all instances: the value of the variable GUILDHALL_INSTANCES; without it,
 * /var/lib/guildhall/instances if this is the installed executable and the directory exists; otherwise "instances".
 */
export function defaultInstances(
	env: Readonly<Record<string, string | undefined>> = process.env,
	executable = build && process.execPath,
	exists = existsSync,
): string {
	if (env.GUILDHALL_INSTANCES) return env.GUILDHALL_INSTANCES;
	const isInstalled = executable === installedExecutable && exists(installedInstances);
	return isInstalled ? installedInstances : "instances";
}

/** The functions of the process that `becomeOwnerOf` uses. */
export interface Identity {
	uid: number | undefined;
	become(uid: number, gid: number): void;
}

const ownIdentity: Identity = {
	uid: process.getuid?.(),
	become(uid, gid) {
		// The types of Node.js lack this function.
		const { initgroups } = process as {
			initgroups?: (user: number, group: number) => void;
		};
		initgroups?.(uid, gid);
		process.setgid?.(gid);
		process.setuid?.(uid);
	},
};

/**
 * If this process runs as root and `directory` (absolute) belongs to another user, changes the process to that user for
 * good. The files that it then writes belong to that user, and links in the directory cannot lead it to files that this
 * user may not access. Also changes the working directory to `directory`, because the user may not enter root's.
 * Returns whether the user changed.
 */
export function becomeOwnerOf(directory: string, identity: Identity = ownIdentity): boolean {
	const stats = lstatSync(directory, { throwIfNoEntry: false });
	if (identity.uid !== 0 || !stats?.isDirectory() || stats.uid === 0) return false;
	process.chdir(directory);
	identity.become(stats.uid, stats.gid);
	return true;
}

/**
 * Returns why this process may not use the directory of all instances, and the next step. Returns undefined if the
 * process may use it, or if the directory does not exist.
 */
export function accessIssue(directory: string): string | undefined {
	try {
		accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
		return undefined;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		return code === "EACCES"
			? `${directory}: only root and its owner may use it. Run the command with sudo.`
			: undefined;
	}
}
