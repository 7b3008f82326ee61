// An MCP server without a transport, for the revisions with sessions and the stateless one.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
// https://modelcontextprotocol.io/specification/2026-07-28/server/discover

import { isObject, type JsonObject } from "../lib/json.ts";
import type { Log } from "../lib/log.ts";
import type { Principal } from "../lib/principal.ts";
import type { Signal } from "../lib/signal.ts";
import type { TraceContext } from "../lib/trace-context.ts";
import {
	errorCode,
	errorResponse,
	type Outcome,
	RpcError,
	type RpcRequest,
	type RpcResponse,
	type TextResponse,
	textResponse,
} from "./json-rpc.ts";
import { briefSchema } from "./json-schema.ts";
import { modernVersion, serverInfoKey } from "./modern.ts";
import { completePrompt, getPrompt, listPrompts, type Prompt } from "./prompts.ts";
import { appsExtension, type ResourceMethod, resourceMethods } from "./resources.ts";
import type { Session } from "./session.ts";
import { errorResult, invalidParameters, outcomeIn, readToolCall, type Tool, type ToolCall } from "./tool.ts";
import { ToolList } from "./tool-list.ts";

/** Offered to `initialize`, newest first. */
export const protocolVersions = ["2025-11-25", "2025-06-18"] as const;

/** The sender of an MCP request. */
export interface Caller {
	modern: boolean;
	session: Session | undefined;
	/** Aborts when the client no longer waits; undefined if the server cannot learn this. */
	signal: Signal | undefined;
	/** Sends JSON text before the response. Undefined if that is not allowed. */
	notify: ((notification: string) => void) | undefined;
	/** Undefined: no limits. */
	principal: Principal | undefined;
	/** The client can show a form, so a `tools/call` may be answered with `inputRequired`. */
	elicits: boolean;
	requestId: string | undefined;
	/** Of the HTTP request. */
	headers?: Headers | undefined;
	trace?: TraceContext | undefined;
	onDestructive?: ToolCall["onDestructive"];
	onMessage?: ToolCall["onMessage"];
}

/** `id` and `result` are JSON text. Adds the `resultType` that the stateless revision requires. */
export function toolResponse(id: string, { modern }: Caller, result: string, outcome: Outcome): TextResponse {
	return textResponse(id, modern ? withMembers({ resultType: "complete" }, result) : result, outcome);
}

const methods = new Set([
	"initialize",
	"ping",
	"tools/list",
	"tools/call",
	"prompts/list",
	"prompts/get",
	"completion/complete",
	"server/discover",
	...resourceMethods,
]);

/** A metric label: "other" for unknown methods, so that clients cannot create time series. */
export function countedMethod({ method }: RpcRequest): string {
	return methods.has(method) ? method : "other";
}

export interface ToolSource {
	list(principal: Principal | undefined): ToolList | Promise<ToolList>;
	/** How long clients may cache the list, in milliseconds. */
	ttlMs(): number;
	call(request: RpcRequest, caller: Caller): Promise<RpcResponse>;
}

/** In this program or in the bots behind it. */
export type PromptMethods = Record<"prompts/list" | "prompts/get" | "completion/complete", OtherMethod>;

export function promptMethods(select: (principal: Principal | undefined) => readonly Prompt[]): PromptMethods {
	const list = listPrompts(select(undefined));
	return {
		"prompts/list": (_, { principal }) => (principal ? listPrompts(select(principal)) : list),
		"prompts/get": (params, { principal }) => JSON.stringify(getPrompt(select(principal), params)),
		"completion/complete": (params, { principal }) => JSON.stringify(completePrompt(select(principal), params)),
	};
}

/** In this program or in the bots behind it. */
export type ResourceMethods = Record<ResourceMethod, OtherMethod>;

/** Returns JSON text, or throws an RpcError. */
export type OtherMethod = (params: JsonObject, caller: Caller) => string | Promise<string>;

