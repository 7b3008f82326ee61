// Installation steps for the system user and the directory of the instances. Uninstalling removes both only together
// with the data.

import { chmodSync, chownSync, lstatSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { installedInstances } from "../lib/program/instances.ts";
import { fileStep } from "./files.ts";
import { type InstallRecord, recordPath } from "./record.ts";
import type { Step } from "./step.ts";
import { findUser, type System } from "./system.ts";

export const userName = "guildhall";
const sysusersPath = "/etc/sysusers.d/guildhall.conf";

/** https://www.freedesktop.org/software/systemd/man/latest/sysusers.d.html */
const sysusers = `# The user that runs Guildhall. systemd-sysusers creates it, in an image at the first start.
u ${userName} - "Guildhall" ${installedInstances}
`;

/** `deletesData`: undoing may delete the user. */
export function userSteps(system: System, record: InstallRecord, deletesData: boolean): Step[] {
	const file = fileStep(system, record, {
		path: sysusersPath,
		title: "which describes the user",
		mode: 0o644,
		content: { text: sysusers },
	});
	const exists = () => findUser(system, userName) !== undefined;
	const user: Step = {
		describe: () => `make the system user ${userName}, without password and shell`,
		isDone: () => system.image !== undefined || exists(),
		note: () =>
			system.image === undefined || exists()
				? undefined
				: `the user ${userName} is made when the image starts (systemd-sysusers)`,
		apply() {
			record.set({ madeUser: true });
			system.run(["systemd-sysusers", sysusersPath]);
		},
		describeUndo: () =>
			deletesData && record.content.madeUser && exists() ? `delete the user ${userName}` : undefined,
		undo() {
			system.run(["userdel", userName]);
			record.set({ madeUser: undefined });
		},
	};
	if (deletesData) return [file, user];
	// The user is kept with the data: otherwise the next user with the same uid would own the data.
	return [{ ...file, describeUndo: () => undefined }, user];
}

export function directoryStep(system: System, deletesData: boolean): Step {
	const path = system.at(installedInstances);
	const stat = () => lstatSync(path, { throwIfNoEntry: false });
	// In an image the user does not exist yet; systemd changes the owner at the first start (StateDirectory).
	const owner = () => (system.image === undefined ? findUser(system, userName) : undefined);
	return {
		describe: () => `make ${installedInstances}, which only ${userName} may open, for the bots' files`,
		isDone() {
			const found = stat();
			if (!found?.isDirectory()) return false;
			const isOwned = system.image !== undefined || found.uid === owner()?.uid;
			return isOwned && (found.mode & 0o777) === 0o700;
		},
		apply() {
			mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
			// The parent directory belongs to root, so nobody can replace the directory by a link after this check.
			if (stat() && !stat()?.isDirectory()) throw new Error(`${path} is not a directory`);
			mkdirSync(path, { recursive: true, mode: 0o700 });
			const ids = owner();
			if (ids) chownSync(path, ids.uid, ids.gid);
			chmodSync(path, 0o700);
		},
		describeUndo: () =>
			deletesData && stat()
				? `delete ${installedInstances}: all instances with their tokens and SQLite files`
				: undefined,
		undo() {
			rmSync(path, { recursive: true, force: true });
		},
	};
}

/** The first step, so that it is undone last. */
export function recordStep(system: System, record: InstallRecord, deletesData: boolean): Step {
	return {
		describe: () => `write ${recordPath}, which lists what was installed`,
		isDone: () => record.exists,
		apply: () => record.set(),
		describeUndo: () => (deletesData && record.exists ? `remove ${recordPath}` : undefined),
		undo() {
			record.remove();
			const directory = dirname(system.at(recordPath));
			// The directory is not empty if units of other programs store data there; then it is kept.
			try {
				rmdirSync(directory);
			} catch {}
		},
	};
}
