// A scripted backend for the gateway: an MCP server with sessions that records every request. Its frames are written by
// hand, without src/, so that they do not share its bugs.

import { ownHost } from "./own-host.ts";

export interface RecordedRequest {
	/** The HTTP method. */
	method: string;
	path: string;
	headers: Headers;
	/** The body as text. */
	body: string;
	/** The JSON-RPC method; for DELETE, "DELETE". */
	rpc: string;
	/** The JSON-RPC id, as JSON text; "null" without one. */
	id: string;
	/** The name of the called tool. */
	tool: string | undefined;
	/** Aborts when the client disconnects. */
	signal: AbortSignal;
}

/** Returns the response, or undefined for the default response. */
export type Behaviour = (request: RecordedRequest) => Response | Promise<Response | undefined> | undefined;

export interface StubOptions {
	/** The loopback address to listen on. Default: one at which no server of another process gets the port of a stopped stub. */
	hostname?: string;
	/** 0, or the port of a stub that was stopped. */
	port?: number;
	/** The names in `list_guilds`, by id. */
	guilds?: Record<string, string>;
	/** The tools in `tools/list`, as JSON text. */
	tools?: readonly string[];
	/** The prompts in `prompts/list`. Without it, the stub has none and does not say that it has. */
	prompts?: readonly unknown[];
	/** Whether it says that it has resources. */
	resources?: boolean;
	/** By tool name or JSON-RPC method. Tool names are tried first. */
	on?: Record<string, Behaviour>;
	/** The names of the experimental capabilities in the response to `initialize`. */
	experimental?: readonly string[];
	/** In the serverInfo. */
	description?: string;
	/** The response to a request in an unknown session. */
	onLostSession?: Behaviour;
	/** Whether `initialize` returns a session id. */
	sessions?: boolean;
}

export interface StubBackend extends AsyncDisposable {
	/** Without a path, as in INSTANCES. */
	url: string;
	port: number;
	/** All requests in order. */
	requests: RecordedRequest[];
	/** May be changed at any time. */
	on: Record<string, Behaviour>;
	guilds: Record<string, string>;
	tools: readonly string[];
	/** The requests of a JSON-RPC method, or the calls of a tool. */
	received(rpcOrTool: string): RecordedRequest[];
	/** Resolves when `count` requests of a JSON-RPC method, or calls of a tool, have arrived. */
	arrived(rpcOrTool: string, count?: number): Promise<void>;
	/** Forgets every session, as a restart does. */
	wipeSessions(): void;
	/** Stops at once and closes connections with requests in flight. */
	stop(): Promise<void>;
}

export const echoTool = JSON.stringify({
	name: "echo",
	description: "Echo",
	inputSchema: { type: "object", properties: { guild_id: { type: "string" }, text: { type: "string" } } },
});

/** A tool without arguments. */
export const bareTool = (name: string) => JSON.stringify({ name, inputSchema: { type: "object" } });

