// Target platforms, with Bun's names.

import { readFileSync } from "node:fs";

/** Platforms of a release. */
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

/** Whether musl's loader is mapped in this process. Its file may exist on any Linux. */
function isMusl(): boolean {
	if (process.platform !== "linux") return false;
	return /\/ld-musl-/.test(readFileSync("/proc/self/maps", "utf8"));
}
