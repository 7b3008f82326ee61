// The AI providers part of `--check`.

import { expect, test } from "bun:test";
import { providerChecks } from "../../src/ai/check.ts";
import type { ProviderSettings } from "../../src/ai/providers.ts";
import { runChecks } from "../../src/lib/program/check.ts";
import { type AiMisbehaviour, startAiProvider } from "../../src/simulator/ai/ai-provider.ts";
import { recordLog } from "../support/log.ts";

/** The lines for one provider. */
async function check(
	kind?: AiMisbehaviour,
	{ settings = {}, key }: { settings?: ProviderSettings; key?: string } = {},
) {
	await using provider = await startAiProvider();
	if (kind) provider.misbehave(kind);
	const lines: string[] = [];
	const { log } = recordLog();
	const passed = await runChecks(
		providerChecks(
			{ providers: { mine: { url: provider.url, model: "simulated", api_key_env: "MINE_API_KEY", ...settings } } },
			{ MINE_API_KEY: key ?? provider.key },
			kind === "slow" ? 50 : undefined,
		),
		{ log, write: (line) => lines.push(line) },
	);
	const shown = lines.join("\n").replaceAll(provider.url, "URL");
	expect(shown).not.toContain(provider.key);
	return { passed, shown, requests: provider.requests };
}

test("a provider that answers passes, with one short request", async () => {
	const { passed, shown, requests } = await check();
	expect(shown).toBe("✓ AI provider mine: simulated answered\n1 passed");
	expect(passed).toBe(true);
	expect(requests).toHaveLength(1);
	expect(requests[0]?.body).toMatchObject({ max_tokens: 16 });
});

test.each(["empty", "length"] as const)("a provider that uses all tokens for thinking passes (%s)", async (kind) => {
	expect((await check(kind)).passed).toBe(true);
});

test("a rate limit is a warning", async () => {
	const { passed, shown } = await check("429");
	expect(passed).toBe(true);
	expect(shown).toStartWith("! AI provider mine: the AI provider limits the rate of requests");
});

test.each([
	["401", /does not accept the API key in MINE_API_KEY \(HTTP 401, .*\n.*MINE_API_KEY/],
	["no-money", /\(HTTP 402, insufficient_balance\)\n.*money left/],
	["404", /a request to the model simulated \(HTTP 404, .*\n.*ai\.providers\.mine\.model/],
	["html", /the AI provider's response is not OpenAI-compatible: .*\n.*before \/chat\/completions; it is URL/],
	["500", /a request to the AI provider failed: HTTP 500\n.*reach URL\?/],
	["slow", /a request to the AI provider failed: .* 0\.05 seconds\n.*reach URL\?/],
] as const)("%s fails with a next step", async (kind, expected) => {
	const { passed, shown } = await check(kind);
	expect(passed).toBe(false);
	expect(shown).toMatch(expected);
	expect(shown).toStartWith("✗ AI provider mine: ");
});

test("a provider that requires a key fails with the setting for it", async () => {
	const { shown } = await check(undefined, { settings: { api_key_env: undefined } });
	expect(shown).toMatch(/requires an API key .*\n.*ai\.providers\.mine\.api_key_env/);
});

test("a wrong key is not shown, even if the provider quotes it", async () => {
	const { passed, shown } = await check(undefined, { key: "sk-wrong-key" });
	expect(passed).toBe(false);
	expect(shown).not.toContain("sk-wrong-key");
});

test("without configured providers there are no checks", () => {
	expect(providerChecks({}, {})).toEqual([]);
	expect(providerChecks({ order: [] }, { OPENAI_API_KEY: "k" })).toEqual([]);
});
