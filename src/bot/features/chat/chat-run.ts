// A chat question from its arrival to its last message.

import type { Question } from "./chat-question.ts";

/** "deleted": the channel, the question or a message of the answer. "restart": the bot shuts down. */
export type EndReason = "deleted" | "restart" | "timeout";

export class Run {
	/** Of the question, the answer's messages, the channel and the asker. */
	readonly #ids: Set<string>;
	/** Those of them that were deleted. */
	readonly #deleted = new Set<string>();
	/** Ids of the Discord messages that make up the answer, in order. */
	readonly answerIds: string[] = [];
	/** Whether the bot began to answer the question, so that messages of the answer may exist on Discord. */
	hasAnswer = false;
	readonly #ending = new AbortController();
	/** Aborts when the answer must end early, with the first `EndReason`: its text so far is completed with a note. */
	readonly ending = this.#ending.signal;
	readonly #stopped = new AbortController();
	/** Aborts when the bot may no longer send or edit messages of the answer. */
	readonly stopped = this.#stopped.signal;

	constructor(readonly question: Question) {
		const { id, channelId, guildId, userId } = question;
		this.#ids = new Set([id, channelId, `${guildId} ${userId}`]);
	}

	noteAnswer(index: number, id: string): void {
		this.answerIds[index] = id;
		this.#ids.add(id);
	}

	/** Messages and channels on Discord, or what is stored of people in a guild. Ends the answer if it has to do with one. */
	noteDeleted(ids: readonly string[]): void {
		const own = ids.filter((id) => this.#ids.has(id));
		for (const id of own) this.#deleted.add(id);
		if (own.length > 0) this.end("deleted");
	}

	/** Whether a message of the question or answer may be stored. */
	mayStore(id: string): boolean {
		const { channelId, guildId, userId } = this.question;
		return this.#deleted.isDisjointFrom(new Set([id, channelId, `${guildId} ${userId}`]));
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
