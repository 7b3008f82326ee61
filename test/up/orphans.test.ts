// Programs that a killed `up` left behind.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessRecord } from "../../src/up/orphans.ts";

const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
const file = join(directory, "processes");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Starts a process of this executable that ends when the test says so. */
function startSleeper() {
	return Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 2 ** 30)"], {
		stdio: ["ignore", "ignore", "ignore"],
	});
}

test("where the record cannot be written, programs are started and end as always", () => {
	const record = new ProcessRecord(join(directory, "absent"));
	record.add(process.pid);
	record.remove(process.pid);
});

test.skipIf(process.platform !== "linux")(
	"a process that does not end is killed, but none that was given its number",
	async () => {
		await using sleeper = startSleeper();
		new ProcessRecord(directory).add(sleeper.pid);
		const line = readFileSync(file, "utf8");
		expect(line).toStartWith(`${sleeper.pid} `);
		// Another process with that number, garbage, and this process: it has not the start that is recorded.
		writeFileSync(file, `${process.pid} 1\nx y\n-1 1\n0 0\n1\n`);
		expect(await new ProcessRecord(directory).endOthers()).toEqual([]);
		writeFileSync(file, line);
		expect(await new ProcessRecord(directory).endOthers()).toEqual([sleeper.pid]);
		await sleeper.exited;
		expect(sleeper.signalCode).toBe("SIGKILL");
		expect(await new ProcessRecord(directory).endOthers()).toEqual([]);
	},
);
