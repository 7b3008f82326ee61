// Completion in real shells, each with the script that `guildhall completion` prints for it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dir, "../../src/guildhall/main.ts");
let directory: string;

beforeAll(() => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-completion-"));
	writeFileSync(join(directory, "guildhall"), `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, { mode: 0o755 });
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(...command: string[]): string {
	const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
	return Bun.spawnSync(command, { env }).stdout.toString();
}

const bash = (script: string, words: readonly string[]) =>
	run(
		"bash",
		"--norc",
		"-c",
		`source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guildhall; printf '%s\\n' "\${COMPREPLY[@]}"`,
		"-",
		...words,
	);
// The functions of zsh's completion run only at its prompt: what the script calls is replaced by what prints.
const zsh = (script: string, words: readonly string[]) =>
	run(
		"zsh",
		"-f",
		"-c",
		`compdef() { }; compadd() { shift; print -l -- $@ }; source ${script}; words=("$@"); CURRENT=$#; _guildhall`,
		"-",
		...words,
	);
const fish = (script: string, words: readonly string[]) =>
	run("fish", "--no-config", "-c", `source ${script}; complete -C ${JSON.stringify(words.join(" "))}`);

test.each([
	["bash", bash],
	["zsh", zsh],
	["fish", fish],
] as const)("%s completes programs, their options and the commands of up", (shell, complete) => {
	const script = join(directory, shell);
	const text = run("guildhall", "completion", shell);
	expect(text).not.toBe("");
	if (!Bun.which(shell)) return console.warn(`completion is not tried in ${shell}: it is not installed`);
	writeFileSync(script, text);
	const words = (...line: string[]) => complete(script, ["guildhall", ...line]).split("\n");
	expect(words("")).toEqual(expect.arrayContaining(["up", "gateway", "bot", "new-instance", "check", "demo"]));
	expect(words("up", "")).toEqual(expect.arrayContaining(["status", "restart"]));
	expect(words("gateway", "--")).toEqual(expect.arrayContaining(["--check", "--new-key", "--help"]));
	expect(words("bot", "--")).toContain("--export-guild");
	expect(words("new-instance", "--")).toContain("--token-stdin");
});
