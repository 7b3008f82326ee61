// Finds tools by words.

import type { BotTool } from "./toolsets.ts";

/** Words that people and other MCP servers use, with the words in names of this bot's tools. */
const synonyms: Readonly<Record<string, string>> = {
	dm: "private message direct",
	dms: "private message direct",
	overwrite: "permissions channel",
	overwrites: "permissions channel",
	purge: "delete messages",
	prune: "prune delete",
	history: "recent messages",
	mute: "timeout voice",
	lockdown: "lock channel incident",
	slowmode: "edit channel",
	server: "guild",
};

/** How much a word of the search query counts when a tool has it in its name, another name, or its description. */
const weights = { name: 4, alias: 3, text: 1 };

/** Returns the MCP tools that match the query, best first: `limit` in `best`, and up to 10 more in `others`. */
export function searchTools(
	query: string,
	tools: readonly BotTool[],
	limit: number,
): { best: BotTool[]; others: BotTool[] } {
	const words = wordsOf(query).flatMap((word) => [
		word,
		...wordsOf(synonyms[word] ?? ""),
	]);
	const found = tools
		.map((tool) => ({ tool, score: scoreOf(tool, words) }))
		.filter(({ score }) => score > 0)
		.toSorted((a, b) => b.score - a.score)
		.map(({ tool }) => tool);
	return {
		best: found.slice(0, limit),
		others: found.slice(limit, limit + 10),
	};
}

function scoreOf(
	{ name, aliases, listing }: BotTool,
	words: readonly string[],
): number {
	const own = wordsOf(name);
	const other = aliases.flatMap((alias) => wordsOf(alias.name));
	const { description, inputSchema } = listing;
	const text = wordsOf(
		`${description} ${Object.keys(Object(inputSchema.properties)).join(" ")}`,
	);
	const has = (list: readonly string[], word: string) =>
		list.some(
			(one) => one === word || one === `${word}s` || `${one}s` === word,
		);
	return words
		.map((word) =>
			has(own, word)
				? weights.name
				: has(other, word)
					? weights.alias
					: has(text, word)
						? weights.text
						: 0,
		)
		.reduce((sum: number, weight) => sum + weight, 0);
}

function wordsOf(text: string): string[] {
	return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
