// An MCP server: one request in, one response out, no transport. It speaks both eras: the revisions with sessions, and
// the stateless one.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
// https://modelcontextprotocol.io/specification/2026-07-28/server/discover

import type { Log } from "../lib/log.ts";
import type { Signal } from "../lib/signal.ts";
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
import { type PreparedEvent, ToolList } from "./tool-list.ts";

/** The versions that `initialize` agrees on, the newest first. */
export const protocolVersions = ["2025-11-25", "2025-06-18"] as const;

/** Who sent a request, as far as it is known, and what they expect. */
export interface Caller {
	/** Whether the request is of the stateless revision. */
	modern: boolean;
	session: Session | undefined;
	/** Fires when the caller no longer waits for the answer. Undefined where they cannot say so. */
	signal: Signal | undefined;
	/** Sends a notification, as JSON text, ahead of the response. Undefined where the response stands alone. */
	notify: ((notification: string) => void) | undefined;
	/** What they call the request in their log (X-Request-Id), if they say so. */
	requestId: string | undefined;
}

/** A response's text, and what its transport has to know of it. */
export interface Answer {
	text: string;
	/** The response as the event that it goes out as, where that is there already; `text` is empty then. */
	event?: Uint8Array;
	/** The same, where the transport may choose between forms of it. */
	prepared?: PreparedEvent;
	/** The protocol version that it agreed on, if it answers `initialize`. */
	initialized?: string;
	/** The code of a JSON-RPC error. */
	errorCode?: number;
	/** Whether it is a tool's result with `isError`. */
	isError?: boolean;
	/** HTTP headers for it; of an `event` the same object for the same headers. */
	headers?: Record<string, string>;
}

/** What became of a request: "tool_error" is a result with `isError`, "rpc_error" a JSON-RPC error. */
export type Outcome = "ok" | "tool_error" | "rpc_error";

export function outcomeOf({ errorCode, isError }: Answer): Outcome {
	if (errorCode !== undefined) return "rpc_error";
	return isError ? "tool_error" : "ok";
}

const methods = new Set([
	"initialize",
	"ping",
	"tools/list",
	"tools/call",
	"server/discover",
]);

/** A request's method, or "other" for one that there is not: anyone may make up names, and what counts them keeps them. */
export function countedMethod({ method }: RpcRequest): string {
	return methods.has(method) ? method : "other";
}

/** Where a server's tools are: in this program, or behind it. */
export interface ToolSource {
	/** The result of `tools/list`. */
	list(): ToolList | Promise<ToolList>;
	/** For how many milliseconds that will do. */
	ttlMs(): number;
	/** The response to a `tools/call`. */
	call(request: RpcRequest, caller: Caller): Promise<Answer>;
}

export interface ServerOptions {
	/** Who we are, for the client. */
	info: { name: string; title: string; version: string };
	/** For the model: what this server is and how to begin. */
	instructions: string;
	tools: ToolSource;
	log: Log;
	/** Is told of every request that was answered. */
	answered?(request: RpcRequest, answer: Answer): void;
}

export interface Server {
	/** Answers every request, with a JSON-RPC error where it has to; never rejects. */
	handle(request: RpcRequest, caller: Caller): Promise<Answer>;
}

export function createServer(options: ServerOptions): Server {
	const { tools, log, info, instructions, answered } = options;
	const capabilities = { tools: {} };
	const from = { _meta: { [serverInfoKey]: info } };

	function dispatch(
		request: RpcRequest,
		caller: Caller,
	): Answer | Promise<Answer> {
		const { id, method } = request;
		if (method === "tools/call") return tools.call(request, caller);
		if (method === "tools/list") return listTools(request, caller);
		if (caller.modern) {
			if (method === "server/discover") return discover(id);
		} else {
			if (method === "initialize") return initialize(request);
			if (method === "ping") return { text: resultResponse(id, "{}") };
		}
		// subscriptions/listen is for servers whose lists change while they run.
		throw methodNotFound(method);
	}

	async function listTools(
		{ id, params }: RpcRequest,
		caller: Caller,
	): Promise<Answer> {
		// All tools are on the first page: nobody was given a cursor.
		if ((params.cursor ?? undefined) !== undefined)
			throw invalidParameters(["cursor: expected none, there is one page"]);
		const list = await tools.list();
		const members = caller.modern ? { ...completed(), ...from } : {};
		return { text: "", prepared: list.response(id, members) };
	}

	/** What a client may keep, and for how long. Another caller may be shown something else. */
	function completed() {
		return {
			resultType: "complete",
			ttlMs: tools.ttlMs(),
			cacheScope: "private",
		};
	}

	function discover(id: string): Answer {
		const result = {
			...completed(),
			supportedVersions: [modernVersion],
			capabilities,
			instructions,
			...from,
		};
		return { text: resultResponse(id, JSON.stringify(result)) };
	}

	function initialize({ id, params }: RpcRequest): Answer {
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
			text: resultResponse(id, JSON.stringify(result)),
			initialized: protocolVersion,
		};
	}

	function failed(error: unknown, request: RpcRequest, caller: Caller): Answer {
		if (error instanceof RpcError) return failure(request.id, error);
		log.error("a request failed", {
			request: caller.requestId,
			method: request.method,
			error,
		});
		const internal = new RpcError(errorCode.internal, "Internal error");
		return failure(request.id, internal);
	}

	return {
		async handle(request, caller) {
			let answer: Answer;
			try {
				answer = await dispatch(request, caller);
			} catch (error) {
				answer = failed(error, request, caller);
			}
			answered?.(request, answer);
			return answer;
		},
	};
}

function failure(id: string, error: RpcError): Answer {
	return { text: errorResponse(id, error), errorCode: error.code };
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

/** The tools of this program. `context` is what they act on. */
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
		// They do not change while we run; a client may outlive us.
		ttlMs: () => 5 * 60_000,
		async call(request, caller) {
			const { name, args } = readToolCall(request.params);
			const tool = byName.get(name);
			if (!tool) throw methodNotFound(name);
			const result = await tool.call(args, context, toolCall(request, caller));
			return {
				text: resultResponse(
					request.id,
					caller.modern
						? withMembers({ resultType: "complete" }, result)
						: result,
				),
				isError: isErrorResult(result),
			};
		},
	};
}

/** What a tool may know of the call, and tell its caller meanwhile. */
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
			// Progress must grow; a report that does not says nothing new.
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
