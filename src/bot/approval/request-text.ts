// What callers read about their requests for approval, as results of tools.

import { time } from "../../discord/describe.ts";
import { rootPrincipal } from "../../lib/principal.ts";
import { decidesAtKey, pendingKey, stateKey } from "../../mcp/approval.ts";
import { inputRequiredType } from "../../mcp/elicitation.ts";
import { withMembers } from "../../mcp/server.ts";
import { errorResult, textIn, textResult } from "../../mcp/tool.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";

/** In `_meta` of the result of a call that was decided or expired: the id of the request. */
const requestKey = "guildhall/request";

/** With the id by which the caller can ask for the decision. `decidesAt`: where, if the request was not posted. */
export function pendingResult({ id, tool, expires_at }: ApprovalRow, decidesAt?: string): string {
	const [who, where, first] = decidesAt
		? [
				"the person who uses this MCP client",
				`waits at ${decidesAt}`,
				"show the person this link. Once they have decided, ",
			]
		: ["a person", "was posted in Discord", ""];
	const result = textResult([
		`${tool} was not run: ${who} has to approve this call first. The request ${id} ${where}; it expires at ${time(expires_at)}.`,
		`Next step: ${first}get_approval with approval_id ${id} shows the decision and the result. Do not repeat the call: that would be another request.`,
	]);
	return withMembers({ _meta: { [pendingKey]: id, ...(decidesAt && { [decidesAtKey]: decidesAt }) } }, result);
}

/** Of a request that has ended: run, denied, expired or failed. */
export function finalResult(row: ApprovalRow): string {
	const result = row.result ?? errorResult(`${endText(row)} ${row.tool} was not run.`);
	return withMembers({ _meta: { [requestKey]: row.id, [stateKey]: row.state } }, result);
}

/** Made by the approval (JSON). Such calls are not logged again, since the approval logs them itself. */
export function isOfApproval(response: string): boolean {
	// A result's texts cannot contain unescaped quotation marks.
	return [`"_meta":{"${pendingKey}":`, `"_meta":{"${requestKey}":`, `"resultType":"${inputRequiredType}"`].some(
		(mark) => response.includes(mark),
	);
}

function endText({ id, state, decided_by, ended_at }: ApprovalRow): string {
	if (state === "denied" && decided_by === null)
		return `The person at the MCP client did not approve the request ${id}.`;
	if (state === "denied")
		return `${decided_by === rootPrincipal.id ? "The holder of MCP_AUTH_TOKEN" : `A person (ID: ${decided_by})`} denied the request ${id}. Do not ask again without a reason.`;
	if (state === "expired") return `Nobody approved the request ${id} before it expired at ${time(ended_at)}.`;
	if (state === "withdrawn")
		return `The request ${id} was withdrawn, because the key or connection that made it has ended.`;
	return `The request ${id} has ended without a result.`;
}

/** Of an approved call that was running when the bot was stopped. */
export const unknownResult = errorResult(
	"The bot was stopped while it carried out this approved call. Whether it took effect is unknown: check before repeating it. It is not run again.",
);

/** `isCancelled`: the user closed the question instead. */
export function deniedResult(row: ApprovalRow, isCancelled: boolean): string {
	const why = isCancelled
		? "The person at the MCP client closed the question without an answer."
		: "The person at the MCP client denied this call.";
	const result = errorResult(`${why} ${row.tool} was not run. Do not ask again without a reason.`);
	return finalResult({ ...row, result });
}

/** The answer was received before; each works once. */
export function usedResult({ id, tool }: Pick<ApprovalRow, "id" | "tool">): string {
	return errorResult(
		`This answer to the question about ${tool} was used already, and works once. Nothing more was done. get_approval with approval_id ${id} shows what became of it.`,
	);
}

export const tooLongText = (tool: string) =>
	`${tool} needs the approval of the person who uses this MCP client, and what it would do is too long to be shown. It was not run. Do less in one call.`;

/** `why`: such as an unavailable database. */
export function notBegunResult({ tool }: Pick<ApprovalRow, "tool">, why: string): string {
	return errorResult(
		`${tool} needs the approval of the person who uses this MCP client, and that is not possible: ${why} ${tool} was not run.`,
	);
}

/** Stored, but not posted before the bot was stopped. */
export const notPostedResult = errorResult(
	"The bot was stopped before it had posted the request for approval. The call was not run; call again.",
);

export function describeRequest(row: ApprovalRow): string[] {
	const { result } = row;
	return [
		requestLine(row),
		...(row.ended_at === null
			? ["Not run yet. Call get_approval again later; do not repeat the call."]
			: [result === null ? endText(row) : `Result:\n${textIn(result)}`]),
	];
}

export function requestLine(row: ApprovalRow): string {
	const { id, tool, state, created_at, expires_at, decided_by } = row;
	const isOpen = row.ended_at === null;
	return [
		`approval_id: ${id}`,
		tool,
		state,
		`requested ${time(created_at)}`,
		isOpen ? `expires ${time(expires_at)}` : `ended ${time(row.ended_at)}`,
		...(decided_by === null
			? []
			: [`decided by ${decided_by === rootPrincipal.id ? "the holder of MCP_AUTH_TOKEN" : `ID: ${decided_by}`}`]),
	].join(" | ");
}
