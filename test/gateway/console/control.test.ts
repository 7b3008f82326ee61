// Actions in the console: keys, connections, and trying tools that only read.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { sessionLifetimeMs } from "../../../src/gateway/console/sessions.ts";
import { Grants } from "../../../src/gateway/oauth/grants/grants.ts";
import { openStore } from "../../../src/gateway/store/store.ts";
import { consoleLink } from "../../../src/lib/console-link.ts";
import { principalCapability } from "../../../src/lib/principal.ts";
import { rightsMethod } from "../../../src/mcp/rights.ts";
import { databaseDirectory } from "../../support/database-directory.ts";
import { createGatewayClient, gatewayToken, startTestGateway } from "../../support/gateway.ts";
import { rowsIn } from "../../support/gateway-store.ts";
import { recordLog } from "../../support/log.ts";
import { bareTool, type RecordedRequest, result, startStubBackend, textResult } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";
import { ConsoleClient, signedIn, signedInPerson } from "./console-client.ts";

const worldTest = testWith(() => startWorld());

const guild = "300000000000000003";
const other = "400000000000000004";
const hanna = { id: "100000000000000001", name: "Hanna" };
const ada = { id: "100000000000000002", name: "Ada" };

const readsTool = JSON.stringify({
	name: "list_things",
	title: "List things",
	description: "Things.",
	inputSchema: { type: "object", properties: { guild_id: { type: "string" } } },
	annotations: { readOnlyHint: true },
});

const writesTool = JSON.stringify({
	name: "act",
	inputSchema: { type: "object" },
	annotations: { readOnlyHint: false },
});

function principalOf({ headers }: RecordedRequest) {
	const sent = headers.get("x-guildhall-caller");
	return sent && JSON.parse(Buffer.from(sent, "base64url").toString());
}

async function startWorld({ hasStore = true } = {}) {
	const directory = await mkdtemp(join(databaseDirectory, "guildhall-console-"));
	const bot = startStubBackend({
		guilds: { [guild]: "Cooks", [other]: "Others" },
		tools: [readsTool, writesTool, bareTool("bare")],
		experimental: [principalCapability],
		on: {
			[rightsMethod]: (request) =>
				result(
					request.id,
					JSON.stringify({
						guilds: principalOf(request)?.person?.id === hanna.id ? [{ id: guild, name: "Cooks", signIn: true }] : [],
					}),
				),
			list_things: ({ id }) => textResult(id, "one\ntwo"),
			"guildhall/settings": ({ id }) => result(id, JSON.stringify({ version: 7, calls: { change: "act" } })),
			act: ({ id }) => textResult(id, "acted"),
		},
	});
	const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
	const now = () => clock.now;
	const database = join(directory, "gateway.sqlite");
	const store = hasStore ? openStore({ database, schema: "" }, recordLog().log) : undefined;
	const approvals = { waitMs: 1, pollMs: 1 };
	const settings = { options: { store, approvals, signIn: { clocks: { now, monotonicNow: now } } } };
	const gateway = await startTestGateway({ alpha: bot }, settings);
	return {
		...gateway,
		bot,
		clock,
		store,
		/** Another gateway with the same database. */
		replica: () => startTestGateway({ alpha: bot }, settings),
		root: () => signedIn(gateway.url),
		person: (who = hanna) => signedInPerson(gateway.url, who, clock.now),
		async [Symbol.asyncDispose]() {
			await gateway.close();
			await store?.close();
			await bot.stop();
			await rm(directory, { recursive: true, force: true });
		},
	};
}

worldTest("a key is made with its limits, works, and is revoked", async (world) => {
	const client = await world.root();
	const wanted = { name: "ci", access: "read", instances: ["alpha"], guilds: [guild], days: 30 };
	const made = await client.post<{ secret: string; name: string }>("keys", wanted);
	expect(made.status).toBe(201);
	const key = {
		name: "ci",
		access: "read",
		instances: ["alpha"],
		guilds: [guild],
		createdAt: world.clock.now,
		expiresAt: world.clock.now + 30 * 86_400_000,
	};
	expect(made.body.name).toBe("ci");
	expect(made.headers.get("cache-control")).toBe("no-store");
	const listed = { keys: [{ ...key, id: expect.any(String) }], connections: [], reason: null };
	expect((await client.get("access")).body).toEqual(listed);
	const secret = made.body.secret;
	const holder = createGatewayClient(`${world.url}/mcp`, secret);
	expect(await holder.toolNames()).toContain("list_things");
	// The secret is in no log, and is not shown again.
	expect(world.recorded.lines.join("\n")).not.toContain(secret);
	expect(world.recorded.messages()).toContain("created a key in the console");

	expect((await client.post("keys", wanted)).status).toBe(409);
	expect((await client.post("access/revoke", { key: "ci" })).status).toBe(200);
	expect((await client.post("access/revoke", { key: "ci" })).status).toBe(404);
	expect((await client.get("access")).body.keys).toEqual([]);
});

