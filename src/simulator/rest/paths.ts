// Paths and the patterns of routes that they fit.

/** A path as it may be shown: of an interaction's token only the end. */
export function withoutToken(path: string): string {
	return path.replace(
		/^(\/(?:interactions|webhooks)\/[^/]*\/)[^/]*?([^/]{0,6})(?=\/|$)/,
		"$1…$2",
	);
}

/** Clients write "@original" in several ways. */
export function decoded(part: string): string {
	return part.replaceAll(/%40/g, "@");
}

/** Whether a path has the form of a pattern such as "/channels/:channel_id". */
export function fits(pattern: string, parts: readonly string[]): boolean {
	const wanted = pattern.split("/");
	return (
		wanted.length === parts.length &&
		wanted.every((part, index) =>
			part.startsWith(":") ? parts[index] !== "" : part === parts[index],
		)
	);
}

/** How many parts of a pattern can be anything. */
export function placeholders(pattern: string): number {
	return pattern.split(":").length;
}

/** What stands in the path where the pattern has names. */
export function paramsOf(
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
