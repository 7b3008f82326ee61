// Background worker for moderation cases: finds the outcome of cases that a killed process left open, takes the actions
// of escalation rules, and stores what could not be stored while the database was unavailable.

import { type Client, DiscordAPIError, type Guild, type GuildMember, PermissionFlagsBits, Routes } from "discord.js";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { userName } from "../../../discord/describe.ts";
import { fetchMember } from "../../../discord/find.ts";
import { botMember, describeBits, missingPermissions } from "../../../discord/permissions.ts";
import { describePlatformError, saidProblem } from "../../../discord/rest/errors.ts";
import { isAbove, requireMembersBelow } from "../../../discord/role-hierarchy.ts";
import { auditReason } from "../../../discord/text.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { said } from "../../../texts/texts.ts";
import { Durable, DurablePart, NotNow, requireGuild, type Step } from "../../store/durable.ts";
import { type CaseRow, caseRows, selectAskedCases } from "../../store/tables/cases.ts";
import { tempBanRows } from "../../store/tables/temp-bans.ts";
import { fetchBan } from "../../tools/members/bans.ts";
import { type Case, type CaseResult, type CasesOptions, type Cause, type NewCase, toCase } from "./case.ts";
import { causeOf, logCase, saidReason } from "./case-text.ts";
import { decideCase, isSameEnd, recordedBy } from "./decide.ts";
import { isTellable, tellPeople } from "./tell.ts";

const maxRead = 100;
/** Maximum number of outcomes, and of a guild's new cases, that wait in memory until the database is available. */
const maxWaiting = 1_000;
const callMs = 40_000;

interface WorkerOptions extends CasesOptions {
	insert(guildId: string, added: readonly NewCase[]): Promise<CaseRow[]>;
	settle(guildId: string, number: number, result: CaseResult): Promise<unknown>;
}

export class CaseWorker extends DurablePart {
	readonly #unstored = new Map<string, NewCase[]>();
	protected readonly work: Durable;

	constructor(private readonly options: WorkerOptions) {
		super();
		this.work = new Durable({ ...options, name: "cases", scan: () => this.#scan() });
	}

	async #scan(): Promise<Step[]> {
		const { connection, store, now = Date.now, decideAfterMs = callMs } = this.options;
		if (!connection.ready) return [];
		return (await selectAskedCases(store.sql, maxRead)).map(toCase).map((one) => ({
			...this.#step(one, () => this.#finish(one)),
			// At most `decideAfterMs`, because the system clock may have jumped.
			inMs: one.source ? 0 : Math.min(one.createdAt + decideAfterMs - now(), decideAfterMs),
		}));
	}

	#step(one: CaseKey, run: Step["run"]): Step {
		return { key: keyOf(one), failure: "could not finish a case", fields: { guild: one.guildId }, run };
	}

	async #finish(one: Case): Promise<void> {
		const { connection, store, settle } = this.options;
		const guild = requireGuild(connection, one.guildId);
		const result = one.source
			? await new Escalation(this.options).carryOut(guild, one)
			: await decideCase(guild, one, store.sql);
		await settle(one.guildId, one.number, result);
	}

	/** The worker leaves these cases alone until the returned function is called. */
	hold(rows: readonly CaseRow[]): () => void {
		const { promise, resolve } = Promise.withResolvers<void>();
		for (const { guild_id: guildId, number } of rows) void this.work.hold(keyOf({ guildId, number }), () => promise);
		return resolve;
	}

	settleLater(guildId: string, number: number, result: CaseResult): void {
		if (this.work.added >= maxWaiting) return;
		void this.work.add(this.#step({ guildId, number }, () => this.options.settle(guildId, number, result)));
	}

	/** In order, as soon as the database is available. False, and nothing is stored, if too many are waiting. */
	insertLater(guildId: string, added: readonly NewCase[]): boolean {
		const waiting = this.#unstored.getOrInsert(guildId, []);
		if (waiting.length + added.length > maxWaiting) return false;
		waiting.push(...added);
		const { insert, moderationLog } = this.options;
		const store = async () => {
			for (let [one] = waiting; one; [one] = waiting) {
				for (const row of await insert(guildId, [one])) logCase(moderationLog, toCase(row));
				waiting.shift();
			}
		};
		void this.work.add({ ...this.#step({ guildId, number: 0 }, store), key: `unstored ${guildId}` });
		return true;
	}

	/** Tries all cases without an outcome now, also those whose last attempt failed a moment ago. */
	retry(): void {
		this.work.retryAll();
	}

	attach(client: Client): void {
		onSessionOrGuild(client, this.work.retryAll);
	}
}

type CaseKey = Pick<Case, "guildId" | "number">;

function keyOf({ guildId, number }: CaseKey): string {
	return `${guildId} ${number}`;
}

const maxAgeMs = 86_400_000;

const needed = {
	timeout: PermissionFlagsBits.ModerateMembers,
	kick: PermissionFlagsBits.KickMembers,
	ban: PermissionFlagsBits.BanMembers,
	temp_ban: PermissionFlagsBits.BanMembers,
} as const;

type Escalated = Case & { userId: string; action: keyof typeof needed };

/** Carries out rules of the setting `moderation.escalate`, each once, although the bot may be killed. */
class Escalation {
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
			if (isSameEnd(member?.communicationDisabledUntilTimestamp, endsAt)) return true;
		}
		if (action === "temp_ban") {
			const row = await tempBanRows.first(this.#sql, { guild_id: guild.id, user_id: userId });
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
			requireMembersBelow(guild, [target], [botMember(guild)]);
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
