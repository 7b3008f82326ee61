// How many lines each folder of src may have: `bun test/line-budgets.ts`, part of `bun run check`. Every line is read by
// somebody later, so raising a number is a decision that a reviewer sees.

import { join } from "node:path";
import { Glob } from "bun";

/** Maximum lines of the .ts and .js files of each folder, below src. "bot/." is what stands at the bot's root. */
const budgets: Record<string, number> = {
	"bot/.": 600,
	"bot/ai": 650,
	"bot/approval": 2300,
	"bot/channels": 2200,
	"bot/commands": 2750,
	"bot/config": 1600,
	"bot/features": 2650,
	"bot/game": 2000,
	"bot/guild": 2450,
	"bot/guild-documents": 5800,
	"bot/messages": 2900,
	"bot/moderation": 10_200,
	"bot/server": 650,
	"bot/setup": 1500,
	"bot/store": 3300,
	"bot/tool": 3150,
	"bot/tools": 8050,
	build: 400,
	demo: 800,
	discord: 5900,
	gateway: 11_600,
	"guild-document": 5150,
	guildhall: 100,
	install: 1200,
	lib: 4550,
	mcp: 3200,
	pages: 6000,
	simulator: 19_000,
	up: 2200,
};

const src = join(import.meta.dir, "../src");
const lines = new Map<string, number>();
for await (const file of new Glob("**/*.{ts,js}").scan(src)) {
	const [top = "", second = ""] = file.split("/");
	const folder = top !== "bot" ? top : file.split("/").length > 2 ? `bot/${second}` : "bot/.";
	const count = (await Bun.file(join(src, file)).text()).split("\n").length - 1;
	lines.set(folder, (lines.get(folder) ?? 0) + count);
}

const problems = [...lines].flatMap(([folder, count]) => {
	const budget = budgets[folder];
	if (budget === undefined) return [`src/${folder} has no budget; it has ${count} lines`];
	return count > budget ? [`src/${folder} has ${count} lines, ${count - budget} more than its budget`] : [];
});
for (const folder of Object.keys(budgets))
	if (!lines.has(folder)) problems.push(`src/${folder} has a budget but does not exist`);
if (problems.length > 0) {
	console.error(
		`${problems.join("\n")}\n\nDelete lines, or change the table in test/line-budgets.ts and say why in the commit.`,
	);
	process.exit(1);
}
