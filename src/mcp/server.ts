// An MCP server: one request in, one response out, no transport.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle

import type { Log } from "../lib/log.ts";
import {
	errorCode,
	errorResponse,
	isObject,
	RpcError,
	type RpcRequest,
	resultResponse,
} from "./json-rpc.ts";
import type { Session } from "./session.ts";
import { invalidParameters, readToolCall, type Tool } from "./tool.ts";

/** The versions that `initialize` agrees on, the newest first. */
export const protocolVersions = ["2025-11-25", "2025-06-18"] as const;

/** Who sent a request, as far as it is known. */
export interface Caller {
	session: Session | undefined;
}

/** A response's text, and the protocol version that it agreed on if it answers `initialize`. */
export interface Answer {
	text: string;
	initialized?: string;
}

/** Where a server's tools are: in this program, or behind it. */
export interface ToolSource {
	/** The result of `tools/list`, as JSON text. */
	list(): string;
	/** The response to a `tools/call`, as JSON text. */
	call(request: RpcRequest, caller: Caller): Promise<string>;
}

export interface ServerOptions {
	/** Who we are, for the client. */
	info: { name: string; title: string; version: string };
	/** For the model: what this server is and how to begin. */
	instructions: string;
	tools: ToolSource;
	log: Log;
}

export interface Server {
	/** Answers every request, with a JSON-RPC error where it has to; never rejects. */
	handle(request: RpcRequest, caller: Caller): Promise<Answer>;
}

export function createServer(options: ServerOptions): Server {
	const { tools, log } = options;

	async function dispatch(
		request: RpcRequest,
		caller: Caller,
	): Promise<Answer> {
		switch (request.method) {
			case "tools/call":
				return { text: await tools.call(request, caller) };
			case "tools/list":
				return { text: resultResponse(request.id, tools.list()) };
			case "initialize":
				return initialize(request);
			case "ping":
				return { text: resultResponse(request.id, "{}") };
			default:
				throw new RpcError(
					errorCode.methodNotFound,
					`Method not found: ${request.method}`,
				);
		}
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
			capabilities: { tools: {} },
			serverInfo: options.info,
			instructions: options.instructions,
		};
		return {
			text: resultResponse(id, JSON.stringify(result)),
			initialized: protocolVersion,
		};
	}

	return {
		async handle(request, caller) {
			try {
				return await dispatch(request, caller);
			} catch (error) {
				if (error instanceof RpcError)
					return { text: errorResponse(request.id, error.code, error.message) };
				log.error("a request failed", { method: request.method, error });
				return {
					text: errorResponse(request.id, errorCode.internal, "Internal error"),
				};
			}
		},
	};
}

/** The tools of this program. `context` is what they act on; the caller of the moment is handed to each call with it. */
export function toolSource<Context>(
	tools: readonly Tool<Context>[],
	context: Context,
): ToolSource {
	const byName = new Map(tools.map((tool) => [tool.name, tool]));
	if (byName.size < tools.length)
		throw new TypeError("two tools have the same name");
	const listed = JSON.stringify({ tools: tools.map((tool) => tool.listing) });
	return {
		list: () => listed,
		async call({ id, params }) {
			const { name, args } = readToolCall(params);
			const tool = byName.get(name);
			if (!tool)
				throw new RpcError(
					errorCode.methodNotFound,
					`Method not found: ${name}`,
				);
			return resultResponse(id, await tool.call(args, context));
		},
	};
}

/** The name that a client gave itself in `initialize`, for logs; at most 100 characters. */
export function clientName(params: RpcRequest["params"]): string {
	const info = params.clientInfo;
	const name = isObject(info) ? info.name : undefined;
	return typeof name === "string" ? name.slice(0, 100) : "unknown";
}
