// Prompts: texts that a person picks in a client, such as by a slash command, to start a job.
// https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
// https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion

import { didYouMean } from "../lib/config.ts";
import { shownName } from "../lib/text.ts";
import { errorCode, isObject, type JsonObject, RpcError } from "./json-rpc.ts";
import { invalidParameters } from "./tool.ts";

/** Maximum number of values in a response to `completion/complete`, by the MCP specification. */
const maxCompletions = 100;

/** An argument of an MCP prompt, as `prompts/list` describes it. All arguments are texts. */
export interface PromptArgument {
	name: string;
	description: string;
	required?: boolean;
}

/** The texts that a person gave as arguments of a prompt, by argument name. Absent arguments are undefined. */
export type PromptArguments = Readonly<Record<string, string | undefined>>;

/** One message of a prompt: its role (user or assistant), and its content block (text, image or resource). */
export interface PromptMessage {
	role: "user" | "assistant";
	content: JsonObject;
}

/** A prompt of an MCP server. */
export interface Prompt {
	name: string;
	/** Short title of the prompt for people. */
	title: string;
	/** One sentence for people: what the AI model does with the prompt. */
	description: string;
	arguments: readonly PromptArgument[];
	/**
	 * Fills the prompt with arguments. Returns the text of its only message, or a list of messages. Throws an RpcError
	 * for an invalid argument.
	 */
	get(args: PromptArguments): string | readonly PromptMessage[];
	/** Returns the possible values of an argument, best first, that match the text typed so far. Default: none. */
	complete?(argument: string, typed: string): readonly string[];
}

/**
 * A client's request for suggestions while a person types an argument of a prompt: the params of `completion/complete`,
 * checked.
 */
export interface Completion {
	/** Name of the prompt. */
	prompt: string;
	/** Name of the argument whose possible values the client requests. */
	argument: string;
	/** The text that the person has typed so far as the value of the argument. */
	typed: string;
	/** The arguments that the person has already given. */
	args: PromptArguments;
}

/** Returns the JSON text of the result of `prompts/list`. */
export function listPrompts(prompts: readonly Prompt[]): string {
	return JSON.stringify({
		prompts: prompts.map(({ get: _get, complete: _complete, ...listing }) => listing),
	});
}

/** Returns the result of `prompts/get`. Throws an RpcError for an unknown prompt and for invalid arguments. */
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

/** Returns the result of `completion/complete`. Throws an RpcError for an unknown prompt or argument. */
export function completePrompt(prompts: readonly Prompt[], params: JsonObject): JsonObject {
	const { prompt: name, argument, typed } = readCompletion(params);
	const prompt = findPrompt(prompts, name);
	if (!prompt.arguments.some((one) => one.name === argument))
		throw invalidParameters([`argument.name: the prompt ${name} has no argument ${shownName(argument)}`]);
	return completionOf(prompt.complete?.(argument, typed) ?? []);
}

/** Returns the result of `completion/complete` with the first 100 of `values`. */
export function completionOf(values: readonly string[]): JsonObject {
	return {
		completion: {
			values: values.slice(0, maxCompletions),
			total: values.length,
			hasMore: values.length > maxCompletions,
		},
	};
}

/** Returns the ids of those `things`, such as guilds, whose id begins with the typed text or whose name contains it. */
export function completeByName(things: readonly { id: string; name: string }[], typed: string): string[] {
	const text = typed.toLowerCase();
	return things
		.filter(({ id, name }) => id.toLowerCase().startsWith(text) || name.toLowerCase().includes(text))
		.map(({ id }) => id);
}

/** Reads the params of `prompts/get`. Empty arguments count as absent. Throws an RpcError if they are invalid. */
export function readPromptRequest({ name, arguments: given }: JsonObject): {
	name: string;
	args: PromptArguments;
} {
	if (typeof name !== "string") throw invalidParameters(["name: expected the name of a prompt"]);
	return { name, args: readTexts(given, "arguments") };
}

/** Reads the params of `completion/complete`. Throws an RpcError if they are invalid, or not about a prompt. */
export function readCompletion({ ref, argument, context }: JsonObject): Completion {
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
	throw unknownPrompt(
		name,
		prompts.map((one) => one.name),
	);
}

/**
 * The error for a prompt that the server does not have.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#error-handling
 */
export function unknownPrompt(name: string, known: readonly string[]): RpcError {
	return new RpcError(errorCode.invalidParams, `Unknown prompt: ${shownName(name)}${didYouMean(name, known)}`);
}
