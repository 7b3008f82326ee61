// Commands for operators that use the gateway's database, beside running gateways or without.

import * as v from "valibot";
import { ConfigError, parseSettings, trimEnv } from "../../lib/config.ts";
import {
	type Log,
	type LogOptions,
	logSettings,
	readLogOptions,
	silentLog,
} from "../../lib/log.ts";
import { StoreFailure } from "../../lib/sql/errors.ts";
import {
	fileIssue,
	readStoreSettings,
	type StoreSettings,
	storeVariables,
} from "./settings.ts";
import { type GatewayStore, openStore, StoreUnavailable } from "./store.ts";

/** Schemas of the environment variables that the commands need. */
export const storeCommandVariables = { ...storeVariables, ...logSettings };

export interface StoreCommandSettings {
	store: StoreSettings;
	log: LogOptions;
}

/** A command that uses the database, and the settings that it needs. */
export interface StoreCommand extends StoreCommandSettings {
	/** Returns whether it succeeded. If not, it has printed why. */
	run(store: GatewayStore): Promise<boolean>;
}

/**
 * Reads the settings of a command. `purpose` says what the database is needed for, such as "keys". Throws a ConfigError if
 * they are invalid, or the database is not set.
 */
export function readStoreCommandSettings(
	env: Record<string, string | undefined>,
	purpose: string,
): StoreCommandSettings {
	const schema = v.object(storeCommandVariables);
	const { settings, issues } = parseSettings(schema, trimEnv(env));
	if (!settings) throw new ConfigError("the environment", issues);
	const store = readStoreSettings(settings);
	const issue = store
		? fileIssue(store)
		: `GATEWAY_DATABASE: is required for ${purpose}, with the value that the gateway has: the path of an SQLite file, or a URL of PostgreSQL`;
	if (!store || issue) throw new ConfigError("the environment", [issue ?? ""]);
	return { store, log: readLogOptions(settings) };
}

/** The options of the command line that each are a command of their own. */
const commands = [
	"check",
	"health",
	"new-key",
	"keys",
	"revoke-key",
	"grants",
	"revoke-grant",
];

/** Returns an error text if the command line has two commands, of which only one would run. */
export function commandIssues(values: object): string[] {
	const given = Object.keys(values).filter((name) => commands.includes(name));
	const [first, second] = given;
	return second === undefined
		? []
		: [`--${second}: cannot be combined with --${first}`];
}

/** Opens the database and runs a command. Resolves with false if it failed, and has printed why. */
export async function runStoreCommand(
	{ store: settings, run }: StoreCommand,
	_log: Log,
): Promise<boolean> {
	// Its errors are printed below.
	const store = openStore(settings, silentLog);
	try {
		await store.open();
		return await run(store);
	} catch (error) {
		const isExpected =
			error instanceof StoreUnavailable || error instanceof StoreFailure;
		if (!isExpected) throw error;
		console.error(error.message);
		return false;
	} finally {
		await store.close();
	}
}

/** Returns a time as text, such as "2030-01-02 03:04 UTC". `ms` is in milliseconds since 1970. */
export function timeText(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
