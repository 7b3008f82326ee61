import { describe, expect, test } from "bun:test";
import type { Backend } from "../../../src/gateway/backends/backend.ts";
import { Rights } from "../../../src/gateway/principals/rights.ts";
import { Views } from "../../../src/gateway/principals/views.ts";
import { principalCapability } from "../../../src/lib/principal.ts";
import { createTestBackend } from "../../support/gateway.ts";

/** Backends that nobody speaks to; each enforces limits and serves these guilds. */
function backends(guilds: Record<string, string[]>): Backend[] {
	return Object.entries(guilds).map(([name, ids]) => {
		const { backend } = createTestBackend({ name, url: "http://127.0.0.1:1" });
		backend.guilds = new Map(ids.map((id) => [id, `guild ${id}`]));
		backend.session.experimental = [principalCapability];
		return backend;
	});
}

const key = { id: "k", name: "k", access: "all" } as const;

describe("the bots among which a principal's call is routed", () => {
	const limits = [
		{},
		{ guilds: ["1", "3"] },
		{ instances: ["beta"] },
		{ instances: ["beta"], guilds: ["1"] },
		{ guilds: ["nope"] },
	];

	test("are those that it sees, after each change of a bot", () => {
		const all = backends({ alpha: ["1", "3"], beta: ["2", "3"] });
		const [alpha, beta] = all;
		const views = new Views(all, new Rights());
		const expectSame = () => {
			for (const limit of limits) {
				const principal = { ...key, ...limit };
				expect(views.routes(principal)).toEqual(views.now(principal));
			}
		};
		expectSame();
		expect(views.routes(key)).toBe(views.routes({ ...key, access: "read" }));
		if (alpha) alpha.guilds = new Map([["4", "four"]]);
		expectSame();
		if (beta) beta.session.experimental = [];
		expectSame();
		expect(views.routes(key).map(({ name }) => name)).toEqual(["alpha"]);
		if (beta) beta.session.experimental = [principalCapability];
		expectSame();
	});

	test("are of their own for each combination of limits", () => {
		const views = new Views(backends({ alpha: ["1"], beta: ["1"] }), new Rights());
		const guilds = ["1"];
		const names = (limit: object) => views.routes({ ...key, ...limit }).map(({ name }) => name);
		expect(names({ guilds })).toEqual(["alpha", "beta"]);
		expect(names({ guilds, instances: ["beta"] })).toEqual(["beta"]);
		expect(names({ guilds })).toEqual(["alpha", "beta"]);
		expect(names({ guilds, instances: ["alpha"] })).toEqual(["alpha"]);
		expect(names({ guilds: ["2"] })).toEqual([]);
	});
});
