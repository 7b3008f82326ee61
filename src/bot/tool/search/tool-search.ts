// Finds tools by words: in their names, titles, descriptions and arguments, rare words first. A tool is found only if it matches
// most of what is asked: one word that both have is no answer.

import { privilegedHint } from "../../../mcp/tool.ts";
import type { BotTool } from "../context.ts";
import { stem, synonyms } from "./tool-synonyms.ts";

const weights = { name: 4, title: 3, description: 1.5, argument: 1, toolset: 1 };

const synonymWeight = 0.8;

// The first word of a name, such as "list", counts less because many tools share it.
const verbWeight = 0.6;

const sameFormWeight = 1.2;

const coverageWeight = 0.33;

/** Of tools that change something where the question is one, and of those that read where something is to be done. */
const otherEffectWeight = 0.6;

/** Which part of the question has to be matched, by the rarity of its words. */
const minMatched = 0.5;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

// They separate no phrase.
const fillers = setOf(
	"a an s the any some all every each one two three four five six seven eight nine ten several few",
);

// They do not say what a tool should do.
const stopWords: ReadonlySet<string> = new Set([
	...fillers,
	..."about actually after again also am and another anyone anything are as at automatically available away be been before being but by can certain control could current currently data day days detail detailed details did discord do does down early easily else entire every everybody everyone everything except execute exist existing exists find flip for friday from full general had handle happen happened has have having here hour hours how i if in into is it its just kindly last let main manage many me minute minutes monday month months my need never new next no not now of off often on only or other our out own part per perform please pm put quickly recently right same saturday second seconds should simply so some somebody someone something sunday sure switch t than that their them then there these they thing this those thursday to today together toggle tomorrow tonight too tool tools trigger tuesday turn up us use used using very want was we wednesday week weeks were what when where whether which while who whole whom whose why will with without work works would year years yesterday you your".split(
		" ",
	),
]);

const asksOnly =
	/^(?:please )?(?:find out|who|which|what|how (?:many|much|often|long)|when|why|is|are|list|show|see|view|get|read|look|count|check|search|fetch|display)\b/i;

interface Document {
	tool: BotTool;
	stems: ReadonlyMap<string, number>;
	name: readonly string[];
}

interface Index {
	documents: readonly Document[];
	rarity(stem: string): number;
}

/** `named`: those that have the action and the object of the query. `others`: the next 10. */
export function searchTools(
	query: string,
	tools: readonly BotTool[],
	limit: number,
): { best: BotTool[]; others: BotTool[]; named: BotTool[] } {
	const index = indexOf(tools);
	const full = search(query, index);
	const named = search(core(query), index).flatMap(({ tool, isNamed }) => (isNamed ? [tool] : []));
	const found = full.map(({ tool }) => tool);
	const all = full.some(({ isNamed }) => isNamed) ? found : [...new Set([...named, ...found])];
	return { best: all.slice(0, limit), others: all.slice(limit, limit + 10), named };
}

const indexes = new WeakMap<readonly BotTool[], Index>();

/** Of a list of tools that does not change. */
function indexOf(tools: readonly BotTool[]): Index {
	const made = indexes.get(tools);
	if (made) return made;
	const known = new Set(tools.map(({ name }) => name));
	const documents = tools.map((tool) => documentOf(tool, known));
	const index = { documents, rarity: rarities(documents) };
	indexes.set(tools, index);
	return index;
}

