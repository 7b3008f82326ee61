// Upgrades with programs that are functions, and real databases; and which release is the newest.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, renameSync, statSync, utimesSync } from "node:fs";
import { upgradePrograms } from "../../src/install/upgrade.ts";
import type { ControlRequest, ControlResponse } from "../../src/lib/instances/control.ts";
import { version } from "../../src/lib/program/program.ts";
import { newerRelease, releasesAddress } from "../../src/lib/program/releases.ts";
import { openPlace, type Place } from "../support/place.ts";

let place: Place;
beforeEach(() => {
	place = openPlace();
});
afterEach(() => place[Symbol.dispose]());

const names = ["gateway", "alpha", "beta", "idle"];

/** `broken`: what becomes of a program under the new version. */
async function upgrade(
	broken: Record<string, "refuses" | "unhealthy"> = {},
	unhealthyBefore?: string,
	resume?: "new" | "former",
) {
	const run = (name: string, sql: string) => {
		using database = new Database(place.at(`${name}.db`));
		return database.query(sql).values();
	};
	const columns = (name: string) => run(name, "SELECT * FROM pragma_table_info('cases')").length;
	for (const name of names) run(name, "CREATE TABLE IF NOT EXISTS cases (id INTEGER)");
	let present = resume ?? "former";
	const running = new Map(names.map((name) => [name, present]));
	const isHealthy = (name: string) =>
		name !== unhealthyBefore && !(running.get(name) === "new" && broken[name] === "unhealthy");
	const sick = Bun.serve({ port: 0, fetch: () => new Response("not connected") });
	const well = Bun.serve({ port: 0, fetch: () => new Response("ok") });
	const asked: string[] = [];
	const ask = async ({ command, name = "" }: ControlRequest): Promise<ControlResponse> => {
		if (command === "status") {
			const programs = names.map((one) => ({
				...{ name: one, state: "running" as const, seconds: 1, restarts: 0, isHalted: one === "idle" },
				database: place.at(`${one}.db`),
				url: (isHealthy(one) ? well : sick).url.href,
			}));
			return { status: { pid: 1, version: "0", directory: place.path, programs } };
		}
		asked.push(`${command} ${name}`);
		if (command === "pause") return { lines: [] };
		if (present === "new") {
			// A migration, and what the program writes.
			if (columns(name) === 1) run(name, "ALTER TABLE cases ADD COLUMN more TEXT");
			run(name, "INSERT INTO cases VALUES (1, ''), (2, '')");
			if (broken[name] === "refuses") return { error: "a wrong configuration" };
		}
		running.set(name, present);
		return { lines: [] };
	};
	const placed: string[] = [];
	const lines: string[] = [];
	const result = await upgradePrograms({
		resume,
		backups: place.at("backups"),
		ask,
		async place(which) {
			placed.push(which);
			present = which;
		},
		write: (line) => lines.push(line),
		wait: async (attempt) => attempt > 1,
	});
	await Promise.all([sick.stop(true), well.stop(true)]);
	return { result, asked, placed, text: lines.join("\n"), columns };
}

const all = "restart alpha, restart beta, restart gateway";
const back = (...programs: string[]) => programs.map((name) => `pause ${name}, restart ${name}`).join(", ");

test("the bots come first, each after its database was copied; the stopped one is only copied", async () => {
	const { result, asked, placed, columns } = await upgrade();
	expect([result, placed]).toEqual(["new", ["new"]]);
	expect(asked.join(", ")).toBe(all);
	expect([columns("alpha"), columns("idle")]).toEqual([2, 1]);
	const copy = place.at("backups/alpha.sqlite");
	expect(statSync(copy).mode & 0o777).toBe(0o600);
	expect(statSync(place.at("backups/idle.sqlite")).isFile()).toBe(true);
	using database = new Database(copy);
	expect(database.query("SELECT * FROM pragma_table_info('cases')").values().length).toBe(1);
});

