// The real bot with given tools and without Discord, and the real gateway in front of it.

import { startBot } from "../../src/bot/bot.ts";
import type { BotContext, BotTool } from "../../src/bot/tool/context.ts";
import type { ProgressTiming } from "../../src/gateway/calls/progress.ts";
import { readConfig } from "../../src/gateway/config/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import type { Prompt } from "../../src/mcp/prompts.ts";
import type { Tool, ToolCall } from "../../src/mcp/tool.ts";
import { botConfig, type TomlKeys, withoutLogin } from "./bot-config.ts";
import { recordLog } from "./log.ts";

export const token = "a-token-of-enough-length";

export interface BothServers extends AsyncDisposable {
	/** The MCP endpoints. */
	bot: string;
	gateway: string;
	/** The log lines of both. */
	logged: string[];
}

export interface BothServersOptions {
	tools: readonly BotTool[];
	prompts?: readonly Prompt[];
	/** The bot's config.toml. */
	toml?: TomlKeys;
	allowedHosts?: string[];
	allowedOrigins?: string[];
	/** Of the gateway. */
	progress?: ProgressTiming;
}

/** Starts both. The gateway lists the bot's tools; calls without an instance go to this bot. */
export async function startBothServers({
	tools,
	prompts = [],
	toml,
	allowedHosts = [],
	allowedOrigins = [],
	progress,
}: BothServersOptions): Promise<BothServers> {
	const { log, lines } = recordLog();
	await using stack = new AsyncDisposableStack();
	const config = botConfig({ mcpToken: token, allowedHosts, allowedOrigins, toml });
	const bot = startBot(config, log, { tools, prompts, ...withoutLogin });
	stack.defer(() => bot.close());
	const gateway = await startGateway(
		readConfig({
			INSTANCES: `lonely=${new URL(bot.url).origin}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
			DEFAULT_INSTANCE: "lonely",
			...(allowedHosts.length > 0 && { MCP_ALLOWED_HOSTS: allowedHosts.join(",") }),
			MCP_ALLOWED_ORIGINS: allowedOrigins.join(","),
		}),
		log,
		{ ...(progress && { progress }) },
	);
	stack.defer(() => gateway.close());
	const running = stack.move();
	return { bot: bot.url, gateway: gateway.url, logged: lines, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A tool with any arguments. `run` returns its result as JSON text. */
export function rawTool(
	name: string,
	run: (args: Record<string, unknown>, call: ToolCall) => string | Promise<string>,
): BotTool {
	return asBotTool({
		name,
		effect: "write",
		listing: { name, description: `A test's ${name}.`, inputSchema: { type: "object" } },
		call: async (args, _context, call) => run(args, call),
	});
}

/** Always listed. */
export function asBotTool(tool: Tool<BotContext>): BotTool {
	const needs = { permissions: [], intents: [], checkedInRun: false, isPlanned: false };
	return { ...tool, toolset: "core", offered: "always", effectVaries: false, needs };
}

/** The `_meta` of every modern request. */
export const modernMeta = {
	"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientCapabilities": {},
};

/** The headers and the body of a modern request. */
export function modernRequest(
	method: string,
	params: Record<string, unknown> = {},
	id = "1",
): { headers: Record<string, string>; body: string } {
	const { _meta, ...rest } = params;
	const meta = { ...modernMeta, ...(_meta as object | undefined) };
	return {
		headers: {
			"MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": method,
			...(["tools/call", "prompts/get"].includes(method) && { "Mcp-Name": String(params.name) }),
		},
		body: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify({ ...rest, _meta: meta })}}`,
	};
}

/** Sends a POST request with the token. */
export function postTo(
	url: string,
	body: string,
	headers: Record<string, string> = {},
	signal?: AbortSignal,
): Promise<Response> {
	return fetch(url, {
		method: "POST",
		headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
		body,
		...(signal && { signal }),
	});
}
