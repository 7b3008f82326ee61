// Promotions, one by one: claimed in the store, written to Discord, and noted as done. Of one that was begun and not noted as
// done, the roles that the person has on Discord say what is left to do.

import { type APIGuildMember, type Guild, Routes } from "discord.js";
import type { FeatureOptions } from "../commands/feature.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import {
	claimPromotion,
	type Membership,
	releasePromotion,
	selectClaimed,
	settlePromotion,
} from "../store/member-activity.ts";
import {
	createIsRestricted,
	type RoleWriter,
	type Written,
} from "./role-writer.ts";

/** How long somebody is passed over whom Discord refuses to promote; and how many at once. */
const putOffMs = 600_000;
const maxPutOff = 100;

export class Promotions {
	readonly #options: FeatureOptions;
	readonly #settings: { to_role: string; from_role?: string | undefined };
	readonly #writer: RoleWriter;
	readonly #isRestricted;
	/** Whether there may be some of which it is not known whether they were done. */
	#inDoubt = true;
	/** Whom Discord has refused to promote, and until when they are passed over. */
	readonly #putOff = new Map<string, number>();
	#said: string | undefined;
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

	/** Finds out what has come of promotions that were begun, and goes on with them. */
	async settleDoubts(guild: Guild, limit: number): Promise<void> {
		if (!this.#inDoubt) return;
		const { sql } = this.#options.store;
		const rows = await selectClaimed(sql, guild.id, limit);
		// The next sweep sees that there are no more.
		this.#inDoubt = rows.length > 0;
		for (const row of rows) {
			if (!(await this.promote(guild, row, "claimed before"))) return;
		}
	}

	/** Gives one role for the other, if they may have it; whether it is of use to go on with others. Rejects with StoreUnavailable. */
	async promote(
		guild: Guild,
		person: Membership,
		claim: "new" | "claimed before" = "new",
	): Promise<boolean> {
		if (!(await this.#writer.ready())) return false;
		const { mutex } = this.#options;
		try {
			return await mutex.withLock(person.user_id, () =>
				this.#promoteInTurn(guild, person, claim === "claimed before"),
			);
		} catch (error) {
			// Whether it is claimed, or whether that was noted, is not known.
			if (error instanceof StoreUnavailable) this.#inDoubt = true;
			throw error;
		}
	}

	async #promoteInTurn(
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
		let now: APIGuildMember | undefined;
		// What is told by events may be older.
		const read = await this.#writer.write(async () => {
			now = (await rest.get(
				Routes.guildMember(guild.id, id),
			)) as APIGuildMember;
		});
		if (read !== "done" && read !== "gone") return this.#fail(read, id);
		if (!now || Date.parse(now.joined_at ?? "") !== person.joined_at) {
			await release();
			return true;
		}
		if (now.roles.includes(to_role)) {
			if (isClaimed) await settlePromotion(sql, guild.id, id);
			return true;
		}
		const mayNot =
			now.pending === true ||
			(from_role !== undefined && !now.roles.includes(from_role)) ||
			(await this.#isRestricted(id, now.roles));
		if (mayNot) {
			await release();
			return true;
		}
		if (!isClaimed && !(await claimPromotion(sql, guild.id, person, to_role)))
			return true;
		const roles = [...now.roles.filter((role) => role !== from_role), to_role];
		const written = await this.#writer.write(() =>
			rest.patch(Routes.guildMember(guild.id, id), {
				body: { roles },
				reason: `promoted: a member since ${new Date(person.joined_at).toISOString()}`,
			}),
		);
		if (written === "done") {
			this.#said = undefined;
			this.#count?.add(["promoted"]);
			await settlePromotion(sql, guild.id, id);
			this.#options.log.info("promoted a member", {
				guild: guild.id,
				user: id,
			});
			return true;
		}
		const isOpen = typeof written === "object" && "inDoubt" in written;
		// The next sweep looks what has come of it.
		if (isOpen) this.#inDoubt = true;
		else await releasePromotion(sql, guild.id, id);
		return written === "gone" || this.#fail(written, id);
	}

	/** Whether it is of use to go on with others. */
	#fail(written: Exclude<Written, "done" | "gone">, id: string): boolean {
		this.#count?.add(["failed"]);
		this.say("notDone" in written ? written.notDone : written.inDoubt);
		if ("inDoubt" in written || !written.refused) return false;
		const now = performance.now();
		for (const [one, until] of this.#putOff)
			if (until <= now) this.#putOff.delete(one);
		// With so many, it is none of them who stands in the way.
		if (this.#putOff.size >= maxPutOff) return false;
		this.#putOff.set(id, now + putOffMs);
		return true;
	}

	/** Whether Discord has refused to promote them of late. */
	isPutOff(id: string): boolean {
		return (this.#putOff.get(id) ?? 0) > performance.now();
	}

	/** Tells why nobody is promoted: once, until something else is to be said, or it works again. */
	say(reason: string): void {
		if (reason !== this.#said)
			this.#options.log.warn("members are not promoted", { reason });
		this.#said = reason;
	}
}
