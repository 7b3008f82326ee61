// Says who makes a request, by a bearer token in the gateway's database. What a token may do is decided elsewhere.

import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { pathOf } from "../../lib/program/listen.ts";
import { within } from "../../lib/wait.ts";
import { unauthorized } from "../../mcp/access.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { hashToken, kindOfToken, type TokenKind } from "./token.ts";

/** `expiresAt`: milliseconds since 1970. */
export interface TokenOwner {
	principal: Principal;
	expiresAt?: number | undefined;
	/** The only path that accepts the token. Undefined: every path. */
	audience?: string | undefined;
}

/** Undefined if the token is unknown or revoked. Rejects if the database is unavailable. */
export type FindToken = (hash: string) => Promise<TokenOwner | undefined>;

/** Responses: 401 for an invalid token or none, 503 if the database is unavailable. */
export type Authenticate = (request: Request, token: string | undefined) => Response | Promise<Principal | Response>;

interface AuthenticatorOptions {
	/** By kind of token (API key, OAuth access token). */
	find: { [Kind in TokenKind]?: FindToken | undefined };
	log: Log;
	/** Default: 401. */
	refuse?: (request: Request) => Response;
	/** Milliseconds; a revoked token still works for so long. */
	cacheMs?: number;
	/** Milliseconds. */
	findTimeoutMs?: number;
	/** Milliseconds since 1970. */
	now?: () => number;
	/** A monotonic clock, in milliseconds. */
	monotonicNow?: () => number;
}

interface LookUp {
	since: number;
	owner: Promise<TokenOwner | undefined>;
	isValid: boolean;
}

const maxCached = 10_000;
/** Look-ups of tokens not known to be valid, so that someone who guesses does not delay valid tokens. */
const maxGuesses = 200;
const retryAfterSeconds = 5;

export function createAuthenticator({
	find,
	log,
	refuse = unauthorized,
	cacheMs = 500,
	findTimeoutMs = 5_000,
	now = Date.now,
	monotonicNow = () => performance.now(),
}: AuthenticatorOptions): Authenticate {
	const lookUps = new Map<string, LookUp>();
	let guesses = 0;

	function ownerOf(hash: string, findToken: FindToken): LookUp["owner"] {
		const at = monotonicNow();
		const before = lookUps.get(hash);
		if (before && at - before.since < cacheMs) return before.owner;
		const wasValid = before?.isValid ?? false;
		if (!wasValid && guesses === maxGuesses) throw new StoreUnavailable("too many unknown tokens are being checked");
		const lookUp = { since: at, owner: findToken(hash), isValid: wasValid };
		lookUps.delete(hash);
		lookUps.set(hash, lookUp);
		void settle(hash, lookUp, wasValid);
		return lookUp.owner;
	}

	/** A failed look-up leaves the cache; otherwise the oldest above the limit do. */
	async function settle(hash: string, lookUp: LookUp, wasValid: boolean) {
		if (!wasValid) guesses++;
		const owner = await lookUp.owner.catch(() => undefined);
		if (!wasValid) guesses--;
		lookUp.isValid = owner !== undefined;
		if (!owner && lookUps.get(hash) === lookUp) lookUps.delete(hash);
		for (const oldest of lookUps.keys()) {
			if (!owner || lookUps.size <= maxCached) break;
			lookUps.delete(oldest);
		}
	}

	async function authenticate(request: Request, given: string, findToken: FindToken): Promise<Principal | Response> {
		try {
			const owner = await within(findTimeoutMs, ownerOf(hashToken(given), findToken));
			if (owner === "late") return unavailable();
			if (!owner) return refuse(request);
			const { principal, expiresAt = Number.POSITIVE_INFINITY, audience = pathOf(request) } = owner;
			return now() < expiresAt && audience === pathOf(request) ? principal : refuse(request);
		} catch (error) {
			// The store has logged why it is unavailable. Nothing else may let a request pass either.
			if (!(error instanceof StoreUnavailable)) log.error("could not check a token: internal error", { error });
			return unavailable();
		}
	}

	return (request, given = "") => {
		const kind = kindOfToken(given);
		const findToken = kind && find[kind];
		return findToken ? authenticate(request, given, findToken) : refuse(request);
	};
}

function unavailable(): Response {
	return new Response("The token cannot be checked now. Try again later.\n", {
		status: 503,
		headers: { "Retry-After": String(retryAfterSeconds) },
	});
}
