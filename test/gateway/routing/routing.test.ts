import { describe, expect, test } from "bun:test";
import type { Backend } from "../../../src/gateway/backends/backend.ts";
import { RouteError, RouteIndex, route } from "../../../src/gateway/routing/routing.ts";
import { RpcError } from "../../../src/mcp/json-rpc.ts";
import { createTestBackend } from "../../support/gateway.ts";

/** Backends that nobody speaks to; each serves these guilds. */
function backends(guilds: Record<string, string[]>): Backend[] {
	return Object.entries(guilds).map(([name, ids]) => {
		const { backend } = createTestBackend({ name, url: "http://127.0.0.1:1" });
		backend.guilds = new Map(ids.map((id) => [id, `guild ${id}`]));
		return backend;
	});
}

const both = backends({ alpha: ["1", "3"], beta: ["2", "3"] });

/** Where a call goes, or the text of the error. */
function outcome(args: Record<string, unknown>, defaultInstance?: string, among = both): string {
	try {
		return route(args, new RouteIndex(among), defaultInstance).name;
	} catch (error) {
		if (error instanceof RouteError) return error.message;
		if (error instanceof RpcError) return `${error.code} ${error.message}`;
		throw error;
	}
}

describe("instance decides, then guild_id, then the default", () => {
	test.each<[args: Record<string, unknown>, byDefault: string | undefined, name: string]>([
		[{ instance: "beta" }, undefined, "beta"],
		[{ instance: "beta", guild_id: "1" }, undefined, "beta"],
		[{ instance: "beta", guild_id: "nope" }, "alpha", "beta"],
		[{ guild_id: "2" }, undefined, "beta"],
		[{ guild_id: "1" }, "beta", "alpha"],
		[{ guild_id: "3" }, undefined, "alpha"],
		[{ instance: "", guild_id: "2" }, undefined, "beta"],
		[{ instance: null, guild_id: "2" }, undefined, "beta"],
		[{}, "beta", "beta"],
		[{ instance: "", guild_id: "" }, "beta", "beta"],
		[{ instance: null, guild_id: null }, "beta", "beta"],
		[{ instance: "alpha", guild_id: null }, undefined, "alpha"],
	])("%j with default %j goes to %s", (args, byDefault, name) => {
		expect(outcome(args, byDefault)).toBe(name);
	});
});

describe("a route error says what is wrong and lists the instances", () => {
	const available = "Available instances: alpha, beta.";
	test.each<[args: object, text: string]>([
		...["gamma", "Alpha", " alpha", "__proto__"].map((instance): [object, string] => [
			{ instance, guild_id: "1" },
			`InstanceNotFound: no instance is called "${instance}".`,
		]),
		...["4", "__proto__"].map((guild_id): [object, string] => [
			{ guild_id },
			`GuildNotFound: no instance is known to serve the guild "${guild_id}". list_instances shows the guilds of each instance.`,
		]),
		...[{}, { instance: "", guild_id: null }].map((args): [object, string] => [
			args,
			// Calls with guild_id 3 go to alpha.
			"NoTarget: the call names neither instance nor guild_id. Give guild_id: guild 1 (1), guild 3 (3) of alpha; guild 2 (2) of beta. Or give instance.",
		]),
	])("%j", (args, text) => {
		expect(outcome({ ...args })).toBe(`Gateway error: ${text} ${available}`);
	});

	test("with one instance, too, neither argument is NoTarget", () => {
		expect(outcome({}, undefined, backends({ only: ["1"] }))).toBe(
			"Gateway error: NoTarget: the call names neither instance nor guild_id. Give guild_id: guild 1 (1) of only. Or give instance. Available instances: only.",
		);
	});

	test("NoTarget names up to 20 guilds of each instance, and none that are unknown", () => {
		const ids = Array.from({ length: 25 }, (_, index) => `${index + 1}`);
		const among = backends({ alpha: ids, beta: [] });
		for (const backend of among.slice(0, 1))
			backend.guilds = new Map([...backend.guilds, ["1", "A (2), B; C"], ["2", 'say "hi"']]);
		const text = outcome({}, undefined, among);
		expect(text).toContain(String.raw`Give guild_id: "A (2), B; C" (1), "say \"hi\"" (2), guild 3 (3)`);
		expect(text).toEndWith(", guild 20 (20) and 5 more of alpha. Or give instance. Available instances: alpha, beta.");
		expect(outcome({}, undefined, backends({ only: [] }))).toEndWith(
			"Give guild_id or instance. Available instances: only.",
		);
	});

	test("the default does not replace an unknown instance or guild", () => {
		expect(outcome({ instance: "gamma" }, "alpha")).toContain("InstanceNotFound");
		expect(outcome({ guild_id: "4" }, "alpha")).toContain("GuildNotFound");
	});

	test("what the caller sent is shown on one line, cut to 100 characters", () => {
		const text = outcome({ instance: `a\nb${"x".repeat(10_000)}` });
		expect(text).toContain('"a\\nbxxx');
		expect(text.length).toBeLessThan(300);
	});
});

