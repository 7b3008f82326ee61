// Sends requests about guild documents to the bot that runs on this machine, over HTTP.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import * as v from "valibot";
import { describeConnectionError } from "../../../lib/http.ts";
import { isObject } from "../../../lib/json.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { BotConfig } from "../../config/config.ts";
import { botHeaders, botUrl } from "../../setup/port-owner.ts";
import {
	type DocumentRequest,
	documentRequests,
	type RequestInput,
	type RequestOutput,
	requestTimeoutMs,
	routePrefix,
	type SendDocumentRequest,
} from "../request-schemas.ts";

/** Added to the bot's own timeout, so that the bot's error message still arrives. */
const reserveMs = 10_000;
const maxResponseBytes = 64 * 1024 * 1024;

/** It is then unknown whether the bot carried out the request. */
export class NoResponse extends Error {
	override name = "NoResponse";
}

export function createBotClient(
	config: Pick<BotConfig, "mcpBindAddress" | "mcpPort" | "mcpToken">,
): SendDocumentRequest {
	const url = botUrl(config);
	return async <Name extends DocumentRequest>(name: Name, input: RequestInput<Name>): Promise<RequestOutput<Name>> => {
		const { status, body } = await post(`${url}${routePrefix}${name}`, botHeaders(config), JSON.stringify(input));
		const value = parse(body);
		if (status !== 200)
			throw new ToolError(
				isObject(value) && typeof value.error === "string"
					? value.error
					: status === 404
						? `The bot at ${url} cannot export, plan or apply the document of a guild: it is an older version. Restart it with this version.`
						: `The bot at ${url} refuses the request with HTTP status ${status}: ${body.trim().slice(0, 200)}`,
			);
		const result = v.safeParse(
			documentRequests[name].output as unknown as v.GenericSchema<unknown, RequestOutput<Name>>,
			value,
		);
		if (!result.success)
			throw new ToolError(
				`The bot at ${url} sent an unexpected response: it may be another version than this program.`,
			);
		return result.output;
	};
}

/** Not fetch, which might send the bot's token through a proxy. */
async function post(
	url: string,
	headers: Record<string, string>,
	text: string,
): Promise<{ status: number; body: string }> {
	const body = Buffer.from(text);
	const signal = AbortSignal.timeout(requestTimeoutMs + reserveMs);
	try {
		const outgoing = request(url, {
			method: "POST",
			headers: { ...headers, "Content-Type": "application/json", "Content-Length": String(body.length) },
			agent: false,
			signal,
		});
		const responded = once(outgoing, "response");
		outgoing.end(body);
		const [response] = (await responded) as [IncomingMessage];
		const chunks: Buffer[] = [];
		let length = 0;
		for await (const chunk of response) {
			length += chunk.length;
			if (length > maxResponseBytes)
				throw new NoResponse(`the response is larger than ${maxResponseBytes / 1024 / 1024} MiB`);
			chunks.push(chunk);
		}
		return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
	} catch (error) {
		if (error instanceof NoResponse) throw error;
		const reason = signal.aborted ? "it did not respond in time" : describeConnectionError(error);
		throw new NoResponse(`the bot at ${new URL(url).origin}: ${reason}`, { cause: error });
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
