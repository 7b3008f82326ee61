// Promotions of auto_role, one by one: claimed in the store, written to Discord, then settled. A claim that is not settled
// is resumed from the member's current roles.

import { type APIGuildMember, type Guild, Routes } from "discord.js";
import type { FeatureOptions } from "../commands/feature.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import {
	claimPromotion,
	type Membership,
	releasePromotion,
	selectClaimed,
	settlePromotion,
} from "../store/member-activity.ts";
import {
	createIsRestricted,
	failureReason,
	type RoleWriter,
	type WriteFailure,
} from "./role-writer.ts";

/** How long a member is skipped after Discord refused the promotion. */
const postponeMs = 600_000;
const maxPostponed = 100;

export class Promotions {
	readonly #options: FeatureOptions;
	readonly #settings: { to_role: string; from_role?: string | undefined };
	readonly #writer: RoleWriter;
	readonly #isRestricted;
	/** Whether the store may hold claims that are not settled. */
	#hasClaims = true;
	/** Skipped members by id, until when. */
	readonly #postponed = new Map<string, number>();
	#lastWarning: string | undefined;
	readonly #count;

	constructor(
		options: FeatureOptions,
		settings: { to_role: string; from_role?: string | undefined },
		writer: RoleWriter,
	) {
		this.#options = options;
		this.#settings = settings;
		this.#writer = writer;
		this.#isRestricted = createIsRestricted(options);
		this.#count = options.registry?.counter(
			"guildhall_bot_promotions_total",
			"Promotions by auto_role, by outcome.",
			["outcome"],
		);
	}

	/** Resumes promotions that were claimed but not settled. */
	async resumeClaimed(guild: Guild, limit: number): Promise<void> {
		if (!this.#hasClaims) return;
		const { sql } = this.#options.store;
		const rows = await selectClaimed(sql, guild.id, limit);
		// When these were the last ones, the next sweep finds none.
		this.#hasClaims = rows.length > 0;
		for (const row of rows) {
			if (!(await this.promote(guild, row, "claimed before"))) return;
		}
	}

	/** Promotes a member who is still due. Returns whether to continue with others. Rejects with StoreUnavailable. */
	async promote(
		guild: Guild,
		person: Membership,
		claim: "new" | "claimed before" = "new",
	): Promise<boolean> {
		if (!(await this.#writer.ready())) return false;
		const { mutex } = this.#options;
		try {
			return await mutex.withLock(person.user_id, () =>
				this.#promoteLocked(guild, person, claim === "claimed before"),
			);
		} catch (error) {
			// A claim may remain.
			if (error instanceof StoreUnavailable) this.#hasClaims = true;
			throw error;
		}
	}

	async #promoteLocked(
		guild: Guild,
		person: Membership,
		isClaimed: boolean,
	): Promise<boolean> {
		const { connection, store } = this.#options;
		const { sql } = store;
		const { user_id: id } = person;
		const { to_role, from_role } = this.#settings;
		const { rest } = connection.discord;
		const release = async () => {
			if (isClaimed) await releasePromotion(sql, guild.id, id);
		};
		let member: APIGuildMember | undefined;
		// Fetched: the cache may be older.
		const read = await this.#writer.write(async () => {
			member = (await rest.get(
				Routes.guildMember(guild.id, id),
			)) as APIGuildMember;
		});
		if (read !== "done" && read !== "gone") return this.#fail(read, id);
		if (!member || Date.parse(member.joined_at ?? "") !== person.joined_at) {
			await release();
			return true;
		}
		if (member.roles.includes(to_role)) {
			if (isClaimed) await settlePromotion(sql, guild.id, id);
			return true;
		}
		const isIneligible =
			member.pending === true ||
			(from_role !== undefined && !member.roles.includes(from_role)) ||
			(await this.#isRestricted(id, member.roles));
		if (isIneligible) {
			await release();
			return true;
		}
		if (!isClaimed && !(await claimPromotion(sql, guild.id, person, to_role)))
			return true;
		const roles = [
			...member.roles.filter((role) => role !== from_role),
			to_role,
		];
		const written = await this.#writer.write(() =>
			rest.patch(Routes.guildMember(guild.id, id), {
				body: { roles },
				reason: `promoted: a member since ${new Date(person.joined_at).toISOString()}`,
			}),
		);
		if (written === "done") {
			this.#lastWarning = undefined;
			this.#count?.add(["promoted"]);
			await settlePromotion(sql, guild.id, id);
			this.#options.log.info("member promoted", {
				guild: guild.id,
				user: id,
			});
			return true;
		}
		const isUnknown =
			typeof written === "object" && "outcomeUnknown" in written;
		// The next sweep resumes the claim.
		if (isUnknown) this.#hasClaims = true;
		else await releasePromotion(sql, guild.id, id);
		return written === "gone" || this.#fail(written, id);
	}

	/** Returns whether to continue with others. */
	#fail(result: WriteFailure, id: string): boolean {
		this.#count?.add(["failed"]);
		this.warn(failureReason(result));
		if ("outcomeUnknown" in result || !result.isRefused) return false;
		const now = performance.now();
		for (const [userId, until] of this.#postponed)
			if (until <= now) this.#postponed.delete(userId);
		// So many refusals are not about single members.
		if (this.#postponed.size >= maxPostponed) return false;
		this.#postponed.set(id, now + postponeMs);
		return true;
	}

	/** Whether Discord recently refused to promote the member. */
	isPostponed(id: string): boolean {
		return (this.#postponed.get(id) ?? 0) > performance.now();
	}

	/** Logs why members are not promoted. Repeats nothing until a promotion succeeds. */
	warn(reason: string): void {
		if (reason !== this.#lastWarning)
			this.#options.log.warn("auto_role cannot promote members", { reason });
		this.#lastWarning = reason;
	}
}
