// A call without a target of a tool that all bots answer: each bot is asked once, and equal answers are shown once.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { ClientResponse } from "../../mcp/client.ts";
import { errorResult, textResult } from "../../mcp/tool.ts";

export interface Answer {
	instance: string;
	text: string;
	isError: boolean;
	/** No answer came from the bot. */
	isLost?: boolean;
}

/** Neither `instance` nor `guild_id`. */
export function hasNoTarget({ instance, guild_id }: JsonObject): boolean {
	return !instance && !guild_id;
}

/** Of a response with a tool's result or a JSON-RPC error. */
export function answerOf(instance: string, { message }: ClientResponse): Answer {
	const { result, error } = message as JsonObject;
	if (!isObject(result)) return { instance, text: String(isObject(error) && error.message), isError: true };
	const content = Array.isArray(result.content) ? result.content : [];
	const texts = content.flatMap((one: unknown) => (isObject(one) && typeof one.text === "string" ? one.text : []));
	return { instance, text: texts.join("\n"), isError: result.isError === true };
}

/** JSON text of one result. Errors of bots are in it only if no bot has an answer; lost answers always. */
export function combineAnswers(answers: readonly Answer[]): { result: string; isError: boolean } {
	const found = answers.filter(({ isError }) => !isError);
	const isError = found.length === 0;
	const byText = Map.groupBy(
		answers.filter((answer) => answer.isError === isError || answer.isLost),
		({ text }) => text,
	);
	const parts = [...byText].map(([text, same]) =>
		byText.size === 1 ? text : `${same.map(({ instance }) => instance).join(", ")}:\n${text}`,
	);
	const text = parts.join("\n\n");
	return { result: isError ? errorResult(text) : textResult(text), isError };
}
