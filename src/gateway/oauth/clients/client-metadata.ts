// What clients state about themselves, when they register and in metadata documents: checked, and shortened for people.
// https://www.rfc-editor.org/rfc/rfc7591#section-2

import * as v from "valibot";
import { onOneLine } from "../../../lib/text.ts";
import type { ClientKey } from "../protocol/assertion.ts";
import { redirectIssue } from "./redirect-uris.ts";

/** Calls tools in the name of people. */
export interface OAuthClient {
	/** Created at the registration, or the URL of the metadata document. */
	id: string;
	/** As the client states it: on one line, at most 100 characters, invisible ones escaped. */
	name: string;
	redirectUris: readonly string[];
	/** With which it may sign its requests for tokens (private_key_jwt). */
	keys?: { list: readonly ClientKey[] | undefined; uri: string | undefined };
	/** It has to. */
	signs?: boolean | undefined;
}

const maxNameLength = 100;
const maxRedirectUris = 50;

/** In a registration or a metadata document. Other members are ignored. */
export const clientMetadata = v.object({
	client_name: v.optional(v.string()),
	redirect_uris: v.pipe(v.array(v.string()), v.minLength(1, "expected at least one URI"), v.maxLength(maxRedirectUris)),
	grant_types: v.optional(including("authorization_code")),
	response_types: v.optional(including("code")),
	token_endpoint_auth_method: v.optional(v.string()),
	application_type: v.fallback(v.optional(v.picklist(["native", "web"])), undefined),
});

function including(needed: string) {
	return v.pipe(
		v.array(v.string()),
		v.check((values) => values.includes(needed), `must include ${needed}`),
	);
}

/** For people: on one line, invisible characters escaped. Default: host or scheme of the first redirect URI. */
export function clientName(name: string | undefined, redirectUris: readonly string[]): string {
	const shown = onOneLine((name ?? "").trim(), maxNameLength);
	if (shown !== "") return shown.slice(0, maxNameLength);
	const url = URL.parse(redirectUris[0] ?? "");
	return (url?.host || url?.protocol || "unnamed").slice(0, maxNameLength);
}

/** For the first invalid URI; undefined if all are valid. */
export function redirectUrisIssue(uris: readonly string[]): string | undefined {
	for (const [index, uri] of uris.entries()) {
		const issue = redirectIssue(uri);
		if (issue) return `redirect_uris[${index}] ${issue}.`;
	}
	return undefined;
}

/** Otherwise it is the id of a registered client. */
export function isDocumentId(id: string): boolean {
	return id.startsWith("https://");
}
