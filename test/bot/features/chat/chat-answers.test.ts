// How an answer of AI chat comes about: it grows, it is split, it ends too early, and nothing of it is lost.

import { describe, expect, test } from "bun:test";
import { until } from "../../../support/until.ts";
import { oneStage, startChatStage, words } from "./chat-stage.ts";

describe("an answer that is long in coming", () => {
	const { chat, place } = oneStage({ provider: { max_tokens: 100_000 } });

	test("is one message that grows", async () => {
		const { ai, mention, reply, stage, write, written, writes } = chat();
		const { person, channel } = await place();
		const said = "a ".repeat(900).trim();
		ai.answer = () => said;
		const asked = await write(person, `${mention} Tell me`, { channel });
		await reply(asked, said);
		const all = writes().filter(({ path }) => path.includes(channel));
		expect(all.map(({ method }) => method)).toEqual([
			"POST",
			...Array(all.length - 1).fill("PATCH"),
		]);
		expect(all.length).toBeGreaterThan(2);
		expect(written(channel)).toHaveLength(1);
		const typed = stage.simulator.requests
			.list("POST /channels/:channel_id/typing")
			.filter(({ path }) => path.includes(channel));
		expect(typed).toHaveLength(1);
	});

	test("is not edited while nothing new comes", async () => {
		const { ai, mention, reply, write, writes } = chat();
		const { person, channel } = await place();
		ai.answer = () => words(20);
		ai.misbehave("slow-pieces");
		const asked = await write(person, `${mention} Tell me`, { channel });
		await reply(asked, "word0");
		await reply(
			await write("zoe", `${mention} Tell me, too`, { channel }),
			"word0",
		);
		expect(writes().filter(({ path }) => path.includes(channel))).toHaveLength(
			2,
		);
		ai.behave();
		await reply(asked, words(20));
	});

	test("is split where it does not fit into a message, and each can be replied to", async () => {
		const { ai, mention, noted, told, write, written } = chat();
		const { person, channel } = await place();
		const code = Array.from(
			{ length: 300 },
			(_, index) => `line(${index});`,
		).join("\n");
		const said = `Look:\n\`\`\`js\n${code}\n\`\`\`\nThat is all.`;
		ai.answer = () => said;
		await write(person, `${mention} Show me`, { channel });
		await until("all of it", () =>
			written(channel).at(-1)?.content.endsWith("That is all."),
		);
		const pieces = written(channel);
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
		await noted(last);
		const before = ai.requests.length;
		await write(person, "Thanks", { to: last });
		await until(
			"the AI is asked again",
			() => ai.requests.length === before + 1,
		);
		expect(told()[1]).toBe(`assistant: ${said}`);
	});

	test("ends at its bound when the provider does not", async () => {
		const { ai, mention, write, written } = chat();
		const { person, channel } = await place();
		ai.misbehave("endless", { times: 1 });
		await write(person, `${mention} Go on`, { channel });
		await until("its end", () =>
			written(channel).at(-1)?.content.includes("too long, and ends here"),
		);
		const sum = written(channel).reduce(
			(all, { content }) => all + content.length,
			0,
		);
		expect(sum).toBeLessThan(9_000);
	});

	test("ends when its question, the answer or the channel is deleted", async () => {
		const { ai, as, mention, reply, stage, write } = chat();
		const { person, channel } = await place();
		const { channel: other } = await place();
		const { messages } = stage.simulator.world;
		const loggedBefore = stage.logged.lines.length;
		const asked = ai.requests.length;
		ai.answer = () => words(30);
		ai.misbehave("slow-pieces");
		const questions = await Promise.all([
			write("ada", `${mention} a`, { channel }),
			write("zoe", `${mention} b`, { channel }),
			write("mona_lisa", `${mention} c`, { channel: other }),
		]);
		const answers = await Promise.all(
			questions.map((one) => reply(one, "word0")),
		);
		for (const path of [
			`${channel}/messages/${questions[0]?.id}`,
			`${channel}/messages/${answers[1]?.id}`,
			other,
		])
			await as("ada", `DELETE /channels/${path}`);
		await until("the provider is hung up on", () =>
			ai.requests.slice(asked).every(({ outcome }) => outcome === "hung up"),
		);
		ai.behave();
		await reply(
			await write(person, `${mention} again`, { channel }),
			words(30),
		);
		expect(messages.get(channel, answers[0]?.id ?? "")?.content).toBe("word0");
		expect(
			stage.logged.lines
				.slice(loggedBefore)
				.filter((line) => /"level":"(warn|error)"/.test(line)),
		).toEqual([]);
	});

	test("is one message, and whole, where Discord sent it and did not say so", async () => {
		const { ai, botId, mention, reply, stage, write, written } = chat();
		const { person, channel } = await place();
		stage.simulator.faults.drop("POST /channels/:channel_id/messages", {
			...{ when: "after", times: 1, actor: botId },
		});
		ai.answer = () => words(30);
		ai.misbehave("slow-pieces");
		const asked = await write(person, `${mention} Go`, { channel });
		await reply(asked, "word0");
		ai.behave();
		await reply(asked, words(30));
		expect(written(channel)).toHaveLength(1);
	});

	test("waits for Discord's rate limit, and is whole in the end", async () => {
		const { ai, botId, mention, reply, stage, write, written } = chat();
		const { person, channel } = await place();
		const { faults } = stage.simulator;
		const limited = faults.rateLimit(
			"PATCH /channels/:channel_id/messages/:message_id",
			{ retryAfterMs: 50, times: 2 },
		);
		faults.fail("POST /channels/:channel_id/messages", 500, {
			times: 1,
			executed: true,
			actor: botId,
		});
		const said = words(30);
		ai.answer = () => said;
		ai.misbehave("slow-pieces");
		const asked = await write(person, `${mention} Go`, { channel });
		await reply(asked, "word0");
		ai.behave();
		await reply(asked, said);
		expect(limited.hits).toBe(2);
		expect(written(channel)).toHaveLength(1);
	});
});

