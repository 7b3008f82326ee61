// What a caller with less access is told in the instructions, and in list_instances.

import { describe, expect, test } from "bun:test";
import type { GatewayConfig } from "../../../src/gateway/config/config.ts";
import { accessNote, instructionsFor } from "../../../src/gateway/principals/instructions.ts";
import type { Principal } from "../../../src/lib/principal.ts";

const signIn = { publicUrl: "https://mcp.example" } as GatewayConfig["signIn"];
const config = { defaultInstance: "alpha", signIn };
const caller = (id: string, more: Partial<Principal>): Principal => ({ id, name: "one", access: "all", ...more });

describe("the instructions say what the access excludes, and how to raise it", () => {
	test.each([
		["key:k:1", { access: "read" }, "may only read:", "--access write or all"],
		["key:k:1", { access: "write" }, "only read and write:", "--access all"],
		["grant:g", { access: "read" }, "may only read:", "https://mcp.example/console#access"],
		["grant:g", { access: "write" }, "read and write:", "connect this client"],
		["key:k:1", { access: "read", narrowed: true }, "may only read:", "limits itself, by the path /mcp/readonly"],
		["root", { access: "read", narrowed: true }, "may only read:", "limits"],
	] as const)("%s with %j", (id, more, what, how) => {
		const instructions = instructionsFor(config, caller(id, more));
		expect(instructions).toContain(what);
		expect(instructions).toContain(how);
		expect(instructions).toEndWith(accessNote(config, caller(id, more)));
	});

	test("and nothing for a caller with all access, or without limits", () => {
		for (const principal of [caller("key:k:1", {}), undefined])
			expect(instructionsFor(config, principal)).not.toContain("This connection");
	});

	test("without sign-in, the page of connections has no address", () => {
		expect(accessNote({ signIn: undefined }, caller("grant:g", { access: "read" }))).toContain(
			"the gateway's page /console#access",
		);
	});
});
