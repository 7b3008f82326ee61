// Carries out the rules of the setting `moderation.escalate`, each once: looks on Discord whether it was done before a kill,
// checks the role hierarchy, tells the person, acts.

import { DiscordAPIError, type Guild, type GuildMember, PermissionFlagsBits, Routes } from "discord.js";
import { userName } from "../../../discord/describe.ts";
import { fetchMember } from "../../../discord/find.ts";
import { describeBits, missingPermissions } from "../../../discord/permissions.ts";
import { describePlatformError, saidProblem } from "../../../discord/rest/errors.ts";
import { isAbove, requireBelowBot } from "../../../discord/role-hierarchy.ts";
import { auditReason } from "../../../discord/text.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { said } from "../../../texts/texts.ts";
import { NotNow } from "../../store/durable.ts";
import { caseRows } from "../../store/tables/cases.ts";
import { tempBanRows } from "../../store/tables/temp-bans.ts";
import { fetchBan } from "../../tools/members/bans.ts";
import type { Case, CaseResult, CasesOptions, Cause } from "./case.ts";
import { causeOf, saidReason } from "./case-text.ts";
import { isSameEnd, recordedBy } from "./decide.ts";
import { isTellable, tellPeople } from "./tell.ts";

const maxAgeMs = 86_400_000;

const needed = {
	timeout: PermissionFlagsBits.ModerateMembers,
	kick: PermissionFlagsBits.KickMembers,
	ban: PermissionFlagsBits.BanMembers,
	temp_ban: PermissionFlagsBits.BanMembers,
} as const;

type Escalated = Case & { userId: string; action: keyof typeof needed };

export class Escalation {
	readonly #sql: Sql;
	readonly #now: () => number;

	constructor(private readonly options: CasesOptions) {
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
	}

	/** Does not repeat an action that was done before the bot was killed. Rejects if this must be retried. */
	async carryOut(guild: Guild, one: Case): Promise<CaseResult> {
		if (!isEscalated(one)) return { state: "unknown" };
		if (await this.#wasDone(guild, one)) return { state: "done" };
		const age = this.#now() - one.createdAt;
		if (age > maxAgeMs || (one.endsAt ?? Infinity) <= this.#now())
			return { state: "not done", ...causeOf(said("case.why.late")) };
		const cause = await this.#problem(guild, one);
		if (cause !== undefined) return { state: "not done", ...cause };
		await this.#tell(guild, one);
		try {
			await this.#act(guild, one);
			return { state: "done" };
		} catch (error) {
			// If the outcome is unknown, the next attempt checks on Discord whether the action was done.
			if (!(error instanceof DiscordAPIError) || error.status === 401) throw error;
			return { state: "not done", why: describePlatformError(error), whySaid: saidProblem(error) };
		}
	}

	async #wasDone(guild: Guild, one: Escalated): Promise<boolean> {
		const { userId, action, endsAt } = one;
		if (action === "timeout" && endsAt !== undefined) {
			const member = await fetchMember(guild, userId, true);
			const until = member?.communicationDisabledUntilTimestamp;
			if (isSameEnd(until, endsAt)) return true;
		}
		if (action === "temp_ban") {
			const key = { guild_id: guild.id, user_id: userId };
			const row = await tempBanRows.first(this.#sql, key);
			if (row?.ends_at === endsAt && row?.state === "banned") return true;
			// The worker for temporary bans is going to make the ban.
			if (row?.ends_at === endsAt) throw new NotNow("the ban is being made");
		}
		if ((await recordedBy(guild, one, maxAgeMs)) === "the bot") return true;
		// The bot may lack the permission to read the audit log; then a ban is recognised by its reason.
		if (action !== "ban") return false;
		const ban = await fetchBan(guild, userId);
		return ban?.reason?.includes(one.reason ?? "") ?? false;
	}

	async #problem(guild: Guild, one: Escalated): Promise<Cause | undefined> {
		const { userId, action, endsAt } = one;
		if (!guild.members.me) throw new NotNow();
		const missing = missingPermissions(guild, undefined, needed[action]);
		if (missing !== 0n) return causeOf(said("log.lacks", { permissions: describeBits(missing) }));
		const target = await fetchMember(guild, userId, true);
		if (action === "ban" || action === "temp_ban") {
			if (await fetchBan(guild, userId)) return causeOf(said("case.why.banned"));
		} else if (!target) return causeOf(said("case.why.left"));
		if (!target) return undefined;
		const until = target.communicationDisabledUntilTimestamp ?? 0;
		if (action === "timeout" && until >= (endsAt ?? 0)) return causeOf(said("case.why.timed_out"));
		try {
			requireBelowBot(guild, [target]);
		} catch (error) {
			if (error instanceof ToolError) return { why: error.message, whySaid: saidProblem(error) };
			throw error;
		}
		return this.#rankProblem(guild, one, target);
	}

	/** A rule must not do what the moderator of the case that made it apply could not do. */
	async #rankProblem(guild: Guild, { source = "" }: Case, target: GuildMember): Promise<Cause | undefined> {
		const number = source.replace(/^rule:/, "");
		const first = await caseRows.first(this.#sql, { guild_id: guild.id, number: Number(number) });
		const moderatorId = first?.moderator_id ?? "";
		if (moderatorId === guild.client.user.id) return undefined;
		const moderator = await fetchMember(guild, moderatorId, true);
		if (!moderator) return causeOf(said("case.why.moderator_left", { number }));
		return isAbove(moderator, target.roles.highest) ? undefined : causeOf(said("case.why.rank", { number }));
	}

	async #tell(guild: Guild, one: Escalated): Promise<void> {
		const { number, userId, action, endsAt } = one;
		const { connection, log, settings } = this.options;
		const { "moderation.tell": toldOf, "moderation.appeal": appeal } = settings.of(guild.id);
		if (!isTellable(action) || !toldOf.includes(action) || one.told !== undefined) return;
		if (guild.client.users.cache.get(userId)?.bot) return;
		const key = { guild_id: guild.id, number };
		await caseRows.change(this.#sql, key, { told: "asked" });
		const notice = { action, reason: saidReason(one), endsAt };
		const told = await tellPeople({ connection, log, appeal }, guild, [userId], notice);
		await caseRows.change(this.#sql, key, { told: told.get(userId) ?? "asked" });
	}

	async #act(guild: Guild, one: Escalated): Promise<void> {
		const { userId, action, endsAt, reason: text = "" } = one;
		const reason = auditReason(text);
		if (action === "timeout")
			await guild.members.edit(userId, { communicationDisabledUntil: new Date(endsAt ?? this.#now()), reason });
		else if (action === "kick") await guild.client.rest.delete(Routes.guildMember(guild.id, userId), { reason });
		else
			await this.options.bans.ban(guild, {
				userId,
				endsAt: endsAt ?? null,
				reason: text,
				moderator: { id: guild.client.user.id, name: userName(guild.client.user) },
			});
	}
}

function isEscalated(one: Case): one is Escalated {
	return one.userId !== undefined && Object.hasOwn(needed, one.action);
}
