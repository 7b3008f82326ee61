// Moderation cases: the record of what tool calls do to people or channels of a guild. A tool describes the action that
// it is about to take (`records` in its definition). The pipeline stores this description before the first write and
// the outcome after the last one.

import type { Guild } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { type ItemOutcome, isOutcomeUnknown, noteItems } from "../../discord/rest/rest.ts";
import type { Principal } from "../../lib/principal.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { ToolError, type ToolOutput } from "../../mcp/tool.ts";
import type { ToolContext } from "./context.ts";

/** Names of the moderators' actions in the moderation record. */
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
	"prune",
] as const;

export type CaseAction = (typeof caseActions)[number];

/** Description of an action that a tool call is about to take, from which moderation cases are created. */
export interface CaseDraft {
	action: CaseAction;
	/**
	 * Ids of the people that the action concerns. Each of them gets a case. If empty, one case about a channel or the
	 * guild is created.
	 */
	userIds: readonly string[];
	/** Ids of the channels that the action concerns. */
	channelIds?: readonly string[];
	/** When the action expires, such as the end of a timeout, in epoch milliseconds. */
	endsAt?: number | undefined;
	/** Ids of the messages that the action is about. Their texts are never stored. */
	messageIds?: readonly string[];
	/**
	 * Details of the change, as ids, numbers or names of settings, such as the id of a role. Must not contain message
	 * texts.
	 */
	detail?: string | undefined;
	/**
	 * Returns the messages and channels that the action really affected, such as the messages that were deleted;
	 * undefined if the draft's values are right. Called once, when the action has ended.
	 */
	concerned?(): Concerned | undefined;
	/** Ids out of `userIds` that the bot cannot reach by direct message, such as people who were already banned. */
	unreachable?: readonly string[];
}

/** The values of a case draft that an action really affected. Values that are left out are those of the draft. */
export type Concerned = Partial<Pick<CaseDraft, "messageIds" | "channelIds" | "detail">>;

/** A case draft, with who takes the action and why. */
export interface CaseCall {
	guild: Guild;
	draft: CaseDraft;
	reason: string | undefined;
	/** Whether to tell the people about the action by direct message; undefined if the call does not specify it. */
	tell: boolean | undefined;
	/** The caller; undefined for the holder of the root key. */
	principal: Principal | undefined;
	/** Name of the person who approved the call; undefined if it needed no approval. */
	approvedBy: string | undefined;
}

/** Outcomes of a tool call for which cases were stored. */
export interface CaseEnd {
	/** Outcome for each person that the call completed, by user id. */
	outcomes: ReadonlyMap<string, ItemOutcome>;
	/** Outcome for all other people of the draft. */
	rest: ItemOutcome;
	/** The error message, if the call failed. */
	why?: string | undefined;
	/** What the action really affected, if that differs from the draft. */
	concerned?: Concerned | undefined;
}

/** The cases that were stored before a tool call changed anything, and whose outcome is not stored yet. */
export interface OpenCases {
	/**
	 * Stores the outcome of the call. Returns lines for the tool's result, such as the numbers of the cases. Never
	 * rejects.
	 */
	settle(end: CaseEnd): Promise<readonly string[]>;
}

export interface CaseRecorder {
	/**
	 * Stores cases before a tool changes anything and, if requested, tells the people by direct message. Returns
	 * undefined if the guild keeps no moderation record. Does not reject if the database is unavailable: the cases are
	 * then stored later, if possible.
	 */
	open(call: CaseCall): Promise<OpenCases | undefined>;
}

/**
 * Runs the part of a tool that changes something on Discord. Stores the cases of `draft` in the guild's moderation record
 * before that, and their outcome afterwards. If the cases cannot be opened, the part does not run.
 */
export async function recorded(
	draft: CaseDraft | undefined,
	args: object,
	context: ToolContext,
	work: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
	const { openCases, guild } = context as ToolContext & { guild?: Guild };
	const whole = completed(draft, context.draft);
	if (!whole || !guild) return work();
	if (!openCases) {
		if ((args as { tell?: boolean }).tell)
			throw new ToolError(
				"The bot cannot tell people about actions: its feature moderation is off. Nothing was done; leave out tell.",
			);
		return work();
	}
	const cases = await openCases(guild, whole, args);
	return cases ? settled(cases, whole, work) : work();
}

/**
 * Adds the message and channel ids of `more` to a tool's case draft that has none. Returns `more` if the tool has no
 * draft.
 */
export function completed(draft: CaseDraft | undefined, more: CaseDraft | undefined): CaseDraft | undefined {
	if (!draft || !more) return draft ?? more;
	const { messageIds = more.messageIds, channelIds = more.channelIds } = draft;
	return {
		...draft,
		...(messageIds && { messageIds }),
		...(channelIds && { channelIds }),
	};
}

async function settled(cases: OpenCases, draft: CaseDraft, work: () => Promise<ToolOutput>): Promise<ToolOutput> {
	const outcomes = new Map<string, ItemOutcome>();
	try {
		const output = await noteItems((id, outcome) => outcomes.set(id, outcome), work);
		const rest = restOf(draft, outcomes) ?? "done";
		const concerned = draft.concerned?.();
		return [output, await cases.settle({ outcomes, rest, concerned })].flat(2);
	} catch (error) {
		const rest = restOf(draft, outcomes) ?? outcomeOf(error);
		const why = (error instanceof ToolError ? error : toToolError(error))?.message;
		const concerned = draft.concerned?.();
		await cases.settle({ outcomes, rest, why, concerned });
		throw error;
	}
}

function restOf({ userIds }: CaseDraft, outcomes: ReadonlyMap<string, ItemOutcome>): ItemOutcome | undefined {
	if (outcomes.size === 0) return undefined;
	if (userIds.some((id) => outcomes.has(id))) return "not done";
	const all = new Set(outcomes.values());
	if (all.has("unknown")) return "unknown";
	return all.has("done") ? "done" : "not done";
}

function outcomeOf(error: unknown): ItemOutcome {
	const cause = error instanceof ToolError ? (error.cause ?? error) : error;
	const isKnown = cause instanceof ToolError || cause instanceof RpcError || toToolError(cause) !== undefined;
	return isKnown && !isOutcomeUnknown(cause) ? "not done" : "unknown";
}
