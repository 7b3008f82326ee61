// Finds the members of a JSON object in its text, so that a message can be passed on with one member changed and every
// other byte kept: numbers beyond 2^53, `1.0`, the order of keys. Only for text that JSON.parse has accepted.

/** Positions in a JSON text: `from` is that of the key, `start` and `end` are those of the value. */
export interface Member {
	key: string;
	from: number;
	start: number;
	end: number;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export class MemberReader {
	/** Where the current member starts; its value is from `start` to before `end`. */
	from = 0;
	start = 0;
	end = 0;
	/** Where the next member starts, or the object's `}`. */
	after: number;
	readonly #text: string;
	#keyEnd = 0;

	constructor(text: string, position = 0) {
		this.#text = text;
		this.after = skipOpening(text, position, openBrace);
	}

	/** False if there is no next member. */
	next(): boolean {
		const text = this.#text;
		const from = this.after;
		if (text.charCodeAt(from) === closeBrace) return false;
		this.from = from;
		this.#keyEnd = stringEnd(text, from);
		this.start = skipSpace(text, skipSpace(text, this.#keyEnd) + 1);
		this.end = valueEnd(text, this.start);
		const after = skipSpace(text, this.end);
		this.after = text.charCodeAt(after) === comma ? skipSpace(text, after + 1) : after;
		return true;
	}

	/** `key` must contain no backslash. Escapes in the text are decoded before the comparison. */
	is(key: string): boolean {
		const from = this.from + 1;
		const length = this.#keyEnd - 1 - from;
		if (length === key.length) return this.#text.startsWith(key, from);
		// Only a key with escapes is longer in the text than in itself.
		return length > key.length && this.#hasEscape() && this.key === key;
	}

	#hasEscape(): boolean {
		for (let at = this.from; at < this.#keyEnd; at++) if (this.#text.charCodeAt(at) === backslash) return true;
		return false;
	}

	get key(): string {
		return readString(this.#text, this.from, this.#keyEnd);
	}

	/** JSON text. */
	get value(): string {
		return this.#text.slice(this.start, this.end);
	}
}

export function readMembers(text: string, position = 0): Member[] {
	const members: Member[] = [];
	const reader = new MemberReader(text, position);
	while (reader.next()) {
		const { key, from, start, end } = reader;
		members.push({ key, from, start, end });
	}
	return members;
}

/** Of the first `max` elements of the array that begins at or after `position`. */
export function readElements(
	text: string,
	position = 0,
	max = Number.POSITIVE_INFINITY,
): { start: number; end: number }[] {
	const elements: { start: number; end: number }[] = [];
	let at = skipOpening(text, position, openBracket);
	while (elements.length < max && text.charCodeAt(at) !== closeBracket) {
		const end = valueEnd(text, at);
		elements.push({ start: at, end });
		at = skipSpace(text, end);
		if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1);
	}
	return elements;
}

/** The last one of several, as JSON.parse does. */
export function findMember(members: readonly Member[], key: string): Member | undefined {
	return members.findLast((member) => member.key === key);
}

/** `added` is JSON text, appended to the members that `drop` does not select. */
export function rewriteObject(
	text: string,
	members: readonly Member[],
	drop: (key: string) => boolean,
	added: readonly string[] = [],
): string {
	const kept = members.filter((member) => !drop(member.key)).map((member) => text.slice(member.from, member.end));
	return `{${[...kept, ...added].join(",")}}`;
}

function readString(text: string, start: number, end: number): string {
	const raw = text.slice(start + 1, end - 1);
	return raw.includes("\\") ? JSON.parse(text.slice(start, end)) : raw;
}

/** Returns the position of the next token; throws a TypeError without `opening`. */
function skipOpening(text: string, position: number, opening: number): number {
	const at = skipSpace(text, position);
	if (text.charCodeAt(at) !== opening)
		throw new TypeError(
			`expected ${opening === openBrace ? "a JSON object" : "a JSON array"} to start with "${String.fromCharCode(opening)}" at position ${at} of the JSON text`,
		);
	return skipSpace(text, at + 1);
}

function skipSpace(text: string, at: number): number {
	// All JSON white space is at or below U+0020.
	while (text.charCodeAt(at) <= 0x20) at++;
	return at;
}

function valueEnd(text: string, start: number): number {
	const first = text.charCodeAt(start);
	if (first === quote) return stringEnd(text, start);
	let at = start;
	if (first !== openBrace && first !== openBracket) {
		for (; at < text.length; at++) {
			const code = text.charCodeAt(at);
			if (code <= 0x20 || code === comma) break;
			if (code === closeBrace || code === closeBracket) break;
		}
		return at;
	}
	for (let depth = 0; ; at++) {
		const code = text.charCodeAt(at);
		if (code === quote) at = stringEnd(text, at) - 1;
		else if (code === openBrace || code === openBracket) depth++;
		else if (code === closeBrace || code === closeBracket) {
			if (--depth === 0) return at + 1;
		}
	}
}

function stringEnd(text: string, start: number): number {
	for (let at = start; ; ) {
		at = text.indexOf('"', at + 1);
		let escapes = 0;
		while (text[at - 1 - escapes] === "\\") escapes++;
		if (escapes % 2 === 0) return at + 1;
	}
}
