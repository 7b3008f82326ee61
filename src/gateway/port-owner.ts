// Asks the program that listens on GATEWAY_PORT whether it is a gateway, and whether it has the same settings.

import { isObject } from "../lib/json.ts";
import { askPort } from "../lib/program/own-port.ts";
import type { GatewayConfig } from "./config/config.ts";

const timeoutMs = 2_000;

/** By token and instances; "unknown" for everything else. Never rejects. */
export async function askPortOwner({
	bindAddress: hostname,
	port,
	token,
	instances,
}: GatewayConfig): Promise<"this gateway" | "another gateway" | "unknown"> {
	const ask = askPort({ hostname, port }, AbortSignal.timeout(timeoutMs));
	try {
		// Send the token only to a gateway.
		const { body } = await ask("/readyz");
		if (!/^(ok|degraded|no backend is online)\n$/.test(body)) return "unknown";
		const status: unknown = JSON.parse((await ask("/status", { Authorization: `Bearer ${token}` })).body);
		if (!isObject(status) || status.name !== "guildhall-gateway") return "unknown";
		return sorted(status.backends) === sorted(instances) ? "this gateway" : "another gateway";
	} catch {
		return "unknown";
	}
}

function sorted(instances: unknown): string {
	if (!Array.isArray(instances)) return "";
	const pairs = instances.map((one) => JSON.stringify([one?.name, one?.url]));
	return pairs.sort().join("\n");
}
