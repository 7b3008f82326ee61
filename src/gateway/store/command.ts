// Commands for operators that use the gateway's database, beside running gateways or without.

import * as v from "valibot";
import { ConfigError, parseSettings, trimEnv } from "../../lib/config.ts";
import { type Log, type LogOptions, logSettings, readLogOptions, silentLog } from "../../lib/log.ts";
import { StoreFailure } from "../../lib/store/errors.ts";
import type { Store } from "../../lib/store/store.ts";
import { fileIssue, missingFileIssue } from "./file.ts";
import { readStoreSettings, type StoreSettings, storeVariables } from "./settings.ts";
import { openStore } from "./store.ts";
import { StoreUnavailable } from "./unavailable.ts";

/** For commands on the database. */
const storeCommandVariables = { ...storeVariables, ...logSettings };

export interface StoreCommand {
	store: StoreSettings;
	log: LogOptions;
	/** False if the command failed and has printed the reason. */
	run(store: Store): Promise<boolean>;
}

/** `purpose`, such as "keys". Throws a ConfigError, also if the SQLite file is missing, unless `mayCreate`. */
export function readStoreCommandSettings(
	env: Record<string, string | undefined>,
	purpose: string,
	{ mayCreate = false } = {},
): Omit<StoreCommand, "run"> {
	const { settings, issues } = parseSettings(v.object(storeCommandVariables), trimEnv(env));
	if (!settings) throw new ConfigError("the environment", issues);
	const store = readStoreSettings(settings);
	const issue = store
		? (fileIssue(store) ?? (mayCreate ? undefined : missingFileIssue(store)))
		: `GATEWAY_DATABASE: is required for ${purpose}, with the value that the gateway has: the path of an SQLite file, or a URL of PostgreSQL`;
	if (!store || issue) throw new ConfigError("the environment", [issue ?? ""]);
	return { store, log: readLogOptions(settings) };
}

const commands = ["check", "health", "new-key", "keys", "revoke-key", "grants", "revoke-grant"];

/** For two commands in one line, because only one would run. */
export function commandIssues(values: object): string[] {
	const [first, second] = Object.keys(values).filter((name) => commands.includes(name));
	return second === undefined ? [] : [`--${second}: cannot be combined with --${first}`];
}

/** False if the command failed and the reason was printed. */
export async function runStoreCommand({ store: settings, run }: StoreCommand, _log: Log): Promise<boolean> {
	// Its errors are printed below.
	const store = openStore(settings, silentLog);
	try {
		await store.ready();
		return await run(store);
	} catch (error) {
		const isExpected = error instanceof StoreUnavailable || error instanceof StoreFailure;
		if (!isExpected) throw error;
		console.error(error.message);
		return false;
	} finally {
		await store.close();
	}
}

/** Such as "2030-01-02 03:04 UTC". `ms` since 1970. */
export function timeText(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** How many there are, or `none`, and a line for each. */
export function printAll(noun: string, lines: readonly string[], none: string): boolean {
	console.log(lines.length === 0 ? none : `${lines.length} ${noun}${lines.length === 1 ? "" : "s"}`);
	for (const line of lines) console.log(line);
	return true;
}

/** `what`, such as "the key ci", was revoked. */
export function printRevoked(what: string): boolean {
	console.log(`Revoked ${what}. It ends within a second; calls that run now are finished.`);
	return true;
}
