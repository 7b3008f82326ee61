// `--check` asks each AI provider, and says what to do where one does not answer.

import { expect, test } from "bun:test";
import { providerChecks } from "../../../src/bot/ai/check.ts";
import type { ProviderSettings } from "../../../src/bot/config/ai-providers.ts";
import { runChecks } from "../../../src/lib/check.ts";
import { startAiProvider } from "../../../src/simulator/ai/ai-provider.ts";
import type { AiMisbehaviour } from "../../../src/simulator/ai/chat-completions.ts";
import { recordLog } from "../../support/log.ts";

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
			{
				providers: {
					mine: {
						url: provider.url,
						model: "simulated",
						api_key_env: "MINE_API_KEY",
						...settings,
					},
				},
			},
			{ MINE_API_KEY: key ?? provider.key },
			kind === "slow" ? 50 : undefined,
		),
		{ log, write: (line) => lines.push(line) },
	);
	const shown = lines.join("\n").replaceAll(provider.url, "URL");
	expect(shown).not.toContain(provider.key);
	return { passed, shown, requests: provider.requests };
}

test("one that answers has its tick, and is asked for a word", async () => {
	const { passed, shown, requests } = await check();
	expect(shown).toBe("✓ AI provider mine: simulated answered\n1 passed");
	expect(passed).toBe(true);
	expect(requests).toHaveLength(1);
	expect(requests[0]?.body).toMatchObject({ max_tokens: 16 });
});

test.each(["empty", "length"] as const)(
	"one that thinks more than it says answers as well (%s)",
	async (kind) => {
		expect((await check(kind)).passed).toBe(true);
	},
);

test("one that is asked too often is no fault", async () => {
	const { passed, shown } = await check("429");
	expect(passed).toBe(true);
	expect(shown).toStartWith("! AI provider mine: rate limited");
});

test.each([
	[
		"401",
		/does not accept the key in MINE_API_KEY \(HTTP 401, .*\n.*MINE_API_KEY/,
	],
	["no-money", /\(HTTP 402, insufficient_balance\)\n.*money left/],
	[
		"404",
		/a request to simulated \(HTTP 404, .*\n.*ai\.providers\.mine\.model/,
	],
	[
		"html",
		/its response is not OpenAI-compatible: .*\n.*before \/chat\/completions; it is URL/,
	],
	["500", /no answer: HTTP 500\n.*reach URL\?/],
	["slow", /no answer: .* 0\.05 seconds\n.*reach URL\?/],
] as const)("%s has a cross, with what to do", async (kind, expected) => {
	const { passed, shown } = await check(kind);
	expect(passed).toBe(false);
	expect(shown).toMatch(expected);
	expect(shown).toStartWith("✗ AI provider mine: ");
});

test("one that wants a key, and has none, says where to name it", async () => {
	const { shown } = await check(undefined, {
		settings: { api_key_env: undefined },
	});
	expect(shown).toMatch(
		/it requires a key .*\n.*ai\.providers\.mine\.api_key_env/,
	);
});

test("a wrong key is not shown, though the provider quotes it", async () => {
	const { passed, shown } = await check(undefined, { key: "sk-wrong-key" });
	expect(passed).toBe(false);
	expect(shown).not.toContain("sk-wrong-key");
});

test("providers that would not be asked are not asked now", () => {
	expect(providerChecks({}, {})).toEqual([]);
	expect(providerChecks({ order: [] }, { OPENAI_API_KEY: "k" })).toEqual([]);
});
