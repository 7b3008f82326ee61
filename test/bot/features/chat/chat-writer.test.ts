import { expect, test } from "bun:test";
import { createWriter } from "../../../../src/bot/features/chat/chat-writer.ts";
import { until } from "../../../support/until.ts";

test("the parts cover the whole text, even if a line break at a cut came later", async () => {
	const sent: string[] = [];
	const writer = createWriter({
		api: {
			async send(content, number) {
				sent.push(content);
				return { id: String(number), content };
			},
			async edit() {},
		},
		editIntervalMs: () => 1,
		onMessage() {},
		signal: new AbortController().signal,
	});
	// As long as a message gets before it is cut.
	const line = "x".repeat(1_932);
	writer.update(line);
	await until("it is shown", () => sent.length === 1);
	const text = `${line}\n${"y".repeat(3_000)}`;
	await writer.finish(text);
	expect(sent[0]).toBe(line);
	const parts = writer.written.map(({ from, to }) => text.slice(from, to));
	expect(parts.join("")).toBe(text);
});

test("an edit waits for the edit interval, the last one too", async () => {
	const stopped = new AbortController();
	const start = (intervalMs: number) => {
		const edits: string[] = [];
		let sent = 0;
		const writer = createWriter({
			api: {
				send: async (content) => ({ id: String(++sent), content }),
				edit: async (_, content) => void edits.push(content),
			},
			editIntervalMs: () => intervalMs,
			onMessage() {},
			signal: stopped.signal,
		});
		writer.update("one");
		return { writer, edits, sent: () => sent };
	};
	const patient = start(3_600_000);
	const quick = start(1);
	const both = [patient, quick];
	await until("both have sent", () => both.every(({ sent }) => sent() === 1));
	for (const { writer } of both) writer.update("one two");
	await until("the quick one has edited", () => quick.edits.length === 1);
	expect(patient.edits).toEqual([]);
	// The final text waits for it as well.
	for (const { writer } of both) void writer.finish("one two three");
	await quick.writer.done;
	expect(quick.edits).toEqual(["one two", "one two three"]);
	expect(patient.edits).toEqual([]);
	stopped.abort();
	await patient.writer.done;
});
