// Answers of AI chat: streamed, split, and ended early by errors and deletions.

import { describe, expect, test } from "bun:test";
import { AiError } from "../../../../src/ai/error.ts";
import { sentenceOf } from "../../../../src/bot/features/chat/chat-answer.ts";
import { render } from "../../../../src/texts/texts.ts";
import { present, until } from "../../../support/until.ts";
import { chatTest, shareChat, startChat, words } from "./running-chat.ts";

describe("a streamed answer", () => {
	const { chat, place } = shareChat({ provider: { max_tokens: 100_000 } });

	test("is one message that is edited as it grows", async () => {
		const { ai, ask, feature, written, writes } = chat();
		const { person, channel } = await place();
		const said = "a ".repeat(900).trim();
		ai.answer = () => said;
		await ask(person, "Tell me", { channel, saying: said });
		const all = writes(channel);
		expect(all.map(({ method }) => method)).toEqual(["POST", ...Array(all.length - 1).fill("PATCH")]);
		expect(all.length).toBeGreaterThan(2);
		expect(written(channel)).toHaveLength(1);
		const typed = feature.simulator.requests
			.list("POST /channels/:channel_id/typing")
			.filter(({ path }) => path.includes(channel));
		expect(typed).toHaveLength(1);
	});

	test("is not edited without new text", async () => {
		const { ai, ask, mention, reply, write, writes } = chat();
		const { person, channel } = await place();
		ai.answer = () => words(20);
		ai.misbehave("slow-pieces");
		const asked = await write(person, `${mention} Tell me`, { channel });
		await reply(asked, "word0");
		await ask("zoe", "Tell me, too", { channel, saying: "word0" });
		expect(writes(channel)).toHaveLength(2);
		ai.behave();
		await reply(asked, words(20));
	});

	test("is split into messages that can each be replied to", async () => {
		const { ai, mention, noted, told, write, written } = chat();
		const { person, channel } = await place();
		const code = Array.from({ length: 300 }, (_, index) => `line(${index});`).join("\n");
		const said = `Look:\n\`\`\`js\n${code}\n\`\`\`\nThat is all.`;
		ai.answer = () => said;
		await write(person, `${mention} Show me`, { channel });
		await until("all of it", () => written(channel).at(-1)?.content.endsWith("That is all."));
		const pieces = written(channel);
		expect(pieces.length).toBeGreaterThan(1);
		for (const { content } of pieces) {
			expect(content.length).toBeLessThanOrEqual(2_000);
			expect(content.match(/```/g)?.length ?? 0).toBe(2);
		}
		expect(pieces.slice(1).every(({ message_reference }) => !message_reference)).toBe(true);
		const last = present(pieces.at(-1));
		await noted(last);
		const before = ai.requests.length;
		await write(person, "Thanks", { to: last });
		await until("the AI is asked again", () => ai.requests.length === before + 1);
		expect(told()[1]).toBe(`assistant: ${said}`);
	});

	test("has no link but those of the personality and of the person who asks", async () => {
		const personality = "Our rules: https://rules.example/all";
		await using chat = await startChat({ config: { personality } });
		const own = "https://ada.example/soup";
		const kept = `${own} https://rules.example/all!`;
		const other = await chat.ask("zoe", "https://zoe.example/x");
		chat.ai.answer = () => `[Click here](https://evil.example/steal), discord.gg/evil https://zoe.example/x ${kept}`;
		const content = `[Click here] ([link removed]), [link removed] [link removed] ${kept}`;
		const answer = await chat.ask("ada", `${own}?`, { to: other, saying: content });
		await chat.noted(answer);
		expect(
			await chat.feature.store.sql`
				SELECT content FROM conversation_messages WHERE message_id = ${answer.id}`,
		).toEqual([{ content }]);
	});

	test("is truncated when it is too long", async () => {
		const { ai, mention, write, written } = chat();
		const { person, channel } = await place();
		ai.misbehave("endless", { times: 1 });
		await write(person, `${mention} Go on`, { channel });
		await until("its end", () => written(channel).at(-1)?.content.includes("too long, and ends here"));
		const sum = written(channel).reduce((all, { content }) => all + content.length, 0);
		expect(sum).toBeLessThan(9_000);
	});

	test("ends when its question, the answer or the channel is deleted", async () => {
		const { ai, as, ask, mention, reply, feature, write } = chat();
		const { person, channel } = await place();
		const { channel: other } = await place();
		const { messages } = feature.simulator.world;
		const loggedBefore = feature.logged.lines.length;
		const asked = ai.requests.length;
		ai.answer = () => words(30);
		ai.misbehave("slow-pieces");
		const questions = await Promise.all([
			write("ada", `${mention} a`, { channel }),
			write("zoe", `${mention} b`, { channel }),
			write("mona_lisa", `${mention} c`, { channel: other }),
		]);
		const answers = await Promise.all(questions.map((one) => reply(one, "word0")));
		for (const path of [`${channel}/messages/${questions[0]?.id}`, `${channel}/messages/${answers[1]?.id}`, other])
			await as("ada", `DELETE /channels/${path}`);
		await until("the AI requests are aborted", () =>
			ai.requests.slice(asked).every(({ outcome }) => outcome === "hung up"),
		);
		ai.behave();
		await ask(person, "again", { channel, saying: words(30) });
		expect(messages.get(channel, answers[0]?.id ?? "")?.content).toBe("word0");
		expect(feature.logged.lines.slice(loggedBefore).filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
	});

	type Faults = ReturnType<typeof chat>["feature"]["simulator"]["faults"];
	const sending = "POST /channels/:channel_id/messages";
	test.each<[string, (faults: Faults, actor: string) => { hits: number }, hits: number]>([
		[
			"when the response to sending it is lost",
			(faults, actor) => faults.drop(sending, { when: "after", times: 1, actor }),
			1,
		],
		[
			"after rate limits and a 500 that was executed",
			(faults, actor) => {
				faults.fail(sending, 500, { times: 1, executed: true, actor });
				return faults.rateLimit("PATCH /channels/:channel_id/messages/:message_id", { retryAfterMs: 50, times: 2 });
			},
			2,
		],
	])("is one complete message %s", async (_, fail, hits) => {
		const { ai, botId, mention, reply, feature, write, written } = chat();
		const { person, channel } = await place();
		const failed = fail(feature.simulator.faults, botId);
		ai.answer = () => words(30);
		ai.misbehave("slow-pieces");
		const asked = await write(person, `${mention} Go`, { channel });
		await reply(asked, "word0");
		ai.behave();
		await reply(asked, words(30));
		expect(failed.hits).toBe(hits);
		expect(written(channel)).toHaveLength(1);
	});
});

describe("a provider that fails", () => {
	const { chat, place } = shareChat();

	test.each([
		["500", /^My AI provider cannot be reached/],
		["401", /my key\. Please tell the people who run this bot/],
		["400", /may be too long/],
		["429", /^My AI provider is limiting my requests at the moment\. Please try again in 7 seconds\.$/],
		["content-filter", /does not want to answer/],
		["dropped", /provider/],
		["empty", /invalid response/],
		["html", /invalid response/],
		["huge", /invalid response/],
	] as const)("(%s) is one sentence in chat, and no text in the log", async (kind, sentence) => {
		const { ai, ask, feature, written } = chat();
		const { person, channel } = await place();
		const before = feature.logged.lines.length;
		ai.misbehave(kind, { times: 1 });
		const answer = await ask(person, "top secret words", { channel, saying: sentence });
		expect(answer.content.split("\n")).toHaveLength(1);
		expect(written(channel)).toHaveLength(1);
		const logged = feature.logged.lines.slice(before).join("\n");
		expect(logged).toContain("request to an AI provider failed");
		for (const hidden of [ai.key, "top secret", "You are Alpha"]) expect(logged).not.toContain(hidden);
	});

	test.each([
		["cut", /^(Hello\n-# .+\.|My AI provider .+\.)$/],
		["unfinished", /^Hello\n-# The answer broke off here\. My AI provider closed the connection\. Please try again\.$/],
		["error-event", /^Hello\n-# .+\.$/],
		["filtered", /^Hello\n-# The answer broke off here\. My AI provider does not want to answer this\.$/],
		["length", /^Hello\n-# .+\.$/],
	] as const)(
		"(%s) midway adds a note to the partial answer",
		// A connection that breaks may take the first piece with it.
		async (kind, ending) => {
			const { ai, ask } = chat();
			const { person, channel } = await place();
			ai.answer = () => "Hello there, all of you";
			ai.misbehave(kind, { times: 1 });
			await ask(person, "Hi", { channel, saying: ending });
		},
	);

	test("a failed question is part of the next one's conversation", async () => {
		const { ai, ask, told } = chat();
		const { person, channel } = await place();
		ai.misbehave("content-filter", { times: 1 });
		const failed = await ask(person, "one", { channel, saying: /does not want/ });
		await ask(person, "try again", { to: failed });
		expect(told()).toEqual([`user: ${person}: one`, `user: ${person}: try again`]);
	});

	chatTest("that takes too long is cancelled", { timing: { answerTimeoutMs: 50 } }, async (late) => {
		late.ai.misbehave("slow");
		await late.ask("ada", "Hi", { saying: /took too long/ });
	});
});

test.each([
	[undefined, "later"],
	[0, "in a second"],
	[1_000, "in a second"],
	[1_001, "in 2 seconds"],
	[90_000, "in 90 seconds"],
	[90_001, "in 2 minutes"],
	[120_001, "in 3 minutes"],
])("a rate limit of %p ms says to try again %s", (retryAfterMs, when) => {
	expect(render(sentenceOf(new AiError("limited", { retryAfterMs })), "en")).toEndWith(` Please try again ${when}.`);
});

test("in a German server the bot's own sentences are German", async () => {
	await using chat = await startChat({
		prepare(simulator) {
			simulator.guild("The Cooks").preferred_locale = "de";
		},
	});
	await chat.ask("ada", "", { saying: /^Was möchtest du wissen\?/ });
	chat.ai.misbehave("429", { times: 1 });
	await chat.ask("ada", "Hi", {
		saying: "Mein KI-Anbieter bremst mich im Moment aus. Bitte versuch es in 7 Sekunden noch einmal.",
	});
	chat.ai.answer = () => "Hallo zusammen";
	chat.ai.misbehave("unfinished", { times: 1 });
	await chat.ask("ada", "Hi", {
		saying: /^Hallo\n-# Hier ist die Antwort abgebrochen\. Mein KI-Anbieter hat die Verbindung/,
	});
});

describe("an answer that Discord refuses", () => {
	chatTest("is not sent again, the log has the reason, and the next question is answered", async (chat) => {
		const refused = chat.feature.simulator.faults.refuse("POST /channels/:channel_id/messages", 50_013, {
			actor: chat.botId,
			times: 1,
		});
		chat.ai.misbehave("slow-pieces", { times: 1 });
		await chat.write("ada", `${chat.mention} strawberry`);
		await until("the AI request is aborted", () => chat.ai.requests.some(({ outcome }) => outcome === "hung up"));
		await chat.ask("ada", "again", { saying: /again$/ });
		const [logged] = chat.feature.logged.entries("AI chat: could not send an answer");
		expect(refused.hits).toBe(1);
		expect(JSON.stringify(logged)).toContain("50013");
		expect(chat.feature.logged.lines.join("\n")).not.toContain("strawberry");
		expect(chat.written()).toHaveLength(1);
	});
});