export function startStubBackend(options: StubOptions = {}): StubBackend {
	const sessions = new Set<string>();
	const waiting = new Set<() => void>();

	const { hostname = ownHost(79) } = options;
	const http = Bun.serve({
		hostname,
		port: options.port ?? 0,
		idleTimeout: 0,
		development: false,
		async fetch(request) {
			const recorded = await record(request);
			stub.requests.push(recorded);
			for (const look of [...waiting]) look();
			return answer(recorded);
		},
	});

	async function answer(request: RecordedRequest): Promise<Response> {
		const sessionId = request.headers.get("mcp-session-id");
		const known = options.sessions === false || request.rpc === "initialize" || sessions.has(sessionId ?? "");
		if (!known) return (await options.onLostSession?.(request)) ?? new Response("Session not found\n", { status: 404 });
		const scripted = stub.on[request.tool ?? request.rpc] ?? stub.on[request.rpc];
		return (await scripted?.(request)) ?? standard(request);
	}

	function standard({ rpc, id, tool, headers }: RecordedRequest): Response {
		switch (rpc) {
			case "initialize": {
				const sessionId = crypto.randomUUID();
				const declared = options.experimental?.map((name) => [name, {}]);
				const experimental = declared ? `,"experimental":${JSON.stringify(Object.fromEntries(declared))}` : "";
				sessions.add(sessionId);
				const response = json(
					`{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}${options.prompts ? ',"prompts":{}' : ""}${options.resources ? ',"resources":{}' : ""}${experimental}},"serverInfo":${JSON.stringify({ name: "stub", version: "1", description: options.description })}}}`,
				);
				if (options.sessions !== false) response.headers.set("Mcp-Session-Id", sessionId);
				return response;
			}
			case "tools/list":
				return result(id, `{"tools":[${stub.tools.join(",")}]}`);
			case "prompts/list":
				return result(id, JSON.stringify({ prompts: options.prompts }));
			case "tools/call":
				return textResult(id, tool === "list_guilds" ? guildList(stub.guilds) : `ran ${tool}`);
			case "DELETE":
				sessions.delete(headers.get("mcp-session-id") ?? "");
				return new Response(null, { status: 204 });
			default:
				return new Response(null, { status: 202 });
		}
	}

	const stub: StubBackend = {
		url: `http://${hostname}:${http.port}`,
		port: http.port ?? 0,
		requests: [],
		on: options.on ?? {},
		guilds: options.guilds ?? {},
		tools: options.tools ?? [echoTool],
		received: (name) => stub.requests.filter(({ rpc, tool }) => rpc === name || tool === name),
		arrived(name, count = 1) {
			const { promise, resolve } = Promise.withResolvers<void>();
			const look = () => {
				if (stub.received(name).length < count) return;
				waiting.delete(look);
				resolve();
			};
			waiting.add(look);
			look();
			return promise;
		},
		wipeSessions: () => sessions.clear(),
		stop: () => http.stop(true),
		[Symbol.asyncDispose]: () => http.stop(true),
	};
	return stub;
}

/** The text of `list_guilds`, in the format of our bots. */
function guildList(guilds: Record<string, string>): string {
	const lines = Object.entries(guilds).map(([id, name]) => `${name} | ID: ${id}`);
	return [`${lines.length} guild(s):`, ...lines].join("\n");
}

async function record(request: Request): Promise<RecordedRequest> {
	const body = await request.text();
	const message = body === "" ? {} : JSON.parse(body);
	return {
		method: request.method,
		path: new URL(request.url).pathname,
		headers: new Headers(request.headers),
		body,
		rpc: message.method ?? request.method,
		id: JSON.stringify(message.id ?? null),
		tool: message.method === "tools/call" ? message.params.name : undefined,
		signal: request.signal,
	};
}

/** A JSON response. */
export function json(text: string, status = 200): Response {
	return new Response(text, { status, headers: { "Content-Type": "application/json" } });
}

/** An SSE response with one event for each message. */
export function sse(...messages: string[]): Response {
	const frames = messages.map((text) => `event: message\ndata: ${text}\n\n`);
	return eventStream(frames.join(""));
}

/** An SSE response with this text. With `open` the stream does not end. `onCancel` is called when the client disconnects. */
export function eventStream(text: string, { open = false, onCancel = () => {} } = {}): Response {
	const body = new ReadableStream({
		start(controller) {
			controller.enqueue(new TextEncoder().encode(text));
			if (!open) controller.close();
		},
		cancel: onCancel,
	});
	return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

/** An SSE response with a result, given as JSON text. */
export function result(id: string, text: string): Response {
	return sse(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
}

export function textResult(id: string, text: string): Response {
	return result(id, JSON.stringify({ content: [{ type: "text", text }] }));
}

export function rpcError(id: string, code: number, message: string, status = 200): Response {
	return json(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`, status);
}

/** A response that is sent only after the client has disconnected. */
export function stall({ signal }: RecordedRequest): Promise<Response> {
	const { promise, resolve } = Promise.withResolvers<Response>();
	signal.addEventListener("abort", () => resolve(new Response()));
	return promise;
}
