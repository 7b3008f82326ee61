// Clients that sign their requests for tokens (private_key_jwt): what proves that it is them, and what does not.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { errorOf, startWorld, type TokenBody, type World } from "./sign-in-world.ts";

const client_id = "https://client.example/client.json";
const other_id = "https://client.example/other.json";
const lax_id = "https://client.example/lax.json";
const keysUrl = "https://keys.example/keys.json";
const redirect_uri = "https://client.example/callback";
const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

const algorithms = {
	ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
	EdDSA: { name: "Ed25519" },
	PS256: {
		name: "RSA-PSS",
		hash: "SHA-256",
		saltLength: 32,
		modulusLength: 2048,
		publicExponent: new Uint8Array([1, 0, 1]),
	},
	RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
};
type Algorithm = keyof typeof algorithms;

const newKey = async (alg: Algorithm, changes: object = {}) =>
	(await crypto.subtle.generateKey({ ...algorithms[alg], ...changes }, true, [
		"sign",
		"verify",
	])) as unknown as CryptoKeyPair;
const publicOf = async ({ publicKey }: CryptoKeyPair, kid?: string) => ({
	...(await crypto.subtle.exportKey("jwk", publicKey)),
	...(kid && { kid }),
});
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

let world: World;
let key: CryptoKeyPair;
/** At the jwks_uri. */
let keys: object[];
let fetched: string[];
let addresses: string[];
let count = 0;
beforeAll(async () => {
	key = await newKey("ES256");
	const signing = { token_endpoint_auth_method: "private_key_jwt", jwks_uri: keysUrl };
	const documents: Record<string, () => object> = {
		[client_id]: () => ({ ...signing, client_id }),
		[other_id]: () => ({ ...signing, client_id: other_id }),
		[lax_id]: () => ({ ...signing, client_id: lax_id, token_endpoint_auth_methods_supported: ["none"] }),
	};
	world = await startWorld({
		realClients: {
			resolve: async (host) => (host === "keys.example" ? addresses : ["93.184.215.14"]),
			async fetch(url, { headers }) {
				const address = `https://${new Headers(headers).get("host")}${new URL(url).pathname}`;
				fetched.push(address);
				if (address === keysUrl) return Response.json({ keys });
				return Response.json({ client_name: "Signer", redirect_uris: [redirect_uri], ...documents[address]?.() });
			},
		},
	});
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
	keys = [await publicOf(key)];
	fetched = [];
	addresses = ["93.184.215.15"];
	// What was fetched before is too old.
	world.clock.now += 86_400_001;
});

interface Signed {
	alg?: string;
	with?: CryptoKeyPair;
	header?: object;
	claims?: object;
}

async function sign({ alg = "ES256", with: { privateKey } = key, header = {}, claims = {} }: Signed = {}) {
	const seconds = Math.floor(world.clock.now / 1000);
	count++;
	const body = {
		iss: client_id,
		sub: client_id,
		aud: world.url,
		jti: `jti-${count}`,
		iat: seconds,
		exp: seconds + 300,
		...claims,
	};
	const text = `${encode({ alg, typ: "JWT", ...header })}.${encode(body)}`;
	const parameters = { ...privateKey.algorithm, hash: "SHA-256", saltLength: 32 };
	const signature = await crypto.subtle.sign(parameters, privateKey, Buffer.from(text));
	return `${text}.${Buffer.from(signature).toString("base64url")}`;
}

const assertion = (client_assertion: string) => ({ client_assertion, client_assertion_type: jwtBearer });
const codeOf = (id = client_id) => world.getCode({ client_id: id, redirect_uri });
const exchange = async (code: string, signed: string | undefined, id: string | undefined = client_id) =>
	world.exchange(code, { client_id: id, redirect_uri, ...(signed !== undefined && assertion(signed)) });
const refused = { status: 401, error: "invalid_client" };

describe.each(Object.keys(algorithms) as Algorithm[])("a request that is signed with %s", (alg) => {
	test("gets tokens, once", async () => {
		const own = await newKey(alg);
		keys = [await publicOf(key, "another"), await publicOf(own, "mine")];
		const signed = await sign({ alg, with: own, header: { kid: "mine" } });
		const code = await codeOf();
		const response = await exchange(code, signed);
		expect(response.status).toBe(200);
		const { refresh_token } = (await response.json()) as TokenBody;
		const refresh = (more: object = {}) => world.refresh(refresh_token, { client_id, ...more });
		expect(await errorOf(await refresh())).toEqual(refused);
		expect(await errorOf(await refresh(assertion(signed)))).toEqual(refused);
		const again = await refresh(assertion(await sign({ alg, with: own, header: { kid: "mine" } })));
		expect(again.status).toBe(200);
	});
});

