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
import { OAuthError } from "../protocol/oauth-error.ts";
import { clientMetadata, clientName, clientUri, type OAuthClient } from "./client-metadata.ts";
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
});

export interface DocumentOptions extends SafeFetch {
	log: Log;
	/** A monotonic clock, in milliseconds. */
	now?: () => number;
	/** Milliseconds; the wait before the fetch, if too many run, has the same limit. */
	timeoutMs?: number;
}

/** Otherwise it is the id of a registered client. */
export function isDocumentId(id: string): boolean {
	return id.startsWith("https://");
}

/**
 * Finds a client by the URL of its metadata document, for a request from `address`, within 10 s. Undefined if the
 * document is not usable. If it cannot be fetched now, an expired one counts, else an OAuthError (temporarily_unavailable).
 */
export function createClientDocuments({
	log,
	now = () => performance.now(),
	timeoutMs = defaultTimeoutMs,
	...safeFetch
}: DocumentOptions): (id: string, address: string) => Promise<OAuthClient | undefined> {
	const cache = new LruMap<string, { client: OAuthClient; expiresAt: number }>(maxEntries);
	const running = new Map<string, Promise<OAuthClient | undefined>>();
	const busy = new Map<string, number>();
	const windows = new LruMap<string, SlidingWindow>(maxEntries);
	const semaphore = new Semaphore({ max: maxConcurrent, maxWaiting, maxWaitMs: timeoutMs });

	const windowOf = (host: string) =>
		windows.getOrMake(host, () => new SlidingWindow({ max: maxPerHost, windowMs, now }));

	async function load(id: string, address: string): Promise<OAuthClient> {
		const url = documentUrl(id);
		const holders = [`network ${networkOf(address)}`, `domain ${url.hostname.split(".").slice(-2).join(".")}`];
		const holderOfMost = holders.find((one) => (busy.get(one) ?? 0) >= maxAtOnce);
		if (holderOfMost !== undefined) throw new Overloaded(`too many fetches for the ${holderOfMost}`);
		if (!windowOf(url.host).take()) throw new Overloaded("too many fetches from this host");
		for (const one of holders) busy.set(one, (busy.get(one) ?? 0) + 1);
		try {
			return await fetchDocument(id, url);
		} finally {
			for (const one of holders) {
				const left = (busy.get(one) ?? 0) - 1;
				if (left > 0) busy.set(one, left);
				else busy.delete(one);
			}
		}
	}

	async function fetchDocument(id: string, url: URL): Promise<OAuthClient> {
		// The fetch goes on if the browser that needed it leaves: others may wait for it.
		await semaphore.acquire(new PlainSignal());
		try {
			const { text, headers } = await fetchPublicJson(url, { maxBytes, timeoutMs }, safeFetch);
			const client = readDocument(id, text);
			const ageSeconds = maxAgeOf(headers.get("cache-control"));
			cache.set(id, { client, expiresAt: now() + ageSeconds * 1000 });
			return client;
		} finally {
			semaphore.release();
		}
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

	return (id, address) => {
		const known = cache.get(id);
		if (known && known.expiresAt > now()) return Promise.resolve(known.client);
		let load = running.get(id);
		if (!load) {
			load = loadOrLog(id, address).finally(() => running.delete(id));
			running.set(id, load);
		}
		return load;
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
	const { client_id, client_name, client_uri, redirect_uris } = result.output;
	if (client_id !== id) throw new FetchRefused("its client_id is not the URL of the document");
	const { token_endpoint_auth_method: method = "none", token_endpoint_auth_methods_supported: others } = result.output;
	if (method.startsWith("client_secret") || (method !== "none" && !others?.includes("none")))
		throw new FetchRefused(
			"token_endpoint_auth_method: must be none, or token_endpoint_auth_methods_supported must include it",
		);
	// An invalid one is of no use to anyone, but the client may not need it here.
	const redirectUris = redirect_uris.filter((uri) => redirectIssue(uri) === undefined);
	if (redirectUris.length === 0) throw new FetchRefused("none of its redirect_uris is valid");
	return { id, name: clientName(client_name, redirectUris), uri: clientUri(client_uri), redirectUris };
}

function maxAgeOf(header: string | null): number {
	if (/\bno-(?:store|cache)\b/i.test(header ?? "")) return minAgeSeconds;
	const [, seconds] = /\bmax-age=(\d{1,10})\b/i.exec(header ?? "") ?? [];
	const asked = seconds === undefined ? defaultAgeSeconds : Number(seconds);
	return Math.min(Math.max(asked, minAgeSeconds), maxAgeSeconds);
}
