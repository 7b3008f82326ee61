// Converts error responses of AI providers by status, headers and body. The provider's own text is only matched, never
// passed on: it may quote the key or messages.

import { AiError, type AiErrorKind } from "./error.ts";

const contentPattern =
	/content[ _-]?(filter|policy|exists risk|management)|moderation|flagged|prohibited_content|safety/i;
const keyPattern = /\bapi[ _-]key\b|API_KEY_INVALID/i;
const balancePattern = /insufficient[ _](quota|balance|credits?|funds)/i;

const maxRetryMs = 86_400_000;

/** `body` is the parsed JSON of the response, of any shape. */
export function toAiError(status: number, headers: Headers, body: unknown): AiError {
	const { codes, message } = errorIn(body);
	// In a stream the error itself holds the status.
	const code = codes.map(Number).find((code) => code >= 400 && code < 600);
	const effectiveStatus = status === 502 && code !== undefined ? code : status;
	const kind = kindOf(effectiveStatus, `${codes.join(" ")} ${message}`);
	const errorCode = codes.find((code) => /^[a-z_]{1,60}$/.test(code));
	const suffix = errorCode === undefined ? "" : `, ${errorCode}`;
	return new AiError(kind, { detail: `HTTP ${effectiveStatus}${suffix}`, retryAfterMs: retryAfterMs(headers) });
}

function kindOf(status: number, text: string): AiErrorKind {
	if (status >= 200 && status < 400) return "nonsense";
	if (status === 429) return balancePattern.test(text) ? "key" : "limited";
	if (status >= 400 && status < 500 && contentPattern.test(text)) return "refused";
	if (status === 401 || status === 402 || status === 403) return "key";
	if (status === 400 && keyPattern.test(text)) return "key";
	if (status === 408 || status === 425 || status >= 500) return "unavailable";
	return "rejected";
}

function errorIn(body: unknown): { codes: string[]; message: string } {
	const first: unknown = Array.isArray(body) ? body[0] : body;
	const { error = {} } = Object(first) as { error?: unknown };
	if (typeof error === "string") return { codes: [], message: error };
	const fields = Object(error) as Record<string, unknown>;
	const { code, type, status, message } = fields;
	const codes = [code, type, status].filter((code) => typeof code === "string" || typeof code === "number");
	const text = typeof message === "string" ? message.slice(0, 2_000) : "";
	return { codes: codes.map(String), message: text };
}

function retryAfterMs(headers: Headers): number | undefined {
	const text = headers.get("retry-after") || "none";
	const waits = [
		Number(headers.get("retry-after-ms") || Number.NaN),
		Number(text) * 1_000,
		Math.max(0, Date.parse(text) - Date.now()),
	];
	const ms = waits.find((wait) => wait >= 0);
	return ms === undefined ? undefined : Math.min(ms, maxRetryMs);
}
