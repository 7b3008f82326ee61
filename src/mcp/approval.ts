// A tool call that waits for an approval: its result says so, and the gateway asks until there is a decision,
// so nothing is held meanwhile. And how a bot withdraws the waiting calls of ended keys and connections.

import * as v from "valibot";
import { isObject, type JsonObject } from "../lib/json.ts";
import { inputRequiredType } from "./elicitation.ts";

/** Asks a bot for a decision: the params are `{ id }` with the approval's id, the result is an ApprovalAnswer. */
export const approvalMethod = "guildhall/approval";

/** The key in `_meta` of a tool result for the id of the approval that the call waits for. */
export const pendingKey = "guildhall/pending";

/** The key in `_meta` for the URL where the person decides, who learns of it from the result: the gateway does not wait. */
export const decidesAtKey = "guildhall/decides-at";

/** The key in `_meta` for the state of a request for approval that has ended. */
export const stateKey = "guildhall/state";

/** "decided" comes with the result of the tool call. */
export type ApprovalAnswer = { status: "pending" } | { status: "decided"; result: JsonObject };

/** The approval's id from the response to a tool call; undefined if the call does not wait. */
export function pendingApproval({ result }: JsonObject): string | undefined {
	const meta = isObject(result) ? result._meta : undefined;
	const id = isObject(meta) ? meta[pendingKey] : undefined;
	return typeof id === "string" ? id : undefined;
}

/** What the response to a tool call says of the approval that it needs, unless it was given. */
export function approvalOutcome({ result }: JsonObject) {
	const { _meta, resultType } = Object(result) as JsonObject;
	const { [pendingKey]: pending, [stateKey]: state } = Object(_meta) as JsonObject;
	if (resultType === inputRequiredType || pending !== undefined) return "waiting";
	return (["denied", "expired", "withdrawn"] as const).find((one) => one === state);
}

/** The tool result from an ApprovalAnswer; undefined if nobody has decided yet. */
export function decidedResult({ result }: JsonObject): JsonObject | undefined {
	if (!isObject(result) || result.status !== "decided") return undefined;
	return isObject(result.result) ? result.result : undefined;
}

/** Params `{ gone }`: ids of ended principals, whose calls are withdrawn. Result `{ waiting }`: whose calls wait. */
export const waitingMethod = "guildhall/waiting";

const ids = v.array(v.pipe(v.string(), v.maxLength(200)));

/** Reads at most 1,000 ids; undefined if the list is invalid. */
export function readIds(value: unknown): readonly string[] | undefined {
	const read = v.safeParse(ids, value);
	return read.success ? read.output.slice(0, 1_000) : undefined;
}
