// Pairs the things that a document lists with those of a guild: by id, then by name.

import { escapeInJson } from "../../lib/text.ts";

/** Something that a document or a guild lists. */
export interface Thing {
	name: string;
	id?: string | undefined;
	key?: string | undefined;
}

export interface Pairing<W extends Thing, C extends Thing> {
	/** What the things are called in messages: "role". */
	what: string;
	wanted: readonly W[];
	current: readonly C[];
	placeholderOf(thing: W): string;
	/** Ids of what the running job has already created, by placeholder. */
	known: ReadonlyMap<string, string>;
	/** What tells things of the same name apart: "" if nothing does. Only things with equal texts can be the same. */
	place(thing: W | C): string;
	/** Returns a name in the form in which names are compared. */
	normalName(thing: W | C): string;
	/** Whether the thing of the guild may become the other one, which has its id. */
	isCompatible(wanted: W, current: C): boolean;
	/** Gets a line of text for each thing that cannot be paired without guessing. */
	issues: string[];
}

/** Writes a name of a document on one line, in quotes. */
export const quote = (text: string | undefined) =>
	escapeInJson(JSON.stringify(text ?? ""));

/**
 * Returns the thing of the guild for each thing of the document that exists. Ids come first: those of what the job has
 * created, then those in the document. The others are paired by name. Of several with the same name, the first is paired
 * with the first, if there are equally many, or if the document has more and they do not differ.
 */
export function pairUp<W extends Thing, C extends Thing>(
	pairing: Pairing<W, C>,
): Map<W, C> {
	const { what, wanted, current, known, place, issues } = pairing;
	const pairs = new Map<W, C>();
	const taken = new Set<C>();
	const byId = new Map(current.map((thing) => [thing.id, thing]));
	const pair = (one: W, other: C | undefined) => {
		if (!other || pairs.has(one) || taken.has(other)) return;
		pairs.set(one, other);
		taken.add(other);
	};
	// What the job has made and someone has deleted is not looked for by its name.
	const isMade = (one: W) => known.has(pairing.placeholderOf(one));
	for (const one of wanted)
		pair(one, byId.get(known.get(pairing.placeholderOf(one))));
	for (const one of wanted) {
		const other = one.id === undefined ? undefined : byId.get(one.id);
		if (other && pairing.isCompatible(one, other)) pair(one, other);
	}
	const nameOf = (thing: W | C) =>
		`${place(thing)}\n${pairing.normalName(thing)}`;
	const unpaired = Map.groupBy(
		wanted.filter((one) => !pairs.has(one) && !isMade(one)),
		nameOf,
	);
	const free = Map.groupBy(
		current.filter((one) => !taken.has(one)),
		nameOf,
	);
	for (const [name, group] of unpaired) {
		const others = free.get(name) ?? [];
		const isClear =
			others.length === 0 ||
			others.length === group.length ||
			(others.length < group.length && areAlike(group));
		if (isClear)
			for (const [index, one] of group.entries()) pair(one, others[index]);
		else
			issues.push(
				`${what} ${quote(group[0]?.name)}: the name is ambiguous (in the document: ${group.length}; in the guild: ${others.length}, ids: ${idsOf(others)}); in the document, give each ${what} of this name its id from the guild`,
			);
	}
	return pairs;
}

/** Lists the ids of a few things. */
function idsOf(things: readonly Thing[]): string {
	const shown = things.slice(0, 5).map(({ id }) => id);
	return `${things.length > shown.length ? "such as " : ""}${shown.join(", ")}`;
}

/** Whether things of a document differ in nothing but their ids and keys. */
function areAlike(things: readonly Thing[]): boolean {
	const texts = things.map(({ id: _, key: __, ...rest }) =>
		JSON.stringify(rest),
	);
	return new Set(texts).size === 1;
}
