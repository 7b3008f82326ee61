// Error responses in the forms in which providers send them.

import { expect, setSystemTime, test } from "bun:test";
import type { AiErrorKind } from "../../src/ai/error.ts";
import { toAiError } from "../../src/ai/error-response.ts";

const requestError = (message: string, code = "invalid_request_error") => ({
	error: { message, type: "invalid_request_error", code },
});
const bodies = {
	"OpenAI: wrong key": requestError("Incorrect API key", "invalid_api_key"),
	"OpenAI: no balance": { error: { type: "insufficient_quota", code: "insufficient_quota" } },
	"OpenAI: too long": requestError("too long", "context_length_exceeded"),
	"DeepSeek: refused content": requestError("Content Exists Risk"),
	"Gemini: wrong key": [
		{ error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } },
	],
	"Gemini: rate limit": [{ error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
	"OpenRouter: moderation": { error: { code: 403, message: "your input was flagged" } },
	"in a stream: overloaded": { error: { code: 503, message: "busy" } },
	"in a stream: rate limit": { error: { code: "429", message: "slow down" } },
	"Ollama: unknown model": { error: { message: 'model "x" not found', type: "api_error" } },
	"HTML of a proxy": undefined,
	"error as a string": { error: "flagged" },
	"codes that quote the request": { error: { code: "private words", type: "sk-Secret Key" } },
	"unknown JSON": [null, 7],
};

test.each<[keyof typeof bodies, number, AiErrorKind, detail: string]>([
	["OpenAI: wrong key", 401, "key", "HTTP 401, invalid_api_key"],
	["OpenAI: no balance", 429, "key", "HTTP 429, insufficient_quota"],
	["OpenAI: too long", 400, "rejected", "HTTP 400, context_length_exceeded"],
	["DeepSeek: refused content", 400, "refused", "HTTP 400, invalid_request_error"],
	["Gemini: wrong key", 400, "key", "HTTP 400"],
	["Gemini: rate limit", 429, "limited", "HTTP 429"],
	["OpenRouter: moderation", 403, "refused", "HTTP 403"],
	["in a stream: overloaded", 502, "unavailable", "HTTP 503"],
	["in a stream: rate limit", 502, "limited", "HTTP 429"],
	["Ollama: unknown model", 404, "rejected", "HTTP 404, api_error"],
	["HTML of a proxy", 503, "unavailable", "HTTP 503"],
	["error as a string", 400, "refused", "HTTP 400"],
	["codes that quote the request", 500, "unavailable", "HTTP 500"],
	["unknown JSON", 422, "rejected", "HTTP 422"],
])("%s (%d) is %j", (name, status, kind, detail) => {
	const error = toAiError(status, new Headers(), bodies[name]);
	expect(error.kind).toBe(kind);
	expect(error.details).toEqual({ detail, retryAfterMs: undefined });
});

const retryAfterMs = (headers: Record<string, string>) => toAiError(429, new Headers(headers), {}).details.retryAfterMs;

test.each<[headers: Record<string, string>, ms: number | undefined]>([
	[{ "retry-after": "7" }, 7_000],
	[{ "retry-after-ms": "250", "retry-after": "7" }, 250],
	[{ "retry-after": "0" }, 0],
	[{ "retry-after": "Infinity" }, 86_400_000],
	[{ "retry-after-ms": "9e99" }, 86_400_000],
	[{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
	[{ "retry-after": "soon" }, undefined],
	[{ "retry-after": "-3" }, 0],
	[{}, undefined],
])("%j is %p ms", (headers, ms) => {
	expect(retryAfterMs(headers)).toBe(ms);
});

test("a Retry-After date is relative to now", () => {
	setSystemTime(new Date("2026-02-28T23:59:30Z"));
	try {
		const date = "Sun, 01 Mar 2026 00:00:30 GMT";
		expect(retryAfterMs({ "retry-after": date })).toBe(60_000);
	} finally {
		setSystemTime();
	}
});
