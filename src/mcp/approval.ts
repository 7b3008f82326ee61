// How a bot tells the gateway that a tool call waits for an approval: the result of the call says so, and the gateway asks
// for the decision until there is one. So nothing is held while a person decides.

import { isObject, type JsonObject } from "./json-rpc.ts";

/** The MCP method with which the gateway asks a bot for a decision. Its params are `{ id }`, its result an ApprovalAnswer. */
export const approvalMethod = "guildhall/approval";

/** The key in `_meta` of a tool result under which a bot states the id of the approval that the call waits for. */
export const pendingKey = "guildhall/pending";

/** The result of a request for a decision: "pending", or "decided" with the result of the tool call. */
export type ApprovalAnswer =
	| { status: "pending" }
	| { status: "decided"; result: JsonObject };

/** Returns the id of the approval that a tool call waits for. Undefined if its response is not such a result. */
export function pendingApproval({ result }: JsonObject): string | undefined {
	const meta = isObject(result) ? result._meta : undefined;
	const id = isObject(meta) ? meta[pendingKey] : undefined;
	return typeof id === "string" ? id : undefined;
}

/** Reads the tool result from the answer to a request for a decision. Undefined if there is no decision yet. */
export function decidedResult({ result }: JsonObject): JsonObject | undefined {
	if (!isObject(result) || result.status !== "decided") return undefined;
	return isObject(result.result) ? result.result : undefined;
}
