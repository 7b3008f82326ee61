// What a tool call would do, found without doing it: the call runs until its review, where it ends.

import { isObject, type JsonObject } from "../../lib/json.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { type Effect, type Tool, type ToolCall, textIn } from "../../mcp/tool.ts";
import { callFacts } from "../tool/audit.ts";
import { endOf, saidOf } from "../tool/call-as.ts";
import type { BotContext, BotTool } from "../tool/context.ts";
import type { Preview } from "../tool/review.ts";

/** Thrown by `review` to end a call before it changes anything. */
export class CallStopped extends Error {
	override name = "CallStopped";
}

/** Runs the call until its review, or until it fails before. RpcError for invalid arguments. */
export async function previewCall(
	tool: Tool<BotContext>,
	args: JsonObject,
	context: BotContext,
	signal?: ToolCall["signal"],
): Promise<(Preview & { effect: Effect }) | { failure: unknown; result: string }> {
	const stopped = new CallStopped();
	let preview: Preview | undefined;
	const review = (given: Preview) => {
		preview = given;
		throw stopped;
	};
	const facts = callFacts();
	const { result, error } = await endOf(tool, args, { ...context, review }, quiet(signal), facts);
	if (error === stopped && preview) return { ...preview, effect: facts.recorded(tool, args).effect };
	if (result === undefined) throw error;
	if (!error) throw new Error(`the tool ${tool.name} ran without a review`);
	return { failure: error, result };
}

/** Runs until its plan or first change. `isPreviewed`: the plan leaves nothing out. */
export async function checkCall(tool: BotTool, args: JsonObject, context: BotContext) {
	let isAllowed = false;
	let isPreviewed = false;
	const stop = () => {
		isAllowed = true;
		throw new CallStopped();
	};
	const review = ({ lines, leavesOut = false }: Preview) => {
		isPreviewed = lines !== undefined && !leavesOut;
		// Tools that check permissions themselves may store something before their first request.
		if (tool.needs.isPlanned || tool.needs.checkedInRun) stop();
	};
	const end = await endOf(tool, args, { ...context, review, beforeWrite: stop, beforeStore: stop }, quiet());
	const { result, error } = end;
	if (isAllowed || error === undefined) return { refusal: undefined, people: undefined, isPreviewed };
	if (result === undefined && !(error instanceof RpcError)) throw error;
	const refusal = result === undefined ? (error as RpcError).message : textIn(result);
	return { refusal, people: saidOf(end), isPreviewed };
}

/** Ignores progress reports. */
export function quiet(signal?: ToolCall["signal"]): ToolCall {
	return { signal, reportProgress() {} };
}

/** SHA-256 of JSON. */
export function digest(value: unknown): string {
	return Bun.SHA256.hash(JSON.stringify(value), "hex");
}

/** With sorted keys, so that equal arguments have the same text. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (!isObject(value)) return value;
	const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
	// A key such as __proto__ stays a key.
	return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
