// Member activity, buffered in memory and stored in batches. A crash loses what was counted since the last batch.

import type { GuildMember } from "discord.js";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Store } from "../store/store.ts";
import { addMessages, saveLeft, savePromoted } from "../store/tables/member-activity.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const batchSize = 1_000;
const maxBuffered = 10_000;

interface ActivityOptions {
	store: Pick<Store, "sql">;
	log: Log;
	guildId: string;
	settings: { to_role: string };
}

export class ActivityBuffer {
	readonly #sql: Store["sql"];
	readonly #log: Log;
	#counts = new Map<string, { joinedAt: number; messages: number }>();
	#holders = new Map<string, number>();
	#left = new Map<string, boolean>();
	/** Not counted, because the activity of too many members was waiting for the database. */
	#dropped = 0;
	readonly #mutex = new KeyedMutex();
	#nextFlush: Promise<void> | undefined;

	constructor(private readonly options: ActivityOptions) {
		this.#sql = options.store.sql;
		this.#log = options.log;
	}

	get size(): number {
		return this.#counts.size + this.#holders.size + this.#left.size;
	}

	addMessage(member: GuildMember): void {
		const joinedAt = joinedAtMs(member);
		const known = this.#counts.get(member.id);
		if (known?.joinedAt === joinedAt) {
			known.messages += 1;
			return;
		}
		if (this.#hasRoom()) this.#counts.set(member.id, { joinedAt, messages: 1 });
		else this.#dropped += 1;
	}

	addHolder(member: GuildMember): void {
		// Without room, a later sweep adds the member.
		if (this.#hasRoom()) this.#holders.set(member.id, joinedAtMs(member));
	}

	/** `keepsPromotion` is false if someone had removed the role that auto_role gave. The next write stores this. */
	addLeft({ id }: { id: string }, keepsPromotion: boolean) {
		this.#counts.delete(id);
		this.#holders.delete(id);
		if (this.#hasRoom()) this.#left.set(id, keepsPromotion);
	}

	#hasRoom(): boolean {
		if (this.size % batchSize === batchSize - 1) void this.flush().catch(() => {});
		return this.size < maxBuffered;
	}

	/** Writes buffered activity to the database. Rejects with StoreUnavailable; unwritten entries stay buffered. */
	flush(): Promise<void> {
		// A flush in progress may miss entries added after its start; the next one has them all.
		this.#nextFlush ??= this.#mutex.withLock("flush", () => {
			this.#nextFlush = undefined;
			return this.#flush();
		});
		return this.#nextFlush;
	}

	async #flush(): Promise<void> {
		const { guildId, settings } = this.options;
		await this.#inBatches(this.#left, (batch) =>
			saveLeft(this.#sql, guildId, {
				ids: batch.map(([id]) => id),
				without: batch.filter(([, keepsPromotion]) => !keepsPromotion).map(([id]) => id),
			}),
		);
		await this.#inBatches(this.#holders, (batch) =>
			savePromoted(
				this.#sql,
				guildId,
				batch.map(([user_id, joined_at]) => ({ user_id, joined_at })),
				settings.to_role,
			),
		);
		await this.#inBatches(this.#counts, (batch) =>
			addMessages(
				this.#sql,
				guildId,
				batch.map(([user_id, { joinedAt, messages }]) => ({ user_id, joined_at: joinedAt, messages })),
			),
		);
		if (this.#dropped > 0)
			this.#log.warn("auto_role feature: buffer of message counts full, messages not counted", {
				messages: this.#dropped,
			});
		this.#dropped = 0;
	}

	async #inBatches<Value>(
		entries: Map<string, Value>,
		write: (batch: [string, Value][]) => Promise<void>,
	): Promise<void> {
		for (let left = entries.size; left > 0; left -= batchSize) {
			const batch = [...entries.entries().take(batchSize)];
			for (const [id] of batch) entries.delete(id);
			try {
				await write(batch);
			} catch (error) {
				if (!(error instanceof StoreUnavailable)) throw error;
				// Counts must not be added twice. The other writes are idempotent.
				if (error.mayHaveRun && batch.some(([, value]) => isCount(value))) {
					this.#log.warn("auto_role feature: message counts may be lost, database write not confirmed", {
						members: batch.length,
					});
					throw error;
				}
				for (const [id, value] of batch) this.#putBack(entries, id, value);
				throw error;
			}
		}
	}

	#putBack<Value>(entries: Map<string, Value>, id: string, value: Value): void {
		const newer = entries.get(id) ?? this.#left.get(id);
		if (newer === undefined) entries.set(id, value);
		else if (isCount(value) && isCount(newer)) if (value.joinedAt === newer.joinedAt) newer.messages += value.messages;
	}
}

function isCount(value: unknown): value is { joinedAt: number; messages: number } {
	return typeof value === "object" && value !== null && "messages" in value;
}

/** Returns when a member joined the guild, in epoch milliseconds; 0 if this is unknown. */
export function joinedAtMs({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}