test("the client_id may be missing, and the audience may be the token endpoint or a list of one", async () => {
	for (const aud of [`${world.url}/oauth/token`, [world.url]]) {
		const form = { client_id: undefined, redirect_uri, ...assertion(await sign({ claims: { aud } })) };
		expect((await world.exchange(await codeOf(), form)).status).toBe(200);
	}
});

test("what is refused does not use up the code", async () => {
	const code = await codeOf();
	expect(await errorOf(await exchange(code, undefined))).toEqual(refused);
	expect((await exchange(code, await sign())).status).toBe(200);
});

const hour = 3_600;
const at = (seconds: number) => Math.floor(world.clock.now / 1000) + seconds;
test.each<[string, () => Signed | Promise<Signed>]>([
	["without exp", () => ({ claims: { exp: undefined } })],
	["that has expired", () => ({ claims: { exp: at(-1) } })],
	["that ends in two hours", () => ({ claims: { exp: at(2 * hour) } })],
	["from the future", () => ({ claims: { iat: at(120) } })],
	["that is not valid yet", () => ({ claims: { nbf: at(120) } })],
	["without jti", () => ({ claims: { jti: undefined } })],
	["for another server", () => ({ claims: { aud: "https://other.example" } })],
	["for several servers", () => ({ claims: { aud: [world.url, "https://other.example"] } })],
	["without an audience", () => ({ claims: { aud: undefined } })],
	["of another issuer", () => ({ claims: { iss: other_id } })],
	["of another client", () => ({ claims: { iss: other_id, sub: other_id } })],
	["without a signature", () => ({ alg: "none" })],
	["with a secret's algorithm", () => ({ alg: "HS256" })],
	["with another algorithm than the key's", () => ({ alg: "RS256" })],
	["with a key that is not the client's", async () => ({ with: await newKey("ES256") })],
	["with the id of another key", () => ({ header: { kid: "2" } })],
	["with an extension that must be understood", () => ({ header: { crit: ["x"] } })],
])("a request %s is refused", async (_, given) => {
	expect(await errorOf(await exchange(await codeOf(), await sign(await given())))).toEqual(refused);
});

test.each([
	["short", async () => newKey("RS256", { modulusLength: 1024 })],
	["private", async () => key],
] as const)("a %s key counts for nothing", async (name, make) => {
	const own = await make();
	keys = [name === "private" ? await crypto.subtle.exportKey("jwk", own.privateKey) : await publicOf(own)];
	const alg = name === "short" ? "RS256" : "ES256";
	expect(await errorOf(await exchange(await codeOf(), await sign({ alg, with: own })))).toEqual(refused);
});

test("of a client that may also send unsigned requests, a wrong signature is refused, and none needs no key", async () => {
	const [first, second] = [await codeOf(lax_id), await codeOf(lax_id)];
	const claims = { iss: lax_id, sub: lax_id };
	expect(await errorOf(await exchange(first, await sign({ claims, with: await newKey("ES256") }), lax_id))).toEqual(
		refused,
	);
	expect((await exchange(first, await sign({ claims }), lax_id)).status).toBe(200);
	fetched = [];
	expect((await exchange(second, undefined, lax_id)).status).toBe(200);
	expect(fetched).toEqual([]);
});

test("a key that is missing is looked for again, at most once a minute", async () => {
	const next = await newKey("ES256");
	const ask = async () => {
		const response = await exchange(await codeOf(), await sign({ with: next, header: { kid: "next" } }));
		return response.status;
	};
	const count = () => fetched.filter((one) => one === keysUrl).length;
	expect([await ask(), count()]).toEqual([401, 1]);
	keys = [await publicOf(next, "next")];
	expect([await ask(), count()]).toEqual([401, 1]);
	world.clock.now += 60_000;
	expect([await ask(), count()]).toEqual([200, 2]);
	expect([await ask(), count()]).toEqual([200, 2]);
});

test("keys are not fetched from a private address, nor for a code that does not exist", async () => {
	addresses = ["169.254.169.254"];
	const code = await codeOf();
	expect(await errorOf(await exchange(code, await sign()))).toEqual({ status: 503, error: "temporarily_unavailable" });
	expect(fetched).not.toContain(keysUrl);
	fetched = [];
	expect(await errorOf(await exchange("no-code", await sign()))).toEqual({ status: 400, error: "invalid_grant" });
	expect(fetched).toEqual([]);
});
