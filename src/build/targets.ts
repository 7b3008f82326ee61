// The platforms to build for, by their names in Bun.

import { readFileSync } from "node:fs";

export const releaseTargets = [
	"linux-x64",
	"linux-x64-musl",
	"linux-arm64",
	"linux-arm64-musl",
	"darwin-x64",
	"darwin-arm64",
	"windows-x64",
] as const;

/** Bun's name, such as "linux-x64-musl". */
export function hostTarget(): string {
	const system = process.platform === "win32" ? "windows" : process.platform;
	return `${system}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

function isMusl(): boolean {
	if (process.platform !== "linux") return false;
	return /\/ld-musl-/.test(readFileSync("/proc/self/maps", "utf8"));
}
