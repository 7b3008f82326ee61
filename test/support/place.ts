// A temporary directory of a test.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** `write` also makes directories; `run` returns what a command says, in the directory. */
export function openPlace() {
	const path = mkdtempSync(join(tmpdir(), "guildhall-place-"));
	const at = (name: string) => join(path, name);
	return {
		path,
		at,
		read: (name: string) => readFileSync(at(name), "utf8"),
		write(name: string, text: string | Uint8Array = "", mode = 0o644) {
			mkdirSync(dirname(at(name)), { recursive: true });
			writeFileSync(at(name), text, { mode });
		},
		run(command: readonly string[], options: { cwd?: string; env?: Record<string, string | undefined> } = {}) {
			const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: path, ...options });
			return { exitCode, stdout: stdout.toString().trim(), stderr: stderr.toString() };
		},
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}

export type Place = ReturnType<typeof openPlace>;
