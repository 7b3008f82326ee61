// What clients state about themselves, when they register and in metadata documents: checked, and shortened for people.
// https://www.rfc-editor.org/rfc/rfc7591#section-2

import * as v from "valibot";
import { onOneLine } from "../../lib/text.ts";
import { redirectIssue } from "./redirect-uris.ts";

/** Limit of a client's name, after invisible characters are escaped. */
const maxNameLength = 100;
const maxRedirectUris = 50;

/** Matches the URL of a home page. */
const homePage = /^https:\/\/[!-~]{1,1000}$/;

/** The metadata of a client. Everything else that it states is ignored. */
export const clientMetadata = v.object({
	client_name: v.optional(v.string()),
	client_uri: v.optional(v.string()),
	redirect_uris: v.pipe(
		v.array(v.string()),
		v.minLength(1, "expected at least one URI"),
		v.maxLength(maxRedirectUris),
	),
	grant_types: v.optional(including("authorization_code")),
	response_types: v.optional(including("code")),
	token_endpoint_auth_method: v.optional(v.string()),
});

function including(needed: string) {
	return v.pipe(
		v.array(v.string()),
		v.check((values) => values.includes(needed), `must include ${needed}`),
	);
}

/**
 * Returns a client's name on one line, with invisible characters escaped; if it has none, the host or scheme of its first
 * redirect URI.
 */
export function clientName(
	name: string | undefined,
	redirectUris: readonly string[],
): string {
	const shown = onOneLine((name ?? "").trim(), maxNameLength);
	if (shown !== "") return shown.slice(0, maxNameLength);
	const url = URL.parse(redirectUris[0] ?? "");
	return (url?.host || url?.protocol || "unnamed").slice(0, maxNameLength);
}

/** Returns a client's home page if it is an https URL. */
export function clientUri(uri: string | undefined): string | undefined {
	const isValid = uri !== undefined && homePage.test(uri) && URL.canParse(uri);
	return isValid ? uri : undefined;
}

/** Returns which of a client's redirect URIs is refused, and why; undefined if all are valid. */
export function redirectUrisIssue(uris: readonly string[]): string | undefined {
	for (const [index, uri] of uris.entries()) {
		const issue = redirectIssue(uri);
		if (issue) return `redirect_uris[${index}] ${issue}.`;
	}
	return undefined;
}
