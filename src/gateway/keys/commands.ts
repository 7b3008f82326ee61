// `gateway --new-key`, `--keys` and `--revoke-key`: what an operator does with keys, beside running gateways or without.

import * as v from "valibot";
import { ConfigError, didYouMean, formatValue, parseSettings, trimEnv } from "../../lib/config.ts";
import { accessLevels, maxPrincipalItems } from "../../lib/principal.ts";
import { runs } from "../../lib/program/program.ts";
import type { Store } from "../../lib/store/store.ts";
import { variables } from "../config/config.ts";
import {
	commandIssues,
	printAll,
	printRevoked,
	readStoreCommandSettings,
	type StoreCommand,
	timeText,
} from "../store/command.ts";
import { createKey, type Key, type KeyScope, keyName, listKeys, revokeKey } from "./keys.ts";
import { type StoreValues, scopeOptions } from "./options.ts";

const help = {
	"new-key": `expected a name of 1 to 64 letters, digits, "_", "." and "-"`,
	access: `expected ${accessLevels.join(", ")}`,
	guilds: `expected at most ${maxPrincipalItems} guild ids of 17 to 20 digits, separated by commas`,
	person: "expected the id of a Discord user, of 17 to 20 digits",
	expires: "expected a time of at most 10 years, as a whole number with m, h, d or w, such as 90d",
};

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const maxLifetimeMs = 3_653 * unitMs.d;

/** Throws a ConfigError that lists every issue of the command line and the environment. */
export function readKeyCommand(values: StoreValues, env: Record<string, string | undefined>): StoreCommand {
	const issues = commandIssues(values);
	if (values["new-key"] === undefined)
		for (const name of scopeOptions)
			if (values[name] !== undefined) issues.push(`--${name}: sets the scope of a new key, so it needs --new-key`);
	const scope = readScope(values, issues);
	const name = values["new-key"];
	if (name !== undefined && !keyName.test(name))
		issues.push(`--new-key: ${help["new-key"]}, received ${formatValue(name)}`);
	if (issues.length > 0) throw new ConfigError("the command line", issues);

	checkInstances(env, scope.instances);
	const { "revoke-key": key } = values;
	return {
		...readStoreCommandSettings(env, values.grants || values["revoke-grant"] ? "sign-ins" : "keys", {
			mayCreate: name !== undefined,
		}),
		run(store) {
			if (name !== undefined) return printNewKey(store, name, scope);
			return key === undefined ? printKeys(store) : revoke(store, key);
		},
	};
}

function readScope(values: StoreValues, issues: string[]): KeyScope {
	const issue = (name: keyof typeof help, value: string, hint = "") =>
		issues.push(`--${name}: ${help[name]}, received ${formatValue(value)}${hint}`);
	const { access = "read", instances, guilds, person, expires } = values;
	const level = accessLevels.find((one) => one === access);
	if (!level) issue("access", access, didYouMean(access, accessLevels));
	const guildIds = guilds === undefined ? undefined : listOf(guilds);
	if (guildIds && (guildIds.length > maxPrincipalItems || !guildIds.every(isId)))
		issue("guilds", guildIds.find((id) => !isId(id)) ?? `${guildIds.length} ids`);
	if (person !== undefined && !isId(person)) issue("person", person);
	const lifetimeMs = expires === undefined ? undefined : readLifetime(expires);
	if (lifetimeMs === "invalid") issue("expires", expires ?? "");
	return {
		access: level ?? "read",
		instances: instances === undefined ? undefined : listOf(instances),
		guilds: guildIds,
		person,
		expiresAt: typeof lifetimeMs === "number" ? Date.now() + lifetimeMs : undefined,
	};
}

function isId(text: string): boolean {
	return /^\d{17,20}$/.test(text);
}

function listOf(text: string): string[] {
	return [...new Set(text.split(",").map((part) => part.trim()))];
}

function readLifetime(text: string): number | "invalid" {
	const [, count, unit] = /^(\d{1,9})([mhdw])$/.exec(text.trim()) ?? [];
	const ms = Number(count) * unitMs[unit as keyof typeof unitMs];
	return ms > 0 && ms <= maxLifetimeMs ? ms : "invalid";
}

function checkInstances(env: Record<string, string | undefined>, instances: readonly string[] | undefined): void {
	if (!instances) return;
	const { settings, issues } = parseSettings(v.object({ INSTANCES: variables.INSTANCES }), trimEnv(env));
	if (!settings) throw new ConfigError("the environment", issues);
	const names = settings.INSTANCES.map(({ name }) => name);
	const unknown = instances.filter((name) => !names.includes(name));
	if (unknown.length === 0) return;
	throw new ConfigError(
		"the command line",
		unknown.map(
			(name) => `--instances: expected names from INSTANCES, received ${formatValue(name)}${didYouMean(name, names)}`,
		),
	);
}

async function printNewKey(store: Store, name: string, scope: KeyScope): Promise<boolean> {
	const now = Date.now();
	const secret = await createKey(store, name, scope, now);
	if (secret === undefined) {
		console.error(
			`There is a key ${JSON.stringify(name)} already. Choose another name, or end it first: ${runs("gateway")} --revoke-key ${name}`,
		);
		return false;
	}
	// Only the secret is on stdout, so that a script can read it.
	console.log(secret);
	console.error(
		`\nCreated the key ${JSON.stringify(name)}: ${describeScope(scope, now)}.
It is shown only this once: the database has its hash. Clients of the gateway send it in place of MCP_AUTH_TOKEN,
in the header "Authorization: Bearer <key>". Gateways with this database accept it at once.`,
	);
	return true;
}

async function printKeys(store: Store): Promise<boolean> {
	const now = Date.now();
	const lines = (await listKeys(store)).map((key) => describeKey(key, now));
	return printAll("key", lines, `No keys. Create one with: ${runs("gateway")} --new-key NAME`);
}

async function revoke(store: Store, name: string): Promise<boolean> {
	if (await revokeKey(store, name)) return printRevoked(`the key ${JSON.stringify(name)}`);
	const names = (await listKeys(store)).map((key) => key.name);
	console.error(`There is no key ${formatValue(name)}${didYouMean(name, names)}\n${runs("gateway")} --keys lists all.`);
	return false;
}

function describeKey(key: Key, now: number): string {
	const used = key.lastUsedAt ? `last used ${timeText(key.lastUsedAt)}` : "never used";
	return `${key.name}: ${describeScope(key, now)}; created ${timeText(key.createdAt)}, ${used}`;
}

function describeScope(scope: KeyScope, now: number): string {
	const { access, instances, guilds, person, expiresAt } = scope;
	const parts = [
		`access ${access}`,
		instances ? `instances ${instances.join(", ")}` : "all instances",
		guilds ? `guilds ${guilds.join(", ")}` : "all guilds",
	];
	if (person) parts.push(`as the Discord user ${person}`);
	if (expiresAt !== undefined) parts.push(`${expiresAt <= now ? "expired" : "expires"} ${timeText(expiresAt)}`);
	return parts.join("; ");
}
