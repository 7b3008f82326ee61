import { expect, test } from "bun:test";
import { createWriter } from "../../../../src/bot/features/chat/chat-writer.ts";
import { until } from "../../../support/until.ts";

test("the parts of an answer are all of it, also where a message ends with a line that was not over yet", async () => {
	const sent: string[] = [];
	const writer = createWriter({
		pen: {
			async send(content, number) {
				sent.push(content);
				return { id: String(number), content };
			},
			async edit() {},
		},
		paceMs: () => 1,
		onMessage() {},
		signal: new AbortController().signal,
	});
	// As much as a message takes before it is cut; what follows says where.
	const line = "x".repeat(1_932);
	writer.update(line);
	await until("it is shown", () => sent.length === 1);
	const text = `${line}\n${"y".repeat(3_000)}`;
	await writer.finish(text);
	expect(sent[0]).toBe(line);
	const parts = writer.written.map(({ from, to }) => text.slice(from, to));
	expect(parts.join("")).toBe(text);
});
