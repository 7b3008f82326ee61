// How an answer of AI chat comes about: it grows, it is split, it ends too early, and nothing of it is lost.

import { describe, expect, test } from "bun:test";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import { type ChatStageOptions, startChatStage } from "./chat-stage.ts";

const words = (count: number) =>
	Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

onBoth((databases) => {
	const start = async (options: Partial<ChatStageOptions> = {}) =>
		startChatStage({ place: await databases.place(), ...options });

	describe("an answer that is long in coming", () => {
		test("is one message that grows, edited no more often than Discord takes it", async () => {
			const paceMs = 100;
			await using chat = await start({ times: { paceMs } });
			const said = "a ".repeat(900).trim();
			chat.ai.answer = () => said;
			const asked = await chat.write("ada", `${chat.mention} Tell me`);
			await chat.reply(asked, said);
			const writes = chat.writes();
			expect(writes.map(({ method }) => method)).toEqual([
				"POST",
				...Array(writes.length - 1).fill("PATCH"),
			]);
			expect(writes.length).toBeGreaterThan(2);
			for (const [index, { at }] of writes.slice(1).entries())
				expect(at - (writes[index]?.at ?? 0)).toBeGreaterThanOrEqual(
					paceMs - 5,
				);
			expect(chat.written()).toHaveLength(1);
			const typed = chat.stage.simulator.requests.list(
				"POST /channels/:channel_id/typing",
			);
			expect(typed).toHaveLength(1);
		});

		test("is not edited while nothing new comes", async () => {
			await using chat = await start();
			chat.ai.answer = () => words(20);
			chat.ai.misbehave("slow-pieces");
			const asked = await chat.write("ada", `${chat.mention} Tell me`);
			await chat.reply(asked, "word0");
			await chat.reply(
				await chat.write("zoe", `${chat.mention} Tell me, too`),
				"word0",
			);
			expect(chat.writes()).toHaveLength(2);
			chat.ai.behave();
			await chat.reply(asked, words(20));
		});

		test("is split where it does not fit into a message, and each can be replied to", async () => {
			await using chat = await start();
			const code = Array.from(
				{ length: 300 },
				(_, index) => `line(${index});`,
			).join("\n");
			chat.ai.answer = () => `Look:\n\`\`\`js\n${code}\n\`\`\`\nThat is all.`;
			await chat.write("ada", `${chat.mention} Show me`);
			await until("all of it", () =>
				chat.written().at(-1)?.content.endsWith("That is all."),
			);
			const pieces = chat.written();
			expect(pieces.length).toBeGreaterThan(1);
			for (const { content } of pieces) {
				expect(content.length).toBeLessThanOrEqual(2_000);
				expect(content.match(/```/g)?.length ?? 0).toBe(2);
			}
			expect(
				pieces.slice(1).every(({ message_reference }) => !message_reference),
			).toBe(true);
			const last = pieces.at(-1);
			if (!last) throw new Error("there is one");
			await chat.noted(last);
			await chat.write("ada", "Thanks", { to: last });
			await until("the AI is asked again", () => chat.ai.requests.length === 2);
			expect(chat.told()[1]).toBe(
				`assistant: Look:\n\`\`\`js\n${code}\n\`\`\`\nThat is all.`,
			);
		});

		test("ends at its bound when the provider does not", async () => {
			await using chat = await start({ provider: { max_tokens: 100_000 } });
			chat.ai.misbehave("endless");
			await chat.write("ada", `${chat.mention} Go on`);
			await until("its end", () =>
				chat.written().at(-1)?.content.includes("too long, and ends here"),
			);
			const sum = chat
				.written()
				.reduce((all, { content }) => all + content.length, 0);
			expect(sum).toBeLessThan(9_000);
		});

		test("ends when its question, the answer or the channel is deleted", async () => {
			await using chat = await start();
			const { messages } = chat.stage.simulator.world;
			chat.ai.answer = () => words(30);
			chat.ai.misbehave("slow-pieces");
			const channel = await chat.newChannel();
			const asked = await Promise.all([
				chat.write("ada", `${chat.mention} a`),
				chat.write("zoe", `${chat.mention} b`),
				chat.write("mona_lisa", `${chat.mention} c`, { channel }),
			]);
			const answers = await Promise.all(
				asked.map((one) => chat.reply(one, "word0")),
			);
			const general = asked[0]?.channel_id;
			for (const path of [
				`${general}/messages/${asked[0]?.id}`,
				`${general}/messages/${answers[1]?.id}`,
				channel,
			])
				await chat.as("ada", `DELETE /channels/${path}`);
			await until("the provider is hung up on", () =>
				chat.ai.requests.every(({ outcome }) => outcome === "hung up"),
			);
			chat.ai.behave();
			await chat.reply(
				await chat.write("ada", `${chat.mention} again`),
				words(30),
			);
			expect(messages.get(general ?? "", answers[0]?.id ?? "")?.content).toBe(
				"word0",
			);
			expect(
				chat.stage.logged.lines.filter((line) =>
					/"level":"(warn|error)"/.test(line),
				),
			).toEqual([]);
		});

		test("is one message, and whole, where Discord sent it and did not say so", async () => {
			await using chat = await start({ times: { paceMs: 300 } });
			chat.stage.simulator.faults.drop("POST /channels/:channel_id/messages", {
				...{ when: "after", times: 1, actor: chat.botId },
			});
			chat.ai.answer = () => words(30);
			chat.ai.misbehave("slow-pieces");
			const asked = await chat.write("ada", `${chat.mention} Go`);
			await chat.reply(asked, "word0");
			chat.ai.behave();
			await chat.reply(asked, words(30));
			expect(chat.written()).toHaveLength(1);
		});

		test("waits for Discord's rate limit, and is whole in the end", async () => {
			await using chat = await start();
			const { faults } = chat.stage.simulator;
			faults.rateLimit("PATCH /channels/:channel_id/messages/:message_id", {
				retryAfterMs: 300,
				times: 2,
			});
			faults.fail("POST /channels/:channel_id/messages", 500, {
				times: 1,
				executed: true,
				actor: chat.botId,
			});
			const said = "a ".repeat(900).trim();
			chat.ai.answer = () => said;
			await chat.reply(await chat.write("ada", `${chat.mention} Go`), said);
			expect(chat.written()).toHaveLength(1);
		});
	});

	describe("a provider that fails", () => {
		test.each([
			["500", /^My AI provider cannot be reached/],
			["401", /does not accept my key/],
			["429", /asked too much/],
			["content-filter", /does not want to answer/],
			["dropped", /provider/],
			["empty", /no answer/],
			["html", /no answer/],
			["huge", /no answer/],
		] as const)("(%s) is one friendly sentence", async (kind, sentence) => {
			await using chat = await start();
			chat.ai.misbehave(kind);
			const asked = await chat.write("ada", `${chat.mention} top secret words`);
			const answer = await chat.reply(asked, sentence);
			expect(answer.content.split("\n")).toHaveLength(1);
			expect(chat.written()).toHaveLength(1);
			const logged = chat.stage.logged.lines.join("\n");
			expect(logged).toContain("an AI provider failed");
			for (const hidden of [chat.ai.key, "top secret", "You are Alpha"])
				expect(logged).not.toContain(hidden);
		});

		test.each([
			["cut", /^(Hello\n-# .+\.|My AI provider .+\.)$/],
			["unfinished", /^Hello\n-# .+\.$/],
			["error-event", /^Hello\n-# .+\.$/],
			["filtered", /^Hello\n-# .+\.$/],
			["length", /^Hello\n-# .+\.$/],
		] as const)(
			"(%s) in the middle ends what there is with a note",
			// A connection that breaks may take the first piece with it.
			async (kind, ending) => {
				await using chat = await start();
				chat.ai.answer = () => "Hello there, all of you";
				chat.ai.misbehave(kind);
				const asked = await chat.write("ada", `${chat.mention} Hi`);
				await chat.reply(asked, ending);
				chat.ai.behave();
			},
		);

		test("a question that failed is part of the next one's conversation", async () => {
			await using chat = await start();
			chat.ai.misbehave("content-filter", { times: 1 });
			const failed = await chat.reply(
				await chat.write("ada", `${chat.mention} one`),
				/does not want/,
			);
			await chat.reply(
				await chat.write("ada", "try again", { to: failed }),
				/try again$/,
			);
			expect(chat.told()).toEqual(["user: Ada: one", "user: Ada: try again"]);
		});

		test("that takes too long is given up", async () => {
			await using chat = await start({ times: { maxAnswerMs: 50 } });
			chat.ai.misbehave("slow");
			await chat.reply(
				await chat.write("ada", `${chat.mention} Hi`),
				/took too long/,
			);
		});
	});

	describe("where Discord refuses the answer", () => {
		test("nothing is sent again, the log says why, and the next question is answered", async () => {
			await using chat = await start();
			const refused = chat.stage.simulator.faults.refuse(
				"POST /channels/:channel_id/messages",
				50_013,
				{ actor: chat.botId, times: 1 },
			);
			chat.ai.misbehave("slow-pieces", { times: 1 });
			await chat.write("ada", `${chat.mention} strawberry`);
			// Nobody could read the rest.
			await until("the provider is hung up on", () =>
				chat.ai.requests.some(({ outcome }) => outcome === "hung up"),
			);
			const logged = await until("it is logged", () =>
				chat.stage.logged.lines.find((line) =>
					line.includes("an answer could not be written"),
				),
			);
			expect(refused.hits).toBe(1);
			expect(logged).toContain("50013");
			expect(logged).not.toContain("strawberry");
			await chat.reply(
				await chat.write("ada", `${chat.mention} again`),
				/again$/,
			);
			expect(chat.written()).toHaveLength(1);
		});
	});
});
