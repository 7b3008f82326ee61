// Request paths and route patterns.

/** Hides a webhook's or interaction's token except its last six characters, so that the path can be logged. */
export function redactToken(path: string): string {
	return path.replace(/^(\/(?:interactions|webhooks)\/[^/]*\/)[^/]*?([^/]{0,6})(?=\/|$)/, "$1…$2");
}

/** Matches the paths of a pattern such as "/channels/:channel_id", with its parameters as groups. */
export function pathMatcher(pattern: string): RegExp {
	return new RegExp(`^${pattern.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`);
}
