// The default directory of instances, and the user as which root works there.

import { describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
	becomeOwnerOf,
	defaultInstances,
	installedExecutable,
	installedInstances,
} from "../../../src/lib/program/instances.ts";
import { openPlace } from "../../support/place.ts";

test("the variable decides, then whether the executable is the installed one", () => {
	const elsewhere = { GUILDHALL_INSTANCES: "/srv/bots" };
	const there = () => true;
	const absent = () => false;
	expect(defaultInstances(elsewhere, installedExecutable, there)).toBe("/srv/bots");
	expect(defaultInstances({}, installedExecutable, there)).toBe(installedInstances);
	// The executable in an installation with one unit for each program (docker/systemd).
	expect(defaultInstances({}, installedExecutable, absent)).toBe("instances");
	expect(defaultInstances({}, "/home/me/guildhall", there)).toBe("instances");
	expect(defaultInstances({}, undefined, there)).toBe("instances");
});

describe("becoming the owner of a directory", () => {
	const identityOf = (uid: number) => {
		const became: number[][] = [];
		const become = (...ids: [number, number]) => void became.push(ids);
		return { uid, become, became };
	};

	test("only root does, only for another's real directory", () => {
		using place = openPlace();
		const { path: root } = place;
		const own = join(root, "own");
		mkdirSync(own);
		symlinkSync(own, join(root, "link"));
		const { uid } = lstatSync(own);
		const nobody = identityOf(65534);
		expect(becomeOwnerOf(own, nobody)).toBe(false);
		const superuser = identityOf(0);
		for (const name of ["link", "absent"]) expect(becomeOwnerOf(join(root, name), superuser)).toBe(false);
		expect(nobody.became).toEqual([]);
		expect(superuser.became).toEqual([]);
		// In a directory of root, the process stays root.
		if (uid === 0) expect(becomeOwnerOf(own, superuser)).toBe(false);
	});
});

test.skipIf(process.getuid?.() !== 0)("root continues as the owner in every thread, without root's groups", () => {
	using place = openPlace();
	const { path: root } = place;
	const module = join(import.meta.dir, "../../../src/lib/program/instances.ts");
	const script = `
				import { chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
				const { becomeOwnerOf } = await import(${JSON.stringify(module)});
				const theirs = ${JSON.stringify(join(root, "theirs"))};
				mkdirSync(theirs);
				chownSync(theirs, 65534, 65533);
				const changed = becomeOwnerOf(theirs);
				const ids = readdirSync("/proc/self/task").map((task) =>
					/^Uid:\\s*(.*)\\nGid:\\s*(.*)$/m
						.exec(readFileSync("/proc/self/task/" + task + "/status", "utf8"))
						.slice(1).join().replaceAll("\\t", " "));
				console.log(JSON.stringify({ changed, ids: [...new Set(ids)], groups: process.getgroups().includes(0) }));`;
	const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script]);
	expect(stderr.toString()).toBe("");
	expect(JSON.parse(stdout.toString())).toEqual({
		changed: true,
		ids: ["65534 65534 65534 65534,65533 65533 65533 65533"],
		groups: false,
	});
});
