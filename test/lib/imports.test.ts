// The programs meet only on a wire: what each part of src/ may import.

import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";

const src = join(import.meta.dir, "../../src");

/** What each folder of src/ may import beside itself, and from whom. */
const allowed: Record<string, { parts: string[]; packages: string[] }> = {
	lib: { parts: [], packages: ["valibot"] },
	texts: { parts: ["lib"], packages: [] },
	mcp: { parts: ["lib"], packages: ["valibot"] },
	pages: { parts: ["lib"], packages: [] },
	connect: { parts: ["lib", "mcp"], packages: [] },
	gateway: { parts: ["lib", "mcp", "pages", "texts"], packages: ["valibot"] },
	"guild-document": { parts: ["lib"], packages: ["valibot", "discord.js"] },
	discord: { parts: ["lib", "guild-document", "texts"], packages: ["valibot", "discord.js"] },
	ai: { parts: ["lib", "mcp"], packages: ["valibot"] },
	bot: {
		parts: ["lib", "mcp", "ai", "guild-document", "discord", "texts", "pages"],
		packages: ["valibot", "discord.js", "smol-toml"],
	},
	simulator: { parts: ["lib", "guild-document", "pages"], packages: ["valibot", "discord.js"] },
	// Bot and simulator in one process, in simulated time.
	rehearsal: { parts: ["lib", "texts", "guild-document", "bot", "simulator"], packages: ["valibot"] },
	up: { parts: ["lib"], packages: ["valibot", "bun:sqlite"] },
	demo: { parts: ["lib", "simulator", "up"], packages: ["valibot"] },
	build: { parts: ["lib"], packages: [] },
	install: { parts: ["lib", "up"], packages: ["bun:sqlite"] },
	// The executable of all programs imports the program that was asked for.
	guildhall: {
		parts: ["lib", "gateway", "bot", "simulator", "rehearsal", "demo", "up", "install", "connect"],
		packages: [],
	},
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
	for (const [, from = "", dynamic = ""] of source.matchAll(
		/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm,
	))
		imports.push({ file, from: from || dynamic });
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
		if (target.startsWith("../docker/")) return part !== "install";
		const targetPart = target.split("/")[0] ?? "";
		return targetPart !== part && !rule.parts.includes(targetPart);
	});
	expect(offences).toEqual([]);
});

/** The folders of a program, each group importing only those before it, and no other folder of its own group. */
const orders: Record<string, readonly (readonly string[])[]> = {
	bot: [
		["store/tables"],
		["store"],
		["config"],
		["guild-documents"],
		["results"],
		["tool/arguments"],
		["settings"],
		["tool"],
		["tool/search"],
		["messages"],
		["approval", "setup", "server", "commands"],
		["people"],
		["tools", "game"],
		["moderation", "guild-documents/command-line"],
		["features"],
		["."],
	],
	discord: [["."], ["rest", "members", "permission-checks"], ["connection"]],
	"bot/guild-documents": [
		["read"],
		["refusals"],
		["plans"],
		["jobs"],
		["backups"],
		["rehearsals"],
		["."],
		["command-line"],
	],
	"guild-document": [["names"], ["format"], ["."], ["read"], ["match"], ["steps"]],
	gateway: [
		["http", "store"],
		["config"],
		["backends", "keys"],
		["oauth"],
		["principals"],
		["routing"],
		["catalog"],
		["calls"],
		["console"],
		["."],
	],
	"gateway/oauth": [["protocol"], ["clients", "people"], ["grants"], ["pages"], ["endpoints"], ["."]],
	lib: [["."], ["program", "instances"], ["store"]],
	simulator: [
		["world/state"],
		["world/messages"],
		["world/accounts", "world/channels"],
		["world/guilds"],
		["world"],
		["interactions"],
		["socket"],
		["rest"],
		["rest/routes"],
		["documents"],
		["control"],
		["ai", "game"],
		["."],
	],
};

describe.each(Object.entries(orders))("inside %s", (program, order) => {
	const root = join(src, program);
	const folderOf = (path: string): string => {
		const folder = dirname(path);
		const isListed = order.some((group) => group.includes(folder));
		const isNested = folder.includes("/");
		return isListed || !isNested ? folder : folderOf(folder);
	};
	const rankOf = (folder: string) => order.findIndex((group) => group.includes(folder));
	const inside = imports.flatMap(({ file, from }) => {
		if (!file.startsWith(`${program}/`) || !from.startsWith(".")) return [];
		const path = file.slice(program.length + 1);
		const target = relative(root, join(src, dirname(file), from));
		if (target.startsWith("..")) return [];
		return [{ path, target, from: folderOf(path), to: folderOf(target) }];
	});

	test("every folder stands in the order", () => {
		const folders = new Set(inside.flatMap(({ from, to }) => [from, to]));
		expect([...folders].sort()).toEqual([...order.flat()].sort());
	});

	test("folders import only those before them", () => {
		const offences = inside.filter(({ from, to }) => from !== to && rankOf(to) >= rankOf(from));
		expect(offences).toEqual([]);
	});
});

/** Circles among the files that import each other by these imports. */
function circlesOf(among: readonly Import[]): string[][] {
	const next = new Map<string, string[]>();
	for (const { file, from } of among) {
		if (!from.startsWith(".")) continue;
		const target = relative(src, join(src, dirname(file), from));
		next.set(file, [...(next.get(file) ?? []), target]);
	}
	const done = new Set<string>();
	const circles: string[][] = [];
	const visit = (file: string, path: readonly string[]) => {
		if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file]);
		if (done.has(file)) return;
		done.add(file);
		for (const target of next.get(file) ?? []) visit(target, [...path, file]);
	};
	for (const file of next.keys()) visit(file, []);
	return circles;
}

test("no file imports itself through others, types included", () => {
	expect(circlesOf(imports)).toEqual([]);
});

test("only the run-time dependencies that were decided on are installed", async () => {
	const manifest = await Bun.file(join(src, "../package.json")).json();
	expect(Object.keys(manifest.dependencies)).toEqual(["discord.js", "smol-toml", "valibot"]);
});