worldTest("a key that cannot be is not made", async (world) => {
	const client = await world.root();
	const key = { name: "ci", access: "read" };
	const wrong = [
		{ ...key, name: "a b" },
		{ ...key, name: "-".repeat(65) },
		{ ...key, access: "root" },
		{ ...key, instances: ["gamma"] },
		{ ...key, instances: [] },
		{ ...key, guilds: ["1"] },
		{ ...key, person: "me" },
		{ ...key, days: 0 },
		{ ...key, days: 1.5 },
		{ ...key, extra: 1 },
		{},
	];
	for (const body of wrong) {
		const { status } = await client.post("keys", body);
		expect([body, status]).toEqual([body, 400]);
	}
	const long = { ...key, guilds: Array(9_000).fill(guild) };
	expect((await client.post("keys", long)).status).toBe(413);
	expect((await client.get("access")).body.keys).toEqual([]);
});

worldTest("people see no keys, and make none", async (world) => {
	const key = { name: "ci", access: "all" };
	expect((await (await world.root()).post("keys", key)).status).toBe(201);
	const client = await world.person();
	expect((await client.get("access")).body).toEqual({ keys: [], connections: [], reason: null });
	expect((await client.post("keys", { ...key, name: "other" })).status).toBe(403);
	expect((await client.post("access/revoke", { key: "ci" })).status).toBe(403);
});

test("without a database there are no keys and connections, and the console says so", async () => {
	await using world = await startWorld({ hasStore: false });
	const client = await world.root();
	const reason = expect.stringContaining("GATEWAY_DATABASE");
	expect((await client.get("access")).body).toEqual({ keys: [], connections: [], reason });
	const key = { name: "ci", access: "read" };
	expect((await client.post("keys", key)).status).toBe(503);
	expect((await client.post("access/revoke", { connection: "x" })).status).toBe(503);
});

worldTest("the operator ends any connection, a person their own", async (world) => {
	const { store, clock } = world;
	if (!store) throw new Error("there is no store");
	const grants = new Grants(store, () => clock.now);
	const verifier = "v".repeat(43);
	const connect = async (person: typeof hanna) => {
		const code = await grants.issueCode({
			request: {
				client: { id: "c", name: "Claude" },
				redirectUri: "https://claude.example",
				state: undefined,
				codeChallenge: new Bun.CryptoHasher("sha256").update(verifier).digest("base64url"),
				resource: "/mcp",
				access: "write",
			},
			person,
			access: "write",
		});
		await grants.redeem(code, { clientId: "c", redirectUri: undefined, codeVerifier: verifier, resource: undefined });
	};
	await connect(hanna);
	await connect(ada);
	interface Listed {
		connections: { id: string; person: { id: string } }[];
	}
	const root = await world.root();
	const all = (await root.get<Listed>("access")).body.connections;
	expect(all.map(({ person }) => person.id).sort()).toEqual([hanna.id, ada.id]);
	const person = await world.person();
	const own = (await person.get<Listed>("access")).body.connections;
	expect(own).toEqual([
		{
			id: expect.any(String),
			client: { id: "c", name: "Claude" },
			redirectUri: "https://claude.example",
			person: hanna,
			access: "write",
			resource: "/mcp",
			createdAt: clock.now,
			expiresAt: expect.any(Number),
		} as never,
	]);
	const hers = all.find((grant) => grant.person.id === ada.id)?.id ?? "";
	expect((await person.post("access/revoke", { connection: hers })).status).toBe(404);
	expect((await root.post("access/revoke", { connection: hers })).status).toBe(200);
	expect((await person.post("access/revoke", { connection: own[0]?.id })).status).toBe(200);
	expect((await root.get("access")).body.connections).toEqual([]);
});

