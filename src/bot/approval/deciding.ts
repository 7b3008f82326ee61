// Deciding on a request for approval, with a button in Discord or in the gateway's console. A decision is one
// conditional SQL statement, so only the first one counts. Approving requires the permissions that the call itself
// needs, and a person other than the requester.

import type { GuildMember } from "discord.js";
import { fetchMember } from "../../discord/find.ts";
import { bitsIn, describeBits, type Permission, withTitles } from "../../discord/permissions.ts";
import { inlineText } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import { rootPrincipal } from "../../lib/principal.ts";
import { type Said, said } from "../../texts/texts.ts";
import { type ApprovalRow, approvalRows, changeApproval } from "../store/tables/approvals.ts";
import type { BotTool } from "../tool/context.ts";
import { checkCall } from "./call-preview.ts";
import { idOf } from "./needs-approval.ts";
import { type Decision, principalOf } from "./request-message.ts";
import { type Answer, isAtConsole, type Requests, type RequestsOptions } from "./requests.ts";

export interface DecidingOptions extends RequestsOptions {
	requests: Requests;
}

/** A Discord user, or the holder of MCP_AUTH_TOKEN, whose id is "root". */
export interface Decider {
	id: string;
	name: string;
}

export const operator: Decider = { id: rootPrincipal.id, name: "the operator" };

/** Applies only to the plan that `token` identifies. */
interface GivenDecision {
	decision: Decision;
	id: string;
	token: string;
	/** The plan has changed since it was shown. */
	onOutdated?: ((row: ApprovalRow) => Promise<void>) | undefined;
	/** Undefined if it can be approved where it is shown. */
	whyNotHere?(): Said | undefined;
}

interface DecisionOutcome extends Answer {
	done: boolean;
}

/** `people`: in Discord, instead of a text for models. */
type Reason = { why: string | Said; people?: Said | undefined };

export type Deciding = ReturnType<typeof createDeciding>;

export function createDeciding(options: DecidingOptions) {
	const { rules, connection, requests, log, now = Date.now } = options;
	const { sql } = options.store;

	async function whyNotApprove(row: ApprovalRow, decider: Decider): Promise<Reason | undefined> {
		const own = whyOwn(row, decider);
		if (own !== undefined || decider === operator) return own && { why: own };
		const guild = connection.guild(row.guild_id ?? "");
		const member = guild && (await fetchMember(guild, decider.id));
		if (guild && !member) return { why: said("approval.why.no-member", { server: inlineText(guild.name, 200) }) };
		const { tool, refusal, args, context } = requests.resolve(row, { ...decider, signedIn: false });
		if (!tool || refusal !== undefined) return { why: refusal ?? "" };
		const checked = await checkCall(tool as BotTool, args, context);
		if (checked.refusal !== undefined) return { why: checked.refusal, people: checked.people };
		const why = checked.isPreviewed ? undefined : whyNotInRun(tool as BotTool, args, member);
		return why && { why };
	}

	function whyOwn(row: ApprovalRow, decider: Decider): Said | undefined {
		if (rules.approval_self || isAtConsole(row)) return undefined;
		const requester = principalOf(row);
		if (requester?.person?.id === decider.id) return said("approval.why.own");
		// Otherwise a client with MCP_AUTH_TOKEN could approve its own calls.
		if (decider === operator && idOf(requester) === rootPrincipal.id) return said("approval.why.own.root");
		return undefined;
	}

	function whyNotInRun(tool: BotTool, args: JsonObject, member: GuildMember | undefined): Said | undefined {
		if (!tool.needs.checkedInRun) return undefined;
		const needed = tool.needs.permissions.flatMap((item): Permission[] => {
			if (typeof item === "string") return [item];
			return "inGuild" in item || args[item.with] ? [item.permission] : [];
		});
		const missing = member?.permissions.missing(bitsIn(undefined, needed)) ?? [];
		return missing.length === 0
			? undefined
			: withTitles(said("approval.why.lacks", { permissions: describeBits(bitsIn(undefined, missing)) }));
	}

	/** The request if its plan is the one of `token`; otherwise why not. */
	async function find({ id, token, onOutdated }: Omit<GivenDecision, "decision">): Promise<ApprovalRow | Said> {
		const row = await approvalRows.first(sql, { id });
		if (!row || requests.withdrawn.has(id)) return said("approval.gone");
		if (row.token === token) return row;
		await onOutdated?.(row);
		return said("approval.outdated");
	}

	return {
		whyOwn,
		find,
		async decide(given: GivenDecision, decider: Decider): Promise<DecisionOutcome> {
			const { decision, id } = given;
			const row = await find(given);
			if ("key" in row) return notDone(row);
			const other = decidedText(row, now());
			if (other !== undefined) return notDone(other);
			if (decision === "approve") {
				const problem = given.whyNotHere?.();
				if (problem !== undefined) return notDone(problem);
				const why = await whyNotApprove(row, decider);
				if (why !== undefined)
					return {
						...notDone(said("approval.cannot", why)),
						people: why.people && said("approval.cannot", { why: why.people }),
					};
			}
			return requests.hold(id, async () => {
				const decided_at = now();
				const state = decision === "approve" ? "approved" : "denied";
				const changes = {
					state,
					decided_by: decider.id,
					decided_at,
					ended_at: state === "denied" ? decided_at : null,
				} as const;
				const isOpen = row.expires_at > decided_at;
				const decided = isOpen ? await changeApproval(sql, row, changes, ["pending"]) : undefined;
				if (!decided) {
					const current = await approvalRows.first(sql, { id });
					return notDone((current && decidedText(current, now())) ?? said("approval.changed"));
				}
				log.info("a person decided on a tool call", { approval: id, tool: row.tool, decision, decided_by: decider.id });
				if (decision === "deny") {
					requests.settle(decided);
					return done(said("approval.denied", { tool: requests.titleOf(row) }));
				}
				requests.note(decided, "approved");
				const answer = await requests.run(decided, decider.name);
				const after = await approvalRows.first(sql, { id }).catch(() => undefined);
				// It waits again if its plan has changed: the approval was of another one.
				return { ...answer, done: after?.state !== "pending" };
			});
		},
	};
}

const done = (message: Said): DecisionOutcome => ({ message, done: true });
const notDone = (message: Said): DecisionOutcome => ({ message, done: false });

function decidedText({ state, decided_by, expires_at }: ApprovalRow, now: number): Said | undefined {
	if (state === "pending") return expires_at > now ? undefined : said("approval.decided.expired");
	const who = decided_by === rootPrincipal.id ? said("approval.by.root") : `<@${decided_by}>`;
	const by = decided_by === null ? "" : said("approval.by", { who });
	switch (state) {
		case "approved":
		case "running":
			return said("approval.decided.running", { by });
		case "denied":
		case "done":
		case "unknown":
			return said(`approval.decided.${state}`, { by });
		default:
			return said(`approval.decided.${state}`);
	}
}
