// An MCP client for tests that returns results and errors alike.

import { HttpClient } from "../../src/gateway/http/http-client.ts";
import { isObject } from "../../src/lib/json.ts";
import type { Principal } from "../../src/lib/principal.ts";
import { type Client, type ClientSession, createClient } from "../../src/mcp/client.ts";

/** The outcome of a tool call: a text or a JSON-RPC error. */
export interface Outcome {
	text: string;
	isError: boolean;
	/** The code of a JSON-RPC error; then `text` is its message. */
	code?: number;
}

export interface McpCaller {
	session: ClientSession;
	call(tool: string, args?: Record<string, unknown>): Promise<Outcome>;
	/** Calls a tool. Resolves with its text, and throws if it is an error. */
	expectResult(tool: string, args?: Record<string, unknown>): Promise<string>;
	/** Calls a tool. Resolves with the text of its error, and throws if there is none. */
	expectError(tool: string, args?: Record<string, unknown>): Promise<string>;
	listTools(): Promise<{ name: string; [key: string]: unknown }[]>;
	/** Sends an MCP request. Resolves with its result; throws the JSON-RPC error. */
	request(method: string, params: unknown): Promise<unknown>;
	/** The same session, with requests in the name of a principal. The server must have a token. */
	as(principal: Principal): McpCaller;
}

/** Opens a session with an MCP server. */
export async function connectTo(url: string, token?: string): Promise<McpCaller> {
	const client = createClient({
		dispatch: new HttpClient({ url: url }).dispatch,
		...(token !== undefined && { token }),
		info: { name: "test", version: "0" },
	});
	const session = await client.connect(AbortSignal.timeout(90_000));
	return callerOf(client, session, undefined);
}

function callerOf(client: Client, session: ClientSession, principal: Principal | undefined): McpCaller {
	const request = async (method: string, params: unknown) => {
		const signal = AbortSignal.timeout(90_000);
		const text = JSON.stringify(params);
		const options = { principal };
		return (await client.request(session, method, text, signal, options)).message;
	};
	const call: McpCaller["call"] = async (name, args = {}) => {
		const params = { name, arguments: args };
		const { result, error } = await request("tools/call", params);
		if (isObject(error)) {
			const code = Number(error.code);
			return { text: String(error.message), isError: true, code };
		}
		const { content, isError = false } = result as { content: { type: string; text: string }[]; isError?: boolean };
		const text = content.map((item) => item.text).join("\n");
		return { text, isError };
	};
	const expecting = (error: boolean) => async (tool: string, args?: Record<string, unknown>) => {
		const { text, isError } = await call(tool, args);
		if (isError !== error) throw new Error(`${tool} ${isError ? "failed" : "succeeded"}: ${text}`);
		return text;
	};
	return {
		session,
		call,
		expectResult: expecting(false),
		expectError: expecting(true),
		async request(method, params) {
			const { result, error } = await request(method, params);
			if (isObject(error)) throw new Error(String(error.message));
			return result;
		},
		as: (other) => callerOf(client, session, other),
		async listTools() {
			const { result } = await request("tools/list", {});
			return (result as { tools: { name: string }[] }).tools;
		},
	};
}
