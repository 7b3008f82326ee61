// Stores the cases of tool calls: adds them before a call changes anything, tells the people, and stores the outcome.

import type { Guild } from "discord.js";
import { permitStoring } from "../../../discord/rest/rest.ts";
import { inlineText, maxReasonLength } from "../../../discord/text.ts";
import { rootPrincipal } from "../../../lib/principal.ts";
import { said } from "../../../texts/texts.ts";
import { mentions, type Part, parts, result } from "../../results/result.ts";
import { type CaseRow, caseRows, type Told } from "../../store/tables/cases.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import { isOnDiscord } from "../../tool/admission.ts";
import type { CaseCall, CaseEnd, OpenCases } from "../../tool/case-record.ts";
import type { Case, CaseResult, CasesOptions, NewCase } from "./case.ts";
import { describeEscalation, describeNumbers, rootClient } from "./case-text.ts";
import type { CaseWorker } from "./case-worker.ts";
import { hasAppeal, isTellable, maxTold, tellPeople } from "./tell.ts";

interface RecorderOptions extends CasesOptions {
	worker: CaseWorker;
	botId(): string;
	insert(guildId: string, added: readonly NewCase[]): Promise<CaseRow[]>;
	/** The case of the escalation rule that applies now. */
	settle(guildId: string, number: number, result: CaseResult): Promise<CaseRow | undefined>;
}

export class Recorder {
	constructor(private readonly options: RecorderOptions) {}

	/** With `mustStore`, rejects with StoreUnavailable if the cases cannot be stored. */
	async open(call: CaseCall, mustStore = false): Promise<OpenCases> {
		permitStoring();
		const { settings, worker, botId, insert, connection, log } = this.options;
		const { guild, draft, reason, tell } = call;
		const { action, endsAt } = draft;
		const { "moderation.tell": toldOf, "moderation.appeal": appeal } = settings.of(guild.id);
		const tellable = isTellable(action) && (tell ?? toldOf.includes(action)) ? action : undefined;
		const unreachable = new Set(draft.unreachable);
		const userOf = (id: string) => guild.members.cache.get(id)?.user ?? guild.client.users.cache.get(id);
		const recipients = tellable ? draft.userIds.filter((id) => !userOf(id)?.bot && !unreachable.has(id)) : [];
		const tooMany = recipients.length > maxTold;
		const told = new Set(tooMany ? [] : recipients);
		const drafts = newCasesOf(call, botId()).map((one) => ({
			...one,
			...(told.has(one.userId ?? "") && { told: "asked" as const }),
		}));
		const stored = await insert(guild.id, drafts).catch((error) => {
			// The action must work even if the database is unavailable.
			if (!(error instanceof StoreUnavailable) || mustStore) throw error;
			return error;
		});
		const rows = Array.isArray(stored) ? stored : [];
		const failure = Array.isArray(stored) ? undefined : stored;
		if (!failure) draft.opened?.(rows.map(({ number }) => number));
		// Keeps the worker from looking for the outcome of these cases during the call.
		const endHold = worker.hold(rows);
		const notice = tellable && { action: tellable, reason, endsAt };
		const outcomes: ReadonlyMap<string, Told> = notice
			? await tellPeople({ connection, log, appeal }, guild, [...told], notice)
			: new Map();
		await this.#storeTold(rows, outcomes);
		const notes = [
			...describeOutcomes(outcomes, appeal !== undefined && hasAppeal(action)),
			...parts(
				tooMany &&
					result(
						`Nobody was told: at most ${maxTold} people are told in one call.`,
						said("result.told_too_many", { count: maxTold }),
					),
			),
		];
		return {
			settle: async (end) => {
				try {
					const numbers = failure
						? this.#settleUnstored(guild, drafts, outcomes, end, failure)
						: await this.#settleRows(rows, end);
					return [...numbers, ...notes];
				} finally {
					endHold();
				}
			},
		};
	}

