// Parses JSON that other programs sent.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts brackets and commas outside of strings, which is much faster than parsing. */
export function hasMoreValues(text: string, maxValues: number): boolean {
	let values = 0;
	for (let at = 0; at < text.length; at++) {
		const char = text.charCodeAt(at);
		if (char === quote) at = endOfString(text, at);
		else if (char === comma || char === openBrace || char === openBracket) if (++values > maxValues) return true;
	}
	return false;
}

function endOfString(text: string, start: number): number {
	for (let at = start + 1; ; at++) {
		at = text.indexOf('"', at);
		if (at < 0) return text.length;
		let escapes = 0;
		while (text.charCodeAt(at - escapes - 1) === backslash) escapes++;
		if (escapes % 2 === 0) return at;
	}
}

const [quote, backslash, comma, openBrace, openBracket] = Buffer.from('"\\,{[');

/** Undefined if the text is invalid. Callers must check the type of the result. */
export function parseJson(text: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown {
	try {
		return JSON.parse(text, reviver);
	} catch {
		return undefined; // Such as an HTML error page.
	}
}
