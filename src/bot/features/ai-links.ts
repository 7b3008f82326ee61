// Links in what an AI writes. Members decide what the AI says, and AutoMod does not check a bot's messages, so the AI posts
// no link that the person who asks could not have posted. Chat and greetings use this one filter.

const removed = "[link removed]";

const gap = String.raw`[\s\p{P}\p{S}]{0,8}`;
const slash = String.raw`[/\\\u2044\u2215\u29f8]`;
const patterns = [
	// An address with a scheme, also as https:\\, https: // and hxxps://.
	String.raw`(?<![a-z])h(?:tt|xx)ps?\s{0,4}\[?:\]?\s{0,4}${slash}(?:\s{0,4}${slash}){0,4}\s{0,4}\S*`,
	String.raw`[a-z][a-z0-9+.-]{1,20}:${slash}{2}\S*`,
	String.raw`(?<![\p{L}\p{N}])www\s{0,4}\.\s{0,4}\S*`,
	// Invites, gifts and templates, which clients of Discord recognize without a scheme; also as discord (dot) gg / x.
	String.raw`discord[.\u3002](?:gg|gift|new)(?!\p{L})\S*`,
	String.raw`discord(?:app)?${gap}(?:[.\u3002]|dot)${gap}(?:gg|gift|new|com${gap}${slash}${gap}invite)\s{0,4}${slash}\s{0,4}\S*`,
	// A host with a path.
	String.raw`(?:[\p{L}\p{N}-]{1,63}[.\u3002]){1,8}\p{L}[\p{L}\p{N}-]{1,62}(?::\d{1,5})?[/\u2044\u2215\u29f8]\S*`,
];
const links = new RegExp(patterns.join("|"), "giu");

const trailing = /[\s.,:;!?'"()<>[\]{}*_~|`/\\]+$/u;

const unseen = /[\p{DI}\p{Cf}*~|`]/gu;

/** Whether the text is what `folded` would make of it. */
const isPlain = (text: string) => text.normalize("NFKC") === text && text.search(unseen) === -1;

function folded(text: string) {
	if (isPlain(text)) return { view: text, from: undefined };
	let view = "";
	const from: number[] = [];
	let at = 0;
	for (const character of text) {
		const seen = character.normalize("NFKC").replace(unseen, "");
		for (let unit = 0; unit < seen.length; unit += 1) from.push(at);
		view += seen;
		at += character.length;
	}
	return { view, from };
}

function linkRanges(text: string): [start: number, end: number][] {
	const { view, from } = folded(text);
	return [...view.matchAll(links)].map(({ index, 0: match }) => {
		const end = index + match.replace(trailing, "").length;
		if (!from) return [index, end];
		const last = from[end - 1] ?? 0;
		return [from[index] ?? 0, last + String.fromCodePoint(text.codePointAt(last) ?? 0).length];
	});
}

const linksIn = (text: string) => linkRanges(text).map(([start, end]) => text.slice(start, end));

/** Keeps links that stand in a source in exactly the same form, but none whose text shows another address. */
export function withoutLinks(text: string, sources: readonly string[] = []): string {
	const allowed = new Set(sources.flatMap(linksIn));
	let result = "";
	let at = 0;
	for (const [start, end] of linkRanges(text)) {
		const link = text.slice(start, end);
		result += text.slice(at, start) + (allowed.has(link) ? link : removed);
		at = end;
	}
	return (result + text.slice(at)).replaceAll("](", "] (");
}
