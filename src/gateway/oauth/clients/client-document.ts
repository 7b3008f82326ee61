// Clients whose id is the https URL of their metadata document: fetches, checks and caches these documents.
// https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document

import * as v from "valibot";
import { parseJson } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { Overloaded, Semaphore } from "../../../lib/semaphore.ts";
import { PlainSignal } from "../../../lib/signal.ts";
import { SlidingWindow } from "../../../lib/sliding-window.ts";
import { said } from "../../../texts/texts.ts";
import { networkOf } from "../../http/ip-addresses.ts";
import { type ClientKey, keySet } from "../protocol/assertion.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { clientMetadata, clientName, type OAuthClient } from "./client-metadata.ts";
import { redirectIssue } from "./redirect-uris.ts";
import { FetchRefused, fetchPublicJson, type SafeFetch } from "./safe-fetch.ts";

const maxIdLength = 1000;
const maxBytes = 10 * 1024;
const defaultTimeoutMs = 5_000;
const maxConcurrent = 8;
const maxWaiting = 32;
const maxAtOnce = 2;
const maxPerHost = 10;
const windowMs = 60_000;
const maxEntries = 500;
const minAgeSeconds = 60;
const maxAgeSeconds = 86_400;
const defaultAgeSeconds = 3_600;

const document = v.object({
	...clientMetadata.entries,
	client_id: v.string(),
	client_name: v.pipe(v.string(), v.nonEmpty()),
	client_secret: v.optional(v.undefined("must not be public")),
	token_endpoint_auth_methods_supported: v.optional(v.array(v.string())),
	jwks: v.optional(keySet),
	jwks_uri: v.optional(v.string()),
});

export interface DocumentOptions extends SafeFetch {
	log: Log;
	/** A monotonic clock, in milliseconds. */
	now?: () => number;
	/** Milliseconds; the wait before the fetch, if too many run, has the same limit. */
	timeoutMs?: number;
}

export function createClientDocuments({
	log,
	now = () => performance.now(),
	timeoutMs = defaultTimeoutMs,
	...safeFetch
}: DocumentOptions) {
	const keySets = new LruMap<string, { keys: readonly ClientKey[]; fetchedAt: number; expiresAt: number }>(maxEntries);
	const cache = new LruMap<string, { client: OAuthClient; expiresAt: number }>(maxEntries);
	const running = new Map<string, Promise<unknown>>();
	const busy = new Map<string, number>();
	const windows = new LruMap<string, SlidingWindow>(maxEntries);
	const semaphore = new Semaphore({ max: maxConcurrent, maxWaiting, maxWaitMs: timeoutMs });

	const windowOf = (host: string) =>
		windows.getOrMake(host, () => new SlidingWindow({ max: maxPerHost, windowMs, now }));

	/** Those who ask meanwhile share it. */
	function shared<T>(key: string, load: () => Promise<T>): Promise<T> {
		const run = (running.get(key) as Promise<T> | undefined) ?? load().finally(() => running.delete(key));
		running.set(key, run);
		return run;
	}

	async function fetchJson(url: URL, address: string): Promise<{ text: string; ageMs: number }> {
		const holders = [`network ${networkOf(address)}`, `domain ${url.hostname.split(".").slice(-2).join(".")}`];
		const holderOfMost = holders.find((one) => (busy.get(one) ?? 0) >= maxAtOnce);
		if (holderOfMost !== undefined) throw new Overloaded(`too many fetches for the ${holderOfMost}`);
		if (!windowOf(url.host).take()) throw new Overloaded("too many fetches from this host");
		for (const one of holders) busy.set(one, (busy.get(one) ?? 0) + 1);
		try {
			// The fetch goes on if the browser that needed it leaves: others may wait for it.
			return await semaphore.run(new PlainSignal(), async () => {
				const { text, headers } = await fetchPublicJson(url, { maxBytes, timeoutMs }, safeFetch);
				return { text, ageMs: maxAgeOf(headers.get("cache-control")) * 1000 };
			});
		} finally {
			for (const one of holders) {
				const left = (busy.get(one) ?? 0) - 1;
				if (left > 0) busy.set(one, left);
				else busy.delete(one);
			}
		}
	}

	async function load(id: string, address: string): Promise<OAuthClient> {
		const { text, ageMs } = await fetchJson(documentUrl(id), address);
		const client = readDocument(id, text);
		cache.set(id, { client, expiresAt: now() + ageMs });
		return client;
	}

	async function loadOrLog(id: string, address: string): Promise<OAuthClient | undefined> {
		try {
			return await load(id, address);
		} catch (error) {
			if (!(error instanceof FetchRefused || error instanceof Overloaded)) throw error;
			const { message: reason } = error;
			const client = id.slice(0, maxIdLength);
			if (error instanceof FetchRefused && !error.isTemporary) {
				log.warn("client's metadata document is not usable", { client, reason });
				return undefined;
			}
			log.warn("client's metadata document cannot be fetched", { client, reason });
			const expired = cache.get(id);
			if (expired) return expired.client;
			throw new OAuthError("temporarily_unavailable", said("page.no-description"));
		}
	}

	return {
		/**
		 * Finds a client by the URL of its metadata document, for a request from `address`, within 10 s. Undefined if the
		 * document is not usable. If it cannot be fetched now, an expired one counts, else an OAuthError (temporarily_unavailable).
		 */
		find(id: string, address: string): Promise<OAuthClient | undefined> {
			const known = cache.get(id);
			if (known && known.expiresAt > now()) return Promise.resolve(known.client);
			return shared(id, () => loadOrLog(id, address));
		},
		/** Those with this id, or all without one. A list that lacks it is fetched again, at most once a minute. */
		async findKeys({ list, uri = "" }: NonNullable<OAuthClient["keys"]>, kid: string | undefined, address: string) {
			const withId = (keys: readonly ClientKey[]) => keys.filter((one) => kid === undefined || one.kid === kid);
			if (list) return withId(list);
			const known = keySets.get(uri);
			const found = known && known.expiresAt > now() ? withId(known.keys) : [];
			if (found.length > 0 || (known && known.fetchedAt > now() - windowMs)) return found;
			const url = URL.parse(uri);
			const fetched = url && (await shared(`keys ${uri}`, () => fetchJson(url, address)).catch(() => undefined));
			if (!fetched)
				throw new OAuthError("temporarily_unavailable", "The jwks_uri of the client cannot be fetched now.");
			const { keys } = v.parse(v.fallback(keySet, { keys: [] }), parseJson(fetched.text));
			keySets.set(uri, { keys, fetchedAt: now(), expiresAt: now() + fetched.ageMs });
			return withId(keys);
		},
	};
}

