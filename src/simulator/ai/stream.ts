// Streamed responses, correct and misbehaving ones.

import { type AiMisbehaviour, type Completion, frame, streamEvent, streamEvents } from "./chat-completions.ts";

const hugeLength = 64 * 1024 * 1024;
/** Milliseconds to wait after each stream event, so that it is sent in a TCP packet of its own. */
const pauseMs = 1;
/** Number of waits of 1 ms before a connection is cut, so that the client can first read the data sent so far. */
const turnsBeforeCut = 20;

interface StreamOptions {
	kind: AiMisbehaviour | undefined;
	/** Resolves when the test ends the misbehaviour of the AI provider with `behave()`. */
	released: Promise<void>;
	/** Called once: complete, broken off by the server, or aborted by the client. */
	onEnd(how: "whole" | "broken" | "hung up"): void;
}

class CutOff extends Error {}

/** Streams a completion as server-sent events. If a simulated fault is set, the stream shows that fault. */
export function streamAnswer(answer: Completion, { kind, released, onEnd }: StreamOptions): Response {
	const events = eventsOf(answer, kind, released);
	const encoder = new TextEncoder();
	const stream = new ReadableStream<Uint8Array>({
		async pull(controller) {
			try {
				const { done, value } = await events.next();
				if (!done) {
					controller.enqueue(encoder.encode(value));
					await Bun.sleep(pauseMs);
					return;
				}
				onEnd("whole");
				controller.close();
			} catch (error) {
				if (!(error instanceof CutOff)) throw error;
				onEnd("broken");
				controller.error(undefined);
			}
		},
		cancel: () => onEnd("hung up"),
	});
	return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

async function* eventsOf(
	answer: Completion,
	kind: AiMisbehaviour | undefined,
	released: Promise<void>,
): AsyncGenerator<string> {
	const { model, pieces } = answer;
	if (kind === "dropped") throw new CutOff();
	if (kind === "huge") {
		yield streamEvent(model, { content: "x".repeat(hugeLength) });
		return;
	}
	if (kind === "endless") for (;;) yield streamEvent(model, { content: "and so on ".repeat(10) });
	if (kind === "wrong-types") {
		yield frame({ choices: [{ delta: { content: 7 }, finish_reason: [] }] });
		return;
	}
	if (kind === "empty" || kind === "blank") {
		const blank = kind === "blank" ? [" ", "\n\n"] : [];
		yield* streamEvents({ model, pieces: blank, finish: "stop" });
		return;
	}
	const first = [
		": keep-alive\n\n",
		streamEvent(model, { role: "assistant", content: "" }),
		streamEvent(model, { content: pieces[0] ?? "" }),
	];
	switch (kind) {
		case "cut":
			yield* first;
			for (let turn = 0; turn < turnsBeforeCut; turn++) await Bun.sleep(1);
			throw new CutOff();
		case "unfinished":
			yield* first;
			return;
		case "wrong-json":
			yield* first;
			yield frame('{"choices":[{"delta":');
			return;
		case "length":
		case "filtered":
			yield* first;
			yield streamEvent(model, {}, kind === "length" ? "length" : "content_filter");
			yield frame("[DONE]");
			return;
		case "error-event":
			yield* first;
			yield frame({
				error: { code: 503, message: "The model is overloaded." },
				choices: [{ index: 0, delta: {}, finish_reason: "error" }],
			});
			return;
	}
	let sent = 0;
	for (const event of streamEvents(answer)) {
		if (kind === "slow-pieces" && sent === first.length) await released;
		yield event;
		sent += 1;
	}
}
