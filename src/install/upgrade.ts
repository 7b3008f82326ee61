// Replaces the executable under a running `up`: restarts one program after the other, and goes back if one does not become
// healthy. All databases are copied first, and each again before the restart of its program; going back puts the copies in
// their place. The files tell how far it came, so that an upgrade that was killed can be continued.

import { Database } from "bun:sqlite";
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { ControlRequest, ControlResponse, ProgramStatus } from "../lib/instances/control.ts";
import { isWell, withHealth } from "../up/status.ts";
import { InstallError } from "./step.ts";

export interface UpgradeOptions {
	/** An earlier one was killed after it had put the executable "new", or then "former", in its place. */
	resume?: "new" | "former" | undefined;
	/** Directory for the copies. */
	backups: string;
	/** Of the running `up`. */
	ask(request: ControlRequest): Promise<ControlResponse>;
	/** Puts the executable in its place. */
	place(which: "new" | "former"): Promise<void>;
	write(line: string): void;
	/** Between two questions for health; true if it has been asked long enough. */
	wait(attempt: number): Promise<boolean>;
}

/** Resolves with the version that runs. "mixed": going back failed for a program, and can be tried again. */
export async function upgradePrograms(options: UpgradeOptions): Promise<"new" | "former" | "mixed"> {
	const { resume, backups, place, write } = options;
	mkdirSync(backups, { recursive: true, mode: 0o700 });
	const all = await programsOf(options);
	// The gateway comes last: it serves bots of both versions.
	const programs = [...all.slice(1), ...all.slice(0, 1)];
	const running = programs.filter(({ isHalted }) => !isHalted);
	if (resume === "former") return goBackWith(running.toReversed(), options);
	if (resume === undefined) {
		write("… copy the databases");
		// Also of those whose restart is far: after an interruption, `up` starts them all with the new version.
		for (const program of programs)
			if (!backUp(program, options)) write(`Note: not copied: the database of ${program.name}, ${program.database}.`);
		await place("new");
	}
	// With `resume`, any of them may run the new version.
	const restarted = resume ? running.toReversed() : [];
	for (const program of running) {
		const { name } = program;
		try {
			write(`… restart ${name}`);
			if (resume === undefined) {
				backUp(program, options);
				restarted.unshift(program);
			}
			await restart(program, options);
		} catch (error) {
			write(`${name} does not work with the new version: ${(error as Error).message}`);
			await place("former");
			return goBackWith(restarted, options);
		}
	}
	return "new";
}

/** Rejects if it does not listen, or does not become healthy although it was, or may have been before the kill. */
async function restart(before: ProgramStatus, options: UpgradeOptions): Promise<void> {
	await request({ command: "restart", name: before.name }, options);
	for (let attempt = 0; isWell(before) || options.resume; attempt++) {
		const now = (await programsOf(options)).find(({ name }) => name === before.name);
		if (now && isWell(now)) return;
		if (await options.wait(attempt)) throw new Error(now?.issue ?? now?.reason ?? `it is ${now?.health ?? now?.state}`);
	}
}

async function goBackWith(programs: readonly ProgramStatus[], options: UpgradeOptions): Promise<"former" | "mixed"> {
	let isComplete = true;
	for (const { name, database = "" } of programs) {
		options.write(`… go back with ${name}`);
		const copy = join(options.backups, `${name}.sqlite`);
		const kept = `${database}.undone-${basename(options.backups)}`;
		const fail = ({ message }: Error) => {
			options.write(`${name} is not as before: ${message}`);
			isComplete = false;
		};
		try {
			await request({ command: "pause", name }, options);
			try {
				if (existsSync(copy)) putBack(database, copy, kept);
			} catch (error) {
				fail(error as Error);
			}
			// It may have failed to start before, too.
			const response = await options.ask({ command: "restart", name });
			if ("error" in response) options.write(response.error);
			if (existsSync(kept))
				options.write(
					`${name} has its database of before again. Written since, and kept in ${kept}: ${addedRows(kept, copy)}`,
				);
		} catch (error) {
			fail(error as Error);
		}
	}
	return isComplete ? "former" : "mixed";
}

/** Can be repeated after it was interrupted anywhere. */
function putBack(file: string, copy: string, kept: string): void {
	const former = `${file}.former`;
	if (!existsSync(kept)) {
		copyFileSync(copy, former);
		// The main file comes last: when it is there, all are.
		for (const end of ["-shm", "-wal", ""]) if (existsSync(file + end)) renameSync(file + end, kept + end);
	}
	if (existsSync(former)) renameSync(former, file);
}

async function request(what: ControlRequest, { ask }: UpgradeOptions): Promise<void> {
	const response = await ask(what);
	if ("error" in response) throw new Error(response.error);
}

/** The gateway first. */
async function programsOf({ ask }: UpgradeOptions): Promise<ProgramStatus[]> {
	const response = await ask({ command: "status" });
	return "status" in response ? (await withHealth(response.status)).programs : [];
}

/** Also while the program writes to it. Whether there is one on this machine. Throws an InstallError. */
function backUp({ name, database: file = "" }: ProgramStatus, { backups }: UpgradeOptions): boolean {
	const copy = join(backups, `${name}.sqlite`);
	if (!existsSync(file)) return false;
	const partial = `${copy}.partial`;
	try {
		rmSync(partial, { force: true });
		using database = new Database(file, { readwrite: true, create: false });
		database.run("PRAGMA busy_timeout = 5000");
		database.run("VACUUM INTO ?", [partial]);
		chmodSync(partial, 0o600);
		renameSync(partial, copy);
		return true;
	} catch (error) {
		throw new InstallError(`could not copy the database of ${name}: ${(error as Error).message}`);
	} finally {
		for (const end of ["", "-journal"]) rmSync(partial + end, { force: true });
	}
}

/** Such as "calls 12, cases 1". Rows that were changed or deleted are not counted. */
function addedRows(file: string, copy: string): string {
	using database = new Database(file, { readonly: true });
	database.run("ATTACH ? AS former", [copy]);
	const tables = database.query(
		"SELECT name FROM former.sqlite_schema WHERE type = 'table' AND name <> 'migrations' AND name IN (SELECT name FROM main.sqlite_schema)",
	);
	const added = tables.values().flatMap(([name]) => {
		const count = (schema: string) => `(SELECT count(*) FROM ${schema}."${name}")`;
		const [more] = database.query(`SELECT ${count("main")} - ${count("former")}`).values()[0] ?? [];
		return Number(more) > 0 ? [`${name} ${more}`] : [];
	});
	return added.join(", ") || "no new rows";
}