interface ServerOptions {
	info: { name: string; title: string; version: string; description?: string };
	/** For the AI model: what the server is and how to begin. */
	instructions: string | ((principal: Principal | undefined) => string);
	tools: ToolSource;
	prompts: PromptMethods;
	resources?: ResourceMethods | undefined;
	experimental?: readonly string[];
	/** Not defined by MCP. */
	methods?: Readonly<Record<string, OtherMethod>>;
	log: Log;
	answered?(request: RpcRequest, response: RpcResponse, caller: Caller): void;
}

export interface Server {
	/** About to end: calls and new sessions are to be refused. */
	readonly isDraining?: boolean;
	/** Never rejects; the response may be a JSON-RPC error. */
	handle(request: RpcRequest, caller: Caller): Promise<RpcResponse>;
}

export function createServer(options: ServerOptions): Server {
	const { tools, log, info: serverInfo } = options;
	const instructionsFor = ({ principal }: Caller) =>
		typeof options.instructions === "string" ? options.instructions : options.instructions(principal);
	const { experimental = [], resources } = options;
	const others: Readonly<Record<string, OtherMethod>> = { ...options.methods, ...options.prompts, ...resources };
	const capabilities = {
		tools: {},
		prompts: {},
		completions: {},
		...(resources && { resources: {}, extensions: { [appsExtension]: {} } }),
		...(experimental.length > 0 && { experimental: Object.fromEntries(experimental.map((name) => [name, {}])) }),
	};
	const from = { _meta: { [serverInfoKey]: serverInfo } };

	function dispatch(request: RpcRequest, caller: Caller): RpcResponse | Promise<RpcResponse> {
		const { id, method } = request;
		if (method === "tools/call") return tools.call(request, caller);
		if (method === "tools/list") return listTools(request, caller);
		if (caller.modern) {
			if (method === "server/discover") return discover(id, caller);
		} else {
			if (method === "initialize") return initialize(request, caller);
			if (method === "ping") return textResponse(id, "{}");
		}
		const other = Object.hasOwn(others, method) ? others[method] : undefined;
		if (other) return fromOther(other, request, caller);
		// subscriptions/listen is for servers whose lists change while they run.
		throw methodNotFound(method);
	}

	function listTools({ id, params }: RpcRequest, caller: Caller): RpcResponse | Promise<RpcResponse> {
		refuseCursor(params, "tools/list");
		const members = caller.modern ? { ...completed(), ...from } : undefined;
		const respond = (list: ToolList): RpcResponse => ({
			kind: "list",
			list: list.response(id, members),
			outcome: "done",
		});
		const list = tools.list(caller.principal);
		return list instanceof Promise ? list.then(respond) : respond(list);
	}

	async function fromOther(run: OtherMethod, { id, method, params }: RpcRequest, caller: Caller): Promise<RpcResponse> {
		if (method.endsWith("/list")) refuseCursor(params, method);
		const result = await run(params, caller);
		const isResource = resources !== undefined && Object.hasOwn(resources, method);
		if (method !== "prompts/list" && !isResource) return toolResponse(id, caller, result, "done");
		// What can be read may change at any time.
		const members = { ...completed(), ...(isResource && { ttlMs: 0 }), ...from };
		return textResponse(id, caller.modern ? withMembers(members, result) : result);
	}

	/** What the stateless revision requires in results that clients may cache. */
	function completed() {
		return { resultType: "complete", ttlMs: tools.ttlMs(), cacheScope: "private" };
	}

	function discover(id: string, caller: Caller): TextResponse {
		const result = {
			...completed(),
			supportedVersions: [modernVersion],
			capabilities,
			instructions: instructionsFor(caller),
			...from,
		};
		return textResponse(id, JSON.stringify(result));
	}

	function initialize({ id, params }: RpcRequest, caller: Caller): TextResponse {
		const requested = params.protocolVersion;
		if (typeof requested !== "string") throw invalidParameters(["protocolVersion: expected a string"]);
		const protocolVersion = protocolVersions.find((version) => version === requested) ?? protocolVersions[0];
		const result = { protocolVersion, capabilities, serverInfo, instructions: instructionsFor(caller) };
		return { ...textResponse(id, JSON.stringify(result)), initialized: protocolVersion };
	}

	return {
		async handle(request, caller) {
			let response: RpcResponse;
			try {
				const answer = dispatch(request, caller);
				response = answer instanceof Promise ? await answer : answer;
			} catch (error) {
				response = failed(error, request, caller, log);
			}
			options.answered?.(request, response, caller);
			return response;
		},
	};
}

