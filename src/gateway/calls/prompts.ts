// The prompts that clients see: those of all bots, each with the arguments `instance` and `guild_id`, by which requests for
// prompts are routed like calls of tools.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import type { Deadlines } from "../../lib/signal.ts";
import { ClientError } from "../../mcp/client.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import {
	completeByName,
	completionOf,
	type PromptArguments,
	readCompletion,
	readPromptRequest,
	unknownPrompt,
} from "../../mcp/prompts.ts";
import type { Caller, PromptMethods } from "../../mcp/server.ts";
import type { Backend } from "../backends/backend.ts";
import type { ListedPrompt } from "../backends/listed-prompts.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import type { View } from "../principals/views.ts";
import { RouteError, type Router } from "../routing/routing.ts";

const routingArguments = [
	{ name: "instance", description: "Bot to use; if omitted, by guild_id." },
	{ name: "guild_id", description: "The guild. Default: the bot's own." },
];
const isRouting = (argument: string) => routingArguments.some(({ name }) => name === argument);

export interface PromptsOptions {
	backends: readonly Backend[];
	router: Router;
	catalogs: Catalogs;
	deadlines: Deadlines;
	/** Settles when enough bots have answered for the first time. Undefined before the bots are asked and afterwards. */
	firstList(): Promise<unknown> | undefined;
}

export function createPrompts(options: PromptsOptions): PromptMethods {
	const { backends, router, catalogs, deadlines, firstList } = options;

	async function seenBy(principal: Principal | undefined): Promise<readonly View[]> {
		return principal ? (await catalogs.see(principal)).views : backends;
	}

	function requirePrompt(prompt: string, seen: readonly View[]): void {
		const all = seen.flatMap(({ prompts }) => prompts);
		if (all.some((one) => one.name === prompt)) return;
		throw unknownPrompt(prompt, [...new Set(all.map(({ name }) => name))]);
	}

	async function forward(
		method: "prompts/get" | "completion/complete",
		prompt: string,
		args: PromptArguments,
		params: (backend: Backend) => JsonObject,
		seen: readonly View[],
		caller: Caller,
	): Promise<string> {
		const signal = deadlines.begin(caller.signal);
		const { principal } = caller;
		try {
			// In here: `find` may throw before it returns a promise.
			const route = async () => router.find(args, signal, principal);
			const backend = await route().catch((error) => {
				const having = seen.filter(({ prompts }) => prompts.some((one) => one.name === prompt));
				const found = having.find(({ state }) => state.online) ?? having[0];
				if (found && error instanceof RouteError && error.kind === "NoTarget") return found.backend;
				throw error;
			});
			const request = { method, params: JSON.stringify(params(backend)), principal, trace: caller.trace };
			const { message } = await backend.read(request, signal);
			if (isObject(message.result)) return JSON.stringify(message.result);
			throw refusalOf(message.error);
		} catch (error) {
			throw toRpcError(error);
		} finally {
			deadlines.end(signal);
		}
	}

	return {
		async "prompts/list"(_, { principal }) {
			await firstList();
			return JSON.stringify({ prompts: mergePrompts(await seenBy(principal)) });
		},
		async "prompts/get"(params, caller) {
			const { name, args } = readPromptRequest(params);
			const seen = await seenBy(caller.principal);
			requirePrompt(name, seen);
			const own = (backend: Backend) => ({ name, arguments: ownArguments(backend, name, args) });
			return forward("prompts/get", name, args, own, seen, caller);
		},
		async "completion/complete"(params, caller) {
			const { prompt, argument, typed, args } = readCompletion(params);
			const seen = await seenBy(caller.principal);
			requirePrompt(prompt, seen);
			if (isRouting(argument)) return JSON.stringify(completionOf(completeRouting(seen, argument, typed, args)));
			const own = (backend: Backend) => ({
				ref: { type: "ref/prompt", name: prompt },
				argument: { name: argument, value: typed },
				context: { arguments: ownArguments(backend, prompt, args) },
			});
			return forward("completion/complete", prompt, args, own, seen, caller);
		},
	};
}

function mergePrompts(backends: readonly Pick<Backend, "prompts">[]): ListedPrompt[] {
	const byName = new Map<string, ListedPrompt>();
	for (const { prompts } of backends)
		for (const prompt of prompts) if (!byName.has(prompt.name)) byName.set(prompt.name, prompt);
	return Array.from(byName.values(), (prompt) => ({
		...prompt,
		arguments: [...prompt.arguments.filter(({ name }) => !isRouting(name)), ...routingArguments],
	}));
}

function ownArguments(
	{ prompts }: Backend,
	prompt: string,
	{ instance: _, ...args }: PromptArguments,
): PromptArguments {
	const listed = prompts.find(({ name }) => name === prompt);
	if (listed?.arguments.some(({ name }) => name === "guild_id")) return args;
	const { guild_id: _guild, ...own } = args;
	return own;
}

function completeRouting(
	backends: readonly Pick<Backend, "name" | "guilds">[],
	argument: string,
	typed: string,
	{ instance }: PromptArguments,
): string[] {
	const named = backends.filter(({ name }) => instance === undefined || name === instance);
	const guilds = new Map(named.flatMap((backend) => [...backend.guilds]));
	const names = argument === "instance" ? new Map(backends.map(({ name }) => [name, name])) : guilds;
	const known = Array.from(names, ([id, name]) => ({ id, name }));
	return completeByName(known, typed);
}

/** `data` is for clients. */
export function refusalOf(error: unknown, data?: JsonObject): RpcError {
	const { code, message } = Object(error) as JsonObject;
	return new RpcError(
		typeof code === "number" && Number.isInteger(code) ? code : errorCode.internal,
		typeof message === "string" ? message : "The bot refused the request.",
		data && { data },
	);
}

export function toRpcError(error: unknown, data?: JsonObject): unknown {
	const options = { cause: error, ...(data && { data }) };
	if (error instanceof RouteError) return new RpcError(errorCode.invalidParams, error.message, options);
	const isBusy = error instanceof Overloaded;
	if (!isBusy && !(error instanceof ClientError) && !(error instanceof DOMException)) return error;
	const why = isBusy ? "The bot is busy with other requests." : "The bot cannot be reached at the moment.";
	return new RpcError(errorCode.internal, `${why} Nothing was changed; try again.`, options);
}
