// A bot as the gateway sees one: an MCP server with sessions that remembers every request and does what a test scripts.
// Its own hand-written frames, nothing from src/: a fault there must not hide itself here.

export interface RecordedRequest {
	/** The HTTP method. */
	method: string;
	path: string;
	headers: Headers;
	/** As it arrived. */
	body: string;
	/** The JSON-RPC method; for DELETE, "DELETE". */
	rpc: string;
	/** The JSON-RPC id, as JSON text; "null" without one. */
	id: string;
	/** The name of the tool that is called. */
	tool: string | undefined;
	/** Fires when the other side hangs up. */
	signal: AbortSignal;
}

/** What is answered; undefined: what a bot answers. */
export type Behaviour = (
	request: RecordedRequest,
) => Response | Promise<Response | undefined> | undefined;

export interface StubOptions {
	/** 0, or the port of a stub that was stopped. */
	port?: number;
	/** Id → name, listed as our bots do. */
	guilds?: Record<string, string>;
	/** The tools listed, as JSON text. */
	tools?: readonly string[];
	/** By JSON-RPC method, or by tool name, which is looked for first. */
	on?: Record<string, Behaviour>;
	/** What a request in an unknown session is answered. */
	onLostSession?: Behaviour;
	/** Whether `initialize` gives a session id. */
	sessions?: boolean;
}

export interface StubBackend extends AsyncDisposable {
	/** Without a path, as INSTANCES has it. */
	url: string;
	port: number;
	/** Everything that arrived, in order. */
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
	/** Goes away at once; what was in flight is cut off. */
	stop(): Promise<void>;
}

export const echoTool = JSON.stringify({
	name: "echo",
	description: "Echo",
	inputSchema: {
		type: "object",
		properties: { guild_id: { type: "string" }, text: { type: "string" } },
	},
});

/** A tool of this name that takes nothing. */
export const bareTool = (name: string) =>
	JSON.stringify({ name, inputSchema: { type: "object" } });

export function startStubBackend(options: StubOptions = {}): StubBackend {
	const sessions = new Set<string>();
	const waiting = new Set<() => void>();

	const http = Bun.serve({
		hostname: "127.0.0.1",
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
		const known =
			options.sessions === false ||
			request.rpc === "initialize" ||
			sessions.has(sessionId ?? "");
		if (!known)
			return (
				(await options.onLostSession?.(request)) ??
				new Response("Session not found\n", { status: 404 })
			);
		const scripted =
			stub.on[request.tool ?? request.rpc] ?? stub.on[request.rpc];
		return (await scripted?.(request)) ?? standard(request);
	}

	function standard({ rpc, id, tool, headers }: RecordedRequest): Response {
		switch (rpc) {
			case "initialize": {
				const sessionId = crypto.randomUUID();
				sessions.add(sessionId);
				const response = json(
					`{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}}`,
				);
				if (options.sessions !== false)
					response.headers.set("Mcp-Session-Id", sessionId);
				return response;
			}
			case "tools/list":
				return result(id, `{"tools":[${stub.tools.join(",")}]}`);
			case "tools/call":
				return textResult(
					id,
					tool === "list_guilds" ? guildList(stub.guilds) : `ran ${tool}`,
				);
			case "DELETE":
				sessions.delete(headers.get("mcp-session-id") ?? "");
				return new Response(null, { status: 204 });
			default:
				return new Response(null, { status: 202 });
		}
	}

	const stub: StubBackend = {
		url: `http://127.0.0.1:${http.port}`,
		port: http.port ?? 0,
		requests: [],
		on: options.on ?? {},
		guilds: options.guilds ?? {},
		tools: options.tools ?? [echoTool],
		received: (name) =>
			stub.requests.filter(({ rpc, tool }) => rpc === name || tool === name),
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

/** The text of `list_guilds`, as our bots have it. */
function guildList(guilds: Record<string, string>): string {
	const lines = Object.entries(guilds).map(
		([id, name]) => `${name} | ID: ${id}`,
	);
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

/** A JSON answer. */
export function json(text: string, status = 200): Response {
	return new Response(text, {
		status,
		headers: { "Content-Type": "application/json" },
	});
}

/** An SSE answer with these messages, one event each. */
export function sse(...messages: string[]): Response {
	const frames = messages.map((text) => `event: message\ndata: ${text}\n\n`);
	return eventStream(frames.join(""));
}

/** An SSE answer of this text; `open`: the stream does not end with it. `onCancel` hears that nobody reads on. */
export function eventStream(
	text: string,
	{ open = false, onCancel = () => {} } = {},
): Response {
	const body = new ReadableStream({
		start(controller) {
			controller.enqueue(new TextEncoder().encode(text));
			if (!open) controller.close();
		},
		cancel: onCancel,
	});
	return new Response(body, {
		headers: { "Content-Type": "text/event-stream" },
	});
}

/** A result, given as JSON text, on SSE as our bots send it. */
export function result(id: string, text: string): Response {
	return sse(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
}

export function textResult(id: string, text: string): Response {
	return result(id, JSON.stringify({ content: [{ type: "text", text }] }));
}

export function rpcError(
	id: string,
	code: number,
	message: string,
	status = 200,
): Response {
	return json(
		`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`,
		status,
	);
}

/** A response that does not come until the other side hangs up. */
export function stall({ signal }: RecordedRequest): Promise<Response> {
	const { promise, resolve } = Promise.withResolvers<Response>();
	signal.addEventListener("abort", () => resolve(new Response()));
	return promise;
}
