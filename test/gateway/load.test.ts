import { expect, test } from "bun:test";
import { join, relative } from "node:path";

const src = join(import.meta.dir, "../../src");

/** Returns what a file of src/ imports when it is loaded, directly or through other files: names of modules and files. */
async function loadedWith(file: string, found = new Set<string>()): Promise<Set<string>> {
	found.add(relative(src, file));
	const source = await Bun.file(file).text();
	// A macro runs when the file is transpiled.
	const withoutMacros = source.replace(/^import .* with \{ type: "macro" \};$/gm, "");
	const imports = new Bun.Transpiler({ loader: "ts" }).scanImports(withoutMacros);
	for (const { kind, path } of imports) {
		if (kind !== "import-statement") continue;
		const target = Bun.resolveSync(path, join(file, ".."));
		if (!target.startsWith(src)) found.add(path);
		else if (target.endsWith(".ts") && !found.has(relative(src, target))) await loadedWith(target, found);
	}
	return found;
}

test.each(["gateway/main.ts", "gateway/console/console.ts"])(
	"%s loads neither modules of Node nor the database",
	async (file) => {
		const loaded = [...(await loadedWith(join(src, file)))];
		expect(loaded).toContain("mcp/access.ts");
		// Each takes 1 to 4 MiB and some milliseconds, mostly for parts of Bun that nothing else uses.
		const isOfNode = (name: string) => /^(node:|bun$|bun:)/.test(name);
		expect(loaded.filter(isOfNode)).toEqual([]);
		expect(loaded).not.toContain("lib/store/store.ts");
		expect(loaded).not.toContain("gateway/oauth/oauth.ts");
	},
);
