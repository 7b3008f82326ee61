// The programs meet only on a wire: what each part of src/ may import.

import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";

const src = join(import.meta.dir, "../../src");

/** What each folder of src/ may import beside itself, and from whom. */
const allowed: Record<string, { parts: string[]; packages: string[] }> = {
	lib: { parts: [], packages: ["valibot"] },
	mcp: { parts: ["lib"], packages: ["valibot"] },
	gateway: { parts: ["lib", "mcp"], packages: ["valibot"] },
	bot: {
		parts: ["lib", "mcp"],
		packages: ["valibot", "discord.js", "smol-toml"],
	},
	simulator: { parts: ["lib"], packages: ["valibot", "discord.js"] },
	demo: { parts: ["lib", "simulator"], packages: ["valibot"] },
	build: { parts: ["lib"], packages: [] },
};

interface Import {
	file: string;
	from: string;
}

const imports: Import[] = [];
const files = [...new Bun.Glob("**/*.ts").scanSync(src)];
for (const file of files) {
	const source = await Bun.file(join(src, file)).text();
	// Types count too: knowing a shape is knowing its owner.
	for (const [, from] of source.matchAll(
		/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm,
	))
		if (from) imports.push({ file, from });
}

test("every folder of src is in the table", () => {
	const folders = new Set(files.map((file) => file.split("/")[0]));
	expect([...folders].sort()).toEqual(Object.keys(allowed).sort());
	expect(imports.length).toBeGreaterThan(100);
});

test("no part imports what it may not know", () => {
	const offences = imports.filter(({ file, from }) => {
		const part = file.split("/")[0] ?? "";
		const rule = allowed[part];
		if (!rule) return true;
		if (from.startsWith("node:") || from === "bun") return false;
		if (!from.startsWith(".")) return !rule.packages.includes(from);
		const target = relative(src, join(src, dirname(file), from));
		if (target === "../package.json") return false;
		if (target.startsWith("../instances/example/")) return part !== "bot";
		const targetPart = target.split("/")[0] ?? "";
		return targetPart !== part && !rule.parts.includes(targetPart);
	});
	expect(offences).toEqual([]);
});

test("only the run-time dependencies that were decided on are installed", async () => {
	const manifest = await Bun.file(join(src, "../package.json")).json();
	expect(Object.keys(manifest.dependencies)).toEqual([
		"discord.js",
		"smol-toml",
		"valibot",
	]);
});
