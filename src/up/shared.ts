// The settings that the gateway and all bots share: the token, and the gateway's variables in gateway.env.

import { isPlaceholder } from "../lib/config.ts";
import { gatewayEnvFile, newSharedToken, readGatewayEnv, writeSharedToken } from "../lib/instances/gateway-env.ts";
import type { Entry } from "../lib/instances/table.ts";
import type { Log } from "../lib/log.ts";
import { ownVariables } from "./environment.ts";

/** The shared settings of one directory of instances. */
export interface Shared {
	/** The variables in gateway.env. */
	variables: Readonly<Record<string, string>>;
	token: string;
}

/**
 * Reads gateway.env in `directory`. If the file has no token, writes one into it: `before`, which is the token that the
 * programs use now; without it, the token of the instances if they all have the same; otherwise a new one. Throws a
 * ConfigError if the file cannot be read or written.
 */
export function readShared(directory: string, entries: readonly Entry[], log: Log, before?: string): Shared {
	const found = readGatewayEnv(directory);
	if (found?.wasExposed)
		log.warn("other users could read the file: removed their permissions", {
			file: gatewayEnvFile,
		});
	const ignored = ownVariables.filter((name) => found?.variables[name]);
	if (ignored.length > 0)
		log.warn("variables in gateway.env are ignored: up sets them itself", {
			variables: ignored,
		});
	if (found?.token !== undefined) return { variables: found.variables, token: found.token };
	const token = before ?? commonToken(entries) ?? newSharedToken();
	writeSharedToken(directory, token);
	log.info("wrote the token that gateway and bots share", {
		file: gatewayEnvFile,
	});
	return { variables: found?.variables ?? {}, token };
}

/** Returns the token in the .env files of all instances that have one, if it is the same; otherwise undefined. */
export function commonToken(entries: readonly Entry[]): string | undefined {
	const tokens = new Set(tokensOf(entries).values());
	const [token] = tokens;
	return tokens.size === 1 ? token : undefined;
}

/** Returns the token in the .env file of each instance that has one, by the instance's name. */
export function tokensOf(entries: readonly Entry[]): Map<string, string> {
	const tokens = new Map<string, string>();
	for (const { name, env } of entries) {
		const token = env.MCP_AUTH_TOKEN;
		if (token && !isPlaceholder(token)) tokens.set(name, token);
	}
	return tokens;
}
