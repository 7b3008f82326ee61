// An MCP server: one request in, one response out, no transport. It speaks both eras: the revisions with sessions, and
// the stateless one.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
// https://modelcontextprotocol.io/specification/2026-07-28/server/discover

import type { Log } from "../lib/log.ts";
import type { Signal } from "../lib/signal.ts";
import { type PreparedEvent, ToolList } from "./fast/tool-list.ts";
import {
	errorCode,
	errorResponse,
	isObject,
	type JsonObject,
	RpcError,
	type RpcRequest,
	resultResponse,
} from "./json-rpc.ts";
import { modernVersion, serverInfoKey } from "./modern.ts";
import type { Session } from "./session.ts";
import {
	invalidParameters,
	isErrorResult,
	readToolCall,
	type Tool,
	type ToolCall,
} from "./tool.ts";

/** The versions that `initialize` agrees on, the newest first. */
export const protocolVersions = ["2025-11-25", "2025-06-18"] as const;

/** Who sent a request, as far as is known, and what they expect. */
export interface Caller {
	/** Whether the request is of the stateless revision. */
	modern: boolean;
	session: Session | undefined;
	/** Fires when the caller no longer waits for the response. Undefined if they cannot say so. */
	signal: Signal | undefined;
	/** Sends a notification, as JSON text, ahead of the response. Undefined if none may be sent. */
	notify: ((notification: string) => void) | undefined;
	/** The caller's own id for the request (X-Request-Id), for logs. */
	requestId: string | undefined;
}

/** What became of a request: "tool_error" is a result with `isError`, "rpc_error" a JSON-RPC error. */
export type Outcome = "ok" | "tool_error" | "rpc_error";

/** What a server returns for a request, in one of three forms. */
export type RpcResponse = TextResponse | EventResponse | ListResponse;

interface ResponseFacts {
	outcome: Outcome;
	/** The code of a JSON-RPC error. */
	errorCode?: number;
	/** HTTP headers; the same object for the same headers. */
	headers?: Record<string, string>;
}

export interface TextResponse extends ResponseFacts {
	kind: "text";
	/** JSON text. */
	text: string;
	/** The protocol version that was agreed on, if this answers `initialize`. */
	initialized?: string;
}

/** Another server's result, passed on without parsing it (fast/plain-event.ts). */
export interface EventResponse extends ResponseFacts {
	kind: "event";
	/** A whole SSE event. */
	event: Uint8Array;
}

/** The result of `tools/list` (fast/tool-list.ts). */
export interface ListResponse extends ResponseFacts {
	kind: "list";
	list: PreparedEvent;
}

/** A response with a result that is JSON text. */
export function textResponse(
	id: string,
	result: string,
	outcome: Outcome = "ok",
): TextResponse {
	return { kind: "text", text: resultResponse(id, result), outcome };
}

const methods = new Set([
	"initialize",
	"ping",
	"tools/list",
	"tools/call",
	"server/discover",
]);

/** A request's method, or "other" for an unknown one: as a metric's label, invented names would stay in memory. */
export function countedMethod({ method }: RpcRequest): string {
	return methods.has(method) ? method : "other";
}

/** Where a server's tools are: in this program, or behind it. */
export interface ToolSource {
	/** The result of `tools/list`. */
	list(): ToolList | Promise<ToolList>;
	/** For how many milliseconds that list may be cached. */
	ttlMs(): number;
	/** The response to a `tools/call`. */
	call(request: RpcRequest, caller: Caller): Promise<RpcResponse>;
}

export interface ServerOptions {
	/** Who we are, for the client. */
	info: { name: string; title: string; version: string };
	/** For the model: what this server is and how to begin. */
	instructions: string;
	tools: ToolSource;
	log: Log;
	/** Called after every request. */
	answered?(request: RpcRequest, response: RpcResponse): void;
}

export interface Server {
	/** Answers every request, with a JSON-RPC error where it has to; never rejects. */
	handle(request: RpcRequest, caller: Caller): Promise<RpcResponse>;
}

