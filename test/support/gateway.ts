// The gateway in front of bots of the test's own, and a client that sees the bytes.

import { Backend } from "../../src/gateway/backend.ts";
import { readConfig } from "../../src/gateway/config.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createMetrics } from "../../src/gateway/metrics.ts";
import { listen } from "../../src/lib/listen.ts";
import { connect } from "./backend-client.ts";
import { type RecordedLog, recordLog } from "./log.ts";

export const gatewayToken = "the-token-of-the-test";

export interface GatewayAnswer {
	status: number;
	headers: Headers;
	/** As it arrived. */
	body: string;
	/** What stands in its one frame: JSON text. Throws for any other body. */
	frame(): string;
	/** The frame, parsed. */
	message(): RpcAnswer;
}

export interface RpcAnswer {
	jsonrpc: string;
	id: unknown;
	result?: {
		isError?: boolean;
		content: { type: string; text: string }[];
		[key: string]: unknown;
	};
	error?: { code: number; message: string; data?: unknown };
}

export interface TestGateway extends AsyncDisposable {
	/** Without a path. */
	url: string;
	recorded: RecordedLog;
	refresh(): Promise<void>;
	post(body: string, headers?: Record<string, string>): Promise<GatewayAnswer>;
	/** `tools/call`; the answer's message. */
	call(name: string, args?: unknown): Promise<RpcAnswer>;
	/** `tools/call`; the text of its result, with "ERROR " before it if it has isError. */
	text(name: string, args?: unknown): Promise<string>;
	/** `tools/list`. */
	tools(): Promise<{ name: string; inputSchema: object }[]>;
	/** As a shutdown does: no more requests, then the sessions end. */
	close(): Promise<void>;
}

export interface TestGatewayOptions {
	/** More of its environment. */
	env?: Record<string, string>;
	/** Whether the first round is over before it listens. */
	refreshed?: boolean;
}

export async function startTestGateway(
	bots: Record<string, { url: string }>,
	{ env = {}, refreshed = true }: TestGatewayOptions = {},
): Promise<TestGateway> {
	const recorded = recordLog();
	const INSTANCES = Object.entries(bots)
		.map(([name, { url }]) => `${name}=${url}`)
		.join(",");
	const config = readConfig({
		INSTANCES,
		MCP_AUTH_TOKEN: gatewayToken,
		...env,
	});
	const gateway = createGateway(config, recorded.log, { connect });
	if (refreshed) await gateway.refresh();
	const listener = listen({
		hostname: "127.0.0.1",
		port: 0,
		settings: { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" },
		fetch: gateway.fetch,
		log: recorded.log,
	});

	const { post, call, text, tools } = createGatewayClient(
		`${listener.url}/mcp`,
	);
	const close = async () => {
		await listener.close(0);
		await gateway.close();
	};
	return {
		url: listener.url,
		recorded,
		refresh: gateway.refresh,
		post,
		call,
		text,
		tools,
		close,
		[Symbol.asyncDispose]: close,
	};
}

export function createGatewayClient(endpoint: string) {
	async function post(
		body: string,
		headers: Record<string, string> = {},
	): Promise<GatewayAnswer> {
		const response = await fetch(endpoint, {
			method: "POST",
			headers: {
				Authorization: `Bearer ${gatewayToken}`,
				"Content-Type": "application/json",
				...headers,
			},
			body,
		});
		const answer = await response.text();
		const frame = () => {
			const match = /^event: message\ndata: ([^\r\n]*)\n\n$/.exec(answer);
			if (match?.[1] === undefined)
				throw new Error(`not one frame: ${JSON.stringify(answer)}`);
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
	const call = (name: string, args?: unknown) =>
		request("tools/call", { name, arguments: args });
	return {
		post,
		call,
		async text(name: string, args?: unknown): Promise<string> {
			const { result, error } = await call(name, args);
			if (!result) throw new Error(`an error: ${JSON.stringify(error)}`);
			const text = result.content.map((item) => item.text).join("\n");
			return result.isError ? `ERROR ${text}` : text;
		},
		async tools(): Promise<{ name: string; inputSchema: object }[]> {
			const { result } = await request("tools/list", {});
			return result?.tools as { name: string; inputSchema: object }[];
		},
	};
}

/** A backend by itself. */
export function createTestBackend({
	name = "alpha",
	url,
	maxInFlight = 256,
	pinned = [],
	barred = [],
}: {
	name?: string;
	url: string;
	maxInFlight?: number;
	pinned?: readonly string[];
	barred?: readonly string[];
}) {
	const recorded = recordLog();
	const changes = { count: 0 };
	const metrics = createMetrics({
		backends: () => [],
		toolsListBytes: () => 0,
		refreshAgeSeconds: () => 0,
	});
	const backend = new Backend({
		instance: {
			...{ name, url, endpoint: `${url}/mcp` },
			pinned: new Set(pinned),
			barred: new Set(barred),
		},
		token: gatewayToken,
		info: { name: "test", version: "1" },
		maxInFlight,
		metrics,
		log: recorded.log,
		onChange: () => changes.count++,
	});
	return { backend, metrics, changes, messages: recorded.messages };
}
