// Reads the table of instances: which directories hold a bot, and the parts of their configuration that `up` needs.

import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError, isPlaceholder, trimEnv } from "../config.ts";
import { instanceNameIssue } from "./names.ts";

export interface Entry {
	name: string;
	/** Absolute. */
	path: string;
	/** Without empty ones; none if .env is absent or cannot be read. */
	env: Readonly<Record<string, string>>;
	/** Changes when one of the instance's configuration files changes. */
	fingerprint: string;
}

interface Table {
	/** Sorted by name. */
	entries: Entry[];
	/** Directories that cannot be instances. Names that never are, such as "example", are left out. */
	ignored: { name: string; reason: string }[];
}

/** `directory` is absolute. ConfigError if it cannot be read. */
export function readTable(directory: string): Table {
	const entries: Entry[] = [];
	const ignored: Table["ignored"] = [];
	for (const name of namesIn(directory)) {
		const path = join(directory, name);
		if (name === "example" || name.startsWith(".")) continue;
		if (!statOf(path)?.isDirectory()) continue;
		const issue =
			instanceNameIssue(name) ?? (statOf(join(path, "config.toml"))?.isFile() ? undefined : "it has no config.toml");
		if (issue !== undefined) ignored.push({ name, reason: issue });
		else {
			const files = filesIn(path).map((file) => `${file} ${fingerprintOf(join(path, file))}`);
			entries.push({ name, path, env: readEnv(join(path, ".env")), fingerprint: files.join("\n") });
		}
	}
	return { entries, ignored };
}

/** An error if another instance has the same DISCORD_TOKEN: two processes with one answer every command twice. */
export function sameTokenIssue(
	entries: readonly Entry[],
	{ path, env: { DISCORD_TOKEN: token } }: Pick<Entry, "path" | "env">,
): string | undefined {
	if (!token || isPlaceholder(token)) return undefined;
	const other = entries.find((entry) => entry.path !== path && entry.env.DISCORD_TOKEN === token);
	return (
		other &&
		`${path} and ${other.path} have the same DISCORD_TOKEN: give each instance the token of an application of its own`
	);
}

function namesIn(directory: string): string[] {
	try {
		return readdirSync(directory).sort();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError(directory, [`the directory of the instances cannot be read (${code})`]);
	}
}

function filesIn(path: string): string[] {
	try {
		return readdirSync(path, { withFileTypes: true })
			.filter((file) => !file.isDirectory())
			.map(({ name }) => name)
			.sort();
	} catch {
		// The bot itself reports why it cannot read its directory.
		return [];
	}
}

/** Changes when the file changes, is created or deleted. */
export function fingerprintOf(path: string): string {
	const stat = statOf(path);
	return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.mode}` : "-";
}

function readEnv(path: string): Record<string, string> {
	try {
		// Opening a FIFO would block until a writer opens it.
		if (!statOf(path)?.isFile()) return {};
		return trimEnv(parseEnv(readFileSync(path, "utf8")));
	} catch {
		// The bot reads the file, too, and reports what is wrong.
		return {};
	}
}

function statOf(path: string): Stats | undefined {
	try {
		return statSync(path);
	} catch {
		return undefined;
	}
}
