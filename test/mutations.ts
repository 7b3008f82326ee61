// Which mutations of the source the tests notice: `bun test/mutations.ts --help`. Each mutation changes one operator, constant
// or statement in a copy of the project, in which the tests of its area then run. Type errors do not count as noticed.

import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import timings from "./timings.json";

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
	options: {
		seed: { type: "string", default: "1" },
		count: { type: "string", default: "120" },
		area: { type: "string", multiple: true },
		id: { type: "string", multiple: true },
		workers: { type: "string", default: "2" },
		list: { type: "boolean" },
		help: { type: "boolean" },
	},
});

/** The folders of each area, and the tests that run for its mutations after those of the mutated file. */
const areas: Record<string, { src: string[]; tests: string[] }> = {
	"guild-document": {
		src: ["src/guild-document", "src/bot/guild-documents"],
		tests: ["test/guild-document", "test/bot/guild-documents", "test/bot/tools/guild-documents.test.ts"],
	},
	store: { src: ["src/bot/store"], tests: ["test/bot/store"] },
	moderation: { src: ["src/bot/moderation"], tests: ["test/bot/moderation", "test/bot/moderation"] },
	tool: {
		src: ["src/bot/tool"],
		tests: ["test/bot/tool", "test/bot/tool-table.test.ts", "test/bot/person-table.test.ts", "test/bot/tools.test.ts"],
	},
	approval: { src: ["src/bot/approval"], tests: ["test/bot/approval"] },
};

/** A table's queries are tested by the tests of what uses them, too: those of the folders that import it run last. */
const tables = "src/bot/store/tables/";

/** Longer test files are left out, in milliseconds. */
const maxFileMs = 25_000;
/** How long the tests of a mutation may take, on a busy machine, before they count as hanging, and the mutation as noticed. */
const maxRunMs = 1_200_000;

