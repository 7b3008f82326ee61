// Moderation cases: the record of what tool calls do to people or channels of a guild. A tool's plan describes the action
// that it is about to take (`Plan.record`). The pipeline stores this description before the first write and
// the outcome after the last one.

import type { Guild } from "discord.js";
import { saidProblem, toToolError } from "../../discord/rest/errors.ts";
import { type ItemOutcome, isOutcomeUnknown, noteItems } from "../../discord/rest/rest.ts";
import type { Principal } from "../../lib/principal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import type { Said, Text } from "../../texts/texts.ts";
import { type Output, type Part, parts } from "../results/result.ts";

export const caseActions = [
	"ban",
	"temp_ban",
	"unban",
	"kick",
	"timeout",
	"remove_timeout",
	"warn",
	"note",
	"purge",
	"lock",
	"unlock",
	"slow_mode",
	"add_role",
	"remove_role",
	"nickname",
	"move",
	"disconnect",
	"raid_on",
	"raid_off",
	"spam",
	"automod",
	"prune",
] as const;

export type CaseAction = (typeof caseActions)[number];

export interface CaseDraft {
	action: CaseAction;
	/** Each person gets a case; if empty, one case is about a channel or the guild. */
	userIds: readonly string[];
	channelIds?: readonly string[];
	/** Such as the end of a timeout, in epoch milliseconds. */
	endsAt?: number | undefined;
	/** Their texts are never stored. */
	messageIds?: readonly string[];
	/** Mentions, numbers or settings; no message texts. */
	detail?: readonly Text[];
	/** What the action really affected; undefined if the draft is right. Called once, at the end. */
	concerned?(): Concerned | undefined;
	/** Gets the numbers of the cases when they are stored. */
	opened?(numbers: readonly number[]): void;
	/** Out of `userIds`: not reachable by direct message, such as people who were already banned. */
	unreachable?: readonly string[];
}

/** Values that are left out are those of the draft. */
export type Concerned = Partial<Pick<CaseDraft, "messageIds" | "channelIds" | "detail">>;

export interface CaseCall {
	guild: Guild;
	draft: CaseDraft;
	reason: string | undefined;
	/** Whether to tell the people by direct message; undefined if the call does not say. */
	tell: boolean | undefined;
	/** Undefined for the holder of the root key. */
	principal: Principal | undefined;
	/** Undefined if the call needed no approval. */
	approvedBy: string | undefined;
}

export interface CaseEnd {
	/** For each person that the call completed, by user id. */
	outcomes: ReadonlyMap<string, ItemOutcome>;
	rest: ItemOutcome;
	why?: string | undefined;
	/** The same for people. */
	whySaid?: Said | undefined;
	concerned?: Concerned | undefined;
}

/** Stored before anything was changed, without an outcome yet. */
export interface OpenCases {
	/** Returns parts of the result, such as case numbers. Never rejects. */
	settle(end: CaseEnd): Promise<readonly Part[]>;
}

export interface CaseRecorder {
	/** Undefined if the guild keeps no record. Without the database, cases are stored later, if possible. */
	open(call: CaseCall): Promise<OpenCases | undefined>;
}

/** What the record of a tool call needs of the bot. */
interface CaseContext extends Pick<CaseCall, "principal"> {
	cases?: CaseRecorder | undefined;
	draft?: CaseDraft | undefined;
	approvedBy?: string | undefined;
}

/** If the cases of `draft` cannot be opened, `work` does not run. */
export async function recorded(
	draft: CaseDraft | undefined,
	{ reason, tell }: { reason?: string; tell?: boolean },
	{ cases: recorder, principal, approvedBy, ...bot }: CaseContext,
	guild: Guild | undefined,
	work: () => Promise<Output>,
): Promise<Output> {
	const whole = completed(draft, bot.draft);
	if (!whole || !guild) return work();
	if (!recorder) {
		if (tell)
			throw new ToolError(
				"The bot cannot tell people about actions: its feature moderation is off. Nothing was done; leave out tell.",
			);
		return work();
	}
	const cases = await recorder.open({ guild, draft: whole, reason, tell, principal, approvedBy });
	if (!cases) return work();
	const outcomes = new Map<string, ItemOutcome>();
	const settle = (otherwise: ItemOutcome, failure: Pick<CaseEnd, "why" | "whySaid"> = {}) =>
		cases.settle({ outcomes, rest: restOf(whole, outcomes) ?? otherwise, ...failure, concerned: whole.concerned?.() });
	try {
		const output = await noteItems((id, outcome) => outcomes.set(id, outcome), work);
		return parts(output, await settle("done"));
	} catch (error) {
		const known = error instanceof ToolError ? error : toToolError(error);
		await settle(outcomeOf(error), { why: known?.message, whySaid: saidProblem(error) });
		throw error;
	}
}

/** Adds ids of `more` to a draft without ids, and `opened`. Returns `more` if there is no draft. */
export function completed(draft: CaseDraft | undefined, more: CaseDraft | undefined): CaseDraft | undefined {
	if (!draft || !more) return draft ?? more;
	const { messageIds = more.messageIds, channelIds = more.channelIds } = draft;
	const { opened } = more;
	return { ...draft, ...(messageIds && { messageIds }), ...(channelIds && { channelIds }), ...(opened && { opened }) };
}

function restOf({ userIds }: CaseDraft, outcomes: ReadonlyMap<string, ItemOutcome>): ItemOutcome | undefined {
	if (outcomes.size === 0) return undefined;
	if (userIds.some((id) => outcomes.has(id))) return "not done";
	const all = new Set(outcomes.values());
	if (all.has("unknown")) return "unknown";
	return all.has("done") ? "done" : "not done";
}

export function outcomeOf(error: unknown): ItemOutcome {
	const cause = error instanceof ToolError ? (error.cause ?? error) : error;
	const isKnown = cause instanceof ToolError || cause instanceof RpcError || toToolError(cause) !== undefined;
	return isKnown && !isOutcomeUnknown(cause) ? "not done" : "unknown";
}
