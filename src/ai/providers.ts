// AI providers: built-in ones, those of config.toml, and their failover order.

import { type ConfigIssue, didYouMean } from "../lib/config.ts";
import { type AiSettings, apiKeyPattern, maxTokensFields } from "./settings.ts";

type Providers = NonNullable<AiSettings["providers"]>;

/** Missing ones come from the built-in provider of the same name, then from defaults. */
export type ProviderSettings = Providers[string];

export type AiProvider = NonNullable<ReturnType<typeof describe>>;

/** They need only an API key, are tried in this order, and config.toml overrides them. */
export const builtInProviders: Readonly<Record<string, ProviderSettings>> = {
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
	anthropic: { url: "https://api.anthropic.com/v1", model: "claude-haiku-4-5", api_key_env: "ANTHROPIC_API_KEY" },
	// https://openrouter.ai/docs
	openrouter: { url: "https://openrouter.ai/api/v1", model: "openrouter/auto", api_key_env: "OPENROUTER_API_KEY" },
	// https://docs.ollama.com/api/openai-compatibility; it may have to load the model first.
	ollama: { url: "http://127.0.0.1:11434/v1", model: "llama3.2", timeout_seconds: 300, silence_seconds: 120 },
};

export const providerDefaults = {
	max_tokens: 1_024,
	max_tokens_field: maxTokensFields[0],
	timeout_seconds: 60,
	silence_seconds: 30,
} as const;

/** By the name of their variable. */
export type ApiKeys = Readonly<Record<string, string>>;

/** In the order of trying: `order`, or all configured or with a key. Incomplete ones are left out. */
export function chooseProviders({ order, providers = {} }: AiSettings, apiKeys: ApiKeys): AiProvider[] {
	return (order ?? namesOf(providers)).flatMap((name) => {
		const provider = describe(name, settingsOf(name, providers), apiKeys);
		if (!provider) return [];
		// A provider without a key is used only if configured explicitly.
		const isExplicit = order !== undefined || Object.hasOwn(providers, name);
		return provider.apiKey !== undefined || isExplicit ? [provider] : [];
	});
}

/** What the schema cannot find, such as unknown providers. `values`: not yet validated. */
export function aiIssues(values: Readonly<Record<string, unknown>>, apiKeys: ApiKeys): ConfigIssue[] {
	const ai = Object(values.ai) as Record<string, unknown>;
	const providers = Object(ai.providers) as Providers;
	const order: unknown[] = Array.isArray(ai.order) ? ai.order : [];
	const names = namesOf(providers);
	const issue = (message: string): ConfigIssue => ({ path: ["ai", "order"], message });
	const orderIssues = order.flatMap((name, index) => {
		if (typeof name !== "string") return []; // Reported by the schema.
		if (order.indexOf(name) < index) return [issue(`names ${name} twice`)];
		if (!names.includes(name))
			return [issue(`expected the name of an AI provider, received ${JSON.stringify(name)}${didYouMean(name, names)}`)];
		const variable = settingsOf(name, providers).api_key_env;
		return variable === undefined || apiKeys[variable] !== undefined
			? []
			: [issue(`the AI provider ${name} has no API key: set ${variable} in .env`)];
	});
	return [
		...orderIssues,
		...names.flatMap((name) => incompleteProviderIssues(name, providers)),
		...Object.entries(providers).flatMap(([name, own]) => missingKeyIssues(name, own, apiKeys)),
	];
}

// Any other value may be an API key and must not be shown.
function isKeyName(name: unknown): name is string {
	return typeof name === "string" && apiKeyPattern.test(name);
}

/** `values`: config.toml, not yet validated. */
export function keyVariables(values: Readonly<Record<string, unknown>>): string[] {
	const providers = Object(Object(values.ai).providers) as Providers;
	return namesOf(providers).flatMap((name) => {
		const variable: unknown = settingsOf(name, providers).api_key_env;
		return isKeyName(variable) ? [variable] : [];
	});
}

function missingKeyIssues(name: string, own: unknown, apiKeys: ApiKeys): ConfigIssue[] {
	const { api_key_env: variable } = Object(own) as { api_key_env?: unknown };
	if (!isKeyName(variable) || apiKeys[variable] !== undefined) return [];
	const message = `the variable ${variable} is not set: put the key into .env as ${variable}=…, or leave this line out where the provider wants no key`;
	return [{ path: ["ai", "providers", name, "api_key_env"], message }];
}

function incompleteProviderIssues(name: string, providers: Providers): ConfigIssue[] {
	const settings = settingsOf(name, providers);
	const missing = (["url", "model"] as const).filter((key) => settings[key] === undefined);
	if (missing.length === 0) return [];
	const known = Object.keys(builtInProviders);
	const message = `the AI provider ${name} needs ${missing.join(" and ")}: it is not one of the built-in providers ${known.join(", ")}${didYouMean(name, known)}`;
	return [{ path: ["ai", "providers", name], message }];
}

function namesOf(providers: Providers): string[] {
	const names = [builtInProviders, providers].flatMap(Object.keys);
	return [...new Set(names)];
}

function settingsOf(name: string, providers: Providers): ProviderSettings {
	const [builtIn, own] = [builtInProviders, providers].map((all) => (Object.hasOwn(all, name) ? all[name] : undefined));
	return { ...builtIn, ...own };
}

function describe(name: string, settings: ProviderSettings, apiKeys: ApiKeys) {
	const { url, model, api_key_env: keyVariable } = settings;
	const { max_tokens, max_tokens_field, timeout_seconds, silence_seconds } = providerDefaults;
	const apiKey = keyVariable === undefined ? undefined : apiKeys[keyVariable];
	if (url === undefined || model === undefined) return undefined;
	if (keyVariable !== undefined && apiKey === undefined) return undefined;
	return {
		name,
		url,
		model,
		apiKey,
		keyVariable,
		maxTokens: settings.max_tokens ?? max_tokens,
		maxTokensField: settings.max_tokens_field ?? max_tokens_field,
		temperature: settings.temperature,
		timeoutMs: (settings.timeout_seconds ?? timeout_seconds) * 1_000,
		idleTimeoutMs: (settings.silence_seconds ?? silence_seconds) * 1_000,
		extra: settings.extra ?? {},
	};
}