/** What is replaced, and by what, in the code outside of comments, strings, imports and types. */
const operators: [RegExp, string | ((match: string) => string)][] = [
	[/ && /g, " || "],
	[/ \|\| /g, " && "],
	[/ === /g, " !== "],
	[/ !== /g, " === "],
	[/ < /g, " <= "],
	[/ <= /g, " < "],
	[/ > /g, " >= "],
	[/ >= /g, " > "],
	[/ \+ /g, " - "],
	[/ - /g, " + "],
	[/\btrue\b/g, "false"],
	[/\bfalse\b/g, "true"],
	[/(?<=[(\s[])!(?=[\w#(])/g, ""],
	[/\bawait /g, ""],
	[/(?<=[ (])\d[\d_]*(?=[,;)\s])/g, (digits) => `(${digits} * 3 + 1)`],
	[/^\t+(?:(?:await|void) )?(?:this\.)?#?\w[\w.#?]*\(.*\);$/g, ";"],
	[/(?<=^\t+)return;$/g, ";"],
];

interface Mutation {
	id: string;
	area: string;
	file: string;
	line: number;
	before: string;
	after: string;
}

/** All mutations of a file. An id depends on the line's text only, so that it survives changes elsewhere. */
async function mutationsOf(area: string, file: string): Promise<Mutation[]> {
	const lines = (await Bun.file(join(root, file)).text()).split("\n");
	const found: Mutation[] = [];
	const seen = new Map<string, number>();
	let isSkipped = false;
	for (const [index, text] of lines.entries()) {
		if (/^(import|export type|type|export interface|interface)\b/.test(text)) isSkipped = true;
		const isHere = isSkipped;
		if (isSkipped && (/^[})]/.test(text) || (/;$/.test(text) && !/^\t/.test(text)))) isSkipped = false;
		if (isHere || /^\s*(\/\/|\/?\*)/.test(text)) continue;
		const code = text.replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/.*$/g, (quoted) =>
			"\u0000".repeat(quoted.length),
		);
		const nth = (seen.get(text) ?? 0) + 1;
		seen.set(text, nth);
		for (const [at, [pattern, replacement]] of operators.entries())
			for (const match of code.matchAll(pattern)) {
				const by = typeof replacement === "string" ? replacement : replacement(match[0]);
				const indent = by === ";" ? (/^\t*/.exec(match[0])?.[0] ?? "") : "";
				const after = `${text.slice(0, match.index)}${indent}${by}${text.slice(match.index + match[0].length)}`;
				const key = [values.seed, file, text, nth, at, match.index].join("\n");
				found.push({ id: Bun.SHA256.hash(key, "hex").slice(0, 12), area, file, line: index + 1, before: text, after });
			}
	}
	return found;
}

/** Draws the mutations: the same number from each area, those with the smallest ids. */
async function draw(): Promise<Mutation[]> {
	const names = Object.keys(areas);
	const drawn: Mutation[] = [];
	for (const [index, area] of names.entries()) {
		const files = areas[area]?.src.flatMap((folder) => [...new Glob(`${folder}/**/*.ts`).scanSync(root)]);
		const all = await Promise.all((files ?? []).map((file) => mutationsOf(area, file)));
		const count = Math.floor((Number(values.count) + index) / names.length);
		const sorted = all.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
		drawn.push(...sorted.slice(0, count));
	}
	return drawn.filter(({ id, area }) => (values.id?.includes(id) ?? true) && (values.area?.includes(area) ?? true));
}

const durations: Record<string, number> = timings.files;
const imports = new Map<string, string>();

/** The tests of a mutation, in the order in which they run: those nearest to the file first. */
async function testsFor({ area, file }: Mutation): Promise<string[][]> {
	const all = (areas[area]?.tests ?? []).flatMap((path) =>
		path.endsWith(".ts") ? [path] : [...new Glob(`${path}/**/*.test.ts`).scanSync(root)],
	);
	const short = all.filter((test) => (durations[test] ?? 0) <= maxFileMs);
	const mirrored = file.replace(/^src/, "test").replace(/\.ts$/, "");
	const near: string[] = [];
	for (const test of short) {
		const text = imports.get(test) ?? (await Bun.file(join(root, test)).text());
		imports.set(test, text);
		const path = relative(dirname(test), file);
		if (
			test.startsWith(mirrored) ||
			text.includes(`"${path}"`) ||
			dirname(test) === dirname(mirrored) ||
			basename(test, ".test.ts") === basename(dirname(file))
		)
			near.push(test);
	}
	const rest = short.filter((test) => !near.includes(test));
	const ofUsers = file.startsWith(tables) ? await testsOfUsers(file) : [];
	return [near, rest, ...ofUsers].filter(({ length }) => length > 0);
}

/** The tests of each folder with a file that imports a table; of the folder above, if it has none of its own. */
async function testsOfUsers(table: string): Promise<string[][]> {
	const folders = new Set<string>();
	for (const file of new Glob("src/bot/**/*.ts").scanSync(root)) {
		if (file.startsWith("src/bot/store/")) continue;
		const text = imports.get(file) ?? (await Bun.file(join(root, file)).text());
		imports.set(file, text);
		if (!text.includes(`"${relative(dirname(file), table)}"`)) continue;
		let folder = dirname(file).replace(/^src/, "test");
		while (testsIn(folder).length === 0) folder = dirname(folder);
		folders.add(folder);
	}
	return [...folders].sort().map(testsIn);
}

/** The short tests of a folder, without those of folders in it. */
function testsIn(folder: string): string[] {
	return [...new Glob(`${folder}/*.test.ts`).scanSync(root)].filter((test) => (durations[test] ?? 0) <= maxFileMs);
}

/** Runs test files in a copy of the project. Resolves with the name of a test that failed; undefined if all passed. */
async function firstFailure(copy: string, files: string[]): Promise<string | undefined> {
	const child = Bun.spawn([process.execPath, "test", "--bail=1", "--no-isolate", "--timeout=60000", ...files], {
		cwd: copy,
		env: { ...process.env, BUN_GC_TIMER_DISABLE: "1" },
		stdout: "pipe",
		stderr: "pipe",
		timeout: maxRunMs,
		killSignal: "SIGKILL",
	});
	const [code, output] = await Promise.all([child.exited, child.stderr.text(), child.stdout.text()]);
	if (code === 0) return undefined;
	if (child.signalCode) return "the tests did not end";
	return /^\(fail\) (.*)$/m.exec(output)?.[1] ?? "a test file failed";
}

function copyProject(): string {
	const copy = mkdtempSync(join(tmpdir(), "guildhall-mutations-"));
	const { stdout } = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard"], { cwd: root });
	for (const file of stdout.toString().split("\n").filter(Boolean))
		cpSync(join(root, file), join(copy, file), { recursive: true });
	symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
	return copy;
}

async function main(): Promise<void> {
	const drawn = await draw();
	const queue = [...drawn];
	const survivors: Mutation[] = [];
	let done = 0;
	const work = async () => {
		const copy = copyProject();
		for (let one = queue.shift(); one; one = queue.shift()) {
			const path = join(copy, one.file);
			const text = await Bun.file(path).text();
			const lines = text.split("\n");
			lines[one.line - 1] = one.after;
			await Bun.write(path, lines.join("\n"));
			let failure: string | undefined;
			for (const files of await testsFor(one)) failure ??= await firstFailure(copy, files);
			await Bun.write(path, text);
			done += 1;
			if (failure === undefined) survivors.push(one);
			console.log(
				`${done}/${drawn.length} ${failure === undefined ? "SURVIVED" : "noticed"} ${describe(one)}${failure === undefined ? "" : `\n\tby: ${failure}`}`,
			);
		}
		rmSync(copy, { recursive: true, force: true });
	};
	await Promise.all(Array.from({ length: Number(values.workers) }, work));
	const noticed = drawn.length - survivors.length;
	console.log(`${noticed} of ${drawn.length} noticed (${Math.round((noticed / drawn.length) * 100)} %)`);
	for (const one of survivors) console.log(describe(one));
}

function describe({ id, file, line, before, after }: Mutation): string {
	return `${id} ${file}:${line}\n\t- ${before.trim()}\n\t+ ${after.trim()}`;
}

if (values.help)
	console.log(`Usage: bun test/mutations.ts [--seed N] [--count N] [--area NAME]... [--id ID]... [--workers N] [--list]

Areas: ${Object.keys(areas).join(", ")}. --id runs single mutations again, --list only lists them.
After the tests of its area, a table of the store is tested by the tests of the folders that import it.`);
else if (values.list) for (const one of await draw()) console.log(describe(one));
else await main();
