// Metadata by which clients find the authorization server and its endpoints: of the protected resources (RFC 9728) and
// of the authorization server (RFC 8414). A token works for one resource (RFC 8707) only.

import { type Access, accessLevels } from "../../../lib/principal.ts";
import { signingAlgorithms } from "./assertion.ts";
import { OAuthError } from "./oauth-error.ts";

/** OAuth endpoints, and pages for people who sign in. */
export const paths = {
	authorize: "/oauth/authorize",
	callback: "/oauth/callback",
	consent: "/oauth/consent",
	token: "/oauth/token",
	revoke: "/oauth/revoke",
	register: "/oauth/register",
	console: "/console",
} as const;

/** RFC 9728. */
export function resourceMetadataPath(path: ResourcePath): string {
	return `/.well-known/oauth-protected-resource${path}`;
}

/**
 * Paths at which clients find the authorization server's metadata (RFC 8414). ChatGPT requests both, and some versions
 * of ChatGPT refuse a server without the second one. Both return the same, without support for OpenID Connect.
 * https://www.rfc-editor.org/rfc/rfc8414#section-5, https://github.com/clerk/mcp-tools/issues/22
 */
export const serverMetadataPaths = [
	"/.well-known/oauth-authorization-server",
	"/.well-known/openid-configuration",
] as const;

/** RFC 9728. `publicUrl` is an origin and the OAuth issuer. Clients ask for more when a call needs it. */
export function resourceMetadata(publicUrl: string, path: ResourcePath) {
	return {
		resource: publicUrl + path,
		authorization_servers: [publicUrl],
		scopes_supported: [leastAccess],
		bearer_methods_supported: ["header"],
		resource_name: path === "/mcp/readonly" ? "Guildhall (read only)" : "Guildhall",
	};
}

/** RFC 8414. */
export function serverMetadata(publicUrl: string) {
	return {
		issuer: publicUrl,
		authorization_endpoint: publicUrl + paths.authorize,
		token_endpoint: publicUrl + paths.token,
		revocation_endpoint: publicUrl + paths.revoke,
		registration_endpoint: publicUrl + paths.register,
		scopes_supported: accessLevels,
		response_types_supported: ["code"],
		response_modes_supported: ["query"],
		grant_types_supported: ["authorization_code", "refresh_token"],
		code_challenge_methods_supported: ["S256"],
		token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
		token_endpoint_auth_signing_alg_values_supported: signingAlgorithms,
		revocation_endpoint_auth_methods_supported: ["none"],
		authorization_response_iss_parameter_supported: true,
		client_id_metadata_document_supported: true,
	};
}

/** For `WWW-Authenticate: Bearer`: where the metadata is, and which scope to request. */
export function challengeFor(publicUrl: string, path: ResourcePath, access = leastAccess): string {
	const metadata = publicUrl + resourceMetadataPath(path);
	return `resource_metadata="${metadata}", scope="${scopeOf(access)}"`;
}

/** An MCP endpoint for which clients request tokens. */
export type ResourcePath = "/mcp" | "/mcp/readonly";

const leastAccess: Access = "read";

/** The highest level of tokens for each endpoint. */
export const mostAccess: Record<ResourcePath, Access> = { "/mcp": "all", "/mcp/readonly": "read" };

export const resourcePaths = Object.keys(mostAccess) as ResourcePath[];

/** Lowest first: "read" and "write" for "write". */
export function levelsUpTo(most: Access): readonly Access[] {
	return accessLevels.slice(0, accessLevels.indexOf(most) + 1);
}

/** Names all lower levels, too: "read write" for "write". */
export function scopeOf(access: Access): string {
	return levelsUpTo(access).join(" ");
}

/** At most `most`. Ignores other names: clients also request scopes of other servers. */
export function accessOf(scope: string | undefined, most: Access, byDefault = most): Access {
	const asked = scope?.split(" ") ?? [];
	return levelsUpTo(most).findLast((level) => asked.includes(level)) ?? byDefault;
}

/** At most what the resource allows, and the least by default. */
export function accessAt(path: ResourcePath, scope: string | undefined): Access {
	return accessOf(scope, mostAccess[path], leastAccess);
}

/** Default: `/mcp`. Throws an OAuthError for a resource of another server, or several. */
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