export function createServer(options: ServerOptions): Server {
	const { tools, log, info, instructions, answered } = options;
	const capabilities = { tools: {} };
	const from = { _meta: { [serverInfoKey]: info } };

	function dispatch(
		request: RpcRequest,
		caller: Caller,
	): RpcResponse | Promise<RpcResponse> {
		const { id, method } = request;
		if (method === "tools/call") return tools.call(request, caller);
		if (method === "tools/list") return listTools(request, caller);
		if (caller.modern) {
			if (method === "server/discover") return discover(id);
		} else {
			if (method === "initialize") return initialize(request);
			if (method === "ping") return textResponse(id, "{}");
		}
		// subscriptions/listen is for servers whose lists change while they run.
		throw methodNotFound(method);
	}

	async function listTools(
		{ id, params }: RpcRequest,
		caller: Caller,
	): Promise<RpcResponse> {
		// All tools are on the first page: no cursor was ever given.
		if ((params.cursor ?? undefined) !== undefined)
			throw invalidParameters(["cursor: expected none, there is one page"]);
		const list = await tools.list();
		const members = caller.modern ? { ...completed(), ...from } : {};
		return { kind: "list", list: list.response(id, members), outcome: "ok" };
	}

	/** How long a client may cache a result. Another caller may get another one. */
	function completed() {
		return {
			resultType: "complete",
			ttlMs: tools.ttlMs(),
			cacheScope: "private",
		};
	}

	function discover(id: string): TextResponse {
		const result = {
			...completed(),
			supportedVersions: [modernVersion],
			capabilities,
			instructions,
			...from,
		};
		return textResponse(id, JSON.stringify(result));
	}

	function initialize({ id, params }: RpcRequest): TextResponse {
		const requested = params.protocolVersion;
		if (typeof requested !== "string")
			throw invalidParameters(["protocolVersion: expected a string"]);
		const protocolVersion =
			protocolVersions.find((version) => version === requested) ??
			protocolVersions[0];
		const result = {
			protocolVersion,
			capabilities,
			serverInfo: info,
			instructions,
		};
		return {
			...textResponse(id, JSON.stringify(result)),
			initialized: protocolVersion,
		};
	}

	function failed(
		error: unknown,
		request: RpcRequest,
		caller: Caller,
	): TextResponse {
		if (error instanceof RpcError) return failure(request.id, error);
		log.error("request failed", {
			request: caller.requestId,
			method: request.method,
			error,
		});
		const internal = new RpcError(errorCode.internal, "Internal error");
		return failure(request.id, internal);
	}

	return {
		async handle(request, caller) {
			let response: RpcResponse;
			try {
				response = await dispatch(request, caller);
			} catch (error) {
				response = failed(error, request, caller);
			}
			answered?.(request, response);
			return response;
		},
	};
}

function failure(id: string, error: RpcError): TextResponse {
	return {
		kind: "text",
		text: errorResponse(id, error),
		outcome: "rpc_error",
		errorCode: error.code,
	};
}

function methodNotFound(name: string): RpcError {
	return new RpcError(errorCode.methodNotFound, `Method not found: ${name}`);
}

/** An object's text with these members before its own. */
export function withMembers(members: JsonObject, object: string): string {
	const rest = object.slice(object.indexOf("{") + 1);
	const comma = rest.trimStart().startsWith("}") ? "" : ",";
	return `${JSON.stringify(members).slice(0, -1)}${comma}${rest}`;
}

/** The tools of this program. Each call is given `context`. */
export function toolSource<Context>(
	tools: readonly Tool<Context>[],
	context: Context,
): ToolSource {
	const names = tools.flatMap((tool) =>
		[tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool] as const),
	);
	const byName = new Map(names);
	if (byName.size < names.length)
		throw new TypeError("two tools have the same name");
	const listed = new ToolList(
		JSON.stringify({ tools: tools.map((tool) => tool.listing) }),
	);
	return {
		list: () => listed,
		// The tools do not change while we run, but may after a restart.
		ttlMs: () => 5 * 60_000,
		async call(request, caller) {
			const { name, args } = readToolCall(request.params);
			const tool = byName.get(name);
			if (!tool) throw methodNotFound(name);
			const result = await tool.call(args, context, toolCall(request, caller));
			return textResponse(
				request.id,
				caller.modern
					? withMembers({ resultType: "complete" }, result)
					: result,
				isErrorResult(result) ? "tool_error" : "ok",
			);
		},
	};
}

/** The call as a tool sees it. */
function toolCall(
	{ params }: RpcRequest,
	{ signal, notify }: Caller,
): ToolCall {
	const token = isObject(params._meta) ? params._meta.progressToken : undefined;
	const wanted = typeof token === "string" || typeof token === "number";
	let last = Number.NEGATIVE_INFINITY;
	return {
		signal,
		reportProgress(progress, total, message) {
			// The specification requires progress to grow.
			if (!notify || !wanted || !(progress > last)) return;
			last = progress;
			notify(
				JSON.stringify({
					jsonrpc: "2.0",
					method: "notifications/progress",
					params: { progressToken: token, progress, total, message },
				}),
			);
		},
	};
}

/** The name that a client gave itself in `initialize`, for logs; at most 100 characters. */
export function clientName(params: JsonObject): string {
	const info = params.clientInfo;
	const name = isObject(info) ? info.name : undefined;
	return typeof name === "string" ? name.slice(0, 100) : "unknown";
}
