// The AI providers: those that are known by name, those of config.toml, and which of them are asked, in which order.

import { type ConfigIssue, didYouMean } from "../../lib/config.ts";
import type { TomlValues } from "./toml.ts";

/** How the longest answer is asked for: most take the first, OpenAI's newer models only the second. */
export const maxTokensFields = ["max_tokens", "max_completion_tokens"] as const;

/** One provider, as config.toml may describe it. What is not there is as in `readyMade`, or as in `byDefault`. */
export interface ProviderSettings {
	url?: string | undefined;
	model?: string | undefined;
	api_key_env?: string | undefined;
	max_tokens?: number | undefined;
	max_tokens_field?: (typeof maxTokensFields)[number] | undefined;
	temperature?: number | undefined;
	timeout_seconds?: number | undefined;
	silence_seconds?: number | undefined;
	extra?: Readonly<Record<string, unknown>> | undefined;
}

export interface AiSettings {
	order?: readonly string[] | undefined;
	providers?: Readonly<Record<string, ProviderSettings>> | undefined;
}

/** A provider that can be asked. */
export interface AiProvider {
	name: string;
	/** Without a slash at its end. */
	url: string;
	model: string;
	/** Undefined where it wants none. */
	apiKey: string | undefined;
	/** What the key is called in .env. */
	keyVariable: string | undefined;
	/** The longest answer. */
	maxTokens: number;
	maxTokensField: (typeof maxTokensFields)[number];
	temperature: number | undefined;
	/** What a whole answer may take. */
	timeoutMs: number;
	/** How long nothing may come, before the first byte and after any other. */
	silenceMs: number;
	/** What else goes into each request. */
	extra: Readonly<Record<string, unknown>>;
}

/**
 * Providers that need only a key, in the order in which they are asked. Names of models age: here they all are, and
 * config.toml overrides them. People wait for the answers, so the models are quick ones, and think little.
 */
export const readyMade: Readonly<Record<string, ProviderSettings>> = {
	// https://api-docs.deepseek.com
	deepseek: {
		url: "https://api.deepseek.com",
		model: "deepseek-flash",
		api_key_env: "DEEPSEEK_API_KEY",
		extra: { thinking: { type: "disabled" } },
	},
	// https://ai.google.dev/gemini-api/docs/openai
	gemini: {
		url: "https://generativelanguage.googleapis.com/v1beta/openai",
		model: "gemini-flash-latest",
		api_key_env: "GEMINI_API_KEY",
		extra: { reasoning_effort: "low" },
	},
	// https://developers.openai.com/api
	openai: {
		url: "https://api.openai.com/v1",
		model: "gpt-6-luna",
		api_key_env: "OPENAI_API_KEY",
		max_tokens_field: "max_completion_tokens",
		extra: { reasoning_effort: "low" },
	},
	// https://docs.anthropic.com/en/api/openai-sdk
	anthropic: {
		url: "https://api.anthropic.com/v1",
		model: "claude-haiku-4-5",
		api_key_env: "ANTHROPIC_API_KEY",
	},
	// https://openrouter.ai/docs
	openrouter: {
		url: "https://openrouter.ai/api/v1",
		model: "openrouter/auto",
		api_key_env: "OPENROUTER_API_KEY",
	},
	// https://docs.ollama.com/api/openai-compatibility; it may have to load the model first.
	ollama: {
		url: "http://127.0.0.1:11434/v1",
		model: "llama3.2",
		timeout_seconds: 300,
		silence_seconds: 120,
	},
};

export const byDefault = {
	max_tokens: 1_024,
	max_tokens_field: maxTokensFields[0],
	timeout_seconds: 60,
	silence_seconds: 30,
} as const;

/** The keys of the providers of AI that are known by name, and of any other: `<NAME>_API_KEY`. */
export const apiKeyPattern = /^[A-Z][A-Z0-9_]*_API_KEY$/;

/** By variable, such as OPENAI_API_KEY. */
export type ApiKeys = Readonly<Record<string, string>>;

/** The providers that can be asked, in their order. Those of `order`; without it, all that have their key. */
export function chooseProviders(
	{ order, providers = {} }: AiSettings,
	apiKeys: ApiKeys,
): AiProvider[] {
	return (order ?? namesOf(providers)).flatMap((name) => {
		const own = ownOf(providers, name);
		const provider = describe(name, own, apiKeys);
		if (!provider) return [];
		// What needs no key is there only where somebody says so.
		const meant = order !== undefined || own !== undefined;
		return provider.apiKey !== undefined || meant ? [provider] : [];
	});
}

