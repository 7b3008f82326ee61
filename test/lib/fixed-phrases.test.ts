// Phrases that the specification of the gateway and the bot fixes: programs look for them. Renaming and rewording must
// leave them alone.

import { expect, test } from "bun:test";

const root = `${import.meta.dir}/../../src`;

test.each([
	// Section "Errors".
	["Invalid parameters: ", "mcp/tool.ts"],
	["Method not found: ", "mcp/server.ts"],
	["Internal error", "mcp/server.ts"],
	["Parse error", "mcp/json-rpc.ts"],
	["Session not found", "mcp/streamable-http.ts"],
	["Host header is not allowed", "mcp/access.ts"],
	["Gateway error: ", "gateway/routing/routing.ts"],
	['"InstanceNotFound"', "gateway/routing/routing.ts"],
	['"GuildNotFound"', "gateway/routing/routing.ts"],
	['"NoTarget"', "gateway/routing/routing.ts"],
	[" Available instances: ", "gateway/routing/routing.ts"],
	// Kinds that are not in the specification, but in src/gateway/README.md.
	['"GuildPinned"', "gateway/routing/routing.ts"],
	['"BackendOffline"', "gateway/routing/routing.ts"],
	['"BackendError"', "gateway/routing/routing.ts"],
	['"NoAnswer"', "gateway/routing/routing.ts"],
	['"OutcomeUnknown"', "gateway/routing/routing.ts"],
	['"Overloaded"', "gateway/routing/routing.ts"],
	["Discord API error: ", "discord/rest/errors.ts"],
	["Discord API request timed out", "discord/rest/errors.ts"],
	// Section "Chat command".
	["Could not reach the game server: ", "texts/en.ts"],
	["Verification is not configured: ", "texts/en.ts"],
	// Section "Bot MCP tool conventions".
	["PRIVILEGED — recommend manual approval", "mcp/tool.ts"],
	// Section "POST {base_url}/mcp".
	['"gateway-session"', "gateway/gateway.ts"],
	["event: message\\ndata: ", "mcp/sse.ts"],
	['"localhost:9090"', "gateway/backends/backend.ts"],
	// Section "Gateway startup and refresh behaviour".
	["name} -> ${url", "gateway/gateway.ts"],
])("the phrase %s stays in %s", async (phrase, file) => {
	expect(await Bun.file(`${root}/${file}`).text()).toContain(phrase);
});
