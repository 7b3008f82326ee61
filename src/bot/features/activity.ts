// What members do, counted in memory and written down in batches: so many messages, so few statements. A crash loses what
// was counted since the last batch.

import type { GuildMember } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import {
	addMessages,
	type Membership,
	noteLeft,
	notePromoted,
} from "../store/member-activity.ts";
import type { Store } from "../store/store.ts";

/** So many people at once in one statement; as many begin a batch before its time. */
const peoplePerBatch = 1_000;
/** So many people are kept in mind while the database is away. */
const maxPeople = 10_000;

export class ActivityLog {
	readonly #sql: Store["sql"];
	readonly #log: Log;
	/** Messages since the last batch, by who wrote them. */
	#counts = new Map<string, { joinedAt: number; messages: number }>();
	/** Who was seen with the role, and when they joined. */
	#holders = new Map<string, number>();
	/** Who has left, and whether they had the role then, or it was not taken from them by hand. */
	#left = new Map<string, boolean>();
	/** Messages that there was no room for. */
	#lost = 0;
	#flushing: Promise<void> | undefined;
	/** The one that follows it. */
	#next: Promise<void> | undefined;
	/** Where it is counted: one guild. */
	#guildId: string | undefined;

	constructor(
		{ sql }: Pick<Store, "sql">,
		log: Log,
		readonly roleId: string,
	) {
		this.#sql = sql;
		this.#log = log;
	}

	/** How many people it has in mind at the moment. */
	get size(): number {
		return this.#counts.size + this.#holders.size + this.#left.size;
	}

	/** Somebody wrote a message. */
	noteMessage(member: GuildMember): void {
		this.#guildId = member.guild.id;
		const joinedAt = joinedTimeOf(member);
		const known = this.#counts.get(member.id);
		if (known?.joinedAt === joinedAt) {
			known.messages += 1;
			return;
		}
		if (this.#hasRoom()) this.#counts.set(member.id, { joinedAt, messages: 1 });
		else this.#lost += 1;
	}

	/** Somebody has the role. */
	noteHolder(member: GuildMember): void {
		this.#guildId = member.guild.id;
		// Who is forgotten here is found by a later look at all members.
		if (this.#hasRoom()) this.#holders.set(member.id, joinedTimeOf(member));
	}

	/** Somebody has left; `kept` says that nobody has taken the role from them by hand. */
	noteLeft(
		{ id, guild }: { id: string; guild: { id: string } },
		kept: boolean,
	) {
		this.#guildId = guild.id;
		this.#counts.delete(id);
		this.#holders.delete(id);
		if (this.#hasRoom()) this.#left.set(id, kept);
	}

	#hasRoom(): boolean {
		if (this.size % peoplePerBatch === peoplePerBatch - 1)
			void this.flush().catch(() => {});
		return this.size < maxPeople;
	}

	/** Writes down what there is. Rejects with StoreUnavailable, and then keeps what was not written. */
	flush(): Promise<void> {
		if (!this.#flushing) {
			this.#flushing = this.#flush().finally(() => {
				this.#flushing = undefined;
			});
			return this.#flushing;
		}
		// The one under way may have passed by what was counted since it began.
		const again = () => {
			this.#next = undefined;
			return this.flush();
		};
		this.#next ??= this.#flushing.then(again, again);
		return this.#next;
	}

	async #flush(): Promise<void> {
		const guildId = this.#guildId;
		if (guildId === undefined) return;
		await this.#inBatches(this.#left, (batch) =>
			noteLeft(this.#sql, guildId, {
				ids: batch.map(([id]) => id),
				without: batch.filter(([, kept]) => !kept).map(([id]) => id),
			}),
		);
		await this.#inBatches(this.#holders, (batch) =>
			notePromoted(
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
					...{ user_id, joined_at: joinedAt, messages },
				})),
			),
		);
		if (this.#lost > 0)
			this.#log.warn("messages were not counted, for too many people wrote", {
				messages: this.#lost,
			});
		this.#lost = 0;
	}

	/** Takes all out of `things`, batch by batch; what certainly was not written goes back. */
	async #inBatches<Thing>(
		things: Map<string, Thing>,
		write: (batch: [string, Thing][]) => Promise<void>,
	): Promise<void> {
		for (let left = things.size; left > 0; left -= peoplePerBatch) {
			const batch = [...things.entries().take(peoplePerBatch)];
			for (const [id] of batch) things.delete(id);
			try {
				await write(batch);
			} catch (error) {
				if (!(error instanceof StoreUnavailable)) throw error;
				// Counting twice would be no better than not at all; the rest may be said twice.
				if (error.mayHaveRun && batch.some(([, thing]) => isCount(thing))) {
					this.#log.warn("whether what members did was stored is not known", {
						people: batch.length,
					});
					throw error;
				}
				for (const [id, thing] of batch) this.#putBack(things, id, thing);
				throw error;
			}
		}
	}

	#putBack<Thing>(things: Map<string, Thing>, id: string, thing: Thing): void {
		const later = things.get(id) ?? this.#left.get(id);
		if (later === undefined) things.set(id, thing);
		// They have written more meanwhile.
		else if (isCount(thing) && isCount(later))
			if (thing.joinedAt === later.joinedAt) later.messages += thing.messages;
	}
}

function isCount(
	thing: unknown,
): thing is { joinedAt: number; messages: number } {
	return typeof thing === "object" && thing !== null && "messages" in thing;
}

/** Since when someone is a member, in epoch milliseconds. */
export function joinedTimeOf({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}

export function membershipOf(member: GuildMember): Membership {
	return { user_id: member.id, joined_at: joinedTimeOf(member) };
}
