// Files are replaced whole or not at all, also where the disk is full: a limit for the size of files plays that.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../support/place.ts";

const atomic = join(import.meta.dir, "../../src/install/atomic.ts");

test.skipIf(process.platform === "win32").each([
	["written", `writeAtomically("file", "x".repeat(1 << 20), 0o600)`],
	["copied", `copyAtomically("large", "file", 0o755)`],
])("what can only be %s in part leaves the old file", (_, statement) => {
	using place = openPlace();
	place.write("file", "old");
	place.write("large", "x".repeat(1 << 20));
	const script = `import { copyAtomically, writeAtomically } from ${JSON.stringify(atomic)}; ${statement}`;
	// At most 8 blocks; without the trap, the signal would end it before there is an error.
	const limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"];
	expect(place.run([...limited, process.execPath, "-e", script]).exitCode).not.toBe(0);
	expect(place.read("file")).toBe("old");
	expect(readdirSync(place.path).sort()).toEqual(["file", "large"]);
});
