// Clients by the URL of their metadata document: what is accepted, cached, and fetched how often.

import { describe, expect, test } from "bun:test";
import { createClientDocuments } from "../../../../src/gateway/oauth/clients/client-document.ts";
import { recordLog } from "../../../support/log.ts";
import { until } from "../../../support/until.ts";

const id = "https://client.example/oauth/client.json";
const valid = {
	client_id: id,
	client_name: "Claude",
	client_uri: "https://client.example",
	redirect_uris: ["https://client.example/callback"],
	grant_types: ["authorization_code", "refresh_token"],
	response_types: ["code"],
	token_endpoint_auth_method: "none",
};

interface Setup {
	document?: unknown;
	headers?: Record<string, string>;
	respond?: (url: string, signal?: AbortSignal | null) => Promise<Response>;
	timeoutMs?: number;
}

const later = { name: "OAuthError", code: "temporarily_unavailable" };

/** A look-up of documents whose hosts all respond with one document. */
function documents({ document = valid, headers = {}, respond, timeoutMs = 5_000 }: Setup = {}) {
	const logged = recordLog();
	const requests: string[] = [];
	const clock = { ms: 0 };
	const documents = createClientDocuments({
		log: logged.log,
		now: () => clock.ms,
		timeoutMs,
		resolve: async () => ["93.184.215.14"],
		fetch: async (url, init) => {
			requests.push(new Headers(init.headers).get("host") ?? "");
			return respond ? respond(url, init.signal) : Response.json(document, { headers });
		},
	});
	const reasons = (message = "client's metadata document is not usable") =>
		logged.entries(message).map(({ reason }) => reason);
	const delays = () => reasons("client's metadata document cannot be fetched");
	const find = (id: string, address = "203.0.113.1") => documents.find(id, address);
	return { delays, find, findKeys: documents.findKeys, requests, reasons, clock };
}

test("a client is what its document states", async () => {
	const { find, reasons } = documents();
	expect(await find(id)).toEqual({ id, name: "Claude", redirectUris: ["https://client.example/callback"] });
	expect(reasons()).toEqual([]);
});

describe("a document is accepted", () => {
	test.each<[string, object, object]>([
		[
			"of a client that would rather sign its requests",
			{
				token_endpoint_auth_method: "private_key_jwt",
				token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
				jwks_uri: "https://client.example/keys",
			},
			{ keys: { uri: "https://client.example/keys" }, signs: false },
		],
		[
			"of a client that signs all of its requests",
			{ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "EC", kid: "1" }] } },
			{ keys: { list: [{ kty: "EC", kid: "1" }] }, signs: true },
		],
		[
			"without what is optional",
			{
				grant_types: undefined,
				response_types: undefined,
				token_endpoint_auth_method: undefined,
				client_uri: undefined,
			},
			{},
		],
		["with members that nobody knows", { logo_uri: "javascript:alert(1)", x: { y: [] } }, {}],
		[
			"without its redirect URIs that are invalid",
			{ redirect_uris: ["http://localhost:*/cb", "https://a.example/cb", "javascript:x"] },
			{ redirectUris: ["https://a.example/cb"] },
		],
		[
			"with a name that hides something",
			{ client_name: "Cl\u202eau\u200bde\n<b>" },
			{ name: "Cl\\u{202e}au\\u{200b}de <b>" },
		],
		["with a long name", { client_name: "x".repeat(3000) }, { name: "x".repeat(100) }],
		["with a name of nothing", { client_name: " \u2028" }, { name: "client.example" }],
	])("%s", async (_, change, expected) => {
		const { find } = documents({ document: { ...valid, ...change } });
		expect(await find(id)).toMatchObject(expected);
	});
});