worldTest("tools that read can be tried, and no others", async (world) => {
	const client = await world.root();
	const { body } = await client.get<{ tools: Record<string, unknown>[] }>("tools");
	expect(body.tools).toEqual([
		{
			name: "list_things",
			title: "List things",
			description: "Things.",
			inputSchema: expect.objectContaining({ properties: expect.objectContaining({ instance: expect.anything() }) }),
			instances: ["alpha"],
		},
		expect.objectContaining({ name: "list_instances", instances: ["alpha"] }),
	]);
	const call = (name: string, args: unknown = {}) => client.post("tools/call", { name, arguments: args });
	const tried = await call("list_things", { guild_id: guild });
	expect(tried.body).toEqual({
		id: expect.any(String),
		outcome: "done",
		isError: false,
		isWaiting: false,
		text: "one\ntwo",
	});
	// As the operator, but with the access to read.
	expect(principalOf(world.bot.received("list_things")[0] as never)).toEqual({
		id: "root",
		name: "root",
		client: "Guildhall console",
		access: "read",
	});
	const calls = (await client.get<{ calls: { id: string }[] }>("calls")).body;
	expect(calls.calls.at(-1)).toMatchObject({ id: tried.body.id, client: "Guildhall console" });
	expect((await call("act", { instance: "alpha" })).status).toBe(404);
	expect((await call("bare", { instance: "alpha" })).status).toBe(404);
	expect((await call("none")).status).toBe(404);
	expect((await call("list_things", "x")).status).toBe(400);
	expect(world.bot.received("act")).toHaveLength(0);
	const lost = await call("list_things", { instance: "gamma" });
	expect(lost.body).toMatchObject({ isError: true, outcome: "not_routed" });
});

worldTest("a person tries tools in their own name, in their own guilds", async (world) => {
	const client = await world.person();
	const call = (args: unknown) => client.post("tools/call", { name: "list_things", arguments: args });
	expect((await call({ guild_id: guild })).body).toMatchObject({ text: "one\ntwo" });
	expect(principalOf(world.bot.received("list_things")[0] as never)).toMatchObject({
		person: { ...hanna, signedIn: true },
		access: "read",
	});
	expect((await call({ guild_id: other })).body).toMatchObject({ isError: true, outcome: "not_routed" });
	expect((await client.get("state")).body).toMatchObject({
		bots: [{ name: "alpha", guilds: [{ id: guild }], tools: null }],
	});
	const { body } = await client.get<{ calls: unknown[] }>("calls");
	expect(body.calls).toHaveLength(2);
	const stranger = await world.person(ada);
	expect((await stranger.get("tools")).body).toMatchObject({ tools: [{ name: "list_instances" }] });
	expect((await stranger.get<{ calls: unknown[] }>("calls")).body.calls).toEqual([]);
});

worldTest("clients are told where the gateway is, without a token", async (world) => {
	const client = await world.root();
	const { body } = await client.get("clients");
	expect(body).toEqual({
		endpoint: `${world.url}/mcp`,
		readOnlyEndpoint: `${world.url}/mcp/readonly`,
		discordSignIn: false,
	});
	expect(JSON.stringify(body)).not.toContain(gatewayToken);
});

worldTest(
	"a session that was signed out is over at all gateways with one database, and after a restart",
	async (world) => {
		await using other = await world.replica();
		for (const client of [await world.root(), await world.person()]) {
			const there = new ConsoleClient(other.url);
			there.cookie = client.cookie;
			expect((await there.get("state")).status).toBe(200);
			expect((await client.post("sign-out")).status).toBe(200);
			expect((await there.get("state")).status).toBe(401);
		}
		const rows = () => world.store && rowsIn(world.store, "console_ended_sessions");
		expect(await rows()).toHaveLength(2);
		// Expired sessions are deleted.
		world.clock.now += sessionLifetimeMs;
		await (await world.root()).post("sign-out");
		expect(await rows()).toHaveLength(1);
	},
);

worldTest("a link that was used at one gateway is used at all with its database", async (world) => {
	await using other = await world.replica();
	const [, ticket] = (await consoleLink("", gatewayToken, world.clock.now)).split("#in=");
	const statuses = [];
	for (const { url } of [world, other]) statuses.push((await new ConsoleClient(url).signIn({ ticket })).status);
	expect(statuses).toEqual([200, 401]);
});

