// The protected resources of the gateway (RFC 8707, RFC 9728) and their scopes. A token works for one resource only.

import { type Access, accessLevels } from "../../lib/principal.ts";
import { OAuthError } from "./oauth-error.ts";

/** Path of a protected resource. */
export type ResourcePath = "/mcp" | "/mcp/readonly";

/** What a token for each resource may do at most. */
const mostAccess: Record<ResourcePath, Access> = {
	"/mcp": "all",
	"/mcp/readonly": "read",
};

export const resourcePaths = Object.keys(mostAccess) as ResourcePath[];

/** Returns the access levels that a person can choose from for `most`, such as "read" and "write" for "write". */
export function levelsUpTo(most: Access): readonly Access[] {
	return accessLevels.slice(0, accessLevels.indexOf(most) + 1);
}

/** Returns the OAuth scope of an access level. A level includes those before it, so its scope names them all. */
export function scopeOf(access: Access): string {
	return levelsUpTo(access).join(" ");
}

/** Returns the scope of all that a token for a resource can allow. */
export function fullScope(path: ResourcePath): string {
	return scopeOf(mostAccess[path]);
}

/**
 * Returns the highest access level that a scope asks for. Unknown scopes are ignored: many clients ask for some that
 * other servers have. A scope without one of ours asks for `most`.
 */
export function accessOf(scope: string | undefined, most: Access): Access {
	const asked = scope?.split(" ") ?? [];
	const levels = levelsUpTo(most);
	return levels.findLast((level) => asked.includes(level)) ?? most;
}

/** Returns the highest access level that a scope asks for at a resource. */
export function accessAt(
	path: ResourcePath,
	scope: string | undefined,
): Access {
	return accessOf(scope, mostAccess[path]);
}

/**
 * Returns the resource that a request names in its parameters `resource`: by default `/mcp`. Throws an OAuthError if it
 * names another server, or several resources.
 */
export function readResource(
	publicUrl: string,
	values: readonly string[],
): ResourcePath {
	const paths = new Set(
		values.map((value) => pathOfResource(publicUrl, value)),
	);
	const [path = "/mcp"] = paths;
	if (paths.size > 1)
		throw new OAuthError("invalid_target", "Name one resource only.");
	return path;
}

function pathOfResource(publicUrl: string, value: string): ResourcePath {
	const url = URL.parse(value);
	const path = url?.pathname.replace(/\/$/, "");
	const known = resourcePaths.find((resource) => resource === path);
	const isOurs = url?.origin === publicUrl && !url.search && !url.hash;
	if (isOurs && known && !url.username && !url.password) return known;
	throw new OAuthError(
		"invalid_target",
		`The resource must be ${resourcePaths.map((one) => publicUrl + one).join(" or ")}.`,
	);
}
