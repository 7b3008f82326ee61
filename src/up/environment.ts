// Builds the environment variables of the programs that `up` starts. Each program gets only the variables that it
// needs.

import type { LogOptions } from "../lib/log.ts";
import { build } from "../lib/program/program.ts";

export type Env = Readonly<Record<string, string | undefined>>;

const machine = [
	"TZ",
	"HTTP_PROXY",
	"HTTPS_PROXY",
	"ALL_PROXY",
	"NO_PROXY",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS",
];

const cache = ["BUN_RUNTIME_TRANSPILER_CACHE_PATH", "XDG_CACHE_HOME", "HOME"];

/** With Bun's cache, a bot from the sources needs a quarter less CPU time to start. Executables transpile nothing. */
export function cacheEnvironment(env: Env, isFromSources = !build): Record<string, string> {
	return isFromSources ? pick(env, cache) : {};
}

/** gateway.env cannot override them. */
export const ownVariables = ["INSTANCES", "LOG_FORMAT", "STOP_WITH_STDIN", "GATEWAY_UP_SOCKET"];

/** At most info, because `up` reads the URL of a program from a line of level info. */
type ChildLevel = "debug" | "info";

const common = (env: Env, level: string | undefined) => {
	const child: ChildLevel = level === "debug" ? "debug" : "info";
	return { ...pick(env, machine), LOG_FORMAT: "json", LOG_LEVEL: child, STOP_WITH_STDIN: "1" };
};

/** `env` of this process, `own` from the bot's .env. */
export function botEnvironment(
	env: Env,
	own: Env,
	bot: { path: string; port: number; token: string },
): Record<string, string> {
	return {
		...common(env, env.LOG_LEVEL || own.LOG_LEVEL),
		CONFIG_DIR: bot.path,
		MCP_PORT: String(bot.port),
		MCP_BIND_ADDR: "127.0.0.1",
		MCP_AUTH_TOKEN: bot.token,
	};
}

export interface GatewayOptions {
	/** Path of SQLite's file, unless the operator names another database. */
	database: string;
	/** Path of the control socket. */
	socket: string;
	token: string;
	/** By name. */
	ports: ReadonlyMap<string, number>;
	/** A second gateway can listen on the same port while the first one drains. */
	sharePort: boolean;
}

/** `own` from gateway.env; GATEWAY_… in the `env` of this process take precedence. */
export function gatewayEnvironment(
	env: Env,
	own: Env,
	{ database, socket, token, ports, sharePort }: GatewayOptions,
): Record<string, string> {
	const given = Object.keys(env).filter((name) => name.startsWith("GATEWAY_"));
	return {
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_DATABASE: database,
		SHUTDOWN_SECONDS: "30",
		...(sharePort && { GATEWAY_SHARE_PORT: "true" }),
		...pick(own, Object.keys(own)),
		...pick(env, given),
		...common(env, env.LOG_LEVEL || own.LOG_LEVEL),
		MCP_AUTH_TOKEN: token,
		GATEWAY_UP_SOCKET: socket,
		INSTANCES: Array.from(ports, ([name, port]) => `${name}=http://127.0.0.1:${port}`).join(","),
	};
}

/** Of lines to show, by the environment of this process (`env`) or the program's file (`own`). */
export function shownLevel(env: Env, own: Env): LogOptions["level"] {
	const level = env.LOG_LEVEL || own.LOG_LEVEL;
	return level === "debug" || level === "warn" || level === "error" ? level : "info";
}

function pick(env: Env, names: readonly string[]): Record<string, string> {
	const picked: Record<string, string> = {};
	for (const name of names)
		for (const key of [name, name.toLowerCase()]) {
			const value = env[key];
			if (value) picked[key] = value;
		}
	return picked;
}
