// Chargebacks, which the game server reports to the bot.

import { randomUUID } from "node:crypto";
import { parseJson } from "../../lib/json.ts";

/** The refunded payment of a player. If the player's uuid is missing, a random one is used. */
export interface Chargeback {
	username: string;
	/** The id of the Discord user that the player is linked to; null if the player is not linked. */
	chatId: string | null;
	tier: string;
	uuid?: string | undefined;
	/** When the chargeback happened, in ISO 8601. Default: now. */
	timestamp?: string | undefined;
}

export interface ChargebackTarget {
	/** The base URL of the bot that receives the chargeback: "http://127.0.0.1:PORT". */
	url: string;
	/** The bearer token. Default: the game server's shared secret. Null sends none. */
	secret?: string | null | undefined;
	/** A string is sent unchanged, any other value as JSON. Default: the chargeback event. */
	body?: unknown;
}

export interface ChargebackAnswer {
	status: number;
	/** The body of the bot's response: parsed if it is JSON, else the text. */
	body: unknown;
	/** The chargeback event, which was the request body unless the caller set another body. */
	event: Readonly<Record<string, string | null>>;
	/** Sends the same chargeback event to the bot again, possibly with another URL, secret or body. */
	again(target?: Partial<ChargebackTarget>): Promise<ChargebackAnswer>;
}

export function chargebackEvent(
	{ username, chatId, tier, uuid, timestamp }: Chargeback,
	idField: "chat_id" | "discord_id",
): ChargebackAnswer["event"] {
	return {
		uuid: uuid ?? randomUUID(),
		username,
		[idField]: chatId,
		tier,
		timestamp: timestamp ?? new Date().toISOString(),
	};
}

/** Sends a chargeback event to the bot's webhook. Rejects if the bot is unreachable. */
export async function sendChargeback(
	event: ChargebackAnswer["event"],
	target: ChargebackTarget & { secret: string | null },
): Promise<ChargebackAnswer> {
	const { url, secret, body = event } = target;
	const response = await fetch(new URL("/webhook/chargeback", url), {
		method: "POST",
		headers: { "content-type": "application/json", ...(secret !== null && { authorization: `Bearer ${secret}` }) },
		body: typeof body === "string" ? body : JSON.stringify(body),
	});
	const text = await response.text();
	const parsed = parseJson(text);
	return {
		status: response.status,
		body: parsed === undefined ? text : parsed,
		event,
		again: (other = {}) =>
			sendChargeback(event, {
				url: other.url ?? url,
				secret: other.secret === undefined ? secret : other.secret,
				body: other.body,
			}),
	};
}
