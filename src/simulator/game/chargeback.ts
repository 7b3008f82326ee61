// The one call that goes from the game server to the bot: a payment was taken back.

import { randomUUID } from "node:crypto";

/** A payment that was taken back; what is absent is made up. */
export interface Chargeback {
	readonly username: string;
	/** The Discord user whom the account is linked to; null for nobody. */
	readonly chatId: string | null;
	readonly tier: string;
	readonly uuid?: string | undefined;
	/** ISO 8601; now when absent. */
	readonly timestamp?: string | undefined;
}

export interface ChargebackTarget {
	/** The bot's own URL: "http://127.0.0.1:PORT". */
	readonly url: string;
	/** Instead of the shared secret; null sends none. */
	readonly secret?: string | null | undefined;
	/** Instead of the event: a text as it is, all else as JSON. */
	readonly body?: unknown;
}

/** What the bot answered. */
export interface ChargebackAnswer {
	readonly status: number;
	/** Parsed, if it is JSON. */
	readonly body: unknown;
	/** What was sent, unless something else was sent instead. */
	readonly event: Readonly<Record<string, string | null>>;
	/** Sends the same event once more. */
	again(target?: Partial<ChargebackTarget>): Promise<ChargebackAnswer>;
}

/** The event as the bot is told it. */
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

/** Tells the bot; rejects when it cannot be reached. */
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
	return {
		status: response.status,
		body: parse(text),
		event,
		again: (other = {}) =>
			sendChargeback(event, {
				url,
				secret,
				...(other.url === undefined ? {} : { url: other.url }),
				...(other.secret === undefined ? {} : { secret: other.secret }),
				...(other.body === undefined ? {} : { body: other.body }),
			}),
	};
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// Not JSON: then it is what it is.
		return text;
	}
}
