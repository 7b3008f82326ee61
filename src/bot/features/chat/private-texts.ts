// What AI chat told one person alone: shown to them when they press a button, and known in their next questions. In memory only.

import { LruMap } from "../../../lib/lru-map.ts";
import type { Turn } from "../../store/tables/chat.ts";
import type { PlanMessage } from "./chat-plans.ts";

const maxKept = 300;

interface PrivateText {
	userId: string;
	text: string;
	plan?: PlanMessage | undefined;
	/** What stands in the channel, too. */
	isPublic?: boolean;
}

export class PrivateTexts {
	/** By the id of the message that stands for it in the channel. */
	readonly #kept = new LruMap<string, PrivateText>(maxKept);

	/** Undefined if it is forgotten. */
	get(messageId: string): PrivateText | undefined {
		return this.#kept.get(messageId);
	}

	/** After what is kept for the message. */
	add(messageId: string, { text, ...added }: PrivateText): void {
		const before = this.get(messageId)?.text;
		if (messageId !== "") this.#kept.set(messageId, { ...added, text: [before, text].filter(Boolean).join("\n") });
	}

	/** In all guilds. */
	erase(userId: string): void {
		for (const [id, kept] of this.#kept) if (kept.userId === userId) this.#kept.delete(id);
	}

	/** The turns as the person knows them, and whether one holds what only they were told. */
	known(turns: readonly Turn[], userId: string): { turns: Turn[]; isPrivate: boolean } {
		let isPrivate = false;
		const known = turns.map((turn) => {
			const own = this.get(turn.message_id);
			if (!own || (own.userId !== userId && !own.isPublic)) return turn;
			isPrivate ||= !own.isPublic;
			return { ...turn, content: [turn.content, own.text].filter(Boolean).join("\n") };
		});
		return { turns: known, isPrivate };
	}
}
