// Member activity, buffered in memory and stored in batches. A crash loses what was counted since the last batch.

import type { GuildMember } from "discord.js";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import {
	addMessages,
	saveLeft,
	savePromoted,
} from "../store/member-activity.ts";
import type { Store } from "../store/store.ts";

/** Members per statement. A full batch is written early. */
const batchSize = 1_000;
/** Maximum number of members buffered during a database outage. */
const maxBuffered = 10_000;

export class ActivityBuffer {
	readonly #sql: Store["sql"];
	readonly #log: Log;
	/** Messages since the last batch, by author id. */
	#counts = new Map<string, { joinedAt: number; messages: number }>();
	/** Join times of members seen with the role, by id. */
	#holders = new Map<string, number>();
	/** Members who left, and whether they keep their promotion: false when the role was removed by hand. */
	#left = new Map<string, boolean>();
	/** Messages not counted because the buffer was full. */
	#dropped = 0;
	readonly #mutex = new KeyedMutex();
	/** The flush that waits for the one in progress. */
	#nextFlush: Promise<void> | undefined;
	/** The guild of the role, known from the first event on. */
	#guildId: string | undefined;

	constructor(
		{ sql }: Pick<Store, "sql">,
		log: Log,
		readonly roleId: string,
	) {
		this.#sql = sql;
		this.#log = log;
	}

	/** Number of buffered entries. */
	get size(): number {
		return this.#counts.size + this.#holders.size + this.#left.size;
	}

	addMessage(member: GuildMember): void {
		this.#guildId = member.guild.id;
		const joinedAt = joinedAtMs(member);
		const known = this.#counts.get(member.id);
		if (known?.joinedAt === joinedAt) {
			known.messages += 1;
			return;
		}
		if (this.#hasRoom()) this.#counts.set(member.id, { joinedAt, messages: 1 });
		else this.#dropped += 1;
	}

	/** Records that a member has the role. */
	addHolder(member: GuildMember): void {
		this.#guildId = member.guild.id;
		// Without room, a later sweep adds the member.
		if (this.#hasRoom()) this.#holders.set(member.id, joinedAtMs(member));
	}

	/** Records that a member left. `keepsPromotion`: nobody had removed the role by hand. */
	addLeft(
		{ id, guild }: { id: string; guild: { id: string } },
		keepsPromotion: boolean,
	) {
		this.#guildId = guild.id;
		this.#counts.delete(id);
		this.#holders.delete(id);
		if (this.#hasRoom()) this.#left.set(id, keepsPromotion);
	}

	#hasRoom(): boolean {
		if (this.size % batchSize === batchSize - 1)
			void this.flush().catch(() => {});
		return this.size < maxBuffered;
	}

	/** Writes the buffer to the store. Rejects with StoreUnavailable; unwritten entries stay buffered. */
	flush(): Promise<void> {
		// A flush in progress may miss entries added after its start; the next one has them all.
		this.#nextFlush ??= this.#mutex.withLock("flush", () => {
			this.#nextFlush = undefined;
			return this.#flush();
		});
		return this.#nextFlush;
	}

	async #flush(): Promise<void> {
		const guildId = this.#guildId;
		if (guildId === undefined) return;
		await this.#inBatches(this.#left, (batch) =>
			saveLeft(this.#sql, guildId, {
				ids: batch.map(([id]) => id),
				without: batch
					.filter(([, keepsPromotion]) => !keepsPromotion)
					.map(([id]) => id),
			}),
		);
		await this.#inBatches(this.#holders, (batch) =>
			savePromoted(
				this.#sql,
				guildId,
				batch.map(([user_id, joined_at]) => ({ user_id, joined_at })),
				this.roleId,
			),
		);
		await this.#inBatches(this.#counts, (batch) =>
			addMessages(
				this.#sql,
				guildId,
				batch.map(([user_id, { joinedAt, messages }]) => ({
					user_id,
					joined_at: joinedAt,
					messages,
				})),
			),
		);
		if (this.#dropped > 0)
			this.#log.warn("activity buffer full, messages not counted", {
				messages: this.#dropped,
			});
		this.#dropped = 0;
	}

	/** Moves all entries to the store in batches. Entries that were certainly not written are put back. */
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
					this.#log.warn("activity may be lost: write not confirmed", {
						people: batch.length,
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
		else if (isCount(value) && isCount(newer))
			if (value.joinedAt === newer.joinedAt) newer.messages += value.messages;
	}
}

function isCount(
	value: unknown,
): value is { joinedAt: number; messages: number } {
	return typeof value === "object" && value !== null && "messages" in value;
}

/** When the member joined, in epoch milliseconds. */
export function joinedAtMs({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}
