// Asks the program that listens on MCP_PORT whether it is a bot, and which.

import { describeConnectionError } from "../../lib/http.ts";
import { isObject } from "../../lib/json.ts";
import { reachableHost } from "../../lib/program/listen.ts";
import { askPort } from "../../lib/program/own-port.ts";
import type { BotConfig } from "../config/config.ts";

const timeoutMs = 2_000;

export interface PortOwner {
	/** Undefined if no bot was found. */
	bot?: string | undefined;
	/** End of a sentence, such as "is another program". */
	why: string;
}

/** Without a path. */
export function botUrl({ mcpBindAddress, mcpPort }: Pick<BotConfig, "mcpBindAddress" | "mcpPort">): string {
	return `http://${reachableHost(mcpBindAddress)}:${mcpPort}`;
}

/** With the bot's token. */
export function botHeaders({ mcpPort, mcpToken }: Pick<BotConfig, "mcpPort" | "mcpToken">): Record<string, string> {
	return {
		// Loopback names are always allowed.
		Host: `localhost:${mcpPort}`,
		...(mcpToken !== undefined && { Authorization: `Bearer ${mcpToken}` }),
	};
}

export async function askPortOwner(config: BotConfig): Promise<PortOwner> {
	const signal = AbortSignal.timeout(timeoutMs);
	const { mcpBindAddress: hostname, mcpPort: port } = config;
	const ask = askPort({ hostname, port }, signal);
	try {
		// Send the token only to a bot.
		const { body } = await ask("/mcp");
		if (!/^(ready|starting|degraded)$/.test(body)) return { why: "is another program" };
		const answer = await ask("/status", botHeaders(config));
		if (answer.status === 401) return { why: "is a program that refuses this bot's MCP_AUTH_TOKEN" };
		const status: unknown = JSON.parse(answer.body);
		return isObject(status) && status.name === "guildhall-bot" && typeof status.bot_name === "string"
			? { bot: status.bot_name, why: `is the bot ${status.bot_name}` }
			: { why: "is another program" };
	} catch (error) {
		if (signal.aborted) return { why: `does not respond within ${timeoutMs / 1_000} seconds` };
		if (error instanceof SyntaxError) return { why: "is another program" };
		return { why: `does not respond: ${describeConnectionError(error)}` };
	}
}
