// What clients state about themselves, when they register and in metadata documents: checked, and shortened for people.
// https://www.rfc-editor.org/rfc/rfc7591#section-2

import * as v from "valibot";
import { onOneLine } from "../../../lib/text.ts";
import { redirectIssue } from "./redirect-uris.ts";

/** An OAuth client: a program that wants to call tools in the name of people. */
export interface OAuthClient {
	/** Id of the client: created at its registration, or the URL of its metadata document. */
	id: string;
	/**
	 * Name of the client, as the client itself states it: on one line, at most 100 characters, with invisible characters
	 * escaped.
	 */
	name: string;
	/** Home page of the client, as the client itself states it: an https URL. */
	uri?: string | undefined;
	redirectUris: readonly string[];
	kind: "registered" | "document";
}

const maxNameLength = 100;
const maxRedirectUris = 50;

const homePage = /^https:\/\/[!-~]{1,1000}$/;

/** Schema of a client's metadata, in a registration request or in a metadata document. Other members are ignored. */
export const clientMetadata = v.object({
	client_name: v.optional(v.string()),
	client_uri: v.optional(v.string()),
	redirect_uris: v.pipe(v.array(v.string()), v.minLength(1, "expected at least one URI"), v.maxLength(maxRedirectUris)),
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
 * Returns the name of a client to show to people: on one line, with invisible characters escaped. If the client has no
 * name, returns the host or scheme of its first redirect URI.
 */
export function clientName(name: string | undefined, redirectUris: readonly string[]): string {
	const shown = onOneLine((name ?? "").trim(), maxNameLength);
	if (shown !== "") return shown.slice(0, maxNameLength);
	const url = URL.parse(redirectUris[0] ?? "");
	return (url?.host || url?.protocol || "unnamed").slice(0, maxNameLength);
}

/** Returns `uri`, the home page that a client states, if it is an https URL; otherwise undefined. */
export function clientUri(uri: string | undefined): string | undefined {
	const isValid = uri !== undefined && homePage.test(uri) && URL.canParse(uri);
	return isValid ? uri : undefined;
}

/** Returns an error text for the first invalid URI in a client's `redirect_uris`; undefined if all are valid. */
export function redirectUrisIssue(uris: readonly string[]): string | undefined {
	for (const [index, uri] of uris.entries()) {
		const issue = redirectIssue(uri);
		if (issue) return `redirect_uris[${index}] ${issue}.`;
	}
	return undefined;
}
