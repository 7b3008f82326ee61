// The section `ai` of config.toml.

import * as v from "valibot";
import { baseUrl, expected, text, whole } from "../lib/config.ts";

/** OpenAI's newer models accept only `max_completion_tokens`, most others `max_tokens`. */
export const maxTokensFields = ["max_tokens", "max_completion_tokens"] as const;

/** Such as OPENAI_API_KEY. */
export const apiKeyPattern = /^[A-Z][A-Z0-9_]*_API_KEY$/;

/** An https URL, or a host that is local or in a private network. */
export function isPrivateEnough(url: string): boolean {
	const { protocol, hostname } = URL.parse(url) ?? {};
	if (protocol !== "http:") return protocol === "https:";
	return isPrivateHost(hostname ?? "");
}

function isPrivateHost(hostname: string): boolean {
	if (/^[\d.]+$/.test(hostname)) return /^(127|10|172\.(1[6-9]|2\d|3[01])|192\.168)\./.test(hostname);
	// Unique local and link-local addresses.
	if (hostname.startsWith("[")) return /^\[(::1\]|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/.test(hostname);
	// A name without a dot is local or in a container network.
	return !hostname.includes(".") || /\.(localhost|local|internal|lan|home\.arpa)$/.test(hostname);
}

// API keys and messages are sent there.
const providerUrl = v.pipe(
	baseUrl,
	v.check(isPrivateEnough, expected("https://; http:// only for this machine and private networks")),
);

const apiKeyName = v.pipe(v.string(), v.regex(apiKeyPattern, "expected the name of a variable such as OPENAI_API_KEY"));

const extraFields = v.pipe(
	v.record(v.string(), v.unknown()),
	v.check(
		(extra) => !["model", "messages", "stream"].some((key) => key in extra),
		"expected no model, messages or stream: the bot itself sends these fields to the AI provider",
	),
	v.check(
		(extra) => isJson(extra),
		"expected only texts, numbers, true, false, lists and tables: the bot sends this setting as JSON, which has no dates and no integers beyond ±9007199254740991",
	),
);

function isJson(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isJson);
	if (typeof value !== "object") return typeof value !== "bigint";
	return !(value instanceof Date) && Object.values(value ?? {}).every(isJson);
}

const providerName = v.pipe(
	v.string(),
	v.regex(/^[\w-]{1,50}$/, "expected a name of letters, digits, - and _, of at most 50 characters"),
);

const provider = v.strictObject({
	url: v.optional(providerUrl),
	model: v.optional(text(200)),
	api_key_env: v.optional(apiKeyName),
	max_tokens: v.optional(whole(1, 100_000)),
	max_tokens_field: v.optional(v.picklist(maxTokensFields)),
	temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
	timeout_seconds: v.optional(whole(1, 600)),
	silence_seconds: v.optional(whole(1, 600)),
	extra: v.optional(extraFields),
});

/** Missing fields of a provider come from the built-in one of the same name, then from defaults. */
export const aiSettings = v.strictObject({
	order: v.optional(v.array(text(50))),
	providers: v.optional(v.record(providerName, provider)),
});

export type AiSettings = v.InferOutput<typeof aiSettings>;
