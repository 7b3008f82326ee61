// A chat question from its arrival to its last message.

import type { Question } from "./chat-question.ts";

/** "deleted": the channel, the question or a message of the answer. "restart": the bot shuts down. */
export type EndReason = "deleted" | "restart" | "timeout";

export class Run {
	/** Ids of the question's message and of the answer's messages. If one of them is deleted, the answer ends. */
	readonly messageIds: Set<string>;
	/** Ids of the Discord messages that make up the answer, in order. */
	readonly answerIds: string[] = [];
	/** Ids of messages of the question or answer that were deleted on Discord, so that they are not stored again. */
	readonly deletedIds = new Set<string>();
	isChannelDeleted = false;
	/** Whether the bot began to answer the question, so that messages of the answer may exist on Discord. */
	hasAnswer = false;
	readonly #ending = new AbortController();
	/** Aborts when the answer must end early, with the first `EndReason`: its text so far is completed with a note. */
	readonly ending = this.#ending.signal;
	readonly #stopped = new AbortController();
	/** Aborts when the bot may no longer send or edit messages of the answer. */
	readonly stopped = this.#stopped.signal;

	constructor(readonly question: Question) {
		this.messageIds = new Set([question.id]);
	}

	/** A deletion stops the answer at once, even while a note completes it. */
	end(reason: EndReason): void {
		this.#ending.abort(reason);
		if (reason === "deleted") this.stop();
	}

	stop(): void {
		this.#stopped.abort();
	}
}
