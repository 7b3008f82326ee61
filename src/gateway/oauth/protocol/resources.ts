// The protected resources of the gateway (RFC 8707, RFC 9728) and their scopes. A token works for one resource only.

import { type Access, accessLevels } from "../../../lib/principal.ts";
import { OAuthError } from "./oauth-error.ts";

/** Path of an OAuth protected resource: an MCP endpoint for which clients request tokens. */
export type ResourcePath = "/mcp" | "/mcp/readonly";

/** The highest access level that OAuth tokens can have, for the path of each MCP endpoint. */
const mostAccess: Record<ResourcePath, Access> = {
	"/mcp": "all",
	"/mcp/readonly": "read",
};

export const resourcePaths = Object.keys(mostAccess) as ResourcePath[];

/** Returns the access levels up to and including `most`, lowest first: "read" and "write" for "write". */
export function levelsUpTo(most: Access): readonly Access[] {
	return accessLevels.slice(0, accessLevels.indexOf(most) + 1);
}

/** Returns the OAuth scope for an access level. It also names all lower levels: "read write" for "write". */
export function scopeOf(access: Access): string {
	return levelsUpTo(access).join(" ");
}

/** Returns the OAuth scope that names all access levels which tokens for this MCP endpoint can have. */
export function fullScope(path: ResourcePath): string {
	return scopeOf(mostAccess[path]);
}

/**
 * Returns the highest access level that an OAuth scope names, but at most `most`. Returns `most` if the scope names no
 * access level. Other names in the scope are ignored, since many clients also request scopes of other servers.
 */
export function accessOf(scope: string | undefined, most: Access): Access {
	const asked = scope?.split(" ") ?? [];
	const levels = levelsUpTo(most);
	return levels.findLast((level) => asked.includes(level)) ?? most;
}

/**
 * Returns the highest access level that an OAuth scope names, but at most the highest that the protected resource
 * `path` allows.
 */
export function accessAt(path: ResourcePath, scope: string | undefined): Access {
	return accessOf(scope, mostAccess[path]);
}

/**
 * Returns the path of the protected resource that a request names in its `resource` parameters (`values`). Default:
 * `/mcp`. Throws an OAuthError if the parameters name a resource of another server, or several resources.
 */
export function readResource(publicUrl: string, values: readonly string[]): ResourcePath {
	const paths = new Set(values.map((value) => pathOfResource(publicUrl, value)));
	const [path = "/mcp"] = paths;
	if (paths.size > 1) throw new OAuthError("invalid_target", "Name one resource only.");
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
