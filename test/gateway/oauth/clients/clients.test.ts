// Clients register themselves, within limits, and are forgotten when nobody uses them.

import { expect, test } from "bun:test";
import { type ClientsOptions, createClients } from "../../../../src/gateway/oauth/clients/clients.ts";
import { errorResponse } from "../../../../src/gateway/oauth/protocol/oauth-error.ts";
import type { Sql } from "../../../../src/lib/store/statement.ts";
import { openGatewayStore } from "../../../support/gateway-store.ts";
import { recordLog } from "../../../support/log.ts";
import { onBoth } from "../../../support/stores.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const anchorMs = Date.UTC(2030, 0, 1);
const claude = {
	client_name: "Claude",
	redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
	grant_types: ["authorization_code", "refresh_token"],
	response_types: ["code"],
	token_endpoint_auth_method: "client_secret_post",
};

/** Stores a connection with a client. */
const insertGrant = (sql: Sql, clientId: string) =>
	sql`INSERT INTO oauth_grants (id, client_id, client_name, redirect_uri, person_id, person_name, access,
			resource, generation, rotated_at, created_at, expires_at)
		VALUES ('1', ${clientId}, '', '', '', '', 'read', '/mcp', 0, 0, 0, 0)`;

function post(body: unknown, type = "application/json"): Request {
	return new Request("https://bots.example/oauth/register", {
		method: "POST",
		headers: { "Content-Type": type },
		body: typeof body === "string" ? body : JSON.stringify(body),
	});
}

