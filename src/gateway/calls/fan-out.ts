// One call of a client that becomes several: of each bot, for a tool that needs no target, or for each of `guild_ids`.

import { isObject, type JsonObject } from "../../lib/json.ts";
import { approvalOutcome } from "../../mcp/approval.ts";
import type { ClientResponse } from "../../mcp/client.ts";
import { errorResult, invalidParameters, textOf, textResult } from "../../mcp/tool.ts";
import type { CallOutcome } from "./metrics.ts";

const maxGuilds = 50;
const isGuildId = /^\d{17,20}$/;

export interface Answer {
	/** The bot or the guild. */
	from: string;
	text: string;
	isError: boolean;
	/** If no answer came from the bot, or the call waits for approval. */
	outcome?: CallOutcome | undefined;
}

/** Clients may send null or an empty list for what they do not give. */
export function hasGuildIds({ guild_ids }: JsonObject): boolean {
	return guild_ids != null && !(Array.isArray(guild_ids) && guild_ids.length === 0);
}

/** Each id once. Throws an RpcError. */
export function readGuildIds({ guild_ids, guild_id }: JsonObject): string[] {
	const isList = Array.isArray(guild_ids) && guild_ids.every((id) => typeof id === "string" && isGuildId.test(id));
	if (!isList || guild_ids.length > maxGuilds)
		throw invalidParameters([`guild_ids: expected 1 to ${maxGuilds} ids of guilds`]);
	if (guild_id) throw invalidParameters(["guild_ids: expected without guild_id"]);
	return [...new Set<string>(guild_ids)];
}

/** One of `ids` that stands anywhere in the arguments. */
export function idIn(args: JsonObject, ids: ReadonlySet<string>): string | undefined {
	const left: unknown[] = [args];
	while (left.length > 0) {
		const one = left.pop();
		if (typeof one === "string" && ids.has(one)) return one;
		if (typeof one === "object" && one !== null) left.push(...Object.values(one));
	}
	return undefined;
}

/** Of a response with a tool's result or a JSON-RPC error. */
export function answerOf(from: string, { message }: ClientResponse): Answer {
	const { result, error } = message as JsonObject;
	if (!isObject(result)) return { from, text: String(isObject(error) && error.message), isError: true };
	return { from, text: textOf(result), isError: result.isError === true, outcome: approvalOutcome(message) };
}

/** JSON text of one result: equal answers once, each under whom it is from, and those that failed. An error if all are. */
export function combineAnswers(answers: readonly Answer[]): { result: string; isError: boolean } {
	const isError = answers.every((answer) => answer.isError);
	const byText = Map.groupBy(answers, (one) => `${one.isError && !isError ? ", failed" : ""}:\n${one.text}`);
	const text = [...byText].map(([text, same]) => same.map(({ from }) => from).join(", ") + text).join("\n\n");
	return { result: isError ? errorResult(text) : textResult(text), isError };
}

/** Of bots that can all do the same: without errors if one has an answer, and without names if all say the same. */
export function combineEqual(answers: readonly Answer[]): ReturnType<typeof combineAnswers> {
	const isError = answers.every((answer) => answer.isError);
	const shown = answers.filter((answer) => answer.isError === isError || answer.outcome);
	const [first] = shown;
	if (!first || shown.some(({ text }) => text !== first.text)) return combineAnswers(shown);
	return { result: isError ? errorResult(first.text) : textResult(first.text), isError };
}
