// Copies of reported messages, in memory only and for some minutes, because the database stores no texts. A copy is
// kept after its report was posted, because others may still be filling in the form for the same message.

import type { AuthorKind } from "../../store/tables/reports.ts";
import type { MessageCopy } from "./message-copy.ts";

export interface ReportedMessage {
	id: string;
	channelId: string;
	authorId: string;
	authorKind: AuthorKind;
	copy: MessageCopy;
}

const maxMessages = 500;
/** Discord accepts the submission of a form for 15 minutes. */
const keptMs = 900_000;

export class Copies {
	readonly #byId = new Map<string, { message: ReportedMessage; at: number }>();

	/** The first copy of a message shows what was reported. */
	add(message: ReportedMessage): void {
		this.#prune();
		if (!this.#byId.has(message.id)) this.#byId.set(message.id, { message, at: performance.now() });
	}

	get(id: string): ReportedMessage | undefined {
		this.#prune();
		return this.#byId.get(id)?.message;
	}

	#prune(): void {
		const now = performance.now();
		for (const [id, { at }] of this.#byId) {
			if (this.#byId.size < maxMessages && now - at < keptMs) return;
			this.#byId.delete(id);
		}
	}
}