onBoth((databases) => {
	/** Clients in an empty database, at a time that the test sets. */
	async function setUp(options: Partial<ClientsOptions> = {}) {
		const place = await databases.place();
		const opened = openGatewayStore(place);
		await opened.store.ready();
		/** `setMs` is by how much the time of day was changed. */
		const clock = { ms: anchorMs, setMs: 0 };
		const clocks = { now: () => clock.ms + clock.setMs, monotonicNow: () => clock.ms };
		const { log } = recordLog();
		const { store } = opened;
		const clients = createClients({
			store,
			log,
			clocks,
			fetch: () => Promise.reject(new Error("it fetched a document")),
			...options,
		});
		async function register(body: unknown = claude, address?: string) {
			const response = await clients.registerClient(post(body), address).catch((error) => errorResponse(error));
			// biome-ignore lint/suspicious/noExplicitAny: what the server sent is compared by each test.
			return { response, body: (await response.json()) as any };
		}
		const count = async () => (await place.look("SELECT id FROM oauth_clients")).length;
		return {
			clients,
			register,
			clock,
			count,
			store,
			place,
			[Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
		};
	}

	test("a client that registers is found under its new id, as a public client", async () => {
		await using one = await setUp();
		const { response, body } = await one.register({
			...claude,
			client_uri: "https://claude.ai",
			scope: "read write",
			logo_uri: "https://claude.ai/logo.png",
		});
		expect(response.status).toBe(201);
		expect(response.headers.get("cache-control")).toBe("no-store");
		expect(body).toEqual({
			client_id: expect.stringMatching(/^client_[\w-]{22}$/),
			client_id_issued_at: anchorMs / 1000,
			client_name: "Claude",
			redirect_uris: claude.redirect_uris,
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		});
		expect(await one.clients.findClient(body.client_id)).toEqual({
			id: body.client_id,
			name: "Claude",
			redirectUris: claude.redirect_uris,
		});
		const again = await one.register();
		expect(again.body.client_id).not.toBe(body.client_id);
	});

	test.each([
		"",
		"client_",
		"client_AAAAAAAAAAAAAAAAAAAAAA",
		"' OR 1=1 --",
		"http://client.example/a",
		"x".repeat(10_000),
	])("there is no client %p", async (id) => {
		await using one = await setUp();
		expect(await one.clients.findClient(id)).toBeUndefined();
	});

	test("a URL is looked up as a metadata document", async () => {
		await using one = await setUp({
			resolve: async () => ["93.184.215.14"],
			fetch: async () =>
				Response.json({ ...claude, token_endpoint_auth_method: "none", client_id: "https://client.example/a" }),
		});
		expect(await one.clients.findClient("https://client.example/a")).toMatchObject({ name: "Claude" });
	});

	test.each<[string, object, object]>([
		["the least that is needed", { redirect_uris: claude.redirect_uris }, { client_name: "claude.ai" }],
		["an app's scheme and no name", { redirect_uris: ["cursor:/callback"] }, { client_name: "cursor:" }],
		[
			"a name that hides something",
			{ ...claude, client_name: "Cl\u202eaude\u200b\n" },
			{ client_name: "Cl\\u{202e}aude\\u{200b}" },
		],
		[
			"more grants and responses",
			{ ...claude, grant_types: ["authorization_code", "implicit"], response_types: ["code", "token"] },
			{ response_types: ["code"] },
		],
		[
			"all of VS Code's redirect URIs",
			{
				redirect_uris: ["https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"],
				application_type: "native",
			},
			{},
		],
	])("%s can be registered", async (_, metadata, expected) => {
		await using one = await setUp();
		const { response, body } = await one.register(metadata);
		expect(response.status).toBe(201);
		expect(body).toMatchObject(expected);
	});

	test.each<[string, unknown, string]>([
		["no JSON", "{", "invalid_client_metadata"],
		["no object", "null", "invalid_client_metadata"],
		["nothing", "", "invalid_client_metadata"],
		["too much", { ...claude, x: "x".repeat(17_000) }, "invalid_client_metadata"],
		["a name that is no text", { ...claude, client_name: 1 }, "invalid_client_metadata"],
		["a very long name", { ...claude, client_name: "x".repeat(201) }, "invalid_client_metadata"],
		["other grants only", { ...claude, grant_types: ["implicit"] }, "invalid_client_metadata"],
		["other responses only", { ...claude, response_types: ["token"] }, "invalid_client_metadata"],
		["no redirect URIs", { client_name: "x" }, "invalid_redirect_uri"],
		["an empty list of redirect URIs", { redirect_uris: [] }, "invalid_redirect_uri"],
		["too many redirect URIs", { redirect_uris: Array(51).fill("https://a.example/") }, "invalid_redirect_uri"],
		["a text instead of redirect URIs", { redirect_uris: "https://a.example/" }, "invalid_redirect_uri"],
		["a redirect URI that is none", { redirect_uris: [{}] }, "invalid_redirect_uri"],
		["one invalid redirect URI", { redirect_uris: ["https://a.example/", 'javascript:"é"'] }, "invalid_redirect_uri"],
	])("%s cannot be registered", async (_, metadata, error) => {
		await using one = await setUp();
		const { response, body } = await one.register(metadata);
		expect(response.status).toBe(400);
		expect(response.headers.get("cache-control")).toBe("no-store");
		expect(body.error).toBe(error);
		expect(body.error_description).toMatch(/^[ !#-[\]-~]+$/);
		expect(await one.count()).toBe(0);
	});

	test("a registration that is not sent as JSON is refused: a web page could send it", async () => {
		await using one = await setUp();
		for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
			await expect(one.clients.registerClient(post(claude, type))).rejects.toMatchObject({ response: { status: 400 } });
		}
	});

	test("a flood from one address leaves room for others, and one from many ends at the limit", async () => {
		await using one = await setUp();
		const statuses = async (count: number, addressOf: (n: number) => string) => {
			const found: number[] = [];
			for (let n = 0; n < count; n++) found.push((await one.register(claude, addressOf(n))).response.status);
			return found.filter((status) => status === 201).length;
		};
		expect(await statuses(30, () => "192.0.2.1")).toBe(20);
		expect(await statuses(60, (n) => `192.0.2.${2 + (n % 3)}`)).toBe(40);
		const invalid = { ...claude, redirect_uris: [] };
		for (let n = 0; n < 30; n++) expect((await one.register(invalid, "203.0.113.9")).response.status).toBe(400);
		expect(await statuses(1, () => "203.0.113.9")).toBe(1);
		const { response, body } = await one.register(claude, "192.0.2.1");
		expect(response.status).toBe(429);
		expect(response.headers.get("retry-after")).toBe("60");
		expect(body.error).toBe("temporarily_unavailable");
		// Networks that sent little are spared.
		expect(await statuses(4, () => "198.51.100.1")).toBe(3);
		one.clock.setMs = -dayMs;
		one.clock.ms += minuteMs;
		expect((await one.register()).response.status).toBe(201);
	});

	test("when there are too many clients, those that nobody has used for ten minutes make room", async () => {
		await using one = await setUp({ maxClients: 3 });
		for (let n = 0; n < 3; n++) await one.register();
		expect((await one.register()).response.status).toBe(429);
		expect(await one.count()).toBe(3);
		one.clock.ms += 11 * minuteMs;
		expect((await one.register()).response.status).toBe(201);
		expect(await one.count()).toBe(1);
	});

	test("a client without a connection is forgotten after a day, one that had one after 90 days", async () => {
		await using one = await setUp();
		const never = (await one.register()).body.client_id;
		const used = (await one.register()).body.client_id;
		await insertGrant(one.store.sql, used);
		const isKnown = async (id: string) => (await one.clients.findClient(id)) !== undefined;
		one.clock.ms += dayMs;
		await one.register();
		expect([await isKnown(never), await isKnown(used)]).toEqual([true, true]);
		one.clock.ms += dayMs;
		await one.register();
		expect([await isKnown(never), await isKnown(used)]).toEqual([false, true]);
		one.clock.ms += 200 * dayMs;
		await one.register();
		expect(await isKnown(used)).toBe(true);
		await one.store.sql`DELETE FROM oauth_grants`;
		one.clock.ms += 90 * dayMs;
		await one.register();
		expect(await isKnown(used)).toBe(true);
		one.clock.ms += dayMs;
		await one.register();
		expect(await isKnown(used)).toBe(false);
	});

	test("while the database cannot be reached, registration says so", async () => {
		await using one = await setUp();
		await one.store.close();
		const { response, body } = await one.register();
		expect(response.status).toBe(503);
		expect(body.error).toBe("temporarily_unavailable");
	});
});
