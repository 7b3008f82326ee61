// Sends requests about guild documents to the bot that runs on this machine, over HTTP.

import { describeConnectionError } from "../../../lib/http.ts";
import { isObject, parseJson } from "../../../lib/json.ts";
import { askPort } from "../../../lib/program/own-port.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { BotConfig } from "../../config/config.ts";
import { botHeaders, botUrl } from "../../setup/port-owner.ts";
import { routePrefix } from "../route.ts";
import { type RequestOutput, requestTimeoutMs, type SendDocumentRequest } from "./requests.ts";

/** Added to the bot's own timeout, so that the bot's error message still arrives. */
const reserveMs = 10_000;

/** It is then unknown whether the bot carried out the request. */
export class NoResponse extends Error {
	override name = "NoResponse";
}

export function createBotClient(
	config: Pick<BotConfig, "mcpBindAddress" | "mcpPort" | "mcpToken">,
): SendDocumentRequest {
	const url = botUrl(config);
	const address = { hostname: config.mcpBindAddress, port: config.mcpPort };
	return async (name, input) => {
		const signal = AbortSignal.timeout(requestTimeoutMs + reserveMs);
		const headers = { ...botHeaders(config), "Content-Type": "application/json" };
		const ask = askPort(address, signal)(`${routePrefix}${name}`, headers, JSON.stringify(input));
		const { status, body } = await ask.catch((error) => {
			const reason = signal.aborted ? "it did not respond in time" : describeConnectionError(error);
			throw new NoResponse(`the bot at ${url}: ${reason}`, { cause: error });
		});
		const value = parseJson(body);
		if (status === 200) return value as RequestOutput<typeof name>;
		throw new ToolError(
			isObject(value) && typeof value.error === "string"
				? value.error
				: `The bot at ${url} refuses the request with HTTP status ${status}: ${body.trim().slice(0, 200)}`,
		);
	};
}
