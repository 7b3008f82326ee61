// The platforms that executables are made for, by the names that Bun has for them.

import { readFileSync } from "node:fs";

/** Those of a release. */
export const releaseTargets = [
	"linux-x64",
	"linux-x64-musl",
	"linux-arm64",
	"linux-arm64-musl",
	"darwin-arm64",
	"windows-x64",
] as const;

/** The platform that this program runs on. */
export function hostTarget(): string {
	const system = process.platform === "win32" ? "windows" : process.platform;
	return `${system}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

/** Whether this process runs on musl: it has its loader in memory. A file of that name may be there on any Linux. */
function isMusl(): boolean {
	if (process.platform !== "linux") return false;
	return /\/ld-musl-/.test(readFileSync("/proc/self/maps", "utf8"));
}
