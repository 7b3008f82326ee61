// Asks the program that listens on MCP_PORT whether it is a bot, and which.

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describeConnectionError } from "../../lib/http.ts";
import { reachableHost } from "../../lib/listen.ts";
import { isObject } from "../../mcp/json-rpc.ts";
import type { BotConfig } from "../config/config.ts";

/** Timeout of both requests together, in milliseconds. */
const occupantTimeoutMs = 2_000;

export interface Occupant {
	/** Name of the bot; undefined if there is none. */
	bot?: string | undefined;
	/** What listens there instead of a bot, as the end of a sentence that begins with the address. */
	why: string;
}

/** Returns the URL at which a bot with this configuration listens, without a path. */
export function botUrl({
	mcpBindAddress,
	mcpPort,
}: Pick<BotConfig, "mcpBindAddress" | "mcpPort">): string {
	return `http://${reachableHost(mcpBindAddress)}:${mcpPort}`;
}

/** Returns the headers of a request to a bot on this machine. */
export function botHeaders({
	mcpPort,
	mcpToken,
}: Pick<BotConfig, "mcpPort" | "mcpToken">): Record<string, string> {
	return {
		// Loopback names are always allowed.
		Host: `localhost:${mcpPort}`,
		...(mcpToken !== undefined && { Authorization: `Bearer ${mcpToken}` }),
	};
}

/** Asks the program that listens on MCP_PORT which bot it is. */
export async function askOccupant(config: BotConfig): Promise<Occupant> {
	const url = botUrl(config);
	const { Host = "", ...bearer } = botHeaders(config);
	const signal = AbortSignal.timeout(occupantTimeoutMs);
	const ask = async (path: string, headers = {}) => {
		// Not fetch, which might send the token through a proxy.
		const request = get(`${url}${path}`, {
			headers: { Host, ...headers },
			agent: false,
			signal,
		});
		const [response] = (await once(request, "response")) as [IncomingMessage];
		return { status: response.statusCode, body: await text(response) };
	};
	try {
		// Send the token only to a bot.
		const { body } = await ask("/mcp");
		if (!/^(ready|starting|degraded)$/.test(body))
			return { why: "is another program" };
		const answer = await ask("/status", bearer);
		if (answer.status === 401)
			return { why: "is a program that refuses this bot's MCP_AUTH_TOKEN" };
		const status: unknown = JSON.parse(answer.body);
		return isObject(status) &&
			status.name === "guildhall-bot" &&
			typeof status.bot_name === "string"
			? { bot: status.bot_name, why: `is the bot ${status.bot_name}` }
			: { why: "is another program" };
	} catch (error) {
		if (signal.aborted)
			return {
				why: `does not respond within ${occupantTimeoutMs / 1_000} seconds`,
			};
		if (error instanceof SyntaxError) return { why: "is another program" };
		return { why: `does not respond: ${describeConnectionError(error)}` };
	}
}
