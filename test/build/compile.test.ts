// An executable of a small program, compiled as the real ones are.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { compileGuildhall, linkNames } from "../../src/build/compile.ts";
import { hostTarget } from "../../src/build/targets.ts";
import { openPlace } from "../support/place.ts";

const host = hostTarget();
const isWindows = host.startsWith("windows");
const stamp = { commit: "0123456789ab", dirty: true, target: host };
const { path: root, write, [Symbol.dispose]: remove } = openPlace();
afterAll(remove);

write(
	"src/guildhall/main.ts",
	`import text from "../text.env" with { type: "text" };
import { fail } from "../fail.ts";
import { place } from "../place.cjs";

export class WithAName {}
declare const GUILDHALL_BUILD: object | undefined;
if (process.argv.includes("--other")) await import("../other.ts");
console.log(JSON.stringify({ build: typeof GUILDHALL_BUILD === "undefined" ? null : GUILDHALL_BUILD,
	text,
	name: new WithAName().constructor.name,
	setting: process.env.SETTING ?? null,
	stack: fail(),
	place,
	later: (await import("../later.ts")).later,
	loaded: process.env.LOADED,
}));
`,
);
write("src/fail.ts", '// A line above it.\n\nexport const fail = () => new Error("no luck").stack;\n');
write("src/later.ts", 'process.env.LOADED = "later";\nexport const later = import.meta.path.length > 0;\n');
write("src/other.ts", 'process.env.LOADED = "other";\n');
write("src/place.cjs", "exports.place = [__dirname, __filename];\n");
write("src/text.env", "A=1\n");

test("it needs no sources, knows its build, names its sources in stack traces, reads no .env or bunfig.toml, loads only what it uses, and does not tell where it was built", async () => {
	const directory = join(root, "out");
	mkdirSync(directory);
	const path = await compileGuildhall({ root, directory, stamp, host });
	expect(readdirSync(directory).sort()).toEqual([...(isWindows ? [] : linkNames), basename(path)].sort());
	for (const name of isWindows ? [] : linkNames) expect(readlinkSync(join(directory, name))).toBe("guildhall");
	write("elsewhere/.env", "SETTING=from-dotenv\n");
	write("elsewhere/bunfig.toml", 'preload = ["./nothing-there.ts"]\n');
	const sources = join(root, "src");
	rmSync(join(sources, "later.ts"));
	rmSync(join(sources, "text.env"));
	const child = Bun.spawnSync([path], { cwd: join(root, "elsewhere"), env: {} });
	expect(child.stderr.toString()).toBe("");
	expect(JSON.parse(child.stdout.toString())).toEqual({
		build: stamp,
		text: "A=1\n",
		name: "WithAName",
		setting: null,
		stack: expect.stringMatching(/^Error: no luck\n +at fail \(.*src\/fail\.ts:3:\d+\)/),
		place: ["", ""],
		later: true,
		loaded: "later",
	});
	expect(readFileSync(path).includes(root)).toBe(false);
});

test("a failed build shows Bun's error, and leaves no old executable and no files of its own", async () => {
	const directory = join(root, "broken");
	const options = { root: directory, directory, host };
	write("broken/guildhall", "an old one");
	write("broken/gateway", "an old one");
	write("broken/src/guildhall/main.ts", 'import "./nothing-there.ts";\n');
	await expect(compileGuildhall({ ...options, stamp })).rejects.toThrow("nothing-there");
	const nowhere = { ...stamp, target: "amiga-m68k" };
	await expect(compileGuildhall({ ...options, stamp: nowhere })).rejects.toThrow("bun-amiga-m68k");
	expect(readdirSync(directory)).toEqual(["src"]);
});