describe("a provider that fails", () => {
	const { chat, place } = oneStage();

	test.each([
		["500", /^My AI provider cannot be reached/],
		["401", /does not accept my key/],
		["429", /limiting my requests/],
		["content-filter", /does not want to answer/],
		["dropped", /provider/],
		["empty", /invalid response/],
		["html", /invalid response/],
		["huge", /invalid response/],
	] as const)("(%s) is one friendly sentence", async (kind, sentence) => {
		const { ai, mention, reply, stage, write, written } = chat();
		const { person, channel } = await place();
		const before = stage.logged.lines.length;
		ai.misbehave(kind, { times: 1 });
		const answer = await reply(
			await write(person, `${mention} top secret words`, { channel }),
			sentence,
		);
		expect(answer.content.split("\n")).toHaveLength(1);
		expect(written(channel)).toHaveLength(1);
		const logged = stage.logged.lines.slice(before).join("\n");
		expect(logged).toContain("AI provider failed");
		for (const hidden of [ai.key, "top secret", "You are Alpha"])
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
			const { ai, mention, reply, write } = chat();
			const { person, channel } = await place();
			ai.answer = () => "Hello there, all of you";
			ai.misbehave(kind, { times: 1 });
			await reply(await write(person, `${mention} Hi`, { channel }), ending);
		},
	);

	test("a question that failed is part of the next one's conversation", async () => {
		const { ai, mention, reply, told, write } = chat();
		const { person, channel } = await place();
		ai.misbehave("content-filter", { times: 1 });
		const failed = await reply(
			await write(person, `${mention} one`, { channel }),
			/does not want/,
		);
		await reply(await write(person, "try again", { to: failed }));
		expect(told()).toEqual([
			`user: ${person}: one`,
			`user: ${person}: try again`,
		]);
	});

	test("that takes too long is given up", async () => {
		await using late = await startChatStage({
			timing: { answerTimeoutMs: 50 },
		});
		late.ai.misbehave("slow");
		await late.reply(
			await late.write("ada", `${late.mention} Hi`),
			/took too long/,
		);
	});
});

describe("where Discord refuses the answer", () => {
	test("nothing is sent again, the log says why, and the next question is answered", async () => {
		await using chat = await startChatStage();
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
		await chat.reply(
			await chat.write("ada", `${chat.mention} again`),
			/again$/,
		);
		const [logged] = chat.stage.logged.entries("chat answer not sent");
		expect(refused.hits).toBe(1);
		expect(JSON.stringify(logged)).toContain("50013");
		expect(chat.stage.logged.lines.join("\n")).not.toContain("strawberry");
		expect(chat.written()).toHaveLength(1);
	});
});
