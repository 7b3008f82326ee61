// Do the models of real providers call the right tool? Ten questions to each whose API key is in the environment. The
// simulated provider takes part, so that the test itself is known to work.

import { expect, test } from "bun:test";
import { type AnswerEnd, createAi } from "../../src/ai/ai.ts";
import { builtInProviders, type ProviderSettings } from "../../src/ai/providers.ts";
import { startAiProvider } from "../../src/simulator/ai/ai-provider.ts";
import { recordLog } from "../support/log.ts";

const city = { type: "string", description: "Its English name alone, without the country." };
const parameters = { type: "object", properties: { city }, required: ["city"] };
const tools = [
	{ name: "get_weather", description: "Get the current weather in a city.", parameters },
	{ name: "get_local_time", description: "Get the current time of day in a city.", parameters },
];
const questions = ["Paris", "Tokyo", "Lima", "Cairo", "Oslo"].flatMap((city) => [
	{ content: `What is the weather like in ${city} now? Use a tool.`, name: "get_weather", arguments: { city } },
	{ content: `What time is it in ${city} now? Use a tool.`, name: "get_local_time", arguments: { city } },
]);

async function askAll(name: string, settings: ProviderSettings, key?: string) {
	const providers = { [name]: { ...settings, api_key_env: key && "X_API_KEY" } };
	const apiKeys = { X_API_KEY: key ?? "" };
	const ai = createAi({ settings: { order: [name], providers }, apiKeys, log: recordLog().log });
	for (const { content, ...call } of questions) {
		let end: AnswerEnd | undefined;
		const question = { role: "user", content } as const;
		const text = (await ai?.complete([question], { tools, onEnd: (given) => (end = given) })) ?? "";
		const { toolCalls = [], usage } = end ?? {};
		const called = toolCalls.map(({ name, arguments: args }) => ({ content, name, arguments: JSON.parse(args) }));
		expect(called).toEqual([{ content, ...call }]);
		expect(usage).toBeDefined();
		const results = toolCalls.map(({ id }) => ({ role: "tool", callId: id, content: "22 °C, 14:07" }) as const);
		const messages = [question, { role: "assistant", content: text, toolCalls } as const, ...results];
		expect(await ai?.complete(messages, { tools })).toMatch(/22|14|2:07/);
	}
}

for (const [name, settings] of Object.entries(builtInProviders)) {
	const { api_key_env: variable = "OLLAMA_URL", url } = settings;
	const given = process.env[variable];
	const [own, key] = name === "ollama" ? [given && `${given}/v1`] : [url, given];
	const title = `${name} calls the right tools (skipped without ${variable})`;
	test.skipIf(!given)(title, () => askAll(name, { ...settings, url: own }, key), 600_000);
}

test("the simulated provider calls the right tools", async () => {
	await using simulation = await startAiProvider();
	simulation.script = questions.flatMap(({ content: _, ...call }) => [{ calls: [call] }, { text: "It is 22 °C." }]);
	await askAll("simulated", { url: simulation.url, model: "simulated" }, simulation.key);
});
