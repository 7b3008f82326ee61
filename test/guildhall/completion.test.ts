// Completion in real shells, each with the script that `guildhall completion` prints for it.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { openPlace } from "../support/place.ts";

const main = join(import.meta.dir, "../../src/guildhall/main.ts");

/** What prints the words that complete the line in "$@", with the script in $SCRIPT. */
const shells = {
	bash: `. $SCRIPT; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guildhall; printf '%s\\n' "\${COMPREPLY[@]}"`,
	// zsh's own functions run only at its prompt: what the script calls is replaced. Its path finds the script by its name.
	zsh: 'compadd() { shift; print -l -- $@ }; fpath=($SCRIPT:h); autoload _guildhall; words=("$@"); CURRENT=$#; _guildhall',
	fish: 'source $SCRIPT; complete -C "$argv[2..]"',
};

test.each(Object.entries(shells))("%s completes programs, their options and the commands of up", (shell, print) => {
	using place = openPlace();
	const SCRIPT = place.at("_guildhall");
	place.write("guildhall", `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`, 0o755);
	const env = { ...process.env, SCRIPT, PATH: `${place.path}:${process.env.PATH}` };
	const run = (...command: string[]) => place.run(command, { env }).stdout;
	place.write("_guildhall", run("guildhall", "completion", shell));
	const words = (...line: string[]) => run(shell, "-c", print, "-", "guildhall", ...line).split("\n");
	if (!Bun.which(shell)) return console.warn(`completion is not tried in ${shell}: it is not installed`);
	expect(words("")).toEqual(expect.arrayContaining(["up", "gateway", "bot", "new-instance", "check", "demo"]));
	expect(words("up", "")).toEqual(expect.arrayContaining(["status", "restart"]));
	expect(words("gateway", "--")).toEqual(expect.arrayContaining(["--check", "--new-key", "--help"]));
	expect(words("bot", "--")).toContain("--export-guild");
	expect(words("new-instance", "--")).toContain("--token-stdin");
	expect(words("")).not.toContain("rehearsal");
	if (shell === "bash") expect(words("up", "--directory", "")).toEqual([""]);
});
