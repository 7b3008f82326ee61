// The streams of the simulated AI, right ones and wrong ones.

import {
	type AiMisbehaviour,
	asEvent,
	asEvents,
	type ChatAnswer,
	frame,
} from "./chat-completions.ts";

const hugeLength = 64 * 1024 * 1024;
/** So that each piece leaves by itself, and what is cut off does not keep company with what was sent. */
const pauseMs = 1;
/** A client that has not read what was sent when the connection is reset loses it: these are turns of its event loop. */
const turnsBeforeCut = 20;

export interface StreamOptions {
	kind: AiMisbehaviour | undefined;
	/** Resolves when the provider is to behave again. */
	released: Promise<void>;
	/** Is told once how it ended. */
	onEnd(how: "whole" | "broken" | "hung up"): void;
}

/** The connection is to end here. */
class CutOff extends Error {}

/** The answer as a stream of events. */
export function streamAnswer(
	answer: ChatAnswer,
	{ kind, released, onEnd }: StreamOptions,
): Response {
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
	return new Response(stream, {
		headers: { "content-type": "text/event-stream" },
	});
}

async function* eventsOf(
	answer: ChatAnswer,
	kind: AiMisbehaviour | undefined,
	released: Promise<void>,
): AsyncGenerator<string> {
	const { model, pieces } = answer;
	if (kind === "dropped") throw new CutOff();
	if (kind === "huge") {
		yield asEvent(model, { content: "x".repeat(hugeLength) });
		return;
	}
	if (kind === "endless")
		for (;;) yield asEvent(model, { content: "and so on ".repeat(10) });
	if (kind === "wrong-types") {
		yield frame({ choices: [{ delta: { content: 7 }, finish_reason: [] }] });
		return;
	}
	if (kind === "empty" || kind === "blank") {
		const blank = kind === "blank" ? [" ", "\n\n"] : [];
		yield* asEvents({ model, pieces: blank, finish: "stop" });
		return;
	}
	const first = [
		": keep-alive\n\n",
		asEvent(model, { role: "assistant", content: "" }),
		asEvent(model, { content: pieces[0] ?? "" }),
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
			yield asEvent(model, {}, kind === "length" ? "length" : "content_filter");
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
	for (const event of asEvents(answer)) {
		if (kind === "slow-pieces" && sent === first.length) await released;
		yield event;
		sent += 1;
	}
}
