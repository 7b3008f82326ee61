// Asks the person who uses an MCP client to fill in a form: the response to the call asks, and the client repeats the call
// with the answer. https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { isObject, type JsonObject, type TextResponse, textResponse } from "./json-rpc.ts";

/**
 * Builds the response to a `tools/call` request that the client has to repeat with the answer of the person who uses it.
 * `inputRequests` are the questions by name; the client sends `requestState` back unchanged. Only for a caller with
 * `elicits`. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function inputRequired(
	id: string,
	inputRequests: Record<string, ElicitationRequest>,
	requestState: string,
): TextResponse {
	const resultType = inputRequiredType;
	const result = { resultType, inputRequests, requestState };
	return textResponse(id, JSON.stringify(result));
}

/** The `resultType` of a response to `tools/call` that asks for input. */
export const inputRequiredType = "input_required";

/**
 * A form that the person who uses an MCP client is asked to fill in. `requestedSchema` is the JSON Schema of a flat
 * object. https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export interface ElicitationRequest {
	method: "elicitation/create";
	params: { mode: "form"; message: string; requestedSchema: JsonObject };
}

/**
 * Returns what the person who uses an MCP client answered to the question `name`. Undefined if a `tools/call` has no
 * answer to it. `content` holds the fields of the form if `action` is "accept".
 */
export function elicitedAnswer(
	{ inputResponses }: JsonObject,
	name: string,
): { action: "accept" | "decline" | "cancel"; content: JsonObject } | undefined {
	const answer = isObject(inputResponses) ? inputResponses[name] : undefined;
	if (!isObject(answer)) return undefined;
	const { action, content } = answer;
	if (action !== "accept" && action !== "decline" && action !== "cancel") return undefined;
	return { action, content: isObject(content) ? content : {} };
}
