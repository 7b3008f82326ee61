// Which redirect URIs a client may have, which one a request may name, and what people are told about it: https, http to
// this computer, and the private-use schemes of apps. https://www.rfc-editor.org/rfc/rfc8252#section-7

import { type Said, said } from "../../../texts/texts.ts";

const maxLength = 2048;

/** Of apps that are MCP clients. Other schemes without a dot often belong to the operating system. */
export const knownSchemes: readonly string[] = [
	"antigravity",
	"cherrystudio",
	"claude",
	"code-oss",
	"cursor",
	"goose",
	"kiro",
	"lmstudio",
	"positron",
	"raycast",
	"trae",
	"vscode",
	"vscode-insiders",
	"vscodium",
	"warp",
	"windsurf",
	"zed",
];

/** Group 1 is the host, group 2 everything after the port. */
const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/;
/** RFC 8252, section 7.1. */
const reverseDomain = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/;

/** Undefined if allowed. For clients: ASCII without quotes, with no part of the URI. */
export function redirectIssue(uri: string): string | undefined {
	if (uri.length > maxLength) return `must have at most ${maxLength} characters`;
	if (!/^[!-~]+$/.test(uri) || /["\\<>^`{|}]/.test(uri)) return "must be a URI: percent-encode all other characters";
	if (uri.includes("#")) return "must not have a fragment";
	if (!URL.parse(uri)) return "must be an absolute URI";
	const [, authority = ""] = /^[^:/?]+:\/\/([^/?]*)/.exec(uri) ?? [];
	if (authority.includes("@")) return "must not have a user name or password";
	if (authority.includes("*")) return "must not have a wildcard";
	return kindOf(uri) === undefined
		? "must use https, or http to localhost, 127.0.0.1 or [::1], or the private-use scheme of an app, such as com.example.app"
		: undefined;
}

function kindOf(uri: string): ("https" | "loopback" | "private-use") | undefined {
	// The URL parser also accepts https:host, which people would read as a path.
	if (/^https:\/\/[^/?]/.test(uri)) return "https";
	if (loopback.test(uri)) return "loopback";
	const [scheme = ""] = uri.split(":", 1);
	const isPrivateUse = reverseDomain.test(scheme) || knownSchemes.includes(scheme);
	return isPrivateUse ? "private-use" : undefined;
}

/** A loopback port may differ, because programs listen on any free port (RFC 8252, section 7.3). */
export function matchesRedirect(registered: readonly string[], given: string): boolean {
	if (redirectIssue(given) !== undefined) return false;
	const anyPort = withoutPort(given);
	return registered.some((uri) => uri === given || (anyPort !== undefined && withoutPort(uri) === anyPort));
}

function withoutPort(uri: string): string | undefined {
	const [, host, rest] = loopback.exec(uri) ?? [];
	return host === undefined ? undefined : `${host}${rest}`;
}

/** For people, of a valid URI: the host of a website, a program on this computer, or an app; and a warning of the last two. */
export function describeRedirect(uri: string): { target: Said; warning?: Said } {
	const host = URL.parse(uri)?.host ?? "";
	const scheme = schemeOf(uri);
	switch (kindOf(uri)) {
		case "loopback":
			return { target: said("page.target.program", { host }), warning: said("page.warning.program") };
		case "private-use":
			return { target: said("page.target.app", { scheme }), warning: said("page.warning.app", { scheme }) };
		default:
			return { target: said("page.target.site", { host }) };
	}
}

/** With its colon, such as `cursor:`. */
export function schemeOf(uri: string): string {
	return uri.slice(0, uri.indexOf(":") + 1);
}