/** An error of the server itself is logged, and not shown. */
export function failed(error: unknown, { id, method }: RpcRequest, caller: Caller, log: Log): TextResponse {
	if (error instanceof RpcError) return failure(id, error);
	log.error("could not answer an MCP request: internal error", {
		request: caller.requestId,
		trace: caller.trace?.id,
		method,
		error,
	});
	return failure(id, new RpcError(errorCode.internal, "Internal error"));
}

function failure(id: string, error: RpcError): TextResponse {
	return { kind: "text", text: errorResponse(id, error), outcome: "rpc_error", errorCode: error.code };
}

function refuseCursor({ cursor }: JsonObject, method: string): void {
	if ((cursor ?? undefined) === undefined) return;
	throw invalidParameters([`cursor: ${method} returns all items on one page and accepts no cursor`]);
}

export function methodNotFound(name: string, hint = ""): RpcError {
	return new RpcError(errorCode.methodNotFound, `Method not found: ${name}${hint}`);
}

/** Inserts at the beginning. `object` is JSON text. */
export function withMembers(members: JsonObject, object: string): string {
	const rest = object.slice(object.indexOf("{") + 1);
	const comma = rest.trimStart().startsWith("}") ? "" : ",";
	return `${JSON.stringify(members).slice(0, -1)}${comma}${rest}`;
}

/** The tool with its arguments, or why the call is refused. */
export type ResolvedCall<AnyTool> =
	| { tool: AnyTool; args: JsonObject; refusal?: undefined }
	/** `refusal` is the text for the client; `tool` is undefined if none was found. */
	| { tool: AnyTool | undefined; args: JsonObject; refusal: string };

export interface ToolSet<Context> {
	listed: readonly Tool<Context>[];
	/** Throws an RpcError for an unknown name. */
	resolve(name: string, args: JsonObject): ResolvedCall<Tool<Context>>;
}

export interface Selection<Context> {
	set: ToolSet<Context>;
	context: Context;
}

/** `select` must return the same set for equal tools: the encoded list is cached by set. */
export function toolSource<Context>(select: (principal: Principal | undefined) => Selection<Context>): ToolSource {
	const lists = new WeakMap<ToolSet<Context>, ToolList>();

	function listOf(set: ToolSet<Context>): ToolList {
		const known = lists.get(set);
		if (known) return known;
		const list = new ToolList(
			JSON.stringify({
				tools: set.listed.map(({ listing }) => ({ ...listing, inputSchema: briefSchema(listing.inputSchema) })),
			}),
		);
		lists.set(set, list);
		return list;
	}

	// Encoded at the start instead of at the first request.
	listOf(select(undefined).set);
	return {
		list: (principal) => listOf(select(principal).set),
		// The tools change only with a restart.
		ttlMs: () => 5 * 60_000,
		async call(request, caller) {
			const { name, args } = readToolCall(request.params);
			const { set, context } = select(caller.principal);
			const found = set.resolve(name, args);
			const result =
				found.refusal === undefined
					? await found.tool.call(found.args, context, toolCall(request, caller))
					: errorResult(found.refusal);
			return toolResponse(request.id, caller, result, outcomeIn(result));
		},
	};
}

export function toolCall({ params }: RpcRequest, { signal, notify, onDestructive, onMessage }: Caller): ToolCall {
	const token = isObject(params._meta) ? params._meta.progressToken : undefined;
	const wanted = typeof token === "string" || typeof token === "number";
	let last = Number.NEGATIVE_INFINITY;
	return {
		signal,
		onDestructive,
		onMessage,
		reportProgress(progress, total, message) {
			// The specification requires progress to grow.
			if (!notify || !wanted || !(progress > last)) return;
			last = progress;
			const method = "notifications/progress";
			const params = { progressToken: token, progress, total, message };
			notify(JSON.stringify({ jsonrpc: "2.0", method, params }));
		},
	};
}
