// Pairs the things that a document lists with those of a guild: by id, then by name.

import { escapeInJson, listFirst } from "../../lib/text.ts";
import type { Thing } from "../format/references.ts";

export interface Pairing<W extends Thing, C extends Thing> {
	/** For messages, such as "role". */
	what: string;
	wanted: readonly W[];
	current: readonly C[];
	placeholderOf(thing: W): string;
	/** Ids of what was already created, by placeholder such as "+role/Mods". */
	known: ReadonlyMap<string, string>;
	/** Must be equal for pairs by name, such as the category; "" if the name is enough. */
	place(thing: W | C): string;
	/** For comparing. */
	normalName(thing: W | C): string;
	/** Whether one can become the other, which has the same id: a text channel cannot become a voice channel. */
	isCompatible(wanted: W, current: C): boolean;
	/** Receives a line for each name that cannot be paired without guessing. */
	issues: string[];
}

/** In quotes and on one line. */
export const quote = (text: string | undefined) => escapeInJson(JSON.stringify(text ?? ""));

/**
 * By known ids, ids in the document, then names. Several of one name are paired in order, if both sides have equally
 * many, or the guild has fewer and those of the document are alike.
 */
export function pairUp<W extends Thing, C extends Thing>(pairing: Pairing<W, C>): Map<W, C> {
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
	for (const one of wanted) pair(one, byId.get(known.get(pairing.placeholderOf(one))));
	for (const one of wanted) {
		const other = one.id === undefined ? undefined : byId.get(one.id);
		if (other && pairing.isCompatible(one, other)) pair(one, other);
	}
	const nameOf = (thing: W | C) => `${place(thing)}\n${pairing.normalName(thing)}`;
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
		const isAlike = new Set(group.map(({ id: _, key: __, ...rest }) => JSON.stringify(rest))).size === 1;
		const { length } = others;
		const isClear = length === 0 || length === group.length || (length < group.length && isAlike);
		if (isClear) for (const [index, one] of group.entries()) pair(one, others[index]);
		else
			issues.push(
				`${what} ${quote(group[0]?.name)}: the name is ambiguous (in the document: ${group.length}; in the guild: ${others.length}, ids: ${listFirst(
					others.map(({ id = "" }) => id),
					5,
				)}); in the document, give each ${what} of this name its id from the guild`,
			);
	}
	return pairs;
}
