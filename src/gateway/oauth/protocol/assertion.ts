// Signed requests for tokens (private_key_jwt): a JWT by which a client proves that it has its private key.
// https://www.rfc-editor.org/rfc/rfc7523#section-3, https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication

import type { webcrypto } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../../lib/json.ts";
import { OAuthError } from "./oauth-error.ts";
import type { Parameters } from "./parameters.ts";

const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const maxLifetimeSeconds = 3_600;
const clockSkewSeconds = 60;

/** Parameters of WebCrypto, for importing keys and for signatures. All are asymmetric. */
const algorithms = {
	ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
	EdDSA: { name: "Ed25519" },
	PS256: { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 },
	RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
} as const;

export const signingAlgorithms = Object.keys(algorithms) as (keyof typeof algorithms)[];

const key = v.looseObject({ kty: v.string(), kid: v.optional(v.string()) });
/** Keys that are none do not keep the others from being used (RFC 7517, section 5). */
export const keySet = v.object({ keys: v.pipe(v.array(v.fallback(key, { kty: "" })), v.maxLength(20)) });
export type ClientKey = v.InferOutput<typeof key>;

const content = v.object({
	header: v.object({
		alg: v.picklist(signingAlgorithms),
		kid: v.optional(v.string()),
		crit: v.optional(v.undefined()),
	}),
	iss: v.string(),
	sub: v.string(),
	aud: v.union([v.string(), v.pipe(v.array(v.string()), v.length(1))]),
	exp: v.number(),
	iat: v.optional(v.number(), 0),
	nbf: v.optional(v.number(), 0),
	jti: v.pipe(v.string(), v.nonEmpty(), v.maxLength(256)),
});

export type Assertion = NonNullable<ReturnType<typeof readAssertion>>;

/** Not verified yet; undefined if the request is not signed. Throws an OAuthError. */
export function readAssertion(form: Parameters, audiences: readonly string[]) {
	const jwt = form.get("client_assertion");
	if (jwt === undefined) return undefined;
	if (form.get("client_assertion_type") !== jwtBearer) throw invalid(`its type must be ${jwtBearer}`);
	const [head = "", body = "", signature = "", ...more] = jwt.split(".");
	const result = v.safeParse(content, { ...decode(body), header: decode(head) });
	if (!result.success) throw invalid(`${v.getDotPath(result.issues[0])}: ${result.issues[0].message}`);
	if (more.length > 0 || !audiences.includes(String(result.output.aud))) throw invalid(`aud must be ${audiences[0]}`);
	const [data, signed] = [new TextEncoder().encode(`${head}.${body}`), Buffer.from(signature, "base64url")];
	return { ...result.output, ...result.output.header, data, signed };
}

/** Rejects with an OAuthError (invalid_client). `now`: milliseconds since 1970. */
export async function verifyAssertion(given: Assertion, clientId: string, keys: readonly ClientKey[], now: number) {
	const { iss, sub, exp, iat, nbf } = given;
	const seconds = now / 1000;
	if (iss !== clientId || sub !== clientId) throw invalid("iss and sub must be the client_id");
	if (exp <= seconds || exp > seconds + maxLifetimeSeconds + clockSkewSeconds) throw invalid("exp is over or too far");
	if (Math.max(iat, nbf) > seconds + clockSkewSeconds) throw invalid("iat or nbf is in the future");
	for (const key of keys) if (await isSignedBy(key, given)) return;
	throw invalid("no key of the client fits the signature");
}

async function isSignedBy(jwk: ClientKey, { alg, data, signed }: Assertion): Promise<boolean> {
	const parameters = algorithms[alg];
	try {
		const key = await crypto.subtle.importKey("jwk", jwk as webcrypto.JsonWebKey, parameters, false, ["verify"]);
		const { modulusLength: bits = 2048 } = key.algorithm as { modulusLength?: number };
		return bits >= 2048 && (await crypto.subtle.verify(parameters, key, signed, data));
	} catch {
		// A key of another kind, or a private one.
		return false;
	}
}

const decode = (part: string) => Object(parseJson(Buffer.from(part, "base64url").toString())) as object;

const invalid = (why: string) => new OAuthError("invalid_client", `The client_assertion is not valid: ${why}.`);
