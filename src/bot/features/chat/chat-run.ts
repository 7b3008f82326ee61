// A chat question from its arrival to its last message, as an explicit state machine.

import type { Question } from "./chat-question.ts";

/** Why an answer ends early. "deleted": its question, one of its messages or its channel was deleted. */
export type EndReason = "deleted" | "restart" | "timeout";

export type RunState =
	/** Waits for a slot. */
	| { name: "waiting" }
	/** The run ended before it had a slot. */
	| { name: "cancelled"; reason: EndReason }
	| { name: "answering" }
	/** The AI request is aborted. The text so far is completed with a note. */
	| { name: "ending"; reason: EndReason }
	/** Nothing more is written. */
	| { name: "stopped"; reason: EndReason };

export type RunEvent =
	| { type: "slot" }
	| { type: "end"; reason: EndReason }
	/** The shutdown grace period is over. */
	| { type: "stop" };

/** Returns the next state. The first reason to end wins; a deletion also stops an answer that is already ending. */
export function transition(state: RunState, event: RunEvent): RunState {
	switch (state.name) {
		case "waiting":
			if (event.type === "slot") return { name: "answering" };
			if (event.type === "end")
				return { name: "cancelled", reason: event.reason };
			return state;
		case "cancelled":
			// The slot was granted at the same moment.
			return event.type === "slot" ? ended(state.reason) : state;
		case "answering":
			return event.type === "end" ? ended(event.reason) : state;
		case "ending": {
			const isOver =
				event.type === "stop" ||
				(event.type === "end" && event.reason === "deleted");
			return isOver ? { name: "stopped", reason: state.reason } : state;
		}
		case "stopped":
			return state;
	}
}

function ended(reason: EndReason): RunState {
	return { name: reason === "deleted" ? "stopped" : "ending", reason };
}

export class Run {
	/** Ids of the question and of the answer's messages. Deleting one of them ends the run. */
	readonly messageIds: Set<string>;
	/** Ids of the answer's messages, in order. */
	readonly answerIds: string[] = [];
	/** Messages of this run that were deleted. They are not stored again. */
	readonly deletedIds = new Set<string>();
	isChannelDeleted = false;
	readonly #ending = new AbortController();
	/** Aborted with an `EndReason` when the run ends early. */
	readonly ending = this.#ending.signal;
	readonly #stopped = new AbortController();
	/** Aborted when nothing more may be written. */
	readonly stopped = this.#stopped.signal;
	#state: RunState = { name: "waiting" };

	constructor(readonly question: Question) {
		this.messageIds = new Set([question.id]);
	}

	/** Whether messages of the answer may exist. */
	get hasAnswer(): boolean {
		const { name } = this.#state;
		return name !== "waiting" && name !== "cancelled";
	}

	dispatch(event: RunEvent): void {
		const state = transition(this.#state, event);
		this.#state = state;
		if ("reason" in state) this.#ending.abort(state.reason);
		if (state.name === "stopped") this.#stopped.abort();
	}
}
