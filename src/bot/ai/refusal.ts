// What an AI provider's refusal means: its status, its headers, and the error in its body. Its own words are read and
// not passed on: they may quote the key, or what people wrote.

import { AiError, type AiErrorKind } from "./error.ts";

/** In codes, types and messages. DeepSeek has no code for it. */
const aboutContent =
	/content[ _-]?(filter|policy|exists risk|management)|moderation|flagged|prohibited_content|safety/i;
/** Google has 400 for a wrong key. */
const aboutKey = /\bapi[ _-]key\b|API_KEY_INVALID/i;
const aboutMoney = /insufficient[ _](quota|balance|credits?|funds)/i;

/** A refusal as an error. `body` is what the provider sent as JSON, in whatever form. */
export function refusal(
	status: number,
	headers: Headers,
	body: unknown,
): AiError {
	const { codes, words } = errorIn(body);
	// Within a stream the status stands in the error itself.
	const code = codes.map(Number).find((one) => one >= 400 && one < 600);
	const meant = status === 502 && code !== undefined ? code : status;
	const kind = kindOf(meant, `${codes.join(" ")} ${words}`);
	const named = codes.find((one) => /^[a-z_]{1,60}$/.test(one));
	return new AiError(kind, {
		detail: named === undefined ? `HTTP ${meant}` : `HTTP ${meant}, ${named}`,
		retryAfterMs: bounded(retryAfter(headers)),
	});
}

function kindOf(status: number, said: string): AiErrorKind {
	if (status >= 200 && status < 400) return "nonsense";
	if (status === 429) return aboutMoney.test(said) ? "key" : "limited";
	if (status >= 400 && status < 500 && aboutContent.test(said))
		return "refused";
	if (status === 401 || status === 402 || status === 403) return "key";
	if (status === 400 && aboutKey.test(said)) return "key";
	if (status === 408 || status === 425 || status >= 500) return "unavailable";
	return "rejected";
}

/** `{"error":{"code","type","message"}}`, of which Google makes a list. */
function errorIn(body: unknown): { codes: string[]; words: string } {
	const first: unknown = Array.isArray(body) ? body[0] : body;
	const { error = {} } = Object(first) as { error?: unknown };
	if (typeof error === "string") return { codes: [], words: error };
	const { code, type, status, message } = Object(error) as Record<
		string,
		unknown
	>;
	return {
		codes: [code, type, status]
			.filter((one) => typeof one === "string" || typeof one === "number")
			.map(String),
		words: typeof message === "string" ? message.slice(0, 2_000) : "",
	};
}

/** People are told of it: more than a day is no time to wait for. */
const maxRetryMs = 86_400_000;

function bounded(ms: number | undefined): number | undefined {
	return ms === undefined ? undefined : Math.min(ms, maxRetryMs);
}

/** In milliseconds, as the headers have it. */
function retryAfter(headers: Headers): number | undefined {
	const exact = Number(headers.get("retry-after-ms") || Number.NaN);
	if (exact >= 0) return exact;
	const text = headers.get("retry-after");
	if (!text) return undefined;
	const seconds = Number(text);
	if (seconds >= 0) return seconds * 1_000;
	const until = Date.parse(text) - Date.now();
	return Number.isNaN(until) ? undefined : Math.max(0, until);
}
