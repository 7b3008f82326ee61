// Refusals in the forms in which providers send them.

import { expect, setSystemTime, test } from "bun:test";
import { AiError, type AiErrorKind } from "../../../src/bot/ai/error.ts";
import { toAiError } from "../../../src/bot/ai/refusal.ts";

interface Row {
	what: string;
	status: number;
	body: unknown;
	kind: AiErrorKind;
	detail: string;
}

const rows: Row[] = [
	{
		what: "OpenAI: a wrong key",
		status: 401,
		body: {
			error: {
				message: "Incorrect API key provided: sk-ab***cd.",
				type: "invalid_request_error",
				code: "invalid_api_key",
			},
		},
		kind: "key",
		detail: "HTTP 401, invalid_api_key",
	},
	{
		what: "OpenAI: no money",
		status: 429,
		body: {
			error: {
				message: "You exceeded your current quota.",
				type: "insufficient_quota",
				code: "insufficient_quota",
			},
		},
		kind: "key",
		detail: "HTTP 429, insufficient_quota",
	},
	{
		what: "OpenAI: too many words",
		status: 400,
		body: {
			error: {
				message: "This model's maximum context length is 128000 tokens.",
				type: "invalid_request_error",
				code: "context_length_exceeded",
			},
		},
		kind: "rejected",
		detail: "HTTP 400, context_length_exceeded",
	},
	{
		what: "DeepSeek: what it does not speak of",
		status: 400,
		body: {
			error: {
				message: "Content Exists Risk",
				type: "invalid_request_error",
				code: "invalid_request_error",
			},
		},
		kind: "refused",
		detail: "HTTP 400, invalid_request_error",
	},
	{
		what: "Gemini: a wrong key",
		status: 400,
		body: [
			{
				error: {
					code: 400,
					message: "API key not valid. Please pass a valid API key.",
					status: "INVALID_ARGUMENT",
				},
			},
		],
		kind: "key",
		detail: "HTTP 400",
	},
	{
		what: "Gemini: too often",
		status: 429,
		body: [{ error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
		kind: "limited",
		detail: "HTTP 429",
	},
	{
		what: "OpenRouter: moderation",
		status: 403,
		body: {
			error: {
				code: 403,
				message:
					"Your chosen model requires moderation and your input was flagged",
				metadata: { flagged_input: "private words" },
			},
		},
		kind: "refused",
		detail: "HTTP 403",
	},
	{
		what: "within a stream: overloaded",
		status: 502,
		body: { error: { code: 503, message: "busy" } },
		kind: "unavailable",
		detail: "HTTP 503",
	},
	{
		what: "within a stream: too often",
		status: 502,
		body: { error: { code: "429", message: "slow down" } },
		kind: "limited",
		detail: "HTTP 429",
	},
	{
		what: "Ollama: a model that is not there",
		status: 404,
		body: { error: { message: 'model "x" not found', type: "api_error" } },
		kind: "rejected",
		detail: "HTTP 404, api_error",
	},
	{
		what: "a proxy's page",
		status: 503,
		body: undefined,
		kind: "unavailable",
		detail: "HTTP 503",
	},
	{
		what: "an error that is a text",
		status: 400,
		body: { error: "flagged" },
		kind: "refused",
		detail: "HTTP 400",
	},
	{
		what: "codes that would quote",
		status: 500,
		body: { error: { code: "private words", type: "sk-Secret Key" } },
		kind: "unavailable",
		detail: "HTTP 500",
	},
	{
		what: "nothing of the kind",
		status: 422,
		body: [null, 7],
		kind: "rejected",
		detail: "HTTP 422",
	},
];

for (const { what, status, body, kind, detail } of rows)
	test(`${what} is "${kind}"`, () => {
		const error = toAiError(status, new Headers(), body);
		expect(error.kind).toBe(kind);
		expect(error.details).toEqual({ detail, retryAfterMs: undefined });
	});

test.each([
	[{ "retry-after": "7" }, 7_000],
	[{ "retry-after-ms": "250", "retry-after": "7" }, 250],
	[{ "retry-after": "0" }, 0],
	[{ "retry-after": "Infinity" }, 86_400_000],
	[{ "retry-after-ms": "9e99" }, 86_400_000],
	[{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
	[{ "retry-after": "soon" }, undefined],
	[{ "retry-after": "-3" }, 0],
	[{}, undefined],
] as [Record<string, string>, number | undefined][])(
	"%j is %p ms",
	(headers, expected) => {
		const { retryAfterMs } = toAiError(429, new Headers(headers), {});
		expect(retryAfterMs).toBe(expected as number);
	},
);

test.each([
	[undefined, "later"],
	[0, "in a second"],
	[1_000, "in a second"],
	[1_001, "in 2 seconds"],
	[90_000, "in 90 seconds"],
	[90_001, "in 2 minutes"],
	[120_001, "in 3 minutes"],
])("after %p ms people may try again %s", (retryAfterMs, when) => {
	const { message } = new AiError("limited", { retryAfterMs });
	expect(message).toEndWith(` Please try again ${when}.`);
});

test("a date to come back at is so long from now", () => {
	setSystemTime(new Date("2026-02-28T23:59:30Z"));
	try {
		const headers = { "retry-after": "Sun, 01 Mar 2026 00:00:30 GMT" };
		const error = toAiError(429, new Headers(headers), {});
		expect(error.retryAfterMs).toBe(60_000);
	} finally {
		setSystemTime();
	}
});