worldTest("without its database, only the holder of the token has a session", async (world) => {
	const root = await world.root();
	const person = await world.person();
	await world.store?.close();
	expect((await root.get("state")).status).toBe(200);
	expect((await person.get("state")).status).toBe(503);
	const { cookie } = root;
	expect((await root.post("sign-out")).status).toBe(200);
	root.cookie = cookie;
	expect((await root.get("state")).status).toBe(401);
});

worldTest("a decision that is none is refused before a bot is asked", async (world) => {
	const client = await world.root();
	const valid = { instance: "alpha", id: "1", token: "2", decision: "deny" };
	const wrong = [
		{ ...valid, decision: "Deny" },
		{ ...valid, token: 2 },
		{ ...valid, id: "1".repeat(101) },
		{ ...valid, more: true },
		{ instance: "alpha", id: "1", decision: "approve" },
	];
	for (const body of wrong) {
		const { status } = await client.post("approvals/decide", body);
		expect([body, status]).toEqual([body, 400]);
	}
	const unknown = { ...valid, instance: "beta" };
	expect((await client.post("approvals/decide", unknown)).status).toBe(404);
});

worldTest("a form is submitted by the tool that the bot names, in the person's name", async (world) => {
	const client = await world.person();
	const place = { instance: "alpha", guild_id: guild };
	const shown = await client.post("settings", { ...place, values: { "a.b": 1 } });
	expect([shown.status, shown.body]).toMatchObject([200, { version: 7 }]);
	const [asked] = world.bot.received("guildhall/settings");
	expect(JSON.parse(asked?.body ?? "").params).toEqual({ guild_id: guild, values: { "a.b": 1 } });
	const sent = await client.post("settings/submit", { ...place, call: "change", arguments: { a: 1 } });
	expect(sent.body).toMatchObject({ isError: false, isWaiting: false, text: "acted" });
	const [called] = world.bot.received("act");
	expect(JSON.parse(called?.body ?? "").params.arguments).toEqual({ a: 1, guild_id: guild });
	expect(called && principalOf(called)).toMatchObject({ id: `console:${hanna.id}`, access: "all", person: hanna });
	const wrong: [object, number][] = [
		[{ call: "act" }, 404],
		[{ call: "constructor" }, 404],
		[{ call: "change", instance: "beta" }, 404],
		[{ call: 1 }, 400],
	];
	for (const [given, status] of wrong)
		expect([given, (await client.post("settings/submit", { ...place, arguments: {}, ...given })).status]).toEqual([
			given,
			status,
		]);
	const forged = { "X-Guildhall-Csrf": "other" };
	expect((await client.post("settings/submit", { ...place, call: "change", arguments: {} }, forged)).status).toBe(403);
	expect((await (await world.person(ada)).post("settings", place)).status).toBe(404);
	expect(world.bot.received("act")).toHaveLength(1);
});

worldTest("a form that waits for an approval says so", async (world) => {
	const client = await world.root();
	world.bot.on.act = ({ id }) =>
		result(id, '{"_meta":{"guildhall/pending":"r1"},"content":[{"type":"text","text":"It waits."}]}');
	const place = { instance: "alpha", guild_id: guild };
	const { body } = await client.post("settings/submit", { ...place, call: "change", arguments: {} });
	expect(body).toMatchObject({ isError: false, isWaiting: true, text: "It waits." });
});

worldTest("a bot that offers no settings, or refuses to show them, says why", async (world) => {
	const client = await world.root();
	const place = { instance: "alpha", guild_id: guild };
	const answers = [
		[-32601, "Method not found", "alpha: it offers no settings"],
		[-32603, "You lack Manage Server.", "alpha: You lack Manage Server."],
	] as const;
	for (const [code, message, shown] of answers) {
		world.bot.on["guildhall/settings"] = ({ id }) =>
			Response.json({ jsonrpc: "2.0", id: JSON.parse(id), error: { code, message } });
		const { status, body } = await client.post("settings", place);
		expect([status, body.error?.message]).toEqual([503, shown]);
	}
	expect((await client.post("settings/submit", { ...place, call: "change", arguments: {} })).status).toBe(503);
	expect(world.bot.received("act")).toEqual([]);
});
