// Replaces the executable under a running `up`: restarts one program after the other, and goes back if one does not become
// healthy. Before its restart, the database of each is copied; going back puts the copy in its place.

import { Database } from "bun:sqlite";
import { chmodSync, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ControlRequest, ControlResponse, ProgramStatus } from "../lib/instances/control.ts";
import { isWell, withHealth } from "../up/status.ts";

export interface UpgradeOptions {
	/** SQLite files by program: the instances, and "gateway". */
	databases: ReadonlyMap<string, string>;
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

/** Resolves with false if the former version runs again. */
export async function upgradePrograms(options: UpgradeOptions): Promise<boolean> {
	const { databases, backups, place, write } = options;
	mkdirSync(backups, { recursive: true, mode: 0o700 });
	const all = await programsOf(options);
	// The gateway comes last: it serves bots of both versions.
	const running = [...all.slice(1), ...all.slice(0, 1)].filter(({ state }) => state !== "stopped");
	await place("new");
	const restarted: string[] = [];
	for (const program of running) {
		const { name } = program;
		write(`… copy the database of ${name}, and restart it`);
		try {
			const file = databases.get(name);
			if (file !== undefined && existsSync(file)) copyDatabase(file, join(backups, `${name}.sqlite`));
			restarted.unshift(name);
			await restart(program, options);
		} catch (error) {
			write(`${name} does not work with the new version: ${(error as Error).message}`);
			await place("former");
			for (const one of restarted) await goBack(one, options);
			return false;
		}
	}
	return true;
}

/** Rejects if it does not listen, or does not become healthy although it was. */
async function restart(before: ProgramStatus, options: UpgradeOptions): Promise<void> {
	const response = await options.ask({ command: "restart", name: before.name });
	if ("error" in response) throw new Error(response.error);
	for (let attempt = 0; isWell(before); attempt++) {
		const now = (await programsOf(options)).find(({ name }) => name === before.name);
		if (now && isWell(now)) return;
		if (await options.wait(attempt)) throw new Error(`it is ${now?.issue ?? now?.health ?? now?.state}`);
	}
}

async function goBack(name: string, { databases, backups, ask, write }: UpgradeOptions): Promise<void> {
	const file = databases.get(name) ?? "";
	const [copy, kept] = [join(backups, `${name}.sqlite`), join(backups, `${name}-new.sqlite`)];
	const move: [string, string][] = [];
	if (existsSync(copy)) {
		copyFileSync(copy, `${file}.former`);
		for (const end of ["", "-wal", "-shm"]) move.push([file + end, kept + end]);
		move.push([`${file}.former`, file]);
	}
	write(`… go back with ${name}`);
	const response = await ask({ command: "restore", name, move });
	if ("error" in response) write(`${name}: ${response.error}`);
	if (move.length > 0)
		write(`${name} has its database of before again. Written since, and kept in ${kept}: ${addedRows(kept, copy)}`);
}

/** The gateway first. */
async function programsOf({ ask }: UpgradeOptions): Promise<ProgramStatus[]> {
	const response = await ask({ command: "status" });
	return "status" in response ? (await withHealth(response.status)).programs : [];
}

/** Also while a program writes to it. */
function copyDatabase(file: string, copy: string): void {
	using database = new Database(file);
	database.run("PRAGMA busy_timeout = 5000");
	database.run("VACUUM INTO ?", [copy]);
	chmodSync(copy, 0o600);
}

/** Such as "calls 12, cases 1". Rows that were changed or deleted are not counted. */
function addedRows(file: string, copy: string): string {
	using database = new Database(file);
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
