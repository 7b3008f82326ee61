// The settings for signing in with Discord. They are on together, or not at all.

import * as v from "valibot";
import { baseUrl, type ConfigIssue, formatValue, isPlaceholder, optional, readText, secret } from "../../lib/config.ts";

export interface SignInSettings {
	/** An origin, such as "https://mcp.example". */
	publicUrl: string;
	/** Of the Discord application with which people sign in. */
	clientId: string;
	clientSecret: string;
	/** Without the version, such as "https://discord.com/api". */
	discordApiUrl: string;
}

export const signInVariables = {
	PUBLIC_URL: optional(
		readText(publicUrlIssue, (text) => new URL(text).origin),
		"Origin of the gateway on the internet, such as https://mcp.example: lets people sign in with Discord",
	),
	DISCORD_CLIENT_ID: optional(
		v.pipe(
			v.string(),
			v.regex(
				/^\d{17,20}$/,
				({ input }) =>
					`expected an id of 17 to 20 digits, received ${formatValue(input)}; copy the Client ID from the page OAuth2 of your application at https://discord.com/developers/applications`,
			),
		),
		"Client ID of the Discord application with which people sign in",
	),
	DISCORD_CLIENT_SECRET: optional(
		v.pipe(
			secret,
			v.check(
				(value) => !isPlaceholder(value),
				'is still a placeholder: what begins "your-" counts as not filled in. Copy the Client Secret from the page OAuth2 of your application at https://discord.com/developers/applications',
			),
		),
		"Client Secret of that application",
	),
	DISCORD_API_URL: optional(
		v.pipe(
			baseUrl,
			v.check((url) => !/\/v\d+$/.test(url), "expected a URL without a version; leave out what follows /api"),
		),
		"URL of Discord's API without its version",
		"https://discord.com/api",
	),
};

type SignInVariables = {
	[Name in keyof typeof signInVariables]?: string | undefined;
} & { DISCORD_API_URL: string };

/** Undefined if people cannot sign in. Call it only if `signInIssues` found none. */
export function readSignInSettings({
	PUBLIC_URL: publicUrl,
	DISCORD_CLIENT_ID: clientId,
	DISCORD_CLIENT_SECRET: clientSecret,
	DISCORD_API_URL: discordApiUrl,
}: SignInVariables): SignInSettings | undefined {
	return publicUrl && clientId && clientSecret ? { publicUrl, clientId, clientSecret, discordApiUrl } : undefined;
}

const copyIt = "Copy it from the page OAuth2 of your application at https://discord.com/developers/applications";
const hints = {
	PUBLIC_URL: "Set it to the origin of the gateway, such as https://mcp.example",
	DISCORD_CLIENT_ID: copyIt,
	DISCORD_CLIENT_SECRET: copyIt,
	GATEWAY_DATABASE: "Set it to the path of a file, such as gateway.sqlite, or to a postgres:// URL",
};

/** One for each variable that is missing; none if only the database is set, since the sign-in is then off. */
export function signInIssues(env: Readonly<Record<string, string | undefined>>): ConfigIssue[] {
	const given = Object.keys(hints).filter((name) => env[name] !== undefined && name !== "GATEWAY_DATABASE");
	if (given.length === 0) return [];
	const missing = Object.entries(hints).filter(([name]) => env[name] === undefined);
	return missing.map(([name, hint]) => ({ path: [name], message: `is required with ${given.join(" and ")}. ${hint}` }));
}

function publicUrlIssue(text: string): string | undefined {
	const url = URL.parse(text);
	if (!url || !/^https?:\/\//i.test(text) || text.includes("@"))
		return `expected an origin such as https://mcp.example, received ${formatValue(text)}`;
	if (url.pathname !== "/" || url.search || url.hash) return `expected an origin without a path; write ${url.origin}`;
	const isLoopback = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
	if (url.protocol === "https:" || isLoopback) return undefined;
	return `expected https://, since people's sign-ins must not be readable on the way; http:// is only for localhost. Put a proxy with a certificate in front of the gateway, and write https://${url.host}`;
}
