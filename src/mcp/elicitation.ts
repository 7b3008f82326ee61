// Asks the person who uses an MCP client to fill in a form: the response to the call asks, and the client repeats the call
// with the answer. https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { isObject, type JsonObject } from "../lib/json.ts";
import { type TextResponse, textResponse } from "./json-rpc.ts";

/** For callers with `elicits`. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr */
export function inputRequired(
	id: string,
	inputRequests: Record<string, ElicitationRequest>,
	requestState: string,
): TextResponse {
	const resultType = inputRequiredType;
	return textResponse(id, JSON.stringify({ resultType, inputRequests, requestState }));
}

export const inputRequiredType = "input_required";

/** `requestedSchema` is the JSON Schema of a flat object. */
export interface ElicitationRequest {
	method: "elicitation/create";
	params: { mode: "form"; message: string; requestedSchema: JsonObject };
}

/** Undefined if there is no answer to the question `name`. `content` holds the fields if `action` is "accept". */
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
