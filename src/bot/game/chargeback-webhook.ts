// POST /webhook/chargeback: the game server tells that a payment was taken back. It is accepted only once it is in the
// store; what is done about it is chargebacks.ts. The contract: README.md beside this file.

import { createHash } from "node:crypto";
import * as v from "valibot";
import { readBody, within } from "../../lib/body.ts";
import { methodNotAllowed } from "../../lib/listen.ts";
import { createBearerCheck } from "../../mcp/access.ts";
import type { ChargebackEvent } from "../store/chargebacks.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import { discordId } from "./client.ts";

export const webhookPath = "/webhook/chargeback";

const maxBodyBytes = 64 * 1024;
// Bun ends what is quiet for 10 s: a slow body and a slow database are answered before that.
const bodyTimeoutMs = 5_000;
const storeTimeoutMs = 8_000;

export interface ChargebackWebhookOptions {
	/** What the game server shows: GAME_VERIFY_SECRET. */
	secret: string;
	/** Stores the event. Rejects with StoreUnavailable. The same event may come again. */
	accept(event: ChargebackEvent): Promise<void>;
	bodyTimeoutMs?: number;
}

/** Answers requests for the webhook's path. Who may ask is settled by the secret alone. */
export function createChargebackWebhook({
	secret,
	accept,
	...options
}: ChargebackWebhookOptions): (request: Request) => Promise<Response> {
	const checkBearer = createBearerCheck(secret);
	const limits = {
		maxBytes: maxBodyBytes,
		timeoutMs: options.bodyTimeoutMs ?? bodyTimeoutMs,
	};
	return async (request) => {
		if (request.method !== "POST") return methodNotAllowed("POST");
		const unauthorized = checkBearer(request);
		if (unauthorized) return unauthorized;
		const body = await readBody(request, limits);
		if (body === "late")
			// Whoever sends the rest after all sends it to nobody.
			return refuse(408, "the body came too slowly", { Connection: "close" });
		if (body === "too long")
			return refuse(413, `the body is longer than ${maxBodyBytes} bytes`);
		const { event, fault } = readEvent(body);
		if (!event) return refuse(400, fault);
		const away = () =>
			refuse(503, "the bot's database is away: try again", {
				"Retry-After": "30",
			});
		try {
			if ((await within(storeTimeoutMs, accept(event))) === "late")
				return away();
		} catch (error) {
			if (error instanceof StoreUnavailable) return away();
			throw error;
		}
		return Response.json({ accepted: true }, { status: 202 });
	};
}

function refuse(
	status: number,
	error: string,
	headers: Record<string, string> = {},
): Response {
	return Response.json({ accepted: false, error }, { status, headers });
}

/** No control characters: PostgreSQL stores no NUL, and nobody needs the others. */
const text = v.pipe(v.string(), v.regex(/^\P{Cc}{1,100}$/u));
const userId = v.nullish(discordId);

const instant = v.pipe(
	v.union([v.number(), v.string()]),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const at = readInstant(dataset.value);
		if (at) return at;
		addIssue();
		return NEVER;
	}),
);

const payload = v.object({
	uuid: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,64}$/)),
	username: text,
	chat_id: userId,
	discord_id: userId,
	tier: text,
	timestamp: instant,
});

/** What is said of a field that is not as it should be: never its value. */
const expected: Record<string, string> = {
	uuid: "expected a text of 1 to 64 characters without spaces",
	username: "expected a text of 1 to 100 characters on one line",
	chat_id:
		"expected a Discord user id of 17 to 20 digits as a text, or null (the field can also be called discord_id)",
	discord_id:
		"expected a Discord user id of 17 to 20 digits as a text, or null",
	tier: "expected a text of 1 to 100 characters on one line",
	timestamp:
		"expected seconds or milliseconds since 1970, or a text in ISO 8601 such as 2026-01-31T12:00:00Z",
};

function readEvent(
	body: Uint8Array,
):
	| { event: ChargebackEvent; fault?: undefined }
	| { event?: undefined; fault: string } {
	const given = parse(body);
	if (typeof given !== "object" || given === null || Array.isArray(given))
		return { fault: "the body is not a JSON object" };
	const { output, issues } = v.safeParse(payload, given);
	const faults = new Set(issues?.map(({ path }) => String(path?.[0]?.key)));
	// Spelled otherwise, it would pass for an account that is not linked.
	if (!("chat_id" in given || "discord_id" in given)) faults.add("chat_id");
	if (faults.size > 0 || issues)
		return {
			fault: [...faults].map((name) => `${name}: ${expected[name]}`).join("; "),
		};
	const { uuid, username, tier, timestamp } = output;
	const chat_id = output.chat_id ?? output.discord_id ?? null;
	const happened_at = timestamp.toISOString();
	const parts = [plain(uuid), chat_id, tier, happened_at];
	const id = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
	return { event: { id, uuid, username, chat_id, tier, happened_at } };
}

/** A UUID is the same with hyphens and without, in either case. */
function plain(uuid: string): string {
	return uuid.toLowerCase().replaceAll("-", "");
}

function parse(body: Uint8Array): unknown {
	try {
		return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
	} catch {
		return undefined; // Neither its bytes nor its text are JSON: what it is does not matter.
	}
}

/** What is below this are seconds, until the year 5138; as milliseconds it would be before 1974. */
const leastMilliseconds = 1e11;

function readInstant(value: number | string): Date | undefined {
	const at = new Date(
		typeof value === "string" ? parseIso(value) : toMilliseconds(value),
	);
	const year = at.getUTCFullYear();
	return year >= 2000 && year < 3000 ? at : undefined;
}

function toMilliseconds(value: number): number {
	return value < leastMilliseconds ? value * 1000 : value;
}

/** Without an offset it is UTC, wherever the bot runs; beyond milliseconds it is cut off. */
function parseIso(value: string): number {
	const [, time, fraction = "", offset = "Z"] =
		/^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/.exec(
			value,
		) ?? [];
	if (time === undefined) return Number.NaN;
	const whole = time.length === 16 ? `${time}:00` : time;
	const asUtc = new Date(`${whole}Z`);
	// The 30th of February is no day, and would count as one of March.
	if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(whole))
		return Number.NaN;
	return Date.parse(whole + fraction.slice(0, 4) + offset);
}