describe("a document is refused", () => {
	test.each<[string, unknown, string]>([
		["that is a list", [], "client_name"],
		["that is a text", "x", "Expected Object"],
		["that is null", null, "Expected Object"],
		["of another client", { ...valid, client_id: "https://client.example/other" }, "its client_id is not the URL"],
		[
			"of the same client with another spelling",
			{ ...valid, client_id: "https://CLIENT.example/oauth/client.json" },
			"its client_id is not the URL",
		],
		["without client_id", { ...valid, client_id: undefined }, "client_id"],
		["without a name", { ...valid, client_name: undefined }, "client_name"],
		["with an empty name", { ...valid, client_name: "" }, "client_name"],
		["with a name that is no text", { ...valid, client_name: { toString: "x" } }, "client_name"],
		["without redirect URIs", { ...valid, redirect_uris: undefined }, "redirect_uris"],
		["with no redirect URI", { ...valid, redirect_uris: [] }, "redirect_uris"],
		["with a redirect URI that is no text", { ...valid, redirect_uris: [1] }, "redirect_uris.0"],
		[
			"with only invalid redirect URIs",
			{ ...valid, redirect_uris: ["http://example.com/"] },
			"none of its redirect_uris",
		],
		["with too many redirect URIs", { ...valid, redirect_uris: Array(51).fill("https://a.example/") }, "redirect_uris"],
		["with a secret", { ...valid, client_secret: "abc" }, "client_secret"],
		[
			"that needs a secret",
			{ ...valid, token_endpoint_auth_method: "client_secret_basic" },
			"token_endpoint_auth_method",
		],
		[
			"that prefers a secret",
			{ ...valid, token_endpoint_auth_method: "client_secret_post", token_endpoint_auth_methods_supported: ["none"] },
			"token_endpoint_auth_method",
		],
		[
			"of a client that signs all of its requests, without a key",
			{ ...valid, token_endpoint_auth_method: "private_key_jwt" },
			"token_endpoint_auth_method",
		],
		["for other grants only", { ...valid, grant_types: ["client_credentials"] }, "grant_types"],
		["for other responses only", { ...valid, response_types: ["token"] }, "response_types"],
		["that is too large", { ...valid, x: "x".repeat(11_000) }, "larger than 10240 bytes"],
	])("%s", async (_, document, reason) => {
		const { find, reasons } = documents({ document });
		expect(await find(id)).toBeUndefined();
		expect(reasons()).toEqual([expect.stringContaining(reason)]);
	});
});

test.each([
	"https://client.example",
	"https://client.example/",
	"https://client.example/?x=1",
	"https://client.example/a#b",
	"https://client.example/a#",
	"https://client.example/a/../b",
	"https://client.example/a/%2e%2e/b",
	"https://client.example/./a",
	"https://CLIENT.example/a",
	"https://client.example:443/a",
	"https://client.example:8443/a",
	"https://me@client.example/a",
	"https://client.example/a b",
	"https:\\\\client.example/a",
	"https://clïent.example/a",
	"https://127.0.0.1/a",
	"https://localhost/a",
	"https://",
	`https://client.example/${"a".repeat(1000)}`,
])("the id %p is not fetched", async (hostile) => {
	const { find, requests } = documents({ document: { ...valid, client_id: hostile } });
	expect(await find(hostile)).toBeUndefined();
	expect(requests).toEqual([]);
});

test.each([
	[undefined, 3_600],
	["public, max-age=7200", 7_200],
	["max-age=0", 60],
	["max-age=5", 60],
	["max-age=99999999", 86_400],
	["max-age=7200, no-store", 60],
	["no-cache", 60],
	["nonsense", 3_600],
])("with Cache-Control %p a document is cached for %d s", async (header, seconds) => {
	const { find, requests, clock } = documents({ headers: header === undefined ? {} : { "Cache-Control": header } });
	await find(id);
	clock.ms = seconds * 1000 - 1;
	await find(id);
	expect(requests).toHaveLength(1);
	clock.ms = seconds * 1000;
	expect(await find(id)).toBeDefined();
	expect(requests).toHaveLength(2);
});

test("an error is not cached, but a host gets at most 10 requests in a minute", async () => {
	const { find, requests, delays, clock } = documents({ respond: async () => new Response("", { status: 404 }) });
	for (let call = 0; call < 10; call++) expect(await find(`${id}?${call}`)).toBeUndefined();
	for (let call = 10; call < 12; call++) await expect(find(`${id}?${call}`)).rejects.toMatchObject(later);
	expect(requests).toHaveLength(10);
	expect(delays().at(-1)).toBe("too many fetches from this host");
	await find("https://other.example/a");
	expect(requests).toHaveLength(11);
	clock.ms = 60_000;
	await find(id);
	expect(requests).toHaveLength(12);
});

