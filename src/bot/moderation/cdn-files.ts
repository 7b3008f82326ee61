// Reads attached files from Discord's CDN, and from nowhere else.

import { DefaultUserAgent } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { Semaphore } from "../../lib/semaphore.ts";

/** `cdn`: its address in the configuration. */
export function isAtCdn(cdn: string, url: string): boolean {
	const parsed = URL.parse(url);
	return parsed?.origin === new URL(cdn).origin && parsed.username === "";
}

/** Throws if the CDN has not got the file. */
export async function readAtCdn(url: string, signal: AbortSignal, headers: Record<string, string> = {}) {
	const response = await fetch(url, {
		headers: { "user-agent": DefaultUserAgent, ...headers },
		signal,
		redirect: "manual",
	});
	if (response.status === 200 || response.status === 206) return response.body;
	await response.body?.cancel();
	throw new Error(`Discord's CDN answered HTTP ${response.status}`);
}

interface ReaderOptions {
	cdn: string;
	log: Log;
	max: number;
	maxWaiting: number;
	timeoutMs: number;
	closing?: AbortSignal;
}

/** Reads some files at a time. Undefined for a file elsewhere, or that cannot be read in time. Never rejects. */
export function createCdnReader({ cdn, log, timeoutMs, closing, ...limits }: ReaderOptions) {
	const semaphore = new Semaphore(limits);
	return async <T>(
		url: string,
		read: (body: Response["body"]) => Promise<T>,
		headers?: Record<string, string>,
	): Promise<T | undefined> => {
		if (!isAtCdn(cdn, url)) return undefined;
		const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(closing ? [closing] : [])]);
		try {
			return await semaphore.run(signal, async () => read(await readAtCdn(url, signal, headers)));
		} catch (error) {
			log.debug("could not read an attached file", { reason: String((error as Error).message) });
			return undefined;
		}
	};
}

const maxBytes = 256 * 1024;
const limits = { max: 10, maxWaiting: 200, timeoutMs: 2_500 };

/**
 * A label for each URL, the same for the same content; what is not read in time counts as equal. Discord gives no
 * checksum, and a file that is uploaded again has a new id and URL. Only the first bytes are read. Never rejects.
 */
export function createFileContent(options: { cdn: string; log: Log }) {
	const read = createCdnReader({ ...options, ...limits });
	return async (urls: readonly string[]): Promise<string[]> => {
		const labels = await Promise.all(urls.map((url) => read(url, labelOf, { range: `bytes=0-${maxBytes - 1}` })));
		const first = labels.find((label) => label !== undefined) ?? "unread";
		return labels.map((label) => label ?? first);
	};
}

async function labelOf(body: Response["body"]): Promise<string> {
	const hasher = new Bun.CryptoHasher("sha256");
	let left = maxBytes;
	// The CDN may ignore the range and send the whole file. Then the rest is not read.
	for await (const chunk of body ?? []) {
		hasher.update(chunk.subarray(0, left));
		left -= chunk.length;
		// Leaving the loop cancels the rest of the response.
		if (left <= 0) break;
	}
	return hasher.digest("base64url");
}
