// In a clone without node_modules, the commands that the READMEs name install what they need.

import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const clone = mkdtempSync(join(tmpdir(), "guildhall-clone-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));
for (const name of ["src", "instances/example", "docker", "package.json", "bun.lock", "bunfig.toml"])
	cpSync(join(root, name), join(clone, name), { recursive: true });

const { scripts: all } = await Bun.file(join(root, "package.json")).json();
const scripts = ["demo", "up", "guildhall", "gateway", "bot", "new-instance", "simulator", "build"];

// Without node_modules the first does install; it is what each of them does.
test.each(scripts)("bun run %s installs what it needs", async (script) => {
	expect(all[`pre${script}`]).toBe("bun install --frozen-lockfile --production --no-summary 1>&2");
	const child = Bun.spawn([process.execPath, "run", script, "--help"], { cwd: clone, stdout: "pipe", stderr: "pipe" });
	const [code, output, errors] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
	expect({ code, errors }).toMatchObject({ code: 0 });
	expect(output).toContain("--help");
});
