// Where releases are published, and which is the newest. `repository` in package.json is the one place that names the owner.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import packageJson from "../../../package.json" with { type: "json" };
import { build, isNewer } from "./program.ts";

const dayMs = 24 * 60 * 60_000;
const timeoutMs = 10_000;

/** On GitHub; undefined while the owner is a placeholder. */
export const [, repository] = /^github:(?!OWNER\/)(.+)$/.exec(packageJson.repository) ?? [];

/** Of the newest release's files: GUILDHALL_RELEASES. "off", and a placeholder in place of the owner: none. */
export function releasesAddress({ GUILDHALL_RELEASES: set }: Readonly<Record<string, string | undefined>>) {
	if (set) return set === "off" ? undefined : set.replace(/\/$/, "");
	// Sources are brought up to date by git.
	return build && repository ? `https://github.com/${repository}/releases/latest/download` : undefined;
}

/** By a GET that says nothing of this installation. Rejects if there is no release. */
export async function newestRelease(address: string): Promise<string> {
	const url = `${address}/SHA256SUMS`;
	const signal = AbortSignal.timeout(timeoutMs);
	const response = await fetch(url, { headers: { "User-Agent": "guildhall" }, signal });
	// The names of the files have the version.
	const [, found] = / guildhall-(\d+\.\d+\.\d+)-\S+\.tar\.gz$/m.exec(await response.text()) ?? [];
	if (response.ok && found) return found;
	throw new Error(`${url} names no release (HTTP ${response.status})`);
}

/** Asks at most once a day, also across restarts: `file` keeps the answer. */
export async function newerRelease(file: string, address: string | undefined): Promise<string | undefined> {
	if (!address) return undefined;
	const asked = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	// A request that failed counts, too.
	if (Date.now() - asked > dayMs) writeFileSync(file, await newestRelease(address).catch(() => ""));
	const known = readFileSync(file, "utf8");
	return isNewer(known) ? known : undefined;
}
