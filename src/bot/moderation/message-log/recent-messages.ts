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
	/** The name under which a webhook posted it. */
	webhook?: string;
	/** Epoch milliseconds. */
	at: number;
	text: string;
	files: readonly RecentFile[];
}

const defaultLimits = {
	keptMs: 86_400_000,
	/** Of one guild. */
	messages: 20_000,
	/** Of all guilds, about. */
	bytes: 48 * 1024 * 1024,
};

const ownBytes = 400;

interface Guild {
	/** `since`: monotonic. */
	kept: Map<string, { message: RecentMessage; since: number }>;
	bytes: number;
}

export class RecentMessages {
	/** By guild, then by message, the oldest first. */
	readonly #guilds = new Map<string, Guild>();
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
		const guild = this.#guilds.getOrInsertComputed(guildId, () => ({ kept: new Map(), bytes: 0 }));
		const before = guild.kept.get(message.id);
		guild.kept.set(message.id, { message, since: before?.since ?? this.now() });
		this.#add(guild, bytesOf(message) - (before ? bytesOf(before.message) : 0));
		if (guild.kept.size > this.limits.messages) this.#forgetOldest(guild);
		while (this.#bytes > this.limits.bytes) this.#forgetOldest(this.#largest());
	}

	get(guildId: string, id: string): RecentMessage | undefined {
		return this.#guilds.get(guildId)?.kept.get(id)?.message;
	}

	/** The latest of a person, oldest first, whether deleted or not. */
	by(guildId: string, authorId: string, max: number): RecentMessage[] {
		const kept = this.#guilds.get(guildId)?.kept.values() ?? [];
		const own = [...kept].flatMap(({ message }) => (message.authorId === authorId ? message : []));
		return own.slice(-max);
	}

	/** Those of a guild that keeps them no longer. */
	forget(guildId: string): void {
		this.#bytes -= this.#guilds.get(guildId)?.bytes ?? 0;
		this.#guilds.delete(guildId);
	}

	/** Those that are too old. */
	expire(): void {
		const since = this.now() - this.limits.keptMs;
		for (const guild of this.#guilds.values())
			for (const one of guild.kept.values()) {
				if (one.since > since) break;
				this.#forgetOldest(guild);
			}
	}

	#largest(): Guild {
		return [...this.#guilds.values()].reduce((most, one) => (one.bytes > most.bytes ? one : most));
	}

	#add(guild: Guild, bytes: number): void {
		guild.bytes += bytes;
		this.#bytes += bytes;
	}

	#forgetOldest(guild: Guild): void {
		for (const [id, { message }] of guild.kept) {
			guild.kept.delete(id);
			this.#add(guild, -bytesOf(message));
			return;
		}
	}
}

function bytesOf({ text, files }: RecentMessage): number {
	const ofFiles = files.map(({ name, url, content }) => 2 * (name.length + url.length) + (content?.length ?? 0));
	return ofFiles.reduce((sum, bytes) => sum + bytes, ownBytes + 2 * text.length);
}
