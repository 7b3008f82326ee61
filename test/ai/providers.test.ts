// Which AI providers are asked, and what is wrong with a configuration of them.

import { expect, test } from "bun:test";
import { type ApiKeys, builtInProviders, chooseProviders } from "../../src/ai/providers.ts";
import { type AiSettings, apiKeyPattern, isPrivateEnough } from "../../src/ai/settings.ts";
import { issuesIn } from "../bot/config/instance.ts";

const names = (settings: AiSettings, apiKeys: ApiKeys = {}) =>
	chooseProviders(settings, apiKeys).map(({ name }) => name);

const mine = { url: "https://ai.example/v1", model: "small" };

test("without an order, those that have their key are asked: ready-made ones first, then one's own", () => {
	expect(names({})).toEqual([]);
	expect(names({}, { OPENROUTER_API_KEY: "a", GEMINI_API_KEY: "b" })).toEqual(["gemini", "openrouter"]);
	expect(
		names(
			{
				providers: {
					mine,
					locked: { ...mine, api_key_env: "LOCKED_API_KEY" },
					open: { ...mine, api_key_env: "OPEN_API_KEY" },
				},
			},
			{ OPENAI_API_KEY: "a", OPEN_API_KEY: "b", OTHER_API_KEY: "c" },
		),
	).toEqual(["openai", "mine", "open"]);
});

test("what needs no key is asked only where somebody says so", () => {
	expect(names({}, { OPENAI_API_KEY: "a" })).toEqual(["openai"]);
	expect(names({ order: ["ollama"] })).toEqual(["ollama"]);
	expect(names({ providers: { ollama: { model: "qwen3" } } })).toEqual(["ollama"]);
});

test("an order names those who are asked, and nobody else", () => {
	const keys = { OPENAI_API_KEY: "a", GEMINI_API_KEY: "b" };
	expect(names({ order: ["openai", "ollama"] }, keys)).toEqual(["openai", "ollama"]);
	expect(names({ order: [] }, keys)).toEqual([]);
});

test("a section overrides what is ready made, field by field", () => {
	const [provider] = chooseProviders(
		{ order: ["openai"], providers: { openai: { model: "next", max_tokens: 10, api_key_env: "WORK_API_KEY" } } },
		{ WORK_API_KEY: "w", OPENAI_API_KEY: "o" },
	);
	expect(provider).toEqual({
		name: "openai",
		url: "https://api.openai.com/v1",
		model: "next",
		apiKey: "w",
		keyVariable: "WORK_API_KEY",
		maxTokens: 10,
		maxTokensField: "max_completion_tokens",
		temperature: undefined,
		timeoutMs: 60_000,
		idleTimeoutMs: 30_000,
		extra: { reasoning_effort: "low" },
	});
});

test("what is ready made is complete, and its keys are variables that .env may have", () => {
	for (const [name, { url = "", model, api_key_env }] of Object.entries(builtInProviders)) {
		expect(isPrivateEnough(url)).toBe(true);
		expect(url).not.toEndWith("/");
		expect(model).toBeTruthy();
		if (name === "ollama") expect(api_key_env).toBeUndefined();
		else expect(api_key_env).toBe(`${name.toUpperCase()}_API_KEY`);
		if (api_key_env) expect(api_key_env).toMatch(apiKeyPattern);
	}
});

test.each([
	["https://ai.example/v1", true],
	["http://ai.example/v1", false],
	["http://127.0.0.1:11434/v1", true],
	["http://127.1/v1", true],
	["http://localhost:1/v1", true],
	["http://ollama:11434/v1", true],
	["http://host.docker.internal/v1", true],
	["http://nas.local/v1", true],
	["http://local.example/v1", false],
	["http://10.1.2.3/v1", true],
	["http://10.example.com/v1", false],
	["http://192.168.0.9/v1", true],
	["http://192.169.0.9/v1", false],
	["http://172.16.0.1/v1", true],
	["http://172.31.0.1/v1", true],
	["http://172.32.0.1/v1", false],
	["http://172.15.0.1/v1", false],
	["http://8.8.8.8/v1", false],
	["http://[::1]/v1", true],
	["http://[fd00::1]/v1", true],
	["http://[fe80::1]/v1", true],
	["http://[2001:db8::1]/v1", false],
	["http://[fd::1]/v1", false],
	["http://[::ffff:8.8.8.8]/v1", false],
	["http://2130706433/v1", true],
	["http://134744072/v1", false],
])("whether %s keeps a key from strangers: %p", (url, expected) => {
	expect(isPrivateEnough(url)).toBe(expected);
});

