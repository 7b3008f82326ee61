// How many lines each folder of src may have: `bun test/line-budgets.ts`, part of `bun run check`. Every line is read by
// somebody later, so raising a number is a decision that a reviewer sees.

import { join } from "node:path";
import { Glob } from "bun";

/** Maximum lines of the .ts and .js files of each folder, below src. "bot/." is what stands at the bot's root. */
const budgets: Record<string, number> = {
	"bot/.": 442,
	"bot/approval": 2295,
	"bot/commands": 2767,
	"bot/config": 960,
	"bot/features": 4281,
	"bot/game": 1720,
	"bot/guild-documents": 5171,
	"bot/messages": 2749,
	"bot/moderation": 10_065,
	"bot/people": 778,
	"bot/results": 177,
	"bot/server": 813,
	"bot/setup": 1230,
	"bot/store": 2830,
	"bot/settings": 1108,
	"bot/tool": 3920,
	"bot/tools": 11_203,
	ai: 913,
	build: 193,
	connect: 200,
	demo: 606,
	docs: 9,
	discord: 6607,
	gateway: 10_253,
	"guild-document": 5388,
	guildhall: 94,
	install: 1387,
	lib: 4404,
	mcp: 2822,
	pages: 6037,
	rehearsal: 760,
	simulator: 14_618,
	// Nearly all of it is the two language files.
	texts: 3636,
	up: 1908,
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
