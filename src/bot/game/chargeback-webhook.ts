// POST /webhook/chargeback: receives chargebacks from the game server. An event is accepted once it is stored;
// chargebacks.ts acts on it. Contract: README.md.

import { createHash } from "node:crypto";
import * as v from "valibot";
import { methodNotAllowed, readBody } from "../../lib/program/listen.ts";
import { readTime } from "../../lib/times.ts";
import { within } from "../../lib/wait.ts";
import { createBearerCheck } from "../../mcp/access.ts";
import type { ChargebackEvent } from "../store/tables/chargebacks.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { discordId } from "./client.ts";

export const webhookPath = "/webhook/chargeback";

const maxBodyBytes = 64 * 1024;
// Below Bun's idle timeout of 10 s, so that a slow body or database still gets a response.
const bodyTimeoutMs = 5_000;
const storeTimeoutMs = 8_000;

/** Not yet in a guild. */
export type ReportedChargeback = Omit<ChargebackEvent, "guild_id">;

interface ChargebackWebhookOptions {
	secret: string;
	/**
	 * The same event may arrive more than once. Resolves with false if no guild handles chargebacks. Rejects with
	 * StoreUnavailable if the database is unavailable.
	 */
	accept(event: ReportedChargeback): Promise<boolean>;
	bodyTimeoutMs?: number;
}

export function createChargebackWebhook({
	secret,
	accept,
	...options
}: ChargebackWebhookOptions): (request: Request) => Promise<Response> {
	const checkBearer = createBearerCheck(secret);
	const timeoutMs = options.bodyTimeoutMs ?? bodyTimeoutMs;
	return async (request) => {
		if (request.method !== "POST") return methodNotAllowed("POST");
		const unauthorized = checkBearer(request);
		if (unauthorized) return unauthorized;
		const body = await readBody(request, maxBodyBytes, timeoutMs);
		if (body === "late")
			// The rest of the request body is not read: the connection is unusable.
			return refuse(408, "the request body did not arrive in time", { Connection: "close" });
		if (body === "too long") return refuse(413, `the request body exceeds ${maxBodyBytes} bytes`);
		const { event, error } = readEvent(body);
		if (!event) return refuse(400, error);
		const notNow = (error: string) => refuse(503, `${error}: try again`, { "Retry-After": "30" });
		const unavailable = () => notNow("the bot's database is unavailable");
		try {
			const accepted = await within(storeTimeoutMs, accept(event));
			if (accepted === "late") return unavailable();
			if (!accepted) return notNow("the setting game.chargeback is off in all guilds of the bot");
		} catch (error) {
			if (error instanceof StoreUnavailable) return unavailable();
			throw error;
		}
		return Response.json({ accepted: true }, { status: 202 });
	};
}

function refuse(status: number, error: string, headers: Record<string, string> = {}): Response {
	return Response.json({ accepted: false, error }, { status, headers });
}

/** Text of 1 to 100 characters without control characters. PostgreSQL cannot store NUL. */
const text = v.pipe(v.string(), v.regex(/^\P{Cc}{1,100}$/u));
const userId = v.nullish(discordId);

const instant = v.pipe(v.union([v.number(), v.string()]), v.transform(readInstant), v.date());

const payload = v.object({
	uuid: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,64}$/)),
	username: text,
	chat_id: userId,
	discord_id: userId,
	tier: text,
	timestamp: instant,
});

/** Error messages for invalid fields of the request body, by field name. They never repeat the invalid value. */
const expected: Record<string, string> = {
	uuid: "expected a text of 1 to 64 characters without spaces",
	username: "expected a text of 1 to 100 characters on one line",
	chat_id: "expected a Discord user id of 17 to 20 digits as a text, or null (the field can also be called discord_id)",
	discord_id: "expected a Discord user id of 17 to 20 digits as a text, or null",
	tier: "expected a text of 1 to 100 characters on one line",
	timestamp: "expected seconds or milliseconds since 1970, or a text in ISO 8601 such as 2026-01-31T12:00:00Z",
};

function readEvent(
	body: Uint8Array,
): { event: ReportedChargeback; error?: undefined } | { event?: undefined; error: string } {
	const json = parse(body);
	if (typeof json !== "object" || json === null || Array.isArray(json))
		return { error: "request body is not a JSON object" };
	const { output, issues } = v.safeParse(payload, json);
	const fields = new Set(issues?.map(({ path }) => String(path?.[0]?.key)));
	// Required, although it may be null: a misspelt key must not pass for an unlinked account.
	if (!("chat_id" in json || "discord_id" in json)) fields.add("chat_id");
	if (fields.size > 0 || issues) return { error: [...fields].map((name) => `${name}: ${expected[name]}`).join("; ") };
	const { uuid, username, tier, timestamp } = output;
	const chat_id = output.chat_id ?? output.discord_id ?? null;
	const happened_at = timestamp.toISOString();
	const parts = [uuid.toLowerCase().replaceAll("-", ""), chat_id, tier, happened_at];
	const id = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
	return { event: { id, uuid, username, chat_id, tier, happened_at } };
}

function parse(body: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
	} catch {
		return undefined; // Neither UTF-8 nor JSON: the caller answers both alike.
	}
}

const minMilliseconds = 1e11;

function readInstant(value: number | string): Date | undefined {
	const ms =
		typeof value === "number"
			? value * (value < minMilliseconds ? 1000 : 1)
			: value.includes("T")
				? readTime(value)
				: undefined;
	const at = new Date(ms ?? Number.NaN);
	const year = at.getUTCFullYear();
	return year >= 2000 && year < 3000 ? at : undefined;
}