test.each([
	[
		'[ai]\norder = ["opnai"]',
		'config.toml: ai.order: expected the name of an AI provider, received "opnai"; did you mean openai?\n    3: order = ["opnai"]\n               ^',
	],
	[
		'[ai]\norder = ["ollama", "openai"]',
		"config.toml: ai.order: the AI provider openai has no API key: set OPENAI_API_KEY in .env\n    3: order = ",
	],
	['[ai]\norder = ["ollama", "ollama"]', "config.toml: ai.order: names ollama twice\n    3: "],
	["[ai]\norder = [3]", "config.toml: ai.order.0: expected text, received 3"],
	[
		'[ai.providers.opnai]\nmodel = "next"',
		"config.toml: ai.providers.opnai: the AI provider opnai needs url: it is not one of the built-in providers deepseek, gemini, openai, anthropic, openrouter, ollama; did you mean openai?\n    2: [ai.providers.opnai]",
	],
	["[ai.providers.mine]", "config.toml: ai.providers.mine: the AI provider mine needs url and model: "],
	[
		'[ai.providers.mine]\nurl = "http://ai.example/v1"\nmodel = "m"',
		"config.toml: ai.providers.mine.url: expected https://; http:// only for this machine and private networks, received ",
	],
	[
		'[ai.providers.openai]\nmodle = "m"\nmax_tokns = 3',
		"config.toml: ai.providers.openai.max_tokns: is not a known key; did you mean max_tokens?\n    4: max_tokns = 3",
	],
	[
		'[ai.providers.openai]\napi_key_env = "sk-1234"',
		"ai.providers.openai.api_key_env: expected the name of a variable such as OPENAI_API_KEY\n    3: api_key_env = …\n",
	],
	[
		"[ai.providers.openai]\nmax_tokens = 0",
		"ai.providers.openai.max_tokens: expected a whole number from 1 to 100000, received 0",
	],
	['[ai.providers.openai.extra]\nmodel = "m"', "ai.providers.openai.extra: expected no model, messages or stream"],
	[
		"[ai.providers.openai.extra]\nsince = 2026-01-01\nbig = 12345678901234567890",
		"ai.providers.openai.extra: expected only texts, numbers",
	],
	['[ai.providers."a b"]\nurl = "https://a.example"\nmodel = "m"', "expected a name of letters"],
	["ai = 3", "config.toml: ai: expected a section, received 3"],
])("%j is an issue", (lines, issue) => {
	expect(issuesIn(lines).join("\n")).toContain(issue);
});

test("a key with what no header can carry is an issue that does not show it", () => {
	expect(issuesIn("", 'OPENAI_API_KEY="se cret"')).toEqual([
		".env: OPENAI_API_KEY: expected visible ASCII without spaces",
	]);
});

test("nothing that every object has is taken for a provider", () => {
	expect(issuesIn('[ai]\norder = ["toString", "__proto__"]')).toEqual([
		expect.stringContaining('expected the name of an AI provider, received "toString"'),
		expect.stringContaining('expected the name of an AI provider, received "__proto__"'),
	]);
	expect(names({ order: ["toString"] })).toEqual([]);
});

test("a provider whose key was never filled in has none", () => {
	const issuesWith = (key: string) => issuesIn('[ai]\norder = ["openai"]', `OPENAI_API_KEY=${key}`);
	expect(issuesWith("your-openai-key").join()).toContain("set OPENAI_API_KEY in .env");
	expect(issuesWith("k")).toEqual([]);
});
