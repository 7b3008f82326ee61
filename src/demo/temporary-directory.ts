// A temporary directory that is deleted when this process ends, even by SIGKILL.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Deletes again if a child process that is just ending creates a file at the same time. */
const keeperScript = `
trap '' HUP INT TERM
umask 077
mkdir "$1" || exit 1
echo created
while read -r line; do :; done
for attempt in 1 2 3 4 5; do
	rm -rf "$1" 2>/dev/null && exit 0
	sleep 1
done
`;

/**
 * Only this user can read it; deleted when this process exits, after a kill by a shell in its own session. Without a
 * shell, as in some containers, it remains after SIGKILL.
 */
export async function createTemporaryDirectory(): Promise<string> {
	const name = `guildhall-demo-${randomBytes(8).toString("hex")}`;
	const directory = join(tmpdir(), name);
	const path = (await isKept(directory)) ? directory : mkdtempSync(join(tmpdir(), "guildhall-demo-"));
	process.on("exit", () => rmSync(path, { recursive: true, force: true }));
	return path;
}

const keepers: unknown[] = [];

async function isKept(directory: string): Promise<boolean> {
	try {
		const keeper = Bun.spawn(["/bin/sh", "-c", keeperScript, "guildhall-demo", directory], {
			cwd: "/",
			env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
			// With a process group of its own, the shell does not receive Ctrl-C.
			detached: true,
			stdin: "pipe",
			stdout: "pipe",
			stderr: "ignore",
		});
		keepers.push(keeper);
		const { value } = await keeper.stdout.getReader().read();
		return new TextDecoder().decode(value).startsWith("created");
	} catch {
		return false;
	}
}
