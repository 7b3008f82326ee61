// Finds tools by words.

import type { BotTool } from "./toolsets.ts";

/**
 * Maps words that users type, or that other MCP servers have in tool names, to words in the names of this bot's tools.
 */
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

/**
 * The score that a tool gets for each word of the search query, if the word is in the tool's name, in another name of
 * the tool, or in its description.
 */
const weights = { name: 4, alias: 3, text: 1 };

/**
 * Returns the MCP tools that match the search query, best matches first: up to `limit` in `best`, and up to 10 further
 * tools in `others`.
 */
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
