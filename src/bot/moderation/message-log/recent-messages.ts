// The messages of the last 24 hours in guilds that log messages or keep evidence, so that staff can read what was deleted. In
// memory only: the oldest are forgotten when a guild has too many of them, or all guilds together take too much.

export interface RecentFile {
	name: string;
	/** Bytes. */
	size: number;
	type: string;
	url: string;
	/** Of an image that was saved on arrival. */
	content?: Buffer;
}

export interface RecentMessage {
	id: string;
	channelId: string;
	authorId: string;
	/** Epoch milliseconds. */
	at: number;
	text: string;
	files: readonly RecentFile[];
}

interface Limits {
	/** Milliseconds. */
	keptMs: number;
	/** Of one guild. */
	messages: number;
	/** Of all guilds, about. */
	bytes: number;
}

const defaultLimits: Limits = { keptMs: 86_400_000, messages: 20_000, bytes: 48 * 1024 * 1024 };

const ownBytes = 400;

interface Kept {
	message: RecentMessage;
	/** Monotonic. */
	since: number;
}

export class RecentMessages {
	/** By guild, then by message, the oldest first. */
	readonly #guilds = new Map<string, Map<string, Kept>>();
	#bytes = 0;

	constructor(
		private readonly limits = defaultLimits,
		private readonly now = () => performance.now(),
	) {}

	/** About so many, as an upper limit for what is kept. */
	get bytes(): number {
		return this.#bytes;
	}

	/** A new message, or a new text of one. */
	set(guildId: string, message: RecentMessage): void {
		const kept = this.#guilds.get(guildId) ?? new Map<string, Kept>();
		this.#guilds.set(guildId, kept);
		const before = kept.get(message.id);
		if (before) this.#bytes -= bytesOf(before.message);
		kept.set(message.id, { message, since: before?.since ?? this.now() });
		this.#bytes += bytesOf(message);
		if (kept.size > this.limits.messages) this.#forgetOldest(kept);
		while (this.#bytes > this.limits.bytes) this.#forgetOldest(this.#largest());
	}

	get(guildId: string, id: string): RecentMessage | undefined {
		return this.#guilds.get(guildId)?.get(id)?.message;
	}

	/** The latest of a person, oldest first, whether deleted or not. */
	by(guildId: string, authorId: string, max: number): RecentMessage[] {
		const kept = this.#guilds.get(guildId)?.values() ?? [];
		const own = [...kept].flatMap(({ message }) => (message.authorId === authorId ? message : []));
		return own.slice(-max);
	}

	/** Those of a guild that keeps them no longer. */
	forget(guildId: string): void {
		const kept = this.#guilds.get(guildId);
		if (!kept) return;
		for (const { message } of kept.values()) this.#bytes -= bytesOf(message);
		this.#guilds.delete(guildId);
	}

	/** Those that are too old. */
	expire(): void {
		const since = this.now() - this.limits.keptMs;
		for (const kept of this.#guilds.values())
			for (const one of kept.values()) {
				if (one.since > since) break;
				this.#forgetOldest(kept);
			}
	}

	#largest(): Map<string, Kept> {
		return [...this.#guilds.values()].reduce((most, kept) => (kept.size > most.size ? kept : most));
	}

	#forgetOldest(kept: Map<string, Kept>): void {
		for (const [id, { message }] of kept) {
			kept.delete(id);
			this.#bytes -= bytesOf(message);
			return;
		}
	}
}

function bytesOf({ text, files }: RecentMessage): number {
	const ofFiles = files.map(({ name, url, content }) => 2 * (name.length + url.length) + (content?.length ?? 0));
	return ofFiles.reduce((sum, bytes) => sum + bytes, ownBytes + 2 * text.length);
}
