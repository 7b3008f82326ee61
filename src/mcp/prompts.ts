// Prompts: texts that a person picks in a client, such as by a slash command, to start a job.
// https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion

import { didYouMean } from "../lib/config.ts";
import { isObject, type JsonObject } from "../lib/json.ts";
import { shownName } from "../lib/text.ts";
import { errorCode, RpcError } from "./json-rpc.ts";
import { invalidParameters } from "./tool.ts";

/** By the MCP specification. */
const maxCompletions = 100;

export interface PromptArgument {
	name: string;
	description: string;
	required?: boolean;
}

/** Absent arguments are undefined. */
export type PromptArguments = Readonly<Record<string, string | undefined>>;

export interface Prompt {
	name: string;
	title: string;
	/** One sentence for people: what the AI model does with the prompt. */
	description: string;
	arguments: readonly PromptArgument[];
	/** The text of the only message, or all messages. Throws an RpcError for an invalid argument. */
	get(args: PromptArguments): string | readonly { role: "user" | "assistant"; content: JsonObject }[];
	/** Best first, for the text typed so far. Default: none. */
	complete?(argument: string, typed: string): readonly string[];
}

export function listPrompts(prompts: readonly Prompt[]): string {
	return JSON.stringify({ prompts: prompts.map(({ get: _get, complete: _complete, ...listing }) => listing) });
}

/** Throws an RpcError for an unknown prompt or invalid arguments. */
export function getPrompt(prompts: readonly Prompt[], params: JsonObject): JsonObject {
	const { name, args } = readPromptRequest(params);
	const prompt = findPrompt(prompts, name);
	const known = prompt.arguments.map((argument) => argument.name);
	const issues = [
		...Object.keys(args)
			.filter((key) => !known.includes(key))
			.map((key) => `${key}: this prompt has no such argument`),
		...prompt.arguments
			.filter(({ name, required }) => required && !args[name])
			.map(({ name }) => `${name}: is required`),
	];
	if (issues.length > 0) throw invalidParameters(issues);
	const messages = prompt.get(args);
	return {
		description: prompt.description,
		messages: typeof messages === "string" ? [{ role: "user", content: { type: "text", text: messages } }] : messages,
	};
}

/** Throws an RpcError for an unknown prompt or argument. */
export function completePrompt(prompts: readonly Prompt[], params: JsonObject): JsonObject {
	const { prompt: name, argument, typed } = readCompletion(params);
	const prompt = findPrompt(prompts, name);
	if (!prompt.arguments.some((one) => one.name === argument))
		throw invalidParameters([`argument.name: the prompt ${name} has no argument ${shownName(argument)}`]);
	return completionOf(prompt.complete?.(argument, typed) ?? []);
}

/** The first 100 of `values`. */
export function completionOf(values: readonly string[]): JsonObject {
	return {
		completion: {
			values: values.slice(0, maxCompletions),
			total: values.length,
			hasMore: values.length > maxCompletions,
		},
	};
}

/** Ids whose thing has an id that begins with the typed text, or a name that contains it. */
export function completeByName(things: readonly { id: string; name: string }[], typed: string): string[] {
	const text = typed.toLowerCase();
	return things
		.filter(({ id, name }) => id.toLowerCase().startsWith(text) || name.toLowerCase().includes(text))
		.map(({ id }) => id);
}

/** Empty arguments count as absent. Throws an RpcError if the params are invalid. */
export function readPromptRequest({ name, arguments: given }: JsonObject) {
	if (typeof name !== "string") throw invalidParameters(["name: expected the name of a prompt"]);
	return { name, args: readTexts(given, "arguments") };
}

/** Throws an RpcError if the params are invalid, or not about a prompt. */
export function readCompletion({ ref, argument, context }: JsonObject) {
	const { type, name: prompt } = Object(ref) as JsonObject;
	if (type !== "ref/prompt" || typeof prompt !== "string")
		throw invalidParameters([
			'ref: expected {"type": "ref/prompt", "name": …}; only arguments of prompts can be completed',
		]);
	const { name, value } = Object(argument) as JsonObject;
	if (typeof name !== "string" || typeof value !== "string")
		throw invalidParameters([
			"argument: expected an object with the name and value of the argument that is to be completed",
		]);
	const args = readTexts((Object(context) as JsonObject).arguments, "context.arguments");
	return { prompt, argument: name, typed: value, args };
}

function readTexts(given: unknown, path: string): PromptArguments {
	if (given === undefined || given === null) return {};
	if (!isObject(given)) throw invalidParameters([`${path}: expected an object`]);
	const issues = Object.entries(given)
		.filter(([, value]) => typeof value !== "string")
		.map(([key]) => `${path}.${key}: expected a string`);
	if (issues.length > 0) throw invalidParameters(issues);
	const texts = Object.entries(given as Record<string, string>);
	return Object.fromEntries(texts.filter(([, text]) => text.trim() !== ""));
}

function findPrompt(prompts: readonly Prompt[], name: string): Prompt {
	const prompt = prompts.find((one) => one.name === name);
	if (prompt) return prompt;
	const names = prompts.map((one) => one.name);
	throw unknownPrompt(name, names);
}

/** https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#error-handling */
export function unknownPrompt(name: string, known: readonly string[]): RpcError {
	return new RpcError(errorCode.invalidParams, `Unknown prompt: ${shownName(name)}${didYouMean(name, known)}`);
}