test.each([
	["alpha", "refuses", "a wrong configuration", `restart alpha, ${back("alpha")}`],
	["beta", "unhealthy", "it is not connected", `restart alpha, restart beta, ${back("beta", "alpha")}`],
	["gateway", "refuses", "a wrong configuration", `${all}, ${back("gateway", "beta", "alpha")}`],
] as const)("when %s %s, all go back to the former version with their databases", async (name, how, why, requests) => {
	const { result, asked, placed, text, columns } = await upgrade({ [name]: how });
	expect([result, placed, asked.join(", ")]).toEqual(["former", ["new", "former"], requests]);
	expect(text).toContain(`${name} does not work with the new version: ${why}`);
	expect(text).toContain(
		`alpha has its database of before again. Written since, and kept in ${place.path}/alpha.db.undone-backups: cases 2`,
	);
	for (const one of names) expect(columns(one)).toBe(1);
});

test("a bot that was not healthy before does not have to be afterwards", async () => {
	expect((await upgrade({}, "alpha")).result).toBe("new");
});

test("an upgrade that was killed goes on, and goes back with all, as one that was going back does", async () => {
	await upgrade();
	const { result, asked, placed } = await upgrade({}, undefined, "new");
	expect([result, placed, asked.join(", ")]).toEqual(["new", [], all]);
	const failed = await upgrade({ beta: "unhealthy" }, undefined, "new");
	expect([failed.result, failed.placed, failed.asked.join(", ")]).toEqual([
		"former",
		["former"],
		`restart alpha, restart beta, ${back("gateway", "beta", "alpha")}`,
	]);
	// The copies are from before the first start of the new version.
	for (const name of names) expect(failed.columns(name)).toBe(1);
	// Killed between the two renames.
	renameSync(place.at("alpha.db"), place.at("alpha.db.undone-backups"));
	copyFileSync(place.at("backups/alpha.sqlite"), place.at("alpha.db.former"));
	const again = await upgrade({}, undefined, "former");
	expect(again).toMatchObject({ result: "former", placed: [] });
	expect(again.asked.join(", ")).toBe(back("gateway", "beta", "alpha"));
	for (const name of names.slice(0, 3)) expect(again.columns(name)).toBe(1);
});

test("a database that cannot be put back does not keep the others from going back", async () => {
	// A directory stands where the new version's database is to be kept.
	mkdirSync(place.at("alpha.db.former/no"), { recursive: true });
	const { result, asked, text, columns } = await upgrade({ gateway: "refuses" });
	expect([result, asked.join(", ")]).toEqual(["mixed", `${all}, ${back("gateway", "beta", "alpha")}`]);
	expect([columns("beta"), columns("alpha")]).toEqual([1, 2]);
	expect(text).toContain("alpha is not as before: E");
	expect(text).not.toContain("alpha has its database of before");
});

test("the newest release is asked for once a day, a failure included", async () => {
	let requests = 0;
	let sums = "0  guildhall-99.1.2-linux-x64.tar.gz\n";
	const fetch = () => {
		requests++;
		return new Response(sums);
	};
	await using server = Bun.serve({ port: 0, fetch });
	const file = place.at("newest");
	const address = `http://127.0.0.1:${server.port}`;
	const ask = () => newerRelease(file, address);
	const yesterday = () => utimesSync(file, 0, 0);
	expect([await ask(), await ask(), requests]).toEqual(["99.1.2", "99.1.2", 1]);
	sums = `0  guildhall-${version}-linux-x64.tar.gz\n`;
	yesterday();
	expect([await ask(), requests]).toEqual([undefined, 2]);
	sums = "";
	yesterday();
	expect([await ask(), await ask(), requests]).toEqual([undefined, undefined, 3]);
	expect(await newerRelease(file, undefined)).toBeUndefined();
});

test("sources ask nobody, and an operator can name another place, or none", () => {
	expect(releasesAddress({})).toBeUndefined();
	expect(releasesAddress({ GUILDHALL_RELEASES: "off" })).toBeUndefined();
	expect(releasesAddress({ GUILDHALL_RELEASES: "http://mirror/latest/" })).toBe("http://mirror/latest");
});