/** The action and its object: "delete channel" of "delete the memes channel with many posts". */
function core(query: string): string {
	const all = wordsOf(query.replace(/['’]s\b/g, ""));
	const end = all.findIndex((word, at) => at > 0 && prepositions.has(word));
	const telling = (end > 0 ? all.slice(0, end) : all).filter((word) => !stopWords.has(word));
	return telling.length > 1 ? `${telling[0]} ${telling.at(-1)}` : "";
}

/** `isNamed`: the query has each word of the tool's name, or one that means the same. */
function search(query: string, index: Index) {
	const { documents } = index;
	const terms = termsOf(query, index);
	const asked = wordsOf(query).join("_");
	const effect = effectOf(query, documents);
	const needed = wordsOf(query).every((word) => stopWords.has(word)) ? 0 : minMatched;
	return documents
		.map((document) => {
			const isOther = effect !== undefined && effect !== (document.tool.effect === "read");
			const weight = isOther ? otherEffectWeight : 1;
			const matched = matchedOf(document, terms, index) * weight;
			const { score: own, covered } = scoreOf(document, terms, index);
			const score = matched < needed ? 0 : own * Math.sqrt(matched * weight);
			return { tool: document.tool, score: document.name.join("_") === asked ? 1000 : score, isNamed: covered === 1 };
		})
		.filter(({ score }) => score > 0)
		.toSorted((a, b) => b.score - a.score);
}

function documentOf(tool: BotTool, others: ReadonlySet<string>): Document {
	const { name, listing, toolset } = tool;
	const { guild_id: _, ...properties } = Object(listing.inputSchema.properties) as Record<string, unknown>;
	// What another tool does says nothing about this one.
	const own = String(listing.description)
		.split(/(?<=[.;]) /)
		.filter((part) => !part.match(/\w+_\w+/g)?.some((word) => others.has(word)));
	const parts: [weight: number, text: string][] = [
		[weights.name, name],
		[weights.title, String(listing.title)],
		[weights.description, own.join(" ").replace(privilegedHint, "")],
		[weights.argument, Object.keys(properties).join(" ")],
		[weights.toolset, toolset],
	];
	const stems = new Map<string, number>();
	for (const [weight, text] of parts)
		for (const word of wordsOf(text).map(stem)) stems.set(word, Math.max(weight, stems.get(word) ?? 0));
	return { tool, stems, name: wordsOf(name) };
}

/** Of a word that stands in no tool. */
const unknownRarity = 5;

// Inverse document frequency. https://en.wikipedia.org/wiki/Okapi_BM25
function rarities(documents: readonly Document[]): (stem: string) => number {
	const counts = new Map<string, number>();
	for (const { stems } of documents) for (const one of stems.keys()) counts.set(one, (counts.get(one) ?? 0) + 1);
	const verbs = new Set(documents.flatMap(({ name }) => name.slice(0, name.length > 1 ? 1 : 0).map(stem)));
	return (one) => {
		const count = counts.get(one) ?? 0;
		if (count === 0) return unknownRarity;
		const rarity = Math.log(1 + (documents.length - count + 0.5) / (count + 0.5));
		return verbs.has(one) ? rarity * verbWeight : rarity;
	};
}

// What follows one of them limits the rest.
const prepositions = setOf(
	"about because by during for from in of on so that to until when which while who with without",
);

interface Term {
	/** One of the question, or two successive ones. */
	words: readonly string[];
	meanings: readonly { words: readonly string[]; weight: number }[];
	/** How much the question depends on it. */
	importance: number;
}

function termsOf(query: string, index: Index): Term[] {
	const { rarity } = index;
	const all = wordsOf(withoutNames(query, index)).filter((word) => !fillers.has(word));
	const telling = all.filter((word) => !stopWords.has(word));
	const end = all.findIndex((word, at) => at > 0 && prepositions.has(word));
	const meaningsOf = (key: string) => (synonyms.get(key) ?? []).map((words) => ({ words, weight: synonymWeight }));
	const rarest = (meanings: Term["meanings"]) =>
		Math.max(...meanings.flatMap(({ words }) => words.map((word) => rarity(stem(word)))));
	const single = (telling.length > 0 ? telling : all).map((word) => {
		const meanings = meaningsOf(stem(word));
		const own = rarity(stem(word));
		const isIncidental = !isKey(stem(word), index);
		const isLimit = end > 0 && all.indexOf(word) > end;
		const unmeant = own === unknownRarity ? own / (isLimit ? 3 : 1) : isIncidental ? Math.min(own, maxIncidental) : own;
		const importance = isIncidental && meanings.length > 0 ? rarest(meanings) : unmeant;
		return { words: [word], meanings: [{ words: [word], weight: 1 }, ...meanings], importance };
	});
	const pairs = all.slice(1).flatMap((word, at) => {
		const words = [all[at] ?? "", word];
		const meanings = meaningsOf(words.map(stem).join(" "));
		return meanings.length > 0 ? [{ words, meanings, importance: rarest(meanings) }] : [];
	});
	return [...single, ...pairs];
}

// Of a word that stands only in descriptions.
const maxIncidental = 2.5;

function isKey(one: string, { documents }: Index): boolean {
	return documents.some(({ stems }) => stems.has(one) && stems.get(one) !== weights.description);
}

/** Which part of the question the tool matches, from 0 to 1. */
function matchedOf({ stems }: Document, terms: readonly Term[], { rarity }: Index): number {
	const partOf = (words: readonly string[]) => {
		const parts = words.map(stem).map((one) => ({ all: rarity(one), found: rarity(one) * fieldPart(stems.get(one)) }));
		return sum(parts.map(({ found }) => found)) / sum(parts.map(({ all }) => all));
	};
	const parts = terms.map((term) => ({ term, part: Math.max(...term.meanings.map(({ words }) => partOf(words))) }));
	// Two words with a meaning of their own also stand for each of them.
	const best = (words: readonly string[]) =>
		Math.max(...parts.filter(({ term }) => words.every((word) => term.words.includes(word))).map(({ part }) => part));
	return (
		sum(terms.map(({ words, importance }) => importance * best(words))) / sum(terms.map((term) => term.importance))
	);
}

function fieldPart(weight = 0): number {
	return weight >= weights.title ? 1 : weight > weights.argument ? 0.9 : weight > 0 ? 0.6 : 0;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** True: only tools that read are meant; false: those that change something; undefined: unknown. */
function effectOf(query: string, documents: readonly Document[]): boolean | undefined {
	if (asksOnly.test(query.trim())) return true;
	const [first = ""] = wordsOf(query).filter((word) => !stopWords.has(word));
	const verbs = new Set(documents.filter(({ tool }) => tool.effect !== "read").map(({ name }) => stem(name[0] ?? "")));
	const meant = [first, ...(synonyms.get(stem(first)) ?? []).flat()];
	return meant.some((word) => verbs.has(stem(word))) ? false : undefined;
}

/** Without what is in quotation marks, after # or @, or in capitals and unknown to the tools. */
function withoutNames(query: string, { rarity }: Index): string {
	const isUnknown = (word: string) => rarity(stem(word)) === unknownRarity && !synonyms.has(stem(word));
	return query
		.replace(/"[^"]*"|[#@]\S+/g, " ")
		.replace(/(?<=\S\s+)[A-Z][A-Za-z]*/g, (word) => (isUnknown(word.toLowerCase()) ? " " : word));
}

function scoreOf({ stems, name }: Document, terms: readonly Term[], { rarity }: Index) {
	const meant = new Set<string>();
	const scoreOfWord = (word: string): number => {
		const one = stem(word);
		const found = (stems.get(one) ?? 0) * rarity(one);
		if (found > 0) meant.add(one);
		return name.includes(word) ? found * sameFormWeight : found;
	};
	const score = sum(
		terms.map(({ meanings }) => Math.max(...meanings.map(({ words, weight }) => weight * sum(words.map(scoreOfWord))))),
	);
	const covered = name.filter((word) => meant.has(stem(word))).length / name.length;
	return { score: score * (1 + covered * coverageWeight), covered };
}

function wordsOf(text: string): string[] {
	return (
		text
			.replace(/([a-z])([A-Z])/g, "$1 $2")
			.replace(/slow mode/gi, "slowmode")
			.toLowerCase()
			.match(/[a-z]+/g) ?? []
	);
}
