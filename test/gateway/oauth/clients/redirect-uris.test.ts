// Which redirect URIs clients may have, and which of them a request may name.

import { describe, expect, test } from "bun:test";
import {
	describeRedirect,
	matchesRedirect,
	redirectIssue,
} from "../../../../src/gateway/oauth/clients/redirect-uris.ts";
import { render } from "../../../../src/texts/texts.ts";

test.each([
	"https://claude.ai/api/mcp/auth_callback",
	"https://chatgpt.com/connector/oauth/abc?x=1",
	"https://192.0.2.7:8443/callback",
	"http://127.0.0.1/callback",
	"http://127.0.0.1:33418/",
	"http://127.0.0.1:33418",
	"http://[::1]:6274/oauth/callback",
	"http://localhost:3118/callback?session=1",
	"cursor://anysphere.cursor-mcp/oauth/callback",
	"vscode-insiders://vscode.github-authentication/did-authenticate",
	"com.example.app:/oauth2redirect",
	"com.raycast:/oauth?package_name=Extension",
])("%s is accepted", (uri) => {
	expect(redirectIssue(uri)).toBeUndefined();
});

test.each([
	["", "must be a URI"],
	["/callback", "must be an absolute URI"],
	["claude.ai/callback", "must be an absolute URI"],
	[`https://claude.ai/${"x".repeat(2048)}`, "at most 2048 characters"],
	["https://claude.ai/call back", "must be a URI"],
	["https://claude.ai/\nLocation: x", "must be a URI"],
	["https://claude.ai/é", "must be a URI"],
	["https://claude.ai\\@evil.example/", "must be a URI"],
	['https://claude.ai/"><b>', "must be a URI"],
	["https://claude.ai/callback#token", "must not have a fragment"],
	["https://claude.ai/callback#", "must not have a fragment"],
	["https://claude.ai@evil.example/", "must not have a user name"],
	["https://:pass@evil.example/", "must not have a user name"],
	["https://@evil.example/", "must not have a user name"],
	["http://localhost:80@evil.example/", "must not have a user name"],
	["https://*.example.com/", "must not have a wildcard"],
	["https:evil.example", "must use https"],
	["https:/evil.example", "must use https"],
	["HTTPS://claude.ai/callback", "must use https"],
	["http://example.com/callback", "must use https"],
	["http://192.168.1.5:3000/callback", "must use https"],
	["http://0.0.0.0/callback", "must use https"],
	["http://127.1/callback", "must use https"],
	["http://127.0.0.2/callback", "must use https"],
	["http://localhost.evil.example/", "must use https"],
	["http://127.0.0.1.evil.example/", "must use https"],
	["http://localhost:99999/", "must be an absolute URI"],
	["http://localhost:*/callback", "must be an absolute URI"],
	["javascript:alert(1)", "must use https"],
	["javascript://claude.ai/%0aalert(1)", "must use https"],
	["data:text/html,x", "must use https"],
	["file:///etc/passwd", "must use https"],
	["blob:https://claude.ai/x", "must use https"],
	["vbscript:x", "must use https"],
	["about:blank", "must use https"],
	["view-source:https://claude.ai/", "must use https"],
	["intent://scan/;end", "must use https"],
	["ms-msdt:/id", "must use https"],
	["mailto:a.b", "must use https"],
	["ws://localhost/", "must use https"],
	["unknown-app://callback", "must use https"],
	["urn:ietf:wg:oauth:2.0:oob", "must use https"],
])("%p is refused: %s", (uri, message) => {
	const issue = redirectIssue(uri) ?? "";
	expect(issue).toStartWith(message.startsWith("at most") ? "must have" : "must");
	expect(issue).toContain(message);
	// Clients get the text in an error_description.
	expect(issue).toMatch(/^[ !#-[\]-~]+$/);
	expect(matchesRedirect([uri], uri)).toBe(false);
});

describe("a request may name", () => {
	test.each([
		["https://claude.ai/cb", "https://claude.ai/cb"],
		["http://127.0.0.1/cb", "http://127.0.0.1:1234/cb"],
		["http://127.0.0.1:33418/cb", "http://127.0.0.1/cb"],
		["http://localhost/cb?a=1", "http://localhost:1234/cb?a=1"],
		["http://[::1]:1/cb", "http://[::1]:2/cb"],
		["cursor://x/cb", "cursor://x/cb"],
	])("for %s: %s", (registered, given) => {
		expect(matchesRedirect(["https://other.example/", registered], given)).toBe(true);
	});
});

describe("a request may not name", () => {
	test.each([
		["https://claude.ai/cb", "https://claude.ai/cb/"],
		["https://claude.ai/cb", "https://claude.ai/CB"],
		["https://claude.ai/cb", "https://claude.ai:443/cb"],
		["https://claude.ai/cb", "https://claude.ai/x/../cb"],
		["https://claude.ai/cb", "https://claude.ai/cb?x=1"],
		["https://claude.ai/cb", "https://claude.ai.evil.example/cb"],
		["https://claude.ai/cb", "http://claude.ai/cb"],
		["https://claude.ai/cb", "https://claude.ai/%63b"],
		["http://127.0.0.1/cb", "http://localhost/cb"],
		["http://127.0.0.1/cb", "http://[::1]/cb"],
		["http://127.0.0.1/cb", "http://127.0.0.1:1234/other"],
		["http://127.0.0.1/cb", "http://127.0.0.1:1234/cb?x=1"],
		["http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb"],
		["http://127.0.0.1/cb", "https://127.0.0.1:1234/cb"],
		["http://127.0.0.1:1/cb", "http://127.0.0.1:99999/cb"],
		["cursor://x/cb", "cursor://x:1/cb"],
	])("for %s: %s", (registered, given) => {
		expect(matchesRedirect([registered], given)).toBe(false);
	});
});

test.each([
	["https://claude.ai/api/mcp", "claude.ai", undefined],
	["https://192.0.2.7:8443/", "192.0.2.7:8443", undefined],
	["http://localhost:3118/cb", "a program on this computer (localhost:3118)", "any program can pretend"],
	["http://[::1]:1/cb", "a program on this computer ([::1]:1)", "any program can pretend"],
	["cursor://x/cb", "the app that opens cursor: links", "any app on this device can claim them"],
	["com.example.app:/cb", "the app that opens com.example.app: links", "any app on this device can claim them"],
])("people read where %s leads, and what to know of it", (uri, target, warning) => {
	const described = describeRedirect(uri);
	expect(render(described.target, "en")).toBe(target);
	expect(described.warning && render(described.warning, "en")).toEqual(
		warning === undefined ? undefined : expect.stringContaining(warning),
	);
});