/** What is wrong with [ai] beyond the form of its keys, whatever stands there. */
export function aiIssues(values: TomlValues, apiKeys: ApiKeys): ConfigIssue[] {
	const ai = Object(values.ai) as Record<string, unknown>;
	const providers = Object(ai.providers) as Record<string, ProviderSettings>;
	const order: unknown[] = Array.isArray(ai.order) ? ai.order : [];
	const names = namesOf(providers);
	const issue = (message: string): ConfigIssue => ({
		path: ["ai", "order"],
		message,
	});
	const ofOrder = order.flatMap((name, index) => {
		if (typeof name !== "string") return []; // The schema says so.
		if (order.indexOf(name) < index) return [issue(`names ${name} twice`)];
		if (!names.includes(name))
			return [
				issue(
					`names ${JSON.stringify(name)}, and there is no such provider${didYouMean(name, names)}`,
				),
			];
		const variable = settingsOf(name, ownOf(providers, name)).api_key_env;
		return variable === undefined || apiKeys[variable] !== undefined
			? []
			: [
					issue(
						`names ${name}, whose key is not there: set ${variable} in .env`,
					),
				];
	});
	return [
		...ofOrder,
		...names.flatMap((name) => incomplete(name, providers)),
		...Object.entries(providers).flatMap(([name, own]) =>
			keyless(name, own, apiKeys),
		),
	];
}

/** What is no such name may be the key itself, and is not shown. */
function isKeyName(name: unknown): name is string {
	return typeof name === "string" && apiKeyPattern.test(name);
}

/** The variables of the keys of all providers, whatever stands in config.toml. */
export function keyVariables(values: TomlValues): string[] {
	const { providers } = Object(values.ai) as { providers?: object };
	return namesOf(Object(providers)).flatMap((name) => {
		const own = ownOf(Object(providers), name);
		const variable: unknown = settingsOf(name, own).api_key_env;
		return isKeyName(variable) ? [variable] : [];
	});
}

/** What is wrong with the variable that a section names for its key: without it the provider would never be asked. */
function keyless(name: string, own: unknown, apiKeys: ApiKeys): ConfigIssue[] {
	const { api_key_env: variable } = Object(own) as { api_key_env?: unknown };
	if (!isKeyName(variable) || apiKeys[variable] !== undefined) return [];
	return [
		{
			path: ["ai", "providers", name, "api_key_env"],
			message: `names ${variable}, which is not set: put the key into .env as ${variable}=…, or leave this line out where the provider wants no key`,
		},
	];
}

/** What a provider of one's own lacks. */
function incomplete(
	name: string,
	providers: Record<string, ProviderSettings>,
): ConfigIssue[] {
	const { url, model } = settingsOf(name, ownOf(providers, name));
	const missing = [
		...(url === undefined ? ["url"] : []),
		...(model === undefined ? ["model"] : []),
	];
	if (missing.length === 0) return [];
	const known = Object.keys(readyMade);
	return [
		{
			path: ["ai", "providers", name],
			message: `needs ${missing.join(" and ")}: it is none of the ready-made ${known.join(", ")}${didYouMean(name, known)}`,
		},
	];
}

/** All there are, in the order in which they are asked where nothing else is said. */
function namesOf(providers: object): string[] {
	return [...new Set([...Object.keys(readyMade), ...Object.keys(providers)])];
}

function ownOf(
	providers: Readonly<Record<string, ProviderSettings>>,
	name: string,
): ProviderSettings | undefined {
	return Object.hasOwn(providers, name) ? providers[name] : undefined;
}

function settingsOf(
	name: string,
	own: ProviderSettings | undefined,
): ProviderSettings {
	const ready = Object.hasOwn(readyMade, name) ? readyMade[name] : undefined;
	return { ...ready, ...Object(own) };
}

/** Undefined where it lacks what it cannot be asked without. */
function describe(
	name: string,
	own: ProviderSettings | undefined,
	apiKeys: ApiKeys,
): AiProvider | undefined {
	const settings = settingsOf(name, own);
	const { url, model, api_key_env: variable } = settings;
	const apiKey = variable === undefined ? undefined : apiKeys[variable];
	if (url === undefined || model === undefined) return undefined;
	if (variable !== undefined && apiKey === undefined) return undefined;
	return {
		name,
		url,
		model,
		apiKey,
		keyVariable: variable,
		maxTokens: settings.max_tokens ?? byDefault.max_tokens,
		maxTokensField: settings.max_tokens_field ?? byDefault.max_tokens_field,
		temperature: settings.temperature,
		timeoutMs: (settings.timeout_seconds ?? byDefault.timeout_seconds) * 1_000,
		silenceMs: (settings.silence_seconds ?? byDefault.silence_seconds) * 1_000,
		extra: settings.extra ?? {},
	};
}

/** Whether a URL keeps a key and what people write from strangers' eyes: https, or no further than a private network. */
export function isPrivateEnough(url: string): boolean {
	const { protocol, hostname } = URL.parse(url) ?? {};
	if (protocol !== "http:") return protocol === "https:";
	return isPrivateHost(hostname ?? "");
}

function isPrivateHost(hostname: string): boolean {
	const [a = 0, b = 0] = hostname.split(".").map(Number);
	if (/^[\d.]+$/.test(hostname))
		return (
			a === 127 ||
			a === 10 ||
			(a === 172 && b >= 16 && b <= 31) ||
			(a === 192 && b === 168)
		);
	// Unique local and link-local addresses.
	if (hostname.startsWith("["))
		return /^\[(::1\]|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/.test(hostname);
	// A name without a dot is one of this machine, or of a network of containers.
	return (
		!hostname.includes(".") ||
		/\.(localhost|local|internal|lan|home\.arpa)$/.test(hostname)
	);
}
