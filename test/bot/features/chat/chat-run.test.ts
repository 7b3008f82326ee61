import { expect, test } from "bun:test";
import type { Question } from "../../../../src/bot/features/chat/chat-question.ts";
import { Run } from "../../../../src/bot/features/chat/chat-run.ts";

test("an answer keeps the first reason to end, and only a deletion stops it before it is told to", () => {
	const run = new Run({ id: "1" } as Question);
	run.end("timeout");
	run.end("restart");
	expect([run.ending.reason, run.stopped.aborted]).toEqual(["timeout", false]);
	run.end("deleted");
	expect([run.ending.reason, run.stopped.aborted]).toEqual(["timeout", true]);
	const other = new Run({ id: "2" } as Question);
	other.stop();
	expect(other.stopped.aborted).toBe(true);
});
