// How a bot tells the gateway that a tool call waits for an approval: the result of the call says so, and the gateway asks
// for the decision until there is one. So nothing is held while a person decides. And how the gateway has a bot withdraw
// the waiting calls of keys and connections that have ended.

import * as v from "valibot";
import { isObject, type JsonObject } from "./json-rpc.ts";

/**
 * The MCP method with which the gateway asks a bot whether a person has approved or rejected a tool call. The params
 * are `{ id }` with the approval's id; the result is an ApprovalAnswer.
 */
export const approvalMethod = "guildhall/approval";

/**
 * The key in `_meta` of a tool result for the id of an approval. A bot uses it if the tool call waits for this
 * approval.
 */
export const pendingKey = "guildhall/pending";

/**
 * A bot's answer to the question whether a person has decided on an approval: "pending" if not, otherwise "decided"
 * with the result of the tool call.
 */
export type ApprovalAnswer = { status: "pending" } | { status: "decided"; result: JsonObject };

/**
 * Returns the id of the approval that a tool call waits for. Takes the response to the call; returns undefined if the
 * call does not wait for an approval.
 */
export function pendingApproval({ result }: JsonObject): string | undefined {
	const meta = isObject(result) ? result._meta : undefined;
	const id = isObject(meta) ? meta[pendingKey] : undefined;
	return typeof id === "string" ? id : undefined;
}

/**
 * Returns the tool result from a bot's answer (`result` is an ApprovalAnswer). Returns undefined if nobody has decided
 * on the approval yet.
 */
export function decidedResult({ result }: JsonObject): JsonObject | undefined {
	if (!isObject(result) || result.status !== "decided") return undefined;
	return isObject(result.result) ? result.result : undefined;
}

/**
 * The MCP method with which the gateway names principals (callers) that no longer exist: the params are `{ gone }`, their
 * ids. The bot withdraws their calls that wait for approval, and answers `{ waiting }`, the ids of the principals whose
 * calls still wait.
 */
export const waitingMethod = "guildhall/waiting";

const ids = v.array(v.pipe(v.string(), v.maxLength(200)));

/** Returns the first 1,000 ids of a list in guildhall/waiting; undefined if it is invalid. */
export function readIds(value: unknown): readonly string[] | undefined {
	const read = v.safeParse(ids, value);
	return read.success ? read.output.slice(0, 1_000) : undefined;
}
