// Reads attached files from Discord's CDN, and from nowhere else.

import { DefaultUserAgent } from "discord.js";

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
