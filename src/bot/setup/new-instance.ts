// Creates an instance from the example's files, with port, schema and token filled in.

import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { ConfigError, formatValue, isPlaceholder, trimEnv } from "../../lib/config.ts";
import { envLine } from "../../lib/instances/env-line.ts";
import { gatewayEnvFile, newSharedToken, readGatewayEnv } from "../../lib/instances/gateway-env.ts";
import { instanceNameIssue } from "../../lib/instances/names.ts";
import { commentAbove } from "../config/example.ts";
import { variables } from "../config/settings.ts";

const firstPort = 9090;
// The default port of the gateway.
const takenPorts = [9100];
const unfinished = ".new-instance-";

export interface Instance {
	name: string;
	/** MCP_PORT; undefined if it is not fixed. */
	port: number | undefined;
	schema: string | undefined;
	token: string | undefined;
}

export interface NewInstance extends Instance {
	port: number;
	schema: string;
	token: string;
	path: string;
	files: string[];
	/** File from which MCP_AUTH_TOKEN was copied; undefined if it is new. */
	tokenFrom: string | undefined;
}

/** Throws a ConfigError if `name` is invalid or taken, also if it differs only by case. Returns the instances. */
export function checkName(name: string, directory: string): Instance[] {
	const issue = instanceNameIssue(name);
	if (issue) throw new ConfigError("the command line", [`name: ${issue}`]);
	const others = readInstances(directory);
	if (lstatSync(join(directory, name), { throwIfNoEntry: false }))
		throw new ConfigError(directory, [`${name}: a file or directory of this name already exists; nothing was changed`]);
	const same = others.find((other) => other.name.toLowerCase() === name.toLowerCase());
	// Both would have the variable GUILDS_<NAME> of the gateway, and some file systems do not distinguish the names.
	if (same)
		throw new ConfigError(directory, [
			`${name}: its name differs from ${formatValue(same.name)} by case only; expected another name; nothing was changed`,
		]);
	return others;
}

/** `example`: texts by file name. Throws a ConfigError, and changes nothing, if `name` is taken. */
export function makeInstance(
	name: string,
	directory: string,
	example: ReadonlyMap<string, string>,
	variables: Readonly<Record<string, string>> = {},
): NewInstance {
	const others = checkName(name, directory);
	const path = join(directory, name);
	const shared = readGatewayEnv(directory)?.token;
	const sharing = shared === undefined ? others.find(({ token }) => token !== undefined) : undefined;
	const made = {
		name,
		port: freePort(others),
		schema: freeSchema(name, others),
		token: shared ?? sharing?.token ?? newSharedToken(),
	};
	let env = example.get(".env") ?? "";
	env = setVariable(env, "DB_SCHEMA", made.schema);
	env = setVariable(env, "MCP_PORT", String(made.port));
	env = setVariable(env, "MCP_AUTH_TOKEN", made.token);
	for (const [key, value] of Object.entries(variables)) env = setVariable(env, key, value);
	const toml = example.get("config.toml") ?? "";
	const texts = new Map(example)
		.set(".env", env)
		.set("config.toml", replaceLine(toml, /^bot_name = .*$/m, `bot_name = "${name}"`));
	writeAtomically(directory, path, texts);
	const tokenFrom = shared === undefined ? sharing && join(sharing.name, ".env") : gatewayEnvFile;
	return { ...made, path, files: [...texts.keys()], tokenFrom };
}

/** None if it does not exist. Throws a ConfigError if a file cannot be read. */
export function readInstances(directory: string): Instance[] {
	const issues: string[] = [];
	const attempt = <T>(path: string, read: (path: string) => T) => {
		try {
			return read(path);
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			const isAbsent = code === "ENOENT" || (code === "ENOTDIR" && path !== directory);
			if (!isAbsent) issues.push(`the file or directory ${path} cannot be read (${code})`);
			return undefined;
		}
	};
	const names = attempt(directory, (path) => readdirSync(path)) ?? [];
	const instances = names
		.filter((name) => name !== "example" && !name.startsWith(unfinished))
		.sort()
		.flatMap((name) => {
			const at = (file: string) => join(directory, name, file);
			const env = attempt(at(".env"), (path) => readFileSync(path, "utf8"));
			const isInstance = env !== undefined || attempt(at("config.toml"), statSync);
			return isInstance ? [readInstance(name, env ?? "")] : [];
		});
	if (issues.length > 0) throw new ConfigError(directory, issues);
	return instances;
}

