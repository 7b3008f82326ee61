import { expect, test } from "bun:test";
import type { Exchange } from "../../../src/simulator/rest/router.ts";
import { readOperations, schemaOf } from "./operations.ts";
import { violationsOf } from "./validate.ts";

const role = {
	id: "1",
	name: "Guard",
	permissions: "0",
	position: 1,
	color: 0,
	colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
	hoist: false,
	managed: false,
	mentionable: false,
	icon: null,
	unicode_emoji: null,
	flags: 0,
};

function exchange(changes: Partial<Exchange> & { answer?: unknown }): Exchange {
	const { answer = role, ...others } = changes;
	return {
		method: "POST",
		route: "/guilds/:guild_id/roles",
		query: new URLSearchParams(),
		body: { name: "Guard", hoist: false },
		files: [],
		byLibrary: false,
		status: 200,
		response: JSON.stringify(answer),
		headers: {},
		fault: undefined,
		...others,
	};
}

test("every documented body has a schema", () => {
	const operations = [...readOperations().values()];
	expect(operations.length).toBeGreaterThan(200);
	for (const { request, responses } of operations)
		for (const type of [request, ...responses.values()]) if (type) expect(() => schemaOf(type)).not.toThrow();
});

test("a documented exchange has no violation", () => {
	expect(violationsOf(exchange({}))).toEqual([]);
});

test.each([
	[
		"an unknown operation",
		{ route: "/guilds/:guild_id/ranks" },
		["POST /guilds/:guild_id/ranks: not a documented operation"],
	],
	["an undocumented status", { status: 202 }, ["status 202 is not documented"]],
	["a missing field", { answer: { ...role, flags: undefined } }, ["response.flags: missing"]],
	["a wrong type", { answer: { ...role, position: "1" } }, ['response.position: expected int32, given "1"']],
	["an unknown key of a request", { body: { name: "Guard", colour: 1 } }, ["request.colour: unknown key"]],
	[
		"an unknown key within an option of a union",
		{
			route: "/channels/:channel_id/messages",
			method: "POST",
			status: 403,
			byLibrary: true,
			answer: { code: 50013, message: "Missing Permissions" },
			body: { components: [{ type: 1, components: [{ type: 2, style: 1, custom_id: "yes", label: "Yes", size: 1 }] }] },
		},
		["request.components[].components[].size: unknown key"],
	],
	[
		"an empty body where fields are required",
		{ route: "/channels/:channel_id/messages/bulk-delete", status: 204, body: {}, response: undefined },
		["request.messages: missing"],
	],
	[
		"an unknown query parameter",
		{
			method: "GET",
			route: "/guilds/:guild_id/members",
			query: new URLSearchParams({ limit: "10", first: "1" }),
			body: {},
			answer: [],
		},
		["query.first: unknown parameter"],
	],
	[
		"a query parameter of a wrong type",
		{
			method: "GET",
			route: "/guilds/:guild_id/members",
			query: new URLSearchParams({ limit: "ten" }),
			body: {},
			answer: [],
		},
		["query.limit: ten has the wrong type"],
	],
	[
		"a body where none is documented",
		{ method: "DELETE", route: "/guilds/:guild_id/roles/:role_id", status: 204, body: {} },
		["response 204: has a body"],
	],
	[
		"a discriminator's other fields",
		{
			route: "/guilds/:guild_id/scheduled-events/:event_id",
			method: "PATCH",
			status: 400,
			byLibrary: true,
			answer: { code: 50035, message: "Invalid Form Body" },
			body: { entity_type: 3, entity_metadata: { place: "here" } },
		},
		["request.entity_metadata.location: missing", "request.entity_metadata.place: unknown key"],
	],
	[
		"too many items",
		{
			route: "/guilds/:guild_id/bulk-ban",
			body: { user_ids: Array(201).fill("1") },
			answer: { banned_users: [], failed_users: [] },
		},
		["request.user_ids: has 201 items"],
	],
	["an error without a code", { status: 403, answer: { message: "Missing Access" } }, ["response 403.code: missing"]],
])("%s is a violation", (_, changes, problems) => {
	const found = violationsOf(exchange(changes));
	expect(found.map((problem) => problem.replace(/^[A-Z]+ \S*\}\S*: /, ""))).toEqual(problems);
});

