// The servers of tests leave nothing behind.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { postgresMissing } from "./postgres.ts";
import { isRunning } from "./program.ts";
import { until } from "./until.ts";

test.skipIf(postgresMissing !== undefined).each(["--running", "--stopped"])(
	"a server ends when the process that started it is killed, and its guard is told to end (%s)",
	async (state) => {
		const child = Bun.spawn([process.execPath, join(import.meta.dir, "postgres.fixture.ts"), state], {
			stdout: "pipe",
		});
		const { value } = await child.stdout.getReader().read();
		const { directory } = JSON.parse(new TextDecoder().decode(value));
		const pidFile = await Bun.file(join(directory, "data/postmaster.pid")).text();
		const pid = Number(pidFile.split("\n")[0]);
		expect(await isRunning(pid)).toBe(true);
		const table = Bun.spawnSync(["ps", "-o", "ppid=", "-p", String(pid)]);
		process.kill(Number(table.stdout.toString()), "SIGTERM");
		child.kill("SIGKILL");
		await until("the server has ended", async () => !(await isRunning(pid)));
		await until("its directory is gone", () => !existsSync(directory));
	},
);