function readInstance(name: string, text: string): Instance {
	const env = trimEnv(parseEnv(text));
	const value = <S extends v.GenericSchema>(schema: S, key: string) => {
		const found = isPlaceholder(env[key]) ? undefined : env[key];
		const { success, output } = v.safeParse(schema, found);
		return success ? output : undefined;
	};
	return {
		name,
		// Port 0 is assigned at startup.
		port: value(variables.MCP_PORT, "MCP_PORT") || undefined,
		schema: value(variables.DB_SCHEMA, "DB_SCHEMA"),
		token: value(variables.MCP_AUTH_TOKEN, "MCP_AUTH_TOKEN"),
	};
}

function freePort(others: readonly Instance[]): number {
	const taken = new Set([...takenPorts, ...others.map(({ port }) => port)]);
	let port = firstPort;
	while (taken.has(port)) port++;
	return port;
}

// PostgreSQL reserves some names.
function freeSchema(name: string, others: readonly Instance[]): string {
	const word = name.toLowerCase().replace(/[^a-z0-9_]/g, "_");
	const base = /^[^a-z]|^pg_|^information_schema$|^public$/.test(word) ? `bot_${word}` : word;
	const taken = new Set(others.map(({ schema }) => schema?.toLowerCase()));
	let schema = base;
	for (let count = 2; taken.has(schema); count++) schema = `${base}_${count}`;
	return schema;
}

function setVariable(text: string, key: string, value: string): string {
	const changed = envLine(key, value);
	if (changed === undefined)
		throw new ConfigError("the new .env", [
			`${key}: its value contains every kind of quotation mark, so it cannot be written`,
		]);
	return replaceLine(text, new RegExp(`^(# )?${key}=.*$`, "m"), changed);
}

function replaceLine(text: string, line: RegExp, replacement: string): string {
	if (!line.test(text))
		throw new ConfigError("instances/example", [
			`its .env or config.toml lacks the line ${JSON.stringify(replacement.replace(/=.*/, "=…"))}, which --new-instance fills in`,
		]);
	// A function, because the value may contain $.
	return text.replace(line, () => replacement);
}

function writeAtomically(directory: string, path: string, texts: Map<string, string>): void {
	let temporary: string | undefined;
	try {
		mkdirSync(directory, { recursive: true });
		temporary = mkdtempSync(join(directory, unfinished));
		chmodSync(temporary, 0o700);
		for (const [name, text] of texts) {
			const file = join(temporary, name);
			const mode = name === ".env" ? 0o600 : 0o644;
			writeFileSync(file, text, { mode, flag: "wx" });
		}
		// Fails if a non-empty directory was created meanwhile.
		renameSync(temporary, path);
	} catch (error) {
		if (temporary) rmSync(temporary, { recursive: true, force: true });
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError(directory, [`${path}: cannot be written (${code}); nothing was changed`]);
	}
}

/** Variables that are left to fill in, each with the comment above it. */
export function findGaps(made: Pick<NewInstance, "path" | "files">) {
	return made.files.flatMap((file) => {
		const lines = readFileSync(join(made.path, file), "utf8").split("\n");
		return lines.flatMap((line, index) => {
			const [, key, value] = /^(\w+)\s*=\s*["']?(.*)/.exec(line) ?? [];
			if (key === undefined || !isPlaceholder(value)) return [];
			return [{ file, line: index + 1, key, comment: commentAbove(lines, index) }];
		});
	});
}

/** Value of the gateway's INSTANCES, with warnings about bots it leaves out and bots with the same port. */
export function describeInstances(instances: readonly Instance[]): { value: string; warnings: string[] } {
	const warnings: string[] = [];
	const listed = instances
		.flatMap(({ name, port }) => {
			if (port !== undefined && /^[A-Za-z0-9._-]+$/.test(name)) return [{ name, port }];
			const reason = port ? "the gateway does not accept this name" : "its MCP_PORT is not a fixed port";
			warnings.push(`${formatValue(name)} is left out: ${reason}.`);
			return [];
		})
		.sort((a, b) => a.port - b.port);
	for (const [index, { name, port }] of listed.entries()) {
		const before = listed[index - 1];
		if (before?.port === port)
			warnings.push(`${before.name} and ${name} have the same MCP_PORT ${port}: give one of them another.`);
	}
	if (new Set(instances.map(({ token }) => token).filter(Boolean)).size > 1)
		warnings.push("The instances have different values of MCP_AUTH_TOKEN: the gateway needs the same in all of them.");
	const value = listed.map(({ name, port }) => `${name}=http://127.0.0.1:${port}`).join(",");
	return { value, warnings };
}
