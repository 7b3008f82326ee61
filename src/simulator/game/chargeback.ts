// Chargebacks, which the game server reports to the bot.

import { randomUUID } from "node:crypto";
import { parseJson } from "../../lib/json.ts";

/** A chargeback to send. Missing fields get random values. */
export interface Chargeback {
	readonly username: string;
	/** The linked Discord user's id; null if there is none. */
	readonly chatId: string | null;
	readonly tier: string;
	readonly uuid?: string | undefined;
	/** When it happened, in ISO 8601. Default: now. */
	readonly timestamp?: string | undefined;
}

export interface ChargebackTarget {
	/** The bot's URL: "http://127.0.0.1:PORT". */
	readonly url: string;
	/** Replaces the shared secret; null sends none. */
	readonly secret?: string | null | undefined;
	/** Replaces the event: a string unchanged, anything else as JSON. */
	readonly body?: unknown;
}

/** The bot's response to a chargeback. */
export interface ChargebackAnswer {
	readonly status: number;
	/** Parsed if it is JSON. */
	readonly body: unknown;
	/** The event that was sent, unless `body` replaced it. */
	readonly event: Readonly<Record<string, string | null>>;
	/** Sends the same event again. */
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

/** Sends a chargeback to the bot. Rejects if the bot is unreachable. */
export async function sendChargeback(
	event: ChargebackAnswer["event"],
	target: ChargebackTarget & { readonly secret: string | null },
): Promise<ChargebackAnswer> {
	const { url, secret, body = event } = target;
	const response = await fetch(new URL("/webhook/chargeback", url), {
		method: "POST",
		headers: {
			"content-type": "application/json",
			...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
		},
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
