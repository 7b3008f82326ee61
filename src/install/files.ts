// Installation steps that write a file. A file that somebody else wrote or changed is never lost: it is renamed, and
// kept beside the new file.

import { createHash } from "node:crypto";
import { lstatSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { copyAtomically, writeAtomically } from "./atomic.ts";
import type { InstallRecord, Pending } from "./record.ts";
import type { Step } from "./step.ts";
import type { System } from "./system.ts";

interface FileOptions {
	/** Absolute, on the system. */
	path: string;
	/** Such as "the unit guildhall.service". */
	title: string;
	mode: number;
	content: { text: string } | { copyOf: string };
	/** What running programs need after a change. */
	pending?: Pending;
	afterUndo?: () => void;
}

type FileState =
	| "absent"
	/** Has the content and mode to write, and is in the record. */
	| "done"
	/** Has the content to write, but another mode or no entry in the record, or an earlier content that install wrote. */
	| "ours"
	/** The operator changed the file after install had written the same content as now. */
	| "changed"
	/** The operator changed the file after install had written an earlier content, or install never wrote it. */
	| "foreign";

/** Undoing removes the file. */
export function fileStep(system: System, record: InstallRecord, options: FileOptions): Step {
	const { path, title, mode, content, pending, afterUndo } = options;
	const target = system.at(path);
	const wanted = () => hashWanted(content);
	const recorded = () => record.content.files[path] ?? [];
	const state = (): FileState => {
		const present = hashFile(target);
		const ours = recorded();
		if (present === undefined) return "absent";
		if (present === wanted())
			return ours.includes(wanted()) && (statSync(target).mode & 0o7777) === mode ? "done" : "ours";
		if (ours.includes(present)) return "ours";
		return ours.length === 1 && ours[0] === wanted() ? "changed" : "foreign";
	};
	return {
		describe() {
			const verb = state() === "absent" ? "write" : "replace";
			const kept =
				state() === "foreign"
					? `; the present file was not written by Guildhall or was changed; it is kept as ${freeName(path, system)}`
					: "";
			return `${verb} ${path}, ${title}${kept}`;
		},
		isDone: () => state() === "done" || state() === "changed",
		note: () => (state() === "changed" ? `${path} was changed after it was installed; it is not replaced` : undefined),
		apply() {
			// The rename comes first: if the process is killed after it, the next run finds no file and writes it.
			if (state() === "foreign") renameSync(target, system.at(freeName(path, system)));
			const present = hashFile(target);
			const ours = present === undefined ? [] : [present];
			record.setFile(path, [...new Set([wanted(), ...ours])]);
			if (pending) record.setPending(pending, true);
			if ("text" in content) writeAtomically(target, content.text, mode);
			else copyAtomically(content.copyOf, target, mode);
			record.setFile(path, [wanted()]);
		},
		describeUndo() {
			const present = hashFile(target);
			if (recorded().length === 0) return undefined;
			return present === undefined || recorded().includes(present)
				? `remove ${path}`
				: `remove ${path}, which was changed; the present file is kept as ${freeName(path, system)}`;
		},
		undo() {
			const present = hashFile(target);
			if (present !== undefined) {
				if (recorded().includes(present)) rmSync(target);
				else renameSync(target, system.at(freeName(path, system)));
			}
			afterUndo?.();
			record.setFile(path, undefined);
		},
	};
}

/** The first of path.bak, path.bak.2, … that is free. */
function freeName(path: string, system: System): string {
	const isTaken = (name: string) => lstatSync(system.at(name), { throwIfNoEntry: false }) !== undefined;
	let name = `${path}.bak`;
	for (let count = 2; isTaken(name); count++) name = `${path}.bak.${count}`;
	return name;
}

function hashWanted(content: FileOptions["content"]): string {
	if ("text" in content) return createHash("sha256").update(content.text).digest("hex");
	const hash = hashFile(content.copyOf);
	if (hash === undefined) throw new Error(`${content.copyOf} does not exist`);
	return hash;
}

const knownHashes = new Map<string, { stamp: string; hash: string }>();

/** SHA-256; undefined if there is none. */
export function hashFile(path: string): string | undefined {
	const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
	if (!stat) return undefined;
	if (!stat.isFile()) throw new Error(`${path} is not a file`);
	const stamp = `${stat.ino} ${stat.size} ${stat.ctimeNs}`;
	const known = knownHashes.get(path);
	if (known?.stamp === stamp) return known.hash;
	const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
	if (stat.size > 1_000_000n) knownHashes.set(path, { stamp, hash });
	return hash;
}
