// Says who makes a request, by its bearer token: MCP_AUTH_TOKEN is the root key, other tokens are in the gateway's
// database. What a token may do is decided elsewhere.

import { pathOf } from "../../lib/listen.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { within } from "../../lib/wait.ts";
import {
	bearerToken,
	createTokenMatch,
	unauthorized,
} from "../../mcp/access.ts";
import { StoreUnavailable } from "../store/store.ts";
import { hashToken, kindOfToken, type TokenKind } from "./token.ts";

/** Whose a token is, and until when it works, in milliseconds since 1970. */
export interface TokenOwner {
	principal: Principal;
	expiresAt?: number | undefined;
	/** The only path for which the token works. Undefined: any. */
	audience?: string | undefined;
}

/**
 * Finds the owner of a token by the token's hash. Resolves with undefined if the token is unknown or revoked. Rejects
 * if the database cannot be asked.
 */
export type FindToken = (hash: string) => Promise<TokenOwner | undefined>;

/**
 * Returns who makes a request: "root", at once, for the root key; a principal for another valid token. Otherwise the
 * response to the request: 401 without a valid token, 503 if the database cannot be asked.
 */
export type Authenticate = (
	request: Request,
) => "root" | Response | Promise<Principal | Response>;

export interface AuthenticatorOptions {
	/** The root key (MCP_AUTH_TOKEN). */
	token: string;
	/** How to find the owner of a token, for each kind of tokens that is accepted. */
	find: Partial<Record<TokenKind, FindToken>>;
	log: Log;
	/** Returns the response to a request without a valid token. */
	refuse?: (request: Request) => Response;
	/** How long an owner may be remembered, and so a revoked token may still work, in milliseconds. */
	cacheMs?: number;
	/** Timeout of a look-up in the database, in milliseconds. */
	findTimeoutMs?: number;
	/** Returns the time in milliseconds since 1970. */
	now?: () => number;
	/** Returns the time of a monotonic clock in milliseconds. */
	monotonicNow?: () => number;
}

/** A look-up of a token. It counts from its beginning, since it may end late. */
interface LookUp {
	since: number;
	owner: Promise<TokenOwner | undefined>;
	/** Whether it found an owner, or while it runs, whether the one before did. */
	isValid: boolean;
}

/** How many tokens are remembered. */
const maxCached = 10_000;
/** How many tokens that were not valid before are looked up at once, so that guesses do not delay valid tokens. */
const maxGuesses = 200;
const retryAfterSeconds = 5;

export function createAuthenticator({
	token,
	find,
	log,
	refuse = unauthorized,
	cacheMs = 500,
	findTimeoutMs = 5_000,
	now = Date.now,
	monotonicNow = () => performance.now(),
}: AuthenticatorOptions): Authenticate {
	const isRoot = createTokenMatch(token);
	/** Look-ups by the hash of the token, the latest last, without those that found nobody. */
	const lookUps = new Map<string, LookUp>();
	/** How many look-ups run of tokens that were not valid before. */
	let guesses = 0;

	/**
	 * Asks the database for the owner of a token, unless it was asked a moment ago. Throws a StoreUnavailable if it is busy
	 * with guesses.
	 */
	function ownerOf(hash: string, findToken: FindToken): LookUp["owner"] {
		const at = monotonicNow();
		const before = lookUps.get(hash);
		if (before && at - before.since < cacheMs) return before.owner;
		const wasValid = before?.isValid ?? false;
		if (!wasValid && guesses === maxGuesses)
			throw new StoreUnavailable("too many unknown tokens are being checked");
		const lookUp = { since: at, owner: findToken(hash), isValid: wasValid };
		lookUps.delete(hash);
		lookUps.set(hash, lookUp);
		void settle(hash, lookUp, wasValid);
		return lookUp.owner;
	}

	/** Waits for the end of a look-up, and forgets it if it found nobody or failed. Otherwise forgets the oldest ones. */
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

	async function authenticate(
		request: Request,
		given: string,
		findToken: FindToken,
	): Promise<Principal | Response> {
		try {
			const boxed = ownerOf(hashToken(given), findToken);
			const owner = await within(findTimeoutMs, boxed);
			if (owner === "late") return unavailable();
			if (!owner) return refuse(request);
			const { principal, expiresAt = Number.POSITIVE_INFINITY } = owner;
			const { audience = pathOf(request) } = owner;
			const isValid = now() < expiresAt && audience === pathOf(request);
			return isValid ? principal : refuse(request);
		} catch (error) {
			// The store has logged why it is unavailable. Nothing else may let a request pass either.
			if (!(error instanceof StoreUnavailable))
				log.error("could not check a token: internal error", { error });
			return unavailable();
		}
	}

	return (request) => {
		const given = bearerToken(request);
		if (given === undefined) return refuse(request);
		if (isRoot(given)) return "root";
		const kind = kindOfToken(given);
		const findToken = kind && find[kind];
		return findToken
			? authenticate(request, given, findToken)
			: refuse(request);
	};
}

function unavailable(): Response {
	return new Response("The token cannot be checked now. Try again later.\n", {
		status: 503,
		headers: { "Retry-After": String(retryAfterSeconds) },
	});
}
