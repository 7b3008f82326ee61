// A temporary directory that is deleted when this process ends, even by SIGKILL.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Shell script that creates the directory, waits for the end of stdin and deletes the directory. It retries the
 * deletion, because a child process that is just ending may create a file at the same time.
 */
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
 * Creates a directory that only this user can read, and returns its path. The directory is deleted when this process
 * exits. If this process is killed, a shell in its own session deletes the directory when its stdin ends. Where no
 * shell exists, as in some containers, the directory remains after SIGKILL.
 */
export async function createTemporaryDirectory(): Promise<string> {
	const name = `guildhall-demo-${randomBytes(8).toString("hex")}`;
	const directory = join(tmpdir(), name);
	const path = (await isKept(directory)) ? directory : mkdtempSync(join(tmpdir(), "guildhall-demo-"));
	process.on("exit", () => rmSync(path, { recursive: true, force: true }));
	return path;
}

const keepers: unknown[] = [];

/**
 * Starts the shell that creates `directory` and deletes it later. Resolves with false if the shell or the directory
 * could not be created.
 */
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
