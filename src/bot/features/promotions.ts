// Promotions of auto_role, one by one: stored as in progress, written to Discord, stored as done. A later sweep
// completes one that remains in progress.

import { type APIGuildMember, type Guild, Routes } from "discord.js";
import type { FeatureOptions } from "../commands/feature.ts";
import { failureReason, type IsRestricted, type RoleWriter, type WriteFailure } from "../commands/role-writer.ts";
import {
	activityRows,
	claimPromotion,
	type Membership,
	releasePromotion,
	selectClaimed,
} from "../store/tables/member-activity.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const postponeMs = 600_000;
const maxPostponed = 100;

interface PromotionOptions extends Pick<FeatureOptions, "connection" | "store" | "mutex" | "log"> {
	isRestricted: IsRestricted;
	settings: { to_role: string; from_role: string | undefined };
	count(outcome: string): void;
}

export function createPromotions(
	{ connection, store, mutex, log, isRestricted, settings, count }: PromotionOptions,
	writer: RoleWriter,
) {
	const { to_role, from_role } = settings;
	const { sql } = store;
	/** Whether the database may contain promotions that were started but not confirmed by Discord. */
	let hasClaims = true;
	const postponed = new Map<string, number>();
	let lastWarning: string | undefined;

	async function resumeClaimed(guild: Guild, limit: number): Promise<void> {
		if (!hasClaims) return;
		const rows = await selectClaimed(sql, guild.id, limit);
		// When these were the last ones, the next sweep finds none.
		hasClaims = rows.length > 0;
		for (const row of rows) if (!(await promote(guild, row, "claimed before"))) return;
	}

	async function promote(guild: Guild, person: Membership, claim: "new" | "claimed before" = "new"): Promise<boolean> {
		if (!(await writer.ready())) return false;
		try {
			return await mutex.withLock(person.user_id, () => promoteLocked(guild, person, claim === "claimed before"));
		} catch (error) {
			// The promotion may be stored as in progress.
			if (error instanceof StoreUnavailable) hasClaims = true;
			throw error;
		}
	}

	async function promoteLocked(guild: Guild, person: Membership, isClaimed: boolean): Promise<boolean> {
		const { user_id: id } = person;
		const { rest } = connection.discord;
		let fetched: APIGuildMember | undefined;
		// The cache may be older.
		const read = await writer.write(async () => {
			fetched = (await rest.get(Routes.guildMember(guild.id, id))) as APIGuildMember;
		});
		if (read !== "done" && read !== "gone") return fail(read, id);
		const isSame = Date.parse(fetched?.joined_at ?? "") === person.joined_at;
		const member = isSame ? fetched : undefined;
		if (member?.roles.includes(to_role)) {
			if (isClaimed) await activityRows.change(sql, { guild_id: guild.id, user_id: id }, { claimed: 0 });
			return true;
		}
		const isEligible =
			member &&
			!member.pending &&
			(from_role === undefined || member.roles.includes(from_role)) &&
			!(await isRestricted(guild.id, id, member.roles));
		if (!member || !isEligible) {
			if (isClaimed) await releasePromotion(sql, guild.id, id);
			return true;
		}
		if (!isClaimed && !(await claimPromotion(sql, guild.id, person, to_role))) return true;
		const roles = [...member.roles.filter((role) => role !== from_role), to_role];
		const written = await writer.write(() =>
			rest.patch(Routes.guildMember(guild.id, id), {
				body: { roles },
				reason: `promoted: a member since ${new Date(person.joined_at).toISOString()}`,
			}),
		);
		if (written === "done") {
			lastWarning = undefined;
			count("promoted");
			await activityRows.change(sql, { guild_id: guild.id, user_id: id }, { claimed: 0 });
			log.info("auto_role feature: gave a member the role for active members", { guild: guild.id, user: id });
			return true;
		}
		const isUnknown = typeof written === "object" && "outcomeUnknown" in written;
		// The next sweep resumes this promotion.
		if (isUnknown) hasClaims = true;
		else await releasePromotion(sql, guild.id, id);
		return written === "gone" || fail(written, id);
	}

	function fail(result: WriteFailure, id: string): boolean {
		count("failed");
		warn(failureReason(result));
		if ("outcomeUnknown" in result || !result.isRefused) return false;
		const now = performance.now();
		for (const [userId, until] of postponed) if (until <= now) postponed.delete(userId);
		// So many refusals are not about single members.
		if (postponed.size >= maxPostponed) return false;
		postponed.set(id, now + postponeMs);
		return true;
	}

	function isPostponed(id: string): boolean {
		return (postponed.get(id) ?? 0) > performance.now();
	}

	function warn(reason: string): void {
		if (reason !== lastWarning)
			log.warn("auto_role feature: could not give one or more active members its role", { reason });
		lastWarning = reason;
	}

	return { resumeClaimed, promote, isPostponed, warn };
}
