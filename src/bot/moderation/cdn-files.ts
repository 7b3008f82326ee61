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

const maxBytes = 256 * 1024;
const maxConcurrent = 10;
const maxWaiting = 200;
const timeoutMs = 2_500;

/**
 * A label for each URL, the same for the same content; what is not read in time counts as equal. Discord gives no
 * checksum, and a file that is uploaded again has a new id and URL. Only the first bytes are read. Never rejects.
 */
export function createFileContent({ cdn, log }: { cdn: string; log: Log }) {
	const semaphore = new Semaphore({ max: maxConcurrent, maxWaiting });

	async function labelOf(url: string): Promise<string | undefined> {
		if (!isAtCdn(cdn, url)) return undefined;
		const signal = AbortSignal.timeout(timeoutMs);
		try {
			return await semaphore.run(signal, () => download(url, signal));
		} catch (error) {
			log.debug("could not download an attachment to compare it", { reason: String((error as Error).message) });
			return undefined;
		}
	}

	return async (urls: readonly string[]): Promise<string[]> => {
		const labels = await Promise.all(urls.map(labelOf));
		const first = labels.find((label) => label !== undefined) ?? "unread";
		return labels.map((label) => label ?? first);
	};
}

async function download(url: string, signal: AbortSignal): Promise<string> {
	// The CDN may ignore the range and send the whole file. Then the rest is not read.
	const body = await readAtCdn(url, signal, { range: `bytes=0-${maxBytes - 1}` });
	const hasher = new Bun.CryptoHasher("sha256");
	let left = maxBytes;
	for await (const chunk of body ?? []) {
		hasher.update(chunk.subarray(0, left));
		left -= chunk.length;
		// Leaving the loop cancels the rest of the response.
		if (left <= 0) break;
	}
	return hasher.digest("base64url");
}