describe("a pinned guild", () => {
	const make = (name: string, listed: string[], pins: object) => {
		const url = "http://127.0.0.1:1";
		const { backend } = createTestBackend({ name, url, ...pins });
		backend.guilds = new Map(listed.map((id) => [id, id]));
		return backend;
	};
	const among = [
		// It lists what is not its own: before its first answer is filtered, say.
		make("alpha", ["1", "2", "3", "4"], { pinned: ["3"], barred: ["2", "4"] }),
		make("beta", [], { pinned: ["2", "3", "4"], barred: [] }),
		make("gamma", ["4"], { pinned: ["4"], barred: ["2", "3"] }),
	];

	test.each<[args: Record<string, unknown>, goes: string]>([
		[{ guild_id: "1" }, "alpha"],
		[{ guild_id: "2" }, "beta"],
		// Pinned to two: the first in INSTANCES.
		[{ guild_id: "3" }, "alpha"],
		[{ guild_id: "4" }, "beta"],
		[{ guild_id: "3", instance: "beta" }, "beta"],
		[{ guild_id: "1", instance: "gamma" }, "gamma"],
		[{ guild_id: "", instance: "alpha" }, "alpha"],
	])("%j goes to %s", (args, goes) => {
		expect(outcome(args, "gamma", among)).toBe(goes);
	});

	test.each<[args: Record<string, unknown>, owner: string]>([
		[{ guild_id: "2", instance: "alpha" }, "beta"],
		[{ guild_id: "3", instance: "gamma" }, "alpha"],
	])("%j is refused", (args, owner) => {
		expect(outcome(args, undefined, among)).toBe(
			`Gateway error: GuildPinned: the guild "${args.guild_id}" is pinned to ${owner}, so ${args.instance} may not act in it. Nothing was done. Leave the argument instance out. Available instances: alpha, beta, gamma.`,
		);
	});
});

describe("another type is -32602 naming it", () => {
	test.each<[args: Record<string, unknown>, field: string]>([
		[{ instance: 1 }, "instance"],
		[{ instance: true }, "instance"],
		[{ instance: ["alpha"] }, "instance"],
		[{ instance: { name: "alpha" } }, "instance"],
		[{ instance: 0 }, "instance"],
		[{ instance: false }, "instance"],
		[{ guild_id: 1 }, "guild_id"],
		[{ guild_id: 0 }, "guild_id"],
		[{ guild_id: ["1"] }, "guild_id"],
		[{ instance: "alpha", guild_id: 123456789012345678n.toString().length }, "guild_id"],
	])("%j", (args, field) => {
		expect(outcome(args, "alpha")).toBe(`-32602 Invalid parameters: ${field}: expected a string`);
	});
});