function documentUrl(id: string): URL {
	const url = id.length > maxIdLength ? null : URL.parse(id);
	if (!url) throw new FetchRefused("the client id is not a URL");
	if (url.pathname === "/") throw new FetchRefused("it has no path");
	if (id.includes("#")) throw new FetchRefused("it has a fragment");
	// Otherwise one document had several ids, by dot segments, capital letters or the default port.
	if (url.href !== id) throw new FetchRefused("it is not normalized");
	return url;
}

function readDocument(id: string, text: string): OAuthClient {
	const result = v.safeParse(document, parseJson(text));
	if (!result.success) {
		const [issue] = result.issues;
		const where = v.getDotPath(issue);
		throw new FetchRefused(`${where ? `${where}: ` : ""}${issue.message}`);
	}
	const { client_id, client_name, redirect_uris, jwks, jwks_uri: uri } = result.output;
	if (client_id !== id) throw new FetchRefused("its client_id is not the URL of the document");
	const { token_endpoint_auth_method: method = "none", token_endpoint_auth_methods_supported: others } = result.output;
	const isSigned = method === "private_key_jwt" && (jwks !== undefined || uri !== undefined);
	const mayBeUnsigned = method === "none" || others?.includes("none") === true;
	if (method.startsWith("client_secret") || !(isSigned || mayBeUnsigned))
		throw new FetchRefused("token_endpoint_auth_method: must allow none, or be private_key_jwt with jwks or jwks_uri");
	// An invalid one is of no use to anyone, but the client may not need it here.
	const redirectUris = redirect_uris.filter((uri) => redirectIssue(uri) === undefined);
	if (redirectUris.length === 0) throw new FetchRefused("none of its redirect_uris is valid");
	const signing = isSigned && { keys: { list: jwks?.keys, uri }, signs: !mayBeUnsigned };
	return { id, name: clientName(client_name, redirectUris), redirectUris, ...signing };
}

function maxAgeOf(header: string | null): number {
	if (/\bno-(?:store|cache)\b/i.test(header ?? "")) return minAgeSeconds;
	const [, seconds] = /\bmax-age=(\d{1,10})\b/i.exec(header ?? "") ?? [];
	const asked = seconds === undefined ? defaultAgeSeconds : Number(seconds);
	return Math.min(Math.max(asked, minAgeSeconds), maxAgeSeconds);
}
