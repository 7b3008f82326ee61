import { expect, test } from "bun:test";
import { createWriter } from "../../../../src/bot/features/chat/chat-writer.ts";
import { until } from "../../../support/until.ts";

/** A writer, and what it has sent and edited. */
function startWriter(intervalMs: number, signal = new AbortController().signal) {
	const sent: string[] = [];
	const edits: string[] = [];
	const writer = createWriter({
		api: {
			send: async (content) => ({ id: String(sent.push(content)), content }),
			edit: async (_, content) => void edits.push(content),
		},
		editIntervalMs: () => intervalMs,
		onMessage() {},
		signal,
	});
	return { writer, sent, edits };
}

test("the parts cover the whole text, even if a line break at a cut came later", async () => {
	const { writer, sent } = startWriter(1);
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
	const patient = startWriter(3_600_000, stopped.signal);
	const quick = startWriter(1, stopped.signal);
	const both = [patient, quick];
	for (const { writer } of both) writer.update("one");
	await until("both have sent", () => both.every(({ sent }) => sent.length === 1));
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
