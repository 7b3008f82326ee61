import { expect, test } from "bun:test";
import { complete } from "../../src/ai/completion.ts";
import { AiError } from "../../src/ai/error.ts";

test("an answer larger than 8 MiB is an error that names the limit", async () => {
	const comment = `: ${"x".repeat(64 * 1024)}\n\n`;
	await using server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: () => new Response(comment.repeat(128), { headers: { "content-type": "text/event-stream" } }),
	});
	const answer = complete(
		{
			name: "first",
			url: server.url.origin,
			model: "model",
			apiKey: undefined,
			keyVariable: undefined,
			extra: {},
			maxTokens: 100,
			maxTokensField: "max_tokens",
			temperature: undefined,
			timeoutMs: 60_000,
			idleTimeoutMs: 60_000,
		},
		{ messages: [{ role: "user", content: "Hello" }] },
	);
	const error = await answer.next().catch((thrown: unknown) => thrown);
	if (!(error instanceof AiError)) throw new Error("expected an AiError");
	expect(error.kind).toBe("nonsense");
	expect(error.details.detail).toBe("the AI provider's response is larger than 8 MiB");
});
