import { expect, test } from "bun:test";
import { narrow } from "../../../src/gateway/principals/narrowing.ts";
import { includesAccess, type Principal } from "../../../src/lib/principal.ts";

const key: Principal = { id: "key:a", name: "a", access: "write", instances: ["alpha"], guilds: ["1"] };
const root: Principal = { id: "root", name: "root", access: "all" };

test.each<[path: string, headers: Record<string, string>, change: Partial<Principal> | undefined]>([
	["/mcp", {}, undefined],
	["/mcp", { "X-MCP-Readonly": "" }, undefined],
	...["false", " False ", "F", "no", "n", "0", "off"].map((no): [string, Record<string, string>, undefined] => [
		"/mcp",
		{ "X-MCP-Readonly": no },
		undefined,
	]),
	...["true", "1", "yes", "on", "anything"].map((yes): [string, Record<string, string>, Partial<Principal>] => [
		"/mcp",
		{ "X-MCP-Readonly": yes },
		{ access: "read" },
	]),
	["/mcp/readonly", {}, { access: "read" }],
	["/mcp/readonly", { "X-MCP-Readonly": "false" }, { access: "read" }],
	["/mcp", { "X-MCP-Toolsets": "" }, undefined],
	["/mcp", { "X-MCP-Toolsets": " , " }, undefined],
	["/mcp", { "X-MCP-Toolsets": "all" }, undefined],
	["/mcp", { "X-MCP-Toolsets": "roles" }, { toolsets: ["roles"] }],
	["/mcp", { "X-MCP-Toolsets": " roles, Messages,roles,,x" }, { toolsets: ["messages", "roles", "x"] }],
	// Nothing that could widen the scope or break the header to the bot.
	["/mcp", { "X-MCP-Toolsets": "a b, *" }, { toolsets: [] }],
	["/mcp", { "X-MCP-Toolsets": "y".repeat(65) }, { toolsets: [] }],
	["/mcp/readonly", { "X-MCP-Toolsets": "roles" }, { access: "read", toolsets: ["roles"] }],
])("%s with %j changes the scope to %j", (path, given, change) => {
	const headers = new Headers(given);
	const made = change && { ...change, ...(change.access && { narrowed: true }) };
	expect(narrow(undefined, headers, path)).toEqual(made && { ...root, ...made });
	expect(narrow(key, headers, path)).toEqual({ ...key, ...made });
	if (!change) expect(narrow(key, headers, path)).toBe(key);
});

test("a client never gets more than it has", () => {
	const owner: Principal = { ...key, access: "read", toolsets: ["roles", "messages"] };
	for (const value of ["all", "", "roles,webhooks", "webhooks", "messages"])
		for (const readOnly of ["false", "true"]) {
			const headers = new Headers({ "X-MCP-Toolsets": value, "X-MCP-Readonly": readOnly });
			const narrowed = narrow(owner, headers, "/mcp");
			expect(includesAccess("read", narrowed?.access ?? "all")).toBe(true);
			expect(narrowed?.narrowed ?? false).toBe(readOnly === "true");
			expect(owner.toolsets).toEqual(expect.arrayContaining([...(narrowed?.toolsets ?? ["none given"])]));
		}
});

test("at most as many toolsets as a bot accepts are sent to it", () => {
	const names = Array.from({ length: 200 }, (_, index) => `t${index}`);
	const headers = new Headers({ "X-MCP-Toolsets": names.join() });
	expect(narrow(undefined, headers, "/mcp")?.toolsets).toHaveLength(100);
});
