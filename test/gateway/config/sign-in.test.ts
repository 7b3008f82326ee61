// The environment variables for signing in with Discord.

import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../src/gateway/config/config.ts";
import { ConfigError } from "../../../src/lib/config.ts";

const required = { INSTANCES: "alpha=http://127.0.0.1:9090", MCP_AUTH_TOKEN: "the-token-of-the-test" };
const all = {
	...required,
	GATEWAY_DATABASE: "gateway.sqlite",
	PUBLIC_URL: "https://mcp.example",
	DISCORD_CLIENT_ID: "100000000000000001",
	DISCORD_CLIENT_SECRET: "a-secret-of-discord",
};

function issuesOf(env: Record<string, string | undefined>): readonly string[] {
	try {
		readConfig(env);
		return [];
	} catch (error) {
		if (error instanceof ConfigError) return error.issues;
		throw error;
	}
}

test("with all variables people can sign in", () => {
	expect(readConfig(all).signIn).toEqual({
		publicUrl: "https://mcp.example",
		clientId: "100000000000000001",
		clientSecret: "a-secret-of-discord",
		discordApiUrl: "https://discord.com/api",
	});
});

test("without these variables nobody can, and nothing is missing", () => {
	const { GATEWAY_DATABASE } = all;
	expect(readConfig(required).signIn).toBeUndefined();
	expect(readConfig({ ...required, GATEWAY_DATABASE }).signIn).toBeUndefined();
});

test("with PUBLIC_URL, only its host is allowed by default", () => {
	expect(readConfig(required).allowedHosts).toBe("any");
	expect(readConfig(all).allowedHosts).toEqual(["mcp.example"]);
	expect(readConfig({ ...all, MCP_ALLOWED_HOSTS: "inside.example" }).allowedHosts).toEqual([
		"inside.example",
		"mcp.example",
	]);
});

test.each([
	["https://mcp.example/", "https://mcp.example"],
	["HTTPS://MCP.Example:443", "https://mcp.example"],
	["https://mcp.example:8443", "https://mcp.example:8443"],
	["http://localhost:9100", "http://localhost:9100"],
	["http://127.0.0.1:9100/", "http://127.0.0.1:9100"],
	["http://[::1]:9100", "http://[::1]:9100"],
])("PUBLIC_URL %s is the origin %s", (PUBLIC_URL, publicUrl) => {
	expect(readConfig({ ...all, PUBLIC_URL }).signIn?.publicUrl).toBe(publicUrl);
});

describe("an issue is", () => {
	const secretStep = "Copy it from the page OAuth2 of your application at https://discord.com/developers/applications";
	test.each<[changes: Record<string, string | undefined>, issues: string[]]>([
		[
			{ DISCORD_CLIENT_SECRET: undefined },
			[`DISCORD_CLIENT_SECRET: is required with PUBLIC_URL and DISCORD_CLIENT_ID. ${secretStep}`],
		],
		[
			{ PUBLIC_URL: undefined, DISCORD_CLIENT_SECRET: "" },
			[
				"PUBLIC_URL: is required with DISCORD_CLIENT_ID. Set it to the origin of the gateway, such as https://mcp.example",
				`DISCORD_CLIENT_SECRET: is required with DISCORD_CLIENT_ID. ${secretStep}`,
			],
		],
		[
			{ GATEWAY_DATABASE: undefined },
			[
				"GATEWAY_DATABASE: is required with PUBLIC_URL and DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET. Set it to the path of a file, such as gateway.sqlite, or to a postgres:// URL",
			],
		],
		[
			{ PUBLIC_URL: "mcp.example" },
			['PUBLIC_URL: expected an origin such as https://mcp.example, received "mcp.example"'],
		],
		[
			{ PUBLIC_URL: "https://mcp.example/mcp" },
			["PUBLIC_URL: expected an origin without a path; write https://mcp.example"],
		],
		[
			{ PUBLIC_URL: "http://mcp.example:9100" },
			[
				"PUBLIC_URL: expected https://, since people's sign-ins must not be readable on the way; http:// is only for localhost. Put a proxy with a certificate in front of the gateway, and write https://mcp.example:9100",
			],
		],
		[
			{ DISCORD_CLIENT_ID: "my-app" },
			[
				'DISCORD_CLIENT_ID: expected an id of 17 to 20 digits, received "my-app"; copy the Client ID from the page OAuth2 of your application at https://discord.com/developers/applications',
			],
		],
		[
			{ DISCORD_CLIENT_SECRET: "your-client-secret" },
			[expect.stringMatching(/^DISCORD_CLIENT_SECRET: is still a placeholder/)],
		],
		[
			{ DISCORD_API_URL: "https://discord.com/api/v10" },
			[expect.stringMatching(/^DISCORD_API_URL: .*leave out what follows/)],
		],
	])("%j", (changes, expected) => {
		expect(issuesOf({ ...all, ...changes })).toEqual(expected);
	});

	test("never shows the secret", () => {
		const secret = "a secret with spaces";
		const issues = issuesOf({ ...all, DISCORD_CLIENT_SECRET: secret });
		expect(issues).toHaveLength(1);
		expect(issues.join()).not.toContain(secret);
	});
});
