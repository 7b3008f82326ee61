// Finds tools by words: in their names, titles, descriptions and arguments, rare words first.

import { privilegedHint } from "../../../mcp/tool.ts";
import type { BotTool } from "../context.ts";
import { stem } from "./stem.ts";
import { synonyms } from "./tool-synonyms.ts";

const weights = { name: 4, title: 3, description: 1.5, argument: 1, toolset: 1 };

const synonymWeight = 0.8;

// The first word of a name, such as "list", counts less because many tools share it.
const verbWeight = 0.6;

const sameFormWeight = 1.1;

const coverageWeight = 0.33;

const articles = new Set(["a", "an", "the"]);

// They do not say what a tool should do.
const stopWords = new Set([
	...articles,
	..."all and any are as at be been by can could do does discord every everybody everyone find for from has have how i if in into is it its just let me my new of on or our please right now s should so some somebody someone something than that their them then there these they this those to tool tools up us use want was we what when where which will with would you your".split(
		" ",
	),
]);

interface Document {
	tool: BotTool;
	stems: ReadonlyMap<string, number>;
	name: readonly string[];
}

/** Best first: up to `limit` in `best`, and 10 more in `others`. A tool whose name is the query comes first. */
export function searchTools(
	query: string,
	tools: readonly BotTool[],
	limit: number,
): { best: BotTool[]; others: BotTool[] } {
	const documents = tools.map(documentOf);
	const rarity = rarities(documents);
	const terms = termsOf(query);
	const asked = wordsOf(query).join("_");
	const found = documents
		.map((document) => ({
			tool: document.tool,
			score: scoreOf(document, terms, rarity) + (document.name.join("_") === asked ? 1000 : 0),
		}))
		.filter(({ score }) => score > 0)
		.toSorted((a, b) => b.score - a.score)
		.map(({ tool }) => tool);
	return { best: found.slice(0, limit), others: found.slice(limit, limit + 10) };
}

function documentOf(tool: BotTool): Document {
	const { name, listing, toolset } = tool;
	const { properties = {} } = listing.inputSchema as { properties?: Record<string, { description?: string }> };
	const parts: [weight: number, text: string][] = [
		[weights.name, name],
		[weights.title, String(listing.title)],
		[
			weights.description,
			// The names of other tools say nothing about this one.
			String(listing.description)
				.replace(privilegedHint, "")
				.replace(/\w+_\w+/g, ""),
		],
		[weights.argument, Object.keys(properties).join(" ")],
		[weights.toolset, toolset],
	];
	const stems = new Map<string, number>();
	for (const [weight, text] of parts)
		for (const word of wordsOf(text).map(stem)) stems.set(word, Math.max(weight, stems.get(word) ?? 0));
	return { tool, stems, name: wordsOf(name) };
}

// Inverse document frequency. https://en.wikipedia.org/wiki/Okapi_BM25
function rarities(documents: readonly Document[]): (stem: string) => number {
	const counts = new Map<string, number>();
	for (const { stems } of documents) for (const one of stems.keys()) counts.set(one, (counts.get(one) ?? 0) + 1);
	const verbs = new Set(documents.flatMap(({ name }) => name.slice(0, name.length > 1 ? 1 : 0).map(stem)));
	return (one) => {
		const count = counts.get(one) ?? 0;
		const rarity = Math.log(1 + (documents.length - count + 0.5) / (count + 0.5));
		return verbs.has(one) ? rarity * verbWeight : rarity;
	};
}

type Term = readonly { words: readonly string[]; weight: number }[];

function termsOf(query: string): Term[] {
	const all = wordsOf(query).filter((word) => !articles.has(word));
	const telling = all.filter((word) => !stopWords.has(word));
	const meaningsOf = (key: string) => (synonyms.get(key) ?? []).map((words) => ({ words, weight: synonymWeight }));
	const single = (telling.length > 0 ? telling : all).map((word) => [
		{ words: [word], weight: 1 },
		...meaningsOf(stem(word)),
	]);
	const pairs = all
		.slice(1)
		.map((word, index) => meaningsOf(`${stem(all[index] ?? "")} ${stem(word)}`))
		.filter((term) => term.length > 0);
	return [...single, ...pairs];
}

function scoreOf({ stems, name }: Document, terms: readonly Term[], rarity: (stem: string) => number): number {
	const meant = new Set<string>();
	const scoreOfWord = (word: string): number => {
		const one = stem(word);
		const found = (stems.get(one) ?? 0) * rarity(one);
		if (found > 0) meant.add(one);
		return name.includes(word) ? found * sameFormWeight : found;
	};
	const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
	const score = sum(
		terms.map((term) => Math.max(...term.map(({ words, weight }) => weight * sum(words.map(scoreOfWord))))),
	);
	const covered = name.filter((word) => meant.has(stem(word))).length / name.length;
	return score * (1 + covered * coverageWeight);
}

function wordsOf(text: string): string[] {
	return (
		text
			.replace(/([a-z])([A-Z])/g, "$1 $2")
			.toLowerCase()
			.match(/[a-z]+/g) ?? []
	);
}
