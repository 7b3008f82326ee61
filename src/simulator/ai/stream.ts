// Streamed responses, correct and misbehaving ones.

import { type Completion, callEvents, frame, streamEvent, streamEvents } from "./chat-completions.ts";

const hugeLength = 64 * 1024 * 1024;
/** Milliseconds to wait after each stream event, so that it is sent in a TCP packet of its own. */
const pauseMs = 1;
/** Number of waits of 1 ms before a connection is cut, so that the client can first read the data sent so far. */
const turnsBeforeCut = 20;

/** In place of an event: the server breaks the connection off. */
const cutOff = Symbol("cut off");

/** The events of a stream. `released` resolves when the test ends the misbehaviour of the AI provider with `behave()`. */
type Events = (answer: Completion, released: Promise<void>) => Iterable<string | typeof cutOff> | AsyncIterable<string>;

const done = frame("[DONE]");

const beginning = ({ model, pieces }: Completion) => [
	": keep-alive\n\n",
	streamEvent(model, { role: "assistant", content: "" }),
	streamEvent(model, { content: pieces[0] ?? "" }),
];

/** The faults of streams. What each does is in the README. */
export const wrongStreams = {
	"slow-pieces": async function* (answer, released) {
		let sent = 0;
		for (const event of streamEvents(answer)) {
			if (sent === beginning(answer).length) await released;
			yield event;
			sent += 1;
		}
	},
	dropped: () => [cutOff],
	cut: (answer) => [...beginning(answer), cutOff],
	unfinished: beginning,
	huge: ({ model }) => [streamEvent(model, { content: "x".repeat(hugeLength) })],
	endless: function* ({ model }) {
		for (;;) yield streamEvent(model, { content: "and so on ".repeat(10) });
	},
	"wrong-json": (answer) => [...beginning(answer), frame('{"choices":[{"delta":')],
	"wrong-types": () => [frame({ choices: [{ delta: { content: 7 }, finish_reason: [] }] })],
	empty: (answer) => streamEvents({ ...answer, pieces: [] }),
	blank: (answer) => streamEvents({ ...answer, pieces: [" ", "\n\n"] }),
	length: (answer) => [...beginning(answer), streamEvent(answer.model, {}, "length"), done],
	filtered: (answer) => [...beginning(answer), streamEvent(answer.model, {}, "content_filter"), done],
	refusal: ({ model }) => [streamEvent(model, { refusal: "I cannot help with that." }, "stop"), done],
	"cut-arguments": (answer) => [...callEvents(answer).take(2), cutOff],
	"cut-usage": (answer) => [...beginning(answer), streamEvent(answer.model, {}, "stop"), cutOff],
	"error-event": (answer) => [
		...beginning(answer),
		frame({
			error: { code: 503, message: "The model is overloaded." },
			choices: [{ index: 0, delta: {}, finish_reason: "error" }],
		}),
	],
} satisfies Record<string, Events>;

interface StreamOptions {
	events: Events;
	released: Promise<void>;
	/** Called once: complete, broken off by the server, or aborted by the client. */
	onEnd(how: "whole" | "broken" | "hung up"): void;
}

export function streamAnswer(answer: Completion, { events, released, onEnd }: StreamOptions): Response {
	const iterator = inOrder(events(answer, released));
	const encoder = new TextEncoder();
	const stream = new ReadableStream<Uint8Array>({
		async pull(controller) {
			const { done, value } = await iterator.next();
			if (done) {
				onEnd("whole");
				controller.close();
			} else if (value === cutOff) {
				for (let turn = 0; turn < turnsBeforeCut; turn++) await Bun.sleep(1);
				onEnd("broken");
				controller.error(undefined);
			} else {
				controller.enqueue(encoder.encode(value));
				await Bun.sleep(pauseMs);
			}
		},
		cancel: () => onEnd("hung up"),
	});
	return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

async function* inOrder(events: ReturnType<Events>) {
	yield* events;
}
