// Clients that sign their requests for tokens (private_key_jwt): what proves that it is them, and what does not.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { constants, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { errorOf, startWorld, type TokenBody, type World } from "./sign-in-world.ts";

const client_id = "https://client.example/client.json";
const other_id = "https://client.example/other.json";
const lax_id = "https://client.example/lax.json";
const keysUrl = "https://keys.example/keys.json";
const redirect_uri = "https://client.example/callback";
const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

type KeyPair = { privateKey: KeyObject; publicKey: KeyObject };
const newPairs = {
	ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
	EdDSA: () => generateKeyPairSync("ed25519"),
	PS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
	RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
const jwkOf = ({ publicKey }: KeyPair, kid?: string) => ({ ...publicKey.export({ format: "jwk" }), kid });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const pair = newPairs.ES256();
const stranger = newPairs.ES256();
const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
const oddKeys = [{ ...pair.privateKey.export({ format: "jwk" }), kid: "private" }, jwkOf(short, "short"), { kid: 7 }];

let world: World;
/** At the jwks_uri. */
let keys: object[];
let fetched: string[];
let addresses: string[];
let count = 0;
beforeAll(async () => {
	const signing = { token_endpoint_auth_method: "private_key_jwt", jwks_uri: keysUrl };
	const more = { [lax_id]: { token_endpoint_auth_methods_supported: ["none"] } } as Record<string, object>;
	world = await startWorld({
		realClients: {
			resolve: async (host) => (host === "keys.example" ? addresses : ["93.184.215.14"]),
			async fetch(url, { headers }) {
				const id = `https://${new Headers(headers).get("host")}${new URL(url).pathname}`;
				fetched.push(id);
				const document = {
					client_id: id,
					client_name: "Signer",
					redirect_uris: [redirect_uri],
					...signing,
					...more[id],
				};
				return Response.json(id === keysUrl ? { keys } : document);
			},
		},
	});
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
	keys = [...oddKeys, jwkOf(pair)];
	fetched = [];
	addresses = ["93.184.215.15"];
	// What was fetched before is too old.
	world.clock.now += 86_400_001;
});

interface Signed {
	alg?: string;
	with?: KeyPair;
	header?: object;
	claims?: object;
	type?: string;
}

const at = (seconds: number) => Math.floor(world.clock.now / 1000) + seconds;

function sign({ alg = "ES256", with: { privateKey } = pair, header = {}, claims = {}, type = jwtBearer }: Signed = {}) {
	count++;
	const own = { iss: client_id, sub: client_id, aud: world.url, jti: `jti-${count}`, iat: at(0), exp: at(300) };
	const text = `${encode({ alg, typ: "JWT", ...header })}.${encode({ ...own, ...claims })}`;
	const isRsaPss = alg === "PS256" && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
	const options = { key: privateKey, dsaEncoding: "ieee-p1363", ...isRsaPss } as const;
	const signature = signBytes(privateKey.asymmetricKeyType === "ed25519" ? null : "sha256", Buffer.from(text), options);
	return { client_assertion: `${text}.${signature.toString("base64url")}`, client_assertion_type: type };
}

const codeOf = (id = client_id) => world.getCode({ client_id: id, redirect_uri });
const exchange = (code: string, signed: object, id: string | undefined = client_id) =>
	world.exchange(code, { client_id: id, redirect_uri, ...signed });
const refused = { status: 401, error: "invalid_client" };

test.each(Object.entries(newPairs))("a request that is signed with %s gets tokens, once", async (alg, newPair) => {
	const own = newPair();
	keys = [jwkOf(pair, "another"), jwkOf(own, "mine")];
	const given = { alg, with: own, header: { kid: "mine" } };
	const signed = sign(given);
	const response = await exchange(await codeOf(), signed);
	expect(response.status).toBe(200);
	const { refresh_token } = (await response.json()) as TokenBody;
	for (const more of [{}, signed])
		expect(await errorOf(await world.refresh(refresh_token, { client_id, ...more }))).toEqual(refused);
	expect((await world.refresh(refresh_token, { client_id, ...sign(given) })).status).toBe(200);
});

test("the client_id may be missing, and the audience may be the token endpoint or a list of one", async () => {
	for (const aud of [`${world.url}/oauth/token`, [world.url]])
		expect(
			(await world.exchange(await codeOf(), { client_id: undefined, redirect_uri, ...sign({ claims: { aud } }) }))
				.status,
		).toBe(200);
});

test.each<[string, () => Signed | undefined]>([
	["without a client_assertion", () => undefined],
	["without exp", () => ({ claims: { exp: undefined } })],
	["that has expired", () => ({ claims: { exp: at(-1) } })],
	["that ends in two hours", () => ({ claims: { exp: at(7_200) } })],
	["from the future", () => ({ claims: { iat: at(120) } })],
	["that is not valid yet", () => ({ claims: { nbf: at(120) } })],
	["without jti", () => ({ claims: { jti: undefined } })],
	["for another server", () => ({ claims: { aud: "https://other.example" } })],
	["for several servers", () => ({ claims: { aud: [world.url, "https://other.example"] } })],
	["without an audience", () => ({ claims: { aud: undefined } })],
	["of another issuer", () => ({ claims: { iss: other_id } })],
	["of another subject", () => ({ claims: { sub: other_id } })],
	["of another type", () => ({ type: "urn:ietf:params:oauth:client-assertion-type:saml2-bearer" })],
	["of another client", () => ({ claims: { iss: other_id, sub: other_id } })],
	["without a signature", () => ({ alg: "none" })],
	["with a secret's algorithm", () => ({ alg: "HS256" })],
	["with another algorithm than the key's", () => ({ alg: "RS256" })],
	[
		"with a key of its own",
		() => ({ with: stranger, header: { jwk: jwkOf(stranger), jku: "https://x.example/keys" } }),
	],
	["with a key that is not secret", () => ({ header: { kid: "private" } })],
	["with a short key", () => ({ alg: "RS256", with: short, header: { kid: "short" } })],
	["with the id of another key", () => ({ header: { kid: "2" } })],
	["whose claims are in its header", () => ({ claims: { exp: undefined }, header: { exp: at(300) } })],
	["whose header is in its claims", () => ({ claims: { alg: "ES256" }, header: { alg: undefined } })],
	["with an extension that must be understood", () => ({ header: { crit: ["x"] } })],
])("a request %s is refused, and the code can still be used", async (_, given) => {
	const code = await codeOf();
	const signed = given();
	expect(await errorOf(await exchange(code, signed ? sign(signed) : {}))).toEqual(refused);
	expect((await exchange(code, sign())).status).toBe(200);
});

test("of a client that may also send unsigned requests, a wrong signature is refused, and none needs no key", async () => {
	expect((await exchange(await codeOf(lax_id), {}, lax_id)).status).toBe(200);
	expect(fetched).not.toContain(keysUrl);
	const code = await codeOf(lax_id);
	const claims = { iss: lax_id, sub: lax_id };
	expect(await errorOf(await exchange(code, sign({ claims, with: stranger }), lax_id))).toEqual(refused);
	expect((await exchange(code, sign({ claims }), lax_id)).status).toBe(200);
});

test("a key that is missing is looked for again, at most once a minute", async () => {
	const ask = async () => {
		const { status } = await exchange(await codeOf(), sign({ with: stranger, header: { kid: "next" } }));
		return [status, fetched.filter((one) => one === keysUrl).length];
	};
	expect(await ask()).toEqual([401, 1]);
	keys = [jwkOf(stranger, "next")];
	expect(await ask()).toEqual([401, 1]);
	world.clock.now += 60_000;
	expect(await ask()).toEqual([200, 2]);
	expect(await ask()).toEqual([200, 2]);
});

test("keys are not fetched for a code that does not exist, nor from a private address", async () => {
	expect(await errorOf(await exchange("no-code", sign()))).toEqual({ status: 400, error: "invalid_grant" });
	expect(fetched).toEqual([]);
	addresses = ["169.254.169.254"];
	const unavailable = { status: 503, error: "temporarily_unavailable" };
	expect(await errorOf(await exchange(await codeOf(), sign()))).toEqual(unavailable);
	expect(fetched).not.toContain(keysUrl);
});