test("a document that cannot be fetched now is not unknown: an expired one is used, or the client is asked to wait", async () => {
	const fates: [string, () => Promise<Response>][] = [
		["503", async () => new Response("", { status: 503 })],
		["429", async () => new Response("", { status: 429 })],
		["refused", async () => Promise.reject(new Error("ECONNREFUSED"))],
		["unknown host", async () => Promise.reject(Object.assign(new Error("EAI_AGAIN"), { syscall: "getaddrinfo" }))],
	];
	for (const [name, fail] of fates) {
		let respond = async () => Response.json(valid);
		const { find, clock, delays } = documents({ respond: () => respond() });
		await find(id);
		clock.ms = 3_600_000;
		respond = fail;
		expect(await find(id), name).toMatchObject({ name: "Claude" });
		await expect(find(`${id}?new`), name).rejects.toMatchObject(later);
		expect(delays(), name).toHaveLength(2);
	}
});

test("one network and one domain occupy two places, whatever they ask for", async () => {
	const gate = Promise.withResolvers<void>();
	const { find, requests, delays } = documents({
		async respond() {
			await gate.promise;
			return Response.json(valid);
		},
	});
	const slow = (n: number, address: string) => find(`https://c${n}.slow${n}.example/a`, address);
	const first = [slow(1, "198.51.100.1"), slow(2, "198.51.100.1")];
	await expect(slow(3, "198.51.100.1")).rejects.toMatchObject(later);
	const ofDomain = (n: number) => find(`https://c${n}.tarpit.example/a`, `203.0.113.${n}`);
	const second = [ofDomain(1), ofDomain(2)];
	await expect(ofDomain(3)).rejects.toMatchObject(later);
	expect(delays()).toEqual([
		"too many fetches for the network 198.51.100.1",
		"too many fetches for the domain tarpit.example",
	]);
	const other = find(id, "192.0.2.1");
	await until("five are fetched", () => requests.length === 5);
	gate.resolve();
	await Promise.all([...first, ...second]);
	expect(await other).toMatchObject({ name: "Claude" });
	// Places are free again.
	expect(await find(`${id}?2`, "198.51.100.1")).toBeUndefined();
});

test.each(["a document", "keys"])("callers share one fetch of %s", async (what) => {
	const { find, findKeys, requests } = documents({ document: { ...valid, keys: [] } });
	const ask = () => (what === "keys" ? findKeys({ list: undefined, uri: id }, undefined, "") : find(id));
	const found = await Promise.all([1, 2, 3].map(ask));
	expect(found.map((one) => one === undefined)).toEqual([false, false, false]);
	expect(requests).toHaveLength(1);
});

test("hosts that do not respond, and those that wait for them, are refused", async () => {
	const { find, requests } = documents({
		timeoutMs: 10,
		respond: (_, signal) =>
			new Promise((_resolve, reject) => {
				signal?.addEventListener("abort", () => reject(signal.reason));
			}),
	});
	const hosts = Array.from({ length: 40 }, (_, host) => `https://c${host}.example/a`);
	const found = await Promise.allSettled(hosts.map((one, n) => find(one, `198.51.100.${n}`)));
	for (const one of found) expect(one).toMatchObject({ reason: later });
	expect(requests.length).toBeLessThan(40);
});

test("at most 8 documents are fetched at once, 32 wait, and others are refused", async () => {
	const gate = Promise.withResolvers<void>();
	const idOf = (host: number) => `https://c${host}.example/client.json`;
	const { find, requests, delays } = documents({
		respond: async () => {
			await gate.promise;
			return new Response("", { status: 404 });
		},
	});
	const hosts = Array.from({ length: 41 }, (_, host) => idOf(host));
	const all = hosts.map((one, n) => find(one, `198.51.100.${n}`));
	await expect(all.pop()).rejects.toMatchObject(later);
	expect(delays()).toEqual(["8 running, 32 waiting"]);
	await until("8 are fetched", () => requests.length === 8);
	gate.resolve();
	await Promise.all(all);
	expect(requests).toHaveLength(40);
});

test("the cache forgets the document that was used longest ago", async () => {
	const { find, requests } = documents({
		respond: async (url) => {
			const { pathname } = new URL(url);
			const own = `https://c${pathname.slice(1)}.example${pathname}`;
			return Response.json({ ...valid, client_id: own });
		},
	});
	const load = (n: number) => find(`https://c${n}.example/${n}`);
	for (let n = 0; n < 500; n++) expect(await load(n)).toBeDefined();
	await load(0);
	await load(500);
	expect(requests).toHaveLength(501);
	await load(0);
	expect(requests).toHaveLength(501);
	await load(1);
	expect(requests).toHaveLength(502);
});
