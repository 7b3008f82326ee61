import { describe, expect, test } from "bun:test";
import type { Backend } from "../../../src/gateway/backends/backend.ts";
import { Rights } from "../../../src/gateway/principals/rights.ts";
import { Views } from "../../../src/gateway/principals/views.ts";
import { type RouteError, Router } from "../../../src/gateway/routing/routing.ts";
import { principalCapability } from "../../../src/lib/principal.ts";
import { createTestBackend } from "../../support/gateway.ts";

/** Backends that nobody speaks to; each enforces limits and serves these guilds. */
function backends(guilds: Record<string, string[]>): Backend[] {
	return Object.entries(guilds).map(([name, ids]) => {
		const { backend } = createTestBackend({ name, url: "http://127.0.0.1:1" });
		backend.guilds = new Map(ids.map((id) => [id, `guild ${id}`]));
		backend.session.server = { experimental: [principalCapability] };
		return backend;
	});
}

const key = { id: "k", name: "k", access: "all" } as const;

/** Whose names the error of a call without a target lists. */
function routing(all: Backend[]) {
	const views = new Views(all, new Rights());
	const router = new Router({ backends: all, views, defaultInstance: undefined, firstList: () => undefined });
	const seen = async (limit: object) => {
		const found = Promise.try(() => router.find({}, new AbortController().signal, { ...key, ...limit }));
		const { message } = await found.then(
			({ name }) => ({ message: `: ${name}.` }),
			(error: RouteError) => error,
		);
		return /: ([^:]*)\.$/.exec(message)?.[1]?.split(", ") ?? [];
	};
	return { router, seen };
}

describe("the bots among which a principal's call is routed", () => {
	test("are those that it sees, after each change of a bot", async () => {
		const all = backends({ alpha: ["1", "3"], beta: ["2", "3"] });
		const [alpha, beta] = all;
		const { router, seen } = routing(all);
		const expectSeen = async (...expected: string[][]) => {
			const limits = [{}, { guilds: ["1", "3"] }, { instances: ["beta"] }, { instances: ["beta"], guilds: ["1"] }];
			for (const [at, limit] of limits.entries())
				expect([limit, await seen(limit)]).toEqual([limit, expected[at] ?? []]);
			router.noteChange();
		};
		await expectSeen(["alpha", "beta"], ["alpha", "beta"], ["beta"], [""]);
		if (alpha)
			alpha.guilds = new Map([
				["4", "four"],
				["5", "five"],
			]);
		await expectSeen(["alpha", "beta"], ["beta"], ["beta"], [""]);
		if (beta) beta.session.server = { experimental: [] };
		await expectSeen(["alpha"], [""], [""], [""]);
		if (beta) beta.session.server = { experimental: [principalCapability] };
		await expectSeen(["alpha", "beta"], ["beta"], ["beta"], [""]);
	});

	test("are of their own for each combination of limits", async () => {
		const { seen } = routing(backends({ alpha: ["1", "2"], beta: ["1", "2"] }));
		const guilds = ["1", "2"];
		expect(await seen({ guilds })).toEqual(["alpha", "beta"]);
		expect(await seen({ guilds, instances: ["beta"] })).toEqual(["beta"]);
		expect(await seen({ guilds })).toEqual(["alpha", "beta"]);
		expect(await seen({ guilds, instances: ["alpha"] })).toEqual(["alpha"]);
		expect(await seen({ guilds: ["3"] })).toEqual([""]);
	});
});
