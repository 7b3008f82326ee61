// Request paths and route patterns.

/** A path for logs, with only the last characters of its token. */
export function redactToken(path: string): string {
	return path.replace(
		/^(\/(?:interactions|webhooks)\/[^/]*\/)[^/]*?([^/]{0,6})(?=\/|$)/,
		"$1…$2",
	);
}

/** Clients encode "@original" in different ways. */
export function decodeSegment(part: string): string {
	return part.replaceAll(/%40/g, "@");
}

/** Whether a path matches a pattern such as "/channels/:channel_id". */
export function matchesPattern(
	pattern: string,
	parts: readonly string[],
): boolean {
	const wanted = pattern.split("/");
	return (
		wanted.length === parts.length &&
		wanted.every((part, index) =>
			part.startsWith(":") ? parts[index] !== "" : part === parts[index],
		)
	);
}

export function countParams(pattern: string): number {
	return pattern.split(":").length;
}

/** The parameters of a path by their names in the pattern. */
export function readParams(
	pattern: string,
	parts: readonly string[],
): Record<string, string> {
	return Object.fromEntries(
		pattern
			.split("/")
			.flatMap((part, index) =>
				part.startsWith(":") ? [[part.slice(1), parts[index] ?? ""]] : [],
			),
	);
}
