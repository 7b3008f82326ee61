// A chat question from its arrival to its last message, as an explicit state machine.

import type { Question } from "./chat-question.ts";

/** "deleted": the channel, the question or a message of the answer. "restart": the bot shuts down. */
export type EndReason = "deleted" | "restart" | "timeout";

export type RunState =
	/** The question waits until the guild's limit of concurrent answers allows an answer. */
	| { name: "waiting" }
	/** The question was dropped before the bot began to answer. */
	| { name: "cancelled"; reason: EndReason }
	| { name: "answering" }
	/** The AI request is aborted. The bot completes the text received so far with a note about the early end. */
	| { name: "ending"; reason: EndReason }
	/** The answer is over: the bot sends and edits no more messages for this answer. */
	| { name: "stopped"; reason: EndReason };

export type RunEvent =
	| { type: "slot" }
	| { type: "end"; reason: EndReason }
	/** The bot shuts down and no longer waits for unfinished answers. */
	| { type: "stop" };

/** The first reason is kept; a deletion stops the answer at once, even while a note completes it. */
export function transition(state: RunState, event: RunEvent): RunState {
	switch (state.name) {
		case "waiting":
			if (event.type === "slot") return { name: "answering" };
			if (event.type === "end") return { name: "cancelled", reason: event.reason };
			return state;
		case "cancelled":
			// The slot was granted at the same moment.
			return event.type === "slot" ? ended(state.reason) : state;
		case "answering":
			return event.type === "end" ? ended(event.reason) : state;
		case "ending": {
			const isOver = event.type === "stop" || (event.type === "end" && event.reason === "deleted");
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
	/** Ids of the question's message and of the answer's messages. If one of them is deleted, the answer ends. */
	readonly messageIds: Set<string>;
	/** Ids of the Discord messages that make up the answer, in order. */
	readonly answerIds: string[] = [];
	/** Ids of messages of the question or answer that were deleted on Discord, so that they are not stored again. */
	readonly deletedIds = new Set<string>();
	isChannelDeleted = false;
	readonly #ending = new AbortController();
	/** Aborts when the AI chat answer must end early. The abort reason is an `EndReason`, such as "timeout". */
	readonly ending = this.#ending.signal;
	readonly #stopped = new AbortController();
	/** Aborts when the bot may no longer send or edit messages of the AI chat answer. */
	readonly stopped = this.#stopped.signal;
	#state: RunState = { name: "waiting" };

	constructor(readonly question: Question) {
		this.messageIds = new Set([question.id]);
	}

	/** Whether the bot began to answer the question, so that messages of the answer may exist on Discord. */
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
