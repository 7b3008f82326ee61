// Request paths and route patterns.

/** Hides a webhook's or interaction's token except its last six characters, so that the path can be logged. */
export function redactToken(path: string): string {
	return path.replace(/^(\/(?:interactions|webhooks)\/[^/]*\/)[^/]*?([^/]{0,6})(?=\/|$)/, "$1…$2");
}

/** Decodes "%40" to "@" in a part of a path, because some clients encode the "@" of "@original" and "@me". */
export function decodeSegment(part: string): string {
	return part.replaceAll(/%40/g, "@");
}

/** Whether the parts of a path match a pattern such as "/channels/:channel_id". */
export function matchesPattern(pattern: string, parts: readonly string[]): boolean {
	const wanted = pattern.split("/");
	return (
		wanted.length === parts.length &&
		wanted.every((part, index) => (part.startsWith(":") ? parts[index] !== "" : part === parts[index]))
	);
}

export function countParams(pattern: string): number {
	return pattern.split(":").length;
}

export function readParams(pattern: string, parts: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		pattern.split("/").flatMap((part, index) => (part.startsWith(":") ? [[part.slice(1), parts[index] ?? ""]] : [])),
	);
}
