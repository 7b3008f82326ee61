// The settings that the gateway and all bots share: the token, and the gateway's variables in gateway.env.

import { isPlaceholder } from "../lib/config.ts";
import { gatewayEnvFile, newSharedToken, readGatewayEnv, writeSharedToken } from "../lib/instances/gateway-env.ts";
import type { Entry } from "../lib/instances/table.ts";
import type { Log } from "../lib/log.ts";
import { ownVariables } from "./environment.ts";

export interface Shared {
	/** Of gateway.env. */
	variables: Readonly<Record<string, string>>;
	token: string;
}

/**
 * Adds a missing token: `before`, which the programs use now, the common one of the instances, or a new one.
 * ConfigError if gateway.env cannot be read or written.
 */
export function readShared(directory: string, entries: readonly Entry[], log: Log, before?: string): Shared {
	const found = readGatewayEnv(directory);
	if (found?.wasExposed)
		log.warn("other users could read the file: removed their permissions", { file: gatewayEnvFile });
	const ignored = ownVariables.filter((name) => found?.variables[name]);
	if (ignored.length > 0) log.warn("variables in gateway.env are ignored: up sets them itself", { variables: ignored });
	if (found?.token !== undefined) return { variables: found.variables, token: found.token };
	const token = before ?? commonToken(entries) ?? newSharedToken();
	writeSharedToken(directory, token);
	log.info("wrote the token that gateway and bots share", { file: gatewayEnvFile });
	return { variables: found?.variables ?? {}, token };
}

/** Undefined if instances have different ones. */
export function commonToken(entries: readonly Entry[]): string | undefined {
	const tokens = new Set(tokensOf(entries).values());
	const [token] = tokens;
	return tokens.size === 1 ? token : undefined;
}

/** By the instance's name. */
export function tokensOf(entries: readonly Entry[]): Map<string, string> {
	const tokens = new Map<string, string>();
	for (const { name, env } of entries) {
		const token = env.MCP_AUTH_TOKEN;
		if (token && !isPlaceholder(token)) tokens.set(name, token);
	}
	return tokens;
}
