// Files are replaced whole or not at all, also where the disk is full: a limit for the size of files plays that.

import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const atomic = join(import.meta.dir, "../../src/install/atomic.ts");

test.skipIf(process.platform === "win32").each([
	["written", `writeAtomically("file", "x".repeat(1 << 20), 0o600)`],
	["copied", `copyAtomically("large", "file", 0o755)`],
])("what can only be %s in part leaves the old file", (_, statement) => {
	const place = mkdtempSync(join(tmpdir(), "guildhall-atomic-"));
	try {
		writeFileSync(join(place, "file"), "old");
		writeFileSync(join(place, "large"), "x".repeat(1 << 20));
		const script = `import { copyAtomically, writeAtomically } from ${JSON.stringify(atomic)}; ${statement}`;
		// At most 8 blocks; without the trap, the signal would end it before there is an error.
		const { exitCode } = Bun.spawnSync(
			[...["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"], ...[process.execPath, "-e", script]],
			{ cwd: place, stderr: "ignore" },
		);
		expect(exitCode).not.toBe(0);
		expect(readFileSync(join(place, "file"), "utf8")).toBe("old");
		expect(readdirSync(place).sort()).toEqual(["file", "large"]);
	} finally {
		rmSync(place, { recursive: true, force: true });
	}
});
