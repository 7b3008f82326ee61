// Metadata by which clients find the authorization server and its endpoints: of the protected resources (RFC 9728) and
// of the authorization server (RFC 8414).

import { fullScope, type ResourcePath } from "./resources.ts";

/** Paths of the OAuth endpoints, and of the pages for people who sign in. */
export const paths = {
	authorize: "/oauth/authorize",
	callback: "/oauth/callback",
	consent: "/oauth/consent",
	token: "/oauth/token",
	revoke: "/oauth/revoke",
	register: "/oauth/register",
	connections: "/connections",
	console: "/console",
} as const;

/** Returns the path at which clients find the metadata of a protected resource (RFC 9728). */
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

/**
 * Returns the metadata of a protected resource (RFC 9728). `publicUrl` is the gateway's origin, which is also the OAuth
 * issuer.
 */
export function resourceMetadata(publicUrl: string, path: ResourcePath) {
	return {
		resource: publicUrl + path,
		authorization_servers: [publicUrl],
		scopes_supported: fullScope(path).split(" "),
		bearer_methods_supported: ["header"],
		resource_name: path === "/mcp/readonly" ? "Guildhall (read only)" : "Guildhall",
	};
}

/** Returns the metadata of the gateway as an OAuth authorization server (RFC 8414). */
export function serverMetadata(publicUrl: string) {
	return {
		issuer: publicUrl,
		authorization_endpoint: publicUrl + paths.authorize,
		token_endpoint: publicUrl + paths.token,
		revocation_endpoint: publicUrl + paths.revoke,
		registration_endpoint: publicUrl + paths.register,
		scopes_supported: fullScope("/mcp").split(" "),
		response_types_supported: ["code"],
		response_modes_supported: ["query"],
		grant_types_supported: ["authorization_code", "refresh_token"],
		code_challenge_methods_supported: ["S256"],
		token_endpoint_auth_methods_supported: ["none"],
		revocation_endpoint_auth_methods_supported: ["none"],
		authorization_response_iss_parameter_supported: true,
		client_id_metadata_document_supported: true,
	};
}

/**
 * Returns the parameters of a `WWW-Authenticate: Bearer` header. They tell a client without a valid token where to find
 * the metadata of the protected resource, and which scope to request.
 */
export function challengeFor(publicUrl: string, path: ResourcePath): string {
	const metadata = publicUrl + resourceMetadataPath(path);
	return `resource_metadata="${metadata}", scope="${fullScope(path)}"`;
}