test("a refused request counts only if a library sent it", () => {
	const refused = { status: 400, answer: { code: 50035, message: "Invalid Form Body" }, body: { colour: 1 } };
	expect(violationsOf(exchange(refused))).toEqual([]);
	expect(violationsOf(exchange({ ...refused, byLibrary: true }))).toHaveLength(1);
});

test("of random requests and other libraries only the responses count", () => {
	const foreign = exchange({ body: { colour: 1 }, status: 202 });
	expect(violationsOf(foreign, { onlyResponses: true })).toEqual([
		"POST /guilds/{guild_id}/roles: status 202 is not documented",
	]);
});

test.each([
	["fail", 503, true],
	["answer", 200, true],
	// These send what Discord sends.
	["refuse", 503, false],
	["rateLimit", 503, false],
	["stall", 200, false],
	[undefined, 200, false],
] as const)("a response with the fault %p and status %i is exempt: %p", (fault, status, isExempt) => {
	const found = violationsOf(exchange({ fault, status, answer: "<html>" }));
	expect(found.length === 0).toBe(isExempt);
});

test("the request of an exempt response is not exempt", () => {
	const body = { colour: 1 };
	expect(violationsOf(exchange({ fault: "answer", answer: "<html>", body }))).toEqual([
		"POST /guilds/{guild_id}/roles: request.colour: unknown key",
	]);
});

test("a body that was not read is not compared", () => {
	const limited = exchange({
		route: "/channels/:channel_id/messages/bulk-delete",
		status: 429,
		byLibrary: true,
		body: undefined,
		answer: { message: "", retry_after: 1, global: true },
	});
	expect(violationsOf(limited).join()).not.toContain("request.");
});

test("501 is only exempt with the simulator's own text", () => {
	const of = (message: string) => violationsOf(exchange({ status: 501, answer: { message, code: 0 } }));
	expect(of("The simulator does not simulate roles.")).toEqual([]);
	expect(of("Not Implemented")).toHaveLength(1);
});

test("a 429 has the headers of its limit", () => {
	const limited = (global: boolean, headers: Record<string, string>) =>
		violationsOf(exchange({ status: 429, answer: { message: "Slower", retry_after: 1.5, global }, headers })).map(
			(problem) => problem.replace(/.*: response header /, ""),
		);
	const after = { "retry-after": "2" };
	expect(limited(false, { ...after, "x-ratelimit-scope": "user" })).toEqual([]);
	const global = { "x-ratelimit-scope": "global", "x-ratelimit-global": "true" };
	expect(limited(true, { ...after, ...global })).toEqual([]);
	expect(limited(false, { "retry-after": "1", ...global })).toEqual([
		"retry-after: 1",
		"x-ratelimit-scope: global",
		"x-ratelimit-global: true",
	]);
});

test("no test starts a simulator whose exchanges are not validated", async () => {
	const tests = new URL("../..", import.meta.url).pathname;
	const starting: string[] = [];
	for (const file of new Bun.Glob("**/*.ts").scanSync(tests)) {
		if (file.includes("node_modules/")) continue;
		const source = await Bun.file(`${tests}/${file}`).text();
		const imported = new Bun.Transpiler({ loader: "ts" }).scanImports(source);
		if (imported.some(({ path }) => path.endsWith("/simulator/simulator.ts"))) starting.push(file);
	}
	expect(starting.sort()).toEqual([
		"bench/logs.ts",
		"bench/members/simulator-process.ts",
		"bench/people.ts",
		"bench/soak-bot.ts",
		"bench/up-footprint.ts",
		"support/simulator.ts",
	]);
});
