// The gateway in front of given backends, and a client that exposes raw responses.

import { Backend } from "../../src/gateway/backends/backend.ts";
import { createMetrics } from "../../src/gateway/calls/metrics.ts";
import { readConfig } from "../../src/gateway/config/config.ts";
import { createGateway, type GatewayOptions } from "../../src/gateway/gateway.ts";
import { listen } from "../../src/lib/program/listen.ts";
import { type RecordedLog, recordLog } from "./log.ts";

export const gatewayToken = "the-token-of-the-test";

export interface GatewayAnswer {
	status: number;
	headers: Headers;
	/** The body as text. */
	body: string;
	/** The JSON text of its only SSE event. Throws for any other body. */
	frame(): string;
	/** `frame()`, parsed. */
	message(): RpcAnswer;
}

export interface RpcAnswer {
	jsonrpc: string;
	id: unknown;
	result?: { isError?: boolean; content: { type: string; text: string }[]; [key: string]: unknown };
	error?: { code: number; message: string; data?: unknown };
}

export interface TestGateway extends AsyncDisposable {
	/** Without a path. */
	url: string;
	recorded: RecordedLog;
	refresh(): Promise<void>;
	/** One tick of the clock by which bots are watched. It runs only in tests that call this. */
	watch(): void;
	post(body: string, headers?: Record<string, string>): Promise<GatewayAnswer>;
	/** Calls a tool and returns the JSON-RPC response. */
	call(name: string, args?: unknown): Promise<RpcAnswer>;
	/** Calls a tool and returns the text of its result, prefixed with "ERROR " if `isError` is true. */
	text(name: string, args?: unknown): Promise<string>;
	/** The names in `tools/list`. */
	toolNames(): Promise<string[]>;
	/** Lists the tools. */
	tools(): Promise<{ name: string; inputSchema: object }[]>;
	/** Stops listening, then ends the sessions, as in a shutdown. */
	close(): Promise<void>;
}

export interface TestGatewayOptions {
	/** Additional environment variables. */
	env?: Record<string, string>;
	/** Whether it refreshes the backends before it listens. */
	refreshed?: boolean;
	/** Further options of the gateway. */
	options?: GatewayOptions;
}

/** In front of these bots. When it is disposed of, those that can be stopped are. */
export async function startTestGateway(
	bots: Record<string, { url: string; stop?(): Promise<void> }>,
	{ env = {}, refreshed = true, options = {} }: TestGatewayOptions = {},
): Promise<TestGateway> {
	const recorded = recordLog();
	const instances = Object.entries(bots).map(([name, { url }]) => `${name}=${url}`);
	const config = readConfig({ INSTANCES: instances.join(","), MCP_AUTH_TOKEN: gatewayToken, ...env });
	const gateway = createGateway(config, recorded.log, {
		// In most tests a bot that ends must count as offline at once.
		awayMs: 0,
		...options,
	});
	if (refreshed) await gateway.refresh();
	const listener = listen({
		hostname: "127.0.0.1",
		port: 0,
		settings: { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" },
		fetch: gateway.fetch,
		log: recorded.log,
		responses: gateway.responses,
	});

	const close = async () => {
		await listener.close(0);
		await gateway.close();
	};
	return {
		url: listener.url,
		recorded,
		refresh: gateway.refresh,
		watch: gateway.watch,
		...createGatewayClient(`${listener.url}/mcp`),
		close,
		async [Symbol.asyncDispose]() {
			await close();
			for (const bot of Object.values(bots)) await bot.stop?.();
		},
	};
}

export function createGatewayClient(endpoint: string, token = gatewayToken) {
	async function post(body: string, headers: Record<string, string> = {}): Promise<GatewayAnswer> {
		const response = await fetch(endpoint, {
			method: "POST",
			headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
			body,
		});
		const answer = await response.text();
		const frame = () => {
			const match = /^event: message\ndata: ([^\r\n]*)\n\n$/.exec(answer);
			if (match?.[1] === undefined) throw new Error(`not one frame: ${JSON.stringify(answer)}`);
			return match[1];
		};
		return {
			status: response.status,
			headers: response.headers,
			body: answer,
			frame,
			message: () => JSON.parse(frame()),
		};
	}
	const request = async (method: string, params: unknown) => {
		const body = { jsonrpc: "2.0", id: 1, method, params };
		return (await post(JSON.stringify(body))).message();
	};
	const call = (name: string, args?: unknown) => request("tools/call", { name, arguments: args });
	const tools = async () => {
		const { result } = await request("tools/list", {});
		return result?.tools as { name: string; inputSchema: object }[];
	};
	return {
		post,
		call,
		async text(name: string, args?: unknown): Promise<string> {
			const { result, error } = await call(name, args);
			if (!result) throw new Error(`an error: ${JSON.stringify(error)}`);
			const text = result.content.map((item) => item.text).join("\n");
			return result.isError ? `ERROR ${text}` : text;
		},
		tools,
		toolNames: async () => (await tools()).map(({ name }) => name),
	};
}

/** A backend without a gateway. */
export function createTestBackend({
	name = "alpha",
	url,
	maxInFlight = 256,
	pinned = [],
	barred = [],
	awayMs = 0,
}: {
	name?: string;
	url: string;
	maxInFlight?: number;
	pinned?: readonly string[];
	barred?: readonly string[];
	awayMs?: number;
}) {
	const recorded = recordLog();
	const changes = { count: 0 };
	const metrics = createMetrics();
	const backend = new Backend({
		instance: { name, url, endpoint: `${url}/mcp`, pinned: new Set(pinned), barred: new Set(barred) },
		token: gatewayToken,
		info: { name: "test", version: "1" },
		maxInFlight,
		metrics,
		log: recorded.log,
		awayMs,
		onChange: () => changes.count++,
	});
	return { backend, metrics, changes, messages: recorded.messages };
}