	async #storeTold(rows: readonly CaseRow[], outcomes: ReadonlyMap<string, Told>): Promise<void> {
		for (const row of rows) {
			const told = outcomes.get(row.user_id ?? "");
			if (told === undefined || told === "asked") continue;
			try {
				await caseRows.change(this.options.store.sql, row, { told });
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					this.options.log.error("could not store whether a person was told", { guild: row.guild_id, error });
				return;
			}
		}
	}

	async #settleRows(rows: readonly CaseRow[], end: CaseEnd): Promise<Part[]> {
		const escalations: Part[] = [];
		for (const { guild_id, number, user_id, action } of rows) {
			const result = resultFor(user_id ?? "", end);
			// The bot retries such a ban in the background. The worker finds the outcome when that has ended.
			if (action === "temp_ban" && result.state === "unknown") continue;
			try {
				const next = await this.options.settle(guild_id, number, result);
				if (next) escalations.push(describeEscalation(next));
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					this.options.log.error("could not store the outcome of a case", { guild: guild_id, error });
				this.options.worker.settleLater(guild_id, number, result);
			}
		}
		return [describeNumbers(rows.map(({ number }) => number)), ...escalations];
	}

	#settleUnstored(
		guild: Guild,
		drafts: readonly NewCase[],
		told: ReadonlyMap<string, Told>,
		end: CaseEnd,
		failure: StoreUnavailable,
	): Part[] {
		const cause = "The bot's database is unavailable";
		// If the cases were stored after all, the worker finds their outcome.
		if (failure.mayHaveRun)
			return [result(`${cause}: it is not known whether the case was stored.`, said("result.case_unknown"))];
		const isKept = this.options.worker.insertLater(
			guild.id,
			drafts.map((one) => {
				const outcome = told.get(one.userId ?? "");
				return { ...one, ...resultFor(one.userId ?? "", end), ...(outcome && { told: outcome }) };
			}),
		);
		return [
			isKept
				? result(
						`${cause}: the case is not stored yet. It will be when the database is back, unless the bot is restarted before.`,
						said("result.case_later"),
					)
				: result(`${cause}: the case could not be stored.`, said("result.case_lost")),
		];
	}
}

function resultFor(userId: string, end: CaseEnd): CaseResult {
	const state = end.outcomes.get(userId) ?? end.rest;
	return { ...end.concerned, state, ...(state !== "done" && { why: end.why, whySaid: end.whySaid }) };
}

function describeOutcomes(outcomes: ReadonlyMap<string, Told>, withAppeal: boolean): Part[] {
	const idsOf = (wanted: Case["told"]) => [...outcomes].flatMap(([id, told]) => (told === wanted ? [id] : []));
	const yes = idsOf("yes");
	const failed = idsOf("failed");
	const unknown = idsOf("asked");
	return parts(
		yes.length > 0 &&
			result(
				`Told by direct message${withAppeal ? ", with how to appeal" : ""}: ${yes.length} of ${outcomes.size}.`,
				said(withAppeal ? "result.told_appeal" : "result.told", { who: mentions(yes) }),
			),
		failed.length > 0 &&
			result(
				`The direct message was not delivered to ${failed.join(", ")}.`,
				said("result.told_failed", { who: mentions(failed) }),
			),
		unknown.length > 0 &&
			result(
				`It is not known whether the direct message arrived at ${unknown.join(", ")}.`,
				said("result.told_unknown", { who: mentions(unknown) }),
			),
	);
}

function newCasesOf({ draft, reason, principal, approvedBy }: CaseCall, botId: string): NewCase[] {
	const { userIds, action, endsAt, messageIds, channelIds } = draft;
	// The approval is stored here and not in `client`, because MCP clients choose their own names.
	const by = approvedBy === undefined ? [] : [inlineText(approvedBy, maxReasonLength)];
	const detail = [...(draft.detail ?? []), ...by.map((name) => said("case.detail.approved", { name }))];
	const common: NewCase = {
		action,
		moderatorId: principal?.person?.id ?? botId,
		client: clientOf(principal),
		reason,
		endsAt,
		state: "asked",
		messageIds: messageIds ?? [],
		channelIds: channelIds ?? [],
		detail,
	};
	if (userIds.length === 0) return [common];
	return [...new Set(userIds)].map((userId) => ({ ...common, userId }));
}

/** Undefined for what is done on Discord. Of a sign-in the name that the person approved: clients choose their own. */
function clientOf(principal: CaseCall["principal"]): string | undefined {
	if (!principal || principal.id === rootPrincipal.id) return rootClient;
	if (isOnDiscord(principal)) return undefined;
	const { name, client = name, person } = principal;
	return person?.signedIn ? name : client;
}
