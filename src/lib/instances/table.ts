// Reads the table of instances: which directories hold a bot, and the parts of their configuration that `up` needs.

import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError, isPlaceholder, trimEnv } from "../config.ts";
import { instanceNameIssue } from "./names.ts";

/** An instance, as read from its directory. */
export interface Entry {
	name: string;
	/** Absolute path of the instance's directory. */
	path: string;
	/** The variables in the instance's .env that are not empty. No variables if the file is absent or cannot be read. */
	env: Readonly<Record<string, string>>;
	/** A text that changes when one of the instance's configuration files changes. */
	fingerprint: string;
}

/** The instances in a directory. */
export interface Table {
	/** Sorted by name. */
	entries: Entry[];
	/** Directories that cannot be instances, with the reason. Names that never are, such as "example", are left out. */
	ignored: { name: string; reason: string }[];
}

/**
 * Reads the table of the instances in `directory`, an absolute path. Throws a ConfigError if the directory cannot be
 * read.
 */
export function readTable(directory: string): Table {
	const entries: Entry[] = [];
	const ignored: Table["ignored"] = [];
	for (const name of namesIn(directory)) {
		const path = join(directory, name);
		if (name === "example" || name.startsWith(".")) continue;
		if (!statOf(path)?.isDirectory()) continue;
		const issue =
			instanceNameIssue(name) ?? (statOf(join(path, "config.toml"))?.isFile() ? undefined : "it has no config.toml");
		if (issue === undefined) entries.push(readEntry(name, path));
		else ignored.push({ name, reason: issue });
	}
	return { entries, ignored };
}

/**
 * Returns the error text if an instance has the DISCORD_TOKEN of another one in `entries`; otherwise undefined. Two
 * processes with one token answer every command twice.
 */
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

function readEntry(name: string, path: string): Entry {
	const files = filesIn(path).map((file) => `${file} ${fingerprintOf(join(path, file))}`);
	return {
		name,
		path,
		env: readEnv(join(path, ".env")),
		fingerprint: files.join("\n"),
	};
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

/** Returns a text that changes when the file changes, is created or deleted. */
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
